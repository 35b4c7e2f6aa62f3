"""A row that is one too strong is noticed: in some tiny session a legal decision has nothing to spare on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cpsched.objectives import level_plan, vector
from cpsched.proof.forms import FORMS
from cpsched.proof.rules import ROWS
from cpsched.proof.statement import Session, UnstatedError
from cpsched.rules import violations
from cpsched.snapshot import Snapshot
from tests.oracle.brute_force import decisions
from tests.oracle.neighbours import neighbourly
from tests.oracle.sessions import contest, entering, overcommitted

LEAST_NOTICED = 0.5
"""Of the rows of each rule in these sessions; the others are true with room in them, as no decision here is near."""


def sessions() -> Iterator[Snapshot]:
    for seed in range(25):
        yield contest(seed).snapshot()
        yield entering(seed).snapshot()
    for seed in range(10):
        yield overcommitted(seed).snapshot()
        yield neighbourly(seed, "affinity").snapshot()
        yield neighbourly(seed, "spread").snapshot()


def spare(snapshot: Snapshot) -> Iterator[tuple[str, int]]:
    """Every row of the last level's statement that the decision's own values do not change, and its least spare."""
    session, plan, form = Session(snapshot), level_plan(snapshot), FORMS["nodes-starts"]
    least: dict[str, int] = {}
    for decision in decisions(snapshot):
        if violations(decision):
            continue
        values = vector(decision)
        given = dict(zip(plan[:-1], values, strict=False))
        try:
            statement = session.statement(form, given, plan[-1], values[-1])
        except UnstatedError:
            return
        point = session.values(form, given, plan[-1], values[-1], decision)
        for label, row in statement.rows.items():
            over = sum(c * point[name] for name, c in row.terms.items()) - row.least
            least[label] = min(over, least.get(label, over))
    yield from least.items()


def test_rows_that_are_one_too_strong_are_noticed() -> None:
    rows: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    for snapshot in sessions():
        for label, over in spare(snapshot):
            assert over >= 0, label
            key = label.partition("[")[0]
            rows[key] += 1
            noticed[key] += over == 0
    stated = {"charge", "change", "given"} | ROWS.keys()
    assert {key for key in stated if not rows[key]} == set()
    assert {key: noticed[key] / rows[key] for key in rows if noticed[key] < LEAST_NOTICED * rows[key]} == {}
