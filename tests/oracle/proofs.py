"""Statements against decisions: which rows a legal decision does not satisfy, in any form; and proofs of optima."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cpsched.objectives import level_plan, vector
from cpsched.policy.levels import LevelRef, Value
from cpsched.proof.forms import FORMS, Form
from cpsched.proof.rows import ProofStatement
from cpsched.proof.statement import Session, UnstatedError
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot

ALL = tuple(FORMS.values())
Stated = tuple[LevelRef, ProofStatement, dict[str, int]]


def unsatisfied(
    snapshot: Snapshot, decisions: Iterable[Decision], forms: Iterable[Form] = FORMS.values()
) -> Iterator[str]:
    """Every row, limit and claim of every level's statement that a decision is no point of, given its own values."""
    session = Session(snapshot)
    plan = level_plan(snapshot)
    for decision in decisions:
        values = vector(decision)
        for form in forms:
            for number in last_of(plan):
                given = dict(zip(plan[:number], values, strict=False))
                yield from missed(session, form, given, plan[number], values[number], decision)


def last_of(plan: list[LevelRef]) -> list[int]:
    """Where the statement has all that those before it have: at the end, and where victims are first cut by start."""
    return sorted({len(plan) - 1, *(number for number, one in enumerate(plan) if one.is_time)})


def missed(
    session: Session, form: Form, given: dict[LevelRef, Value], level: LevelRef, bound: Value, decision: Decision
) -> Iterator[str]:
    """What the decision does not satisfy of one statement."""
    try:
        statement = session.statement(form, given, level, bound)
    except UnstatedError:
        return
    values = session.values(form, given, level, bound, decision)
    where = f"{form.name} {level.label}"
    for name, one in statement.variables.items():
        if not one.low <= values[name] <= one.high:
            yield f"{where}: {name} is {values[name]}, not {one.low} to {one.high}"
    for label, row in [*statement.rows.items(), ("claim", statement.claim)]:
        if sum(c * values[name] for name, c in row.terms.items()) < row.least:
            yield f"{where}: {label} {dict(row.terms)} is not at least {row.least}"


def statements(snapshot: Snapshot, decision: Decision, form: Form) -> Iterator[Stated]:
    """Every level's statement that the decision's value is the bound, with the decision's point."""
    session, given = Session(snapshot), dict[LevelRef, Value]()
    for level, value in zip(level_plan(snapshot), vector(decision), strict=True):
        try:
            statement = session.statement(form, given, level, value)
        except UnstatedError:
            pass
        else:
            yield level, statement, session.values(form, given, level, value, decision)
        given[level] = value
