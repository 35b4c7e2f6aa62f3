"""Every recorded decision is checked with the shortcuts over identical tasks and without them, to the same end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from cpsched.comparison.session import CaseOptions, open_session
from cpsched.importers.corpus import Case, cases
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from tests.conformance.test_judge_rows import ROWS, heuristic, snapshot
from tests.judge import checked_both_ways, decide

DATA = Path(__file__).parent / "data"
DECISIONS = {"volcano-recorded": 3341, "volcano-sticky-skip": 2, "kube-recorded": 1137}
"""File → how many decisions are recorded in it."""
PARTS = 6
"""A file is checked in so many parts, so that several processes can share it."""


@cache
def recorded(name: str) -> list[Case]:
    """The sessions of a file."""
    return list(cases(str(DATA / f"{name}.jsonl.gz")))


def decisions(name: str, part: int) -> Iterator[Decision]:
    """The recorded decisions of every PARTS-th session."""
    for case in recorded(name)[part::PARTS]:
        session = open_session(case, CaseOptions(model=name.partition("-")[0]))
        opened = Snapshot(session.instance, session.policy)
        for outcome in session.outcomes:
            yield Decision.of(opened, outcome.solution)


def count(some: Iterable[Case]) -> int:
    """How many decisions are recorded in the sessions."""
    return sum(len(case.stated["outcomes"]) for case in some)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", DECISIONS)
def test_recorded_decisions(name: str, part: int) -> None:
    assert checked_both_ways(decisions(name, part)) == count(recorded(name)[part::PARTS])


@pytest.mark.parametrize("name", DECISIONS)
def test_every_recorded_decision_is_there(name: str) -> None:
    assert count(recorded(name)) == DECISIONS[name]


def test_rows_with_an_optimum() -> None:
    """The scheduler's decision and the example of a best one."""

    def each() -> Iterator[Decision]:
        for row in ROWS.values():
            opened, expected = snapshot(row), row["expect_optimum"]
            best = {part: expected.get("example", expected)[part] for part in ("binds", "reserves", "evicted")}
            yield decide(opened, heuristic(row)[0])
            yield decide(opened, best)

    assert checked_both_ways(each()) == 2 * len(ROWS)
