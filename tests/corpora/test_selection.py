"""What `make corpora` puts into its files: every source and profile in turn, the same order each time."""

from __future__ import annotations

from collections import Counter

from tests.corpora.selection import CORPORA, SOURCES, sessions


def test_the_order_is_fixed_and_no_name_comes_twice() -> None:
    ids = [case.id for case in sessions(("tiny", "volcano-plugins"))]
    assert ids == [case.id for case in sessions(("volcano-plugins", "tiny"))]
    assert len(set(ids)) == len(ids)


def test_the_first_are_one_of_every_profile() -> None:
    ids = [case.id for case in sessions(("issues", "volcano-plugins"))]
    profiles = {name.partition("-")[0] for name in ids if name.startswith("volcano-plugins/")}
    first = Counter(name.partition("/")[0] for name in ids[:15])
    assert first["issues"] == 1
    assert first["volcano-plugins"] == 14 >= len(profiles)


def test_there_are_more_sessions_than_a_corpus_takes() -> None:
    """A tenth may be open or doubted."""
    for number, sources in (CORPORA["smoke"], CORPORA["nightly"]):
        assert sum(1 for _ in sessions(sources)) > 1.1 * number
        assert set(sources) <= set(SOURCES)
