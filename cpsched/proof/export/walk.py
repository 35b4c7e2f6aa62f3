"""Steps with what they derive: the replayer's rows, to be written in another form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cpsched.proof.rows import ProofRow, ProofStatement
from cpsched.proof.steps import Replayer


class Walked(NamedTuple):
    """A step that was taken."""

    step: Any
    number: int
    """Of the row that it added; 0 for none."""
    row: ProofRow | None
    goal: ProofRow
    """What the innermost case shows, before a split its own."""
    last: int
    """The number of the last row before the step."""


def walked(statement: ProofStatement, steps: Iterable[Any], values: dict[str, int] | None = None) -> Iterator[Walked]:
    """Replay the steps one by one; RefusedError where one does not hold."""
    replayer = Replayer(statement, values)
    for step in steps:
        if step and step[0] == "solution":
            continue
        last = len(replayer.rows)
        if step and step[0] == "split":
            replayer.replay_one(step)
            goal = replayer.goal
        else:
            goal = replayer.goal
            replayer.replay_one(step)
        added = step[0] != "end"
        number = len(replayer.rows) if added else 0
        yield Walked(step, number, replayer.rows[-1] if added else None, goal, last)
