"""Recorded decisions of the real schedulers that break no rule satisfy every row that proofs are made from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from cpsched.comparison.session import CaseOptions, open_session
from cpsched.importers.corpus import cases
from cpsched.proof.counts import is_countable
from cpsched.proof.forms import FORMS
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from tests.oracle.proofs import unsatisfied

DATA = Path(__file__).parent / "data"
LEGAL = {
    "volcano-recorded": 2876,
    "volcano-plugins-recorded": 1319,
    "volcano-topology-recorded": 783,
    "kube-recorded": 1118,
}
"""File → recorded decisions in which nothing is found and of which a statement can speak."""
PARTS, TAKEN = 12, 4
"""Of so many parts so many are taken each time, because all of them take minutes."""


def legal(name: str, part: int) -> Iterator[Decision]:
    """Decisions without findings of every so many-th session."""
    for case in list(cases(str(DATA / f"{name}.jsonl.gz")))[part::PARTS]:
        session = open_session(case, CaseOptions(model=name.partition("-")[0]))
        opened = Snapshot(session.instance, session.policy)
        for outcome in session.outcomes:
            decision = Decision.of(opened, outcome.solution)
            if not violations(decision) and is_countable(decision):
                yield decision


@pytest.mark.parametrize("part", range(TAKEN))
@pytest.mark.parametrize("name", LEGAL)
def test_recorded_decisions_satisfy_every_row(name: str, part: int) -> None:
    """Each in one of the forms, in turn; the statement of the last level has the rows of all."""
    count = 0
    for decision, form in zip(legal(name, part), cycle(FORMS.values()), strict=False):
        assert not list(unsatisfied(decision.snapshot, [decision], [form]))
        count += 1
    assert count > LEGAL[name] / PARTS * 0.8
