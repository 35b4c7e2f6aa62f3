"""Incumbent: the best decision so far, and the assignment of the program's variables that it is."""

from __future__ import annotations

from typing import Any

from cpsched.check import Decision
from cpsched.optimum.extract import counts_of
from cpsched.optimum.program import Program
from cpsched.optimum.race import Race
from cpsched.snapshot import Snapshot


class Incumbent:
    """A decision without findings; at first to do nothing."""

    def __init__(self, snapshot: Snapshot, race: Race):
        self._race = race
        self.decision = self._nothing = Decision(snapshot, {}, {})
        self._values: list[int] | None = None
        self._in_vain = 0

    def take(self, decision: Decision, values: list[int] | None = None) -> None:
        """Go on from a decision, and from the assignment that it is, if that is known."""
        self.decision, self._values, self._in_vain = decision, values, 0

    def assignment(self, program: Program) -> list[int] | None:
        """The assignment that it is, what new levels added filled in; None as long as it is to do nothing.

        In a large program that may take too long; then it is as much as is known, and is not tried again.
        """
        cp: Any = program.cp
        count = len(cp.proto.variables)
        known = 0 if self._values is None else len(self._values)
        if self.decision is self._nothing or count in (known, self._in_vain):
            return self._values
        if self._values is None:
            cp.clear_hints()
            for variable, number in counts_of(program.variables, self.decision).items():
                cp.add_hint(variable, number)
        else:
            hint(program, self._values)
        cp.clear_objective()
        completed = self._race.completed(cp)
        if completed is None:
            self._in_vain = count
        else:
            self._values = completed
        return self._values


def hint(program: Program, values: list[int] | None) -> None:
    """Let the next search start from an assignment, as far as it goes."""
    cp: Any = program.cp
    cp.clear_hints()
    for index, value in enumerate(values or ()):
        cp.add_hint(cp.get_int_var_from_proto_index(index), value)
