"""Pseudonyms: one for each string, in the order of the strings, also of namespace/name."""

from __future__ import annotations

import re
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from cpsched.capture.pseudonyms import KEPT, Pseudonyms

PARTS = ("a", "ab", "b", "z", "7", "70", "system", "s", "default", "kube")
WORDS = st.sampled_from(["-".join(parts) for length in (1, 2, 3) for parts in product(PARTS, repeat=length)])
NAMES = st.one_of(WORDS, st.sampled_from(sorted(KEPT)), st.builds("podgroup-{}".format, WORDS))


@settings(max_examples=300)
@given(st.sets(NAMES, min_size=2, max_size=12))
def test_the_order_of_names_stays(found: set[str]) -> None:
    names = Pseudonyms(found)
    ordered = sorted(found)
    assert [names[text] for text in ordered] == sorted(names[text] for text in ordered)
    assert len({names[text] for text in found}) == len(found)


@settings(max_examples=300)
@given(st.sets(WORDS, min_size=1, max_size=6), st.sets(NAMES, min_size=1, max_size=6))
def test_the_order_of_keys_stays(namespaces: set[str], found: set[str]) -> None:
    """a-b stands behind a, but a-b/x before a/x."""
    names = Pseudonyms(namespaces | found, namespaces=namespaces)
    keys = [(f"{space}/{name}", f"{names[space]}/{names[name]}") for space in namespaces for name in found]
    assert [hidden for _, hidden in sorted(keys)] == sorted(hidden for _, hidden in keys)


@given(st.sets(WORDS, min_size=1, max_size=8))
def test_a_name_that_means_nothing_does_not_show(found: set[str]) -> None:
    names = Pseudonyms(found)
    for text in found - KEPT:
        assert names[text] != text or re.fullmatch(r"[a-z]x?\d+", text)


def test_names_that_mean_something_stay() -> None:
    names = Pseudonyms(["default", "kube-system", "secret"])
    assert (names["default"], names["kube-system"], names["*"]) == ("default", "kube-system", "*")
    assert "secret" not in names["secret"]


def test_a_made_job_is_named_after_its_pod() -> None:
    names = Pseudonyms(["podgroup-77ab", "77ab", "podgroup-mine"])
    assert names["podgroup-77ab"] == f"podgroup-{names['77ab']}"
    assert "mine" not in names["podgroup-mine"]
    odd = Pseudonyms(["podgroup-podgroup-x", "podgroup-x-y"], namespaces=["podgroup-x"])
    assert odd["podgroup-podgroup-x"] == f"podgroup-podgroup-{odd['x']}"


def test_the_place_in_a_job_stays_for_pods_alone() -> None:
    found = ["train-worker-12", "train-other-7", "web-3", "backup-nightly-28912345"]
    names = Pseudonyms(found, pods=found)
    ends = {text: names[text].split("-", 1)[-1] for text in found}
    assert ends["train-worker-12"] == "n-12"
    assert ends["train-other-7"] == "n-7"
    # Two parts have no place, and a number of a clock is none.
    assert "-" not in names["web-3"]
    assert "-" not in names["backup-nightly-28912345"]
    assert "-" not in Pseudonyms(["ip-10-0-1-2"])["ip-10-0-1-2"]
