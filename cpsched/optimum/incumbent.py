"""Incumbent: the best decision so far, and the assignment of the program's variables that it is."""

from __future__ import annotations

from typing import Any

from cpsched.check import Decision
from cpsched.optimum.extract import counts_of
from cpsched.optimum.program import Program
from cpsched.optimum.race import Race


class Incumbent:
    """A decision without findings; at first to do nothing, of which no assignment is known."""

    def __init__(self, program: Program, race: Race):
        self._program, self._race = program, race
        self.decision = Decision(program.snapshot, {}, {})
        self.values: list[int] | None = None

    def take(self, decision: Decision, values: list[int] | None) -> None:
        """Go on from a decision, and from the assignment that it is, if that is known."""
        self.decision, self.values = decision, values

    def adopt(self, decision: Decision) -> None:
        """Go on from a decision made elsewhere; in a large program its assignment may take too long to complete."""
        cp: Any = self._program.cp
        cp.clear_hints()
        for variable, count in counts_of(self._program.variables, decision).items():
            cp.add_hint(variable, count)
        self.take(decision, self._completed())

    def hint(self, values: list[int] | None) -> None:
        """Let the next search start from an assignment; what new levels added to the incumbent's is filled in first."""
        cp: Any = self._program.cp
        cp.clear_hints()
        if values is None:
            return
        for index, value in enumerate(values):
            cp.add_hint(cp.get_int_var_from_proto_index(index), value)
        if values is self.values and len(values) < len(cp.proto.variables):
            completed = self._completed()
            if completed is not None:
                self.values = completed
                self.hint(completed)

    def _completed(self) -> list[int] | None:
        """All values that go with those hinted; None if there are none."""
        cp: Any = self._program.cp
        cp.clear_objective()
        return self._race.completed(cp)
