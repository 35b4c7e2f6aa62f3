"""Incumbent: the best decision so far, and the assignment of the program's variables that it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cpsched.check import Decision
from cpsched.objectives import comparable, level_plan, value_of
from cpsched.optimum.model.decode import counts_of
from cpsched.optimum.model.session_model import Program
from cpsched.optimum.search.primal.drop_violations import mended
from cpsched.optimum.search.primal.start_reserved import with_starts
from cpsched.optimum.solvers.portfolio import Race
from cpsched.snapshot import Snapshot

MENDING = 5.0
"""How many seconds a decision made elsewhere may be mended, also where no time is left: else there may be none."""


class Incumbent:
    """A decision without findings; at first to do nothing."""

    def __init__(self, snapshot: Snapshot, race: Race, hint: Callable[[], Decision] | None = None):
        """`hint` gives a decision made elsewhere, which may break rules."""
        self._race, self._ask_hint = race, hint
        self.decision = self._nothing = Decision(snapshot, {}, {})
        self._values: list[int] | None = None
        self._in_vain = 0

    def take(self, decision: Decision, values: list[int] | None = None) -> None:
        """Go on from a decision, and from the assignment that it is, if that is known."""
        self.decision, self._values, self._in_vain = decision, values, 0

    def take_better(self, decision: Decision | None) -> None:
        """Go on from another decision that breaks no rule, if there is one and it is better."""
        if decision is not None and self._is_worse_than(decision):
            self.take(decision)

    def take_legal(self, decision: Decision, left: float) -> None:
        """Go on from what is left of a decision without what breaks rules, if that is better so far.

        `left` are the seconds until the search ends.
        """
        until = self._race.clock() + max(MENDING, left / 4)
        legal = mended(decision, lambda: self._race.clock() > until)
        self.take_better(legal)

    def take_hint(self, left: float) -> None:
        """Go on from what breaks no rule of the decision made elsewhere, once, if that is better so far."""
        if self._ask_hint is not None:
            decided, self._ask_hint = self._ask_hint(), None
            self.take_legal(decided, left)

    def let_start(self) -> None:
        """Whoever waits for nothing starts at once, also where that level was not reached."""
        self.take_better(with_starts(self.decision))

    def _is_worse_than(self, decision: Decision) -> bool:
        """Whether the other is better on the first level on which they differ."""
        for level in level_plan(decision.snapshot):
            mine, theirs = (comparable([level], [value_of(one, *level)]) for one in (self.decision, decision))
            if mine != theirs:
                return theirs < mine
        return False

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
