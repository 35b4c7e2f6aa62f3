"""Incumbent: the best feasible decision so far, and the assignment of the session model's variables that it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cpsched.objectives import level_plan, value_of
from cpsched.optimum.model.decode import encode
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.params import HEURISTIC_SHARE, REMOVAL_SECONDS
from cpsched.optimum.search.primal.drop_violations import drop_violations
from cpsched.optimum.search.primal.start_reserved import start_reserved
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot


class Incumbent:
    """A decision without findings; at first the empty one."""

    def __init__(self, snapshot: Snapshot, portfolio: Portfolio, warm_start: Callable[[], Decision] | None = None):
        """`warm_start` makes a decision elsewhere, which may break rules; it is called once, if at all."""
        self._portfolio, self._warm_start = portfolio, warm_start
        self.decision = self._empty = Decision(snapshot, {}, {})
        self._values: list[int] | None = None
        self._too_large = 0
        """The number of variables of the model in which the assignment could not be completed in time."""

    def replace(self, decision: Decision, values: list[int] | None = None) -> None:
        """Take a decision, with the assignment that it is, if that is known."""
        self.decision, self._values, self._too_large = decision, values, 0

    def take(self, decision: Decision, values: list[int] | None = None) -> None:
        """Take a feasible decision unless it is worse: a search for one level may return what loses on later ones."""
        if self._order(decision) <= 0:
            self.replace(decision, values)

    def offer(self, decision: Decision | None) -> None:
        """Take a feasible decision, if there is one and it is better."""
        if decision is not None and self._order(decision) < 0:
            self.replace(decision)

    def offer_without_violations(self, decision: Decision, left: float) -> None:
        """Take what is left of a decision once all that breaks rules is removed, if that is better.

        `left` are the seconds until the search ends.
        """
        clock = self._portfolio.budget.clock
        until = clock() + max(REMOVAL_SECONDS, left * HEURISTIC_SHARE)
        self.offer(drop_violations(decision, lambda: clock() > until))

    def take_warm_start(self, left: float) -> None:
        """Offer the decision made elsewhere, once."""
        if self._warm_start is not None:
            decision, self._warm_start = self._warm_start(), None
            self.offer_without_violations(decision, left)

    def start_reserved(self) -> None:
        """Start what needs no eviction: the level that counts starts may not have been reached."""
        self.offer(start_reserved(self.decision))

    def _order(self, decision: Decision) -> int:
        """Below 0 if the other is better on the first level on which they differ, above 0 if it is worse."""
        for level in level_plan(decision.snapshot):
            mine, theirs = (level.rank(value_of(one, *level)) for one in (self.decision, decision))
            if mine != theirs:
                return -1 if theirs < mine else 1
        return 0

    def values_in(self, model: SessionModel) -> list[int] | None:
        """The assignment that it is, auxiliary variables included; None as long as it is the empty decision.

        In a large model that may take too long; then it is as much as is known, and is not tried again.
        """
        cp: Any = model.cp
        count = len(cp.proto.variables)
        known = 0 if self._values is None else len(self._values)
        if self.decision is self._empty or count in (known, self._too_large):
            return self._values
        if self._values is None:
            cp.clear_hints()
            for variable, number in encode(model.variables, self.decision).items():
                cp.add_hint(variable, number)
        else:
            hint(model, self._values)
        cp.clear_objective()
        completed = self._portfolio.complete_hint(cp)
        if completed is None:
            self._too_large = count
        else:
            self._values = completed
        return self._values


def hint(model: SessionModel, values: list[int] | None) -> None:
    """Let the next search start from an assignment, as far as it goes."""
    cp: Any = model.cp
    cp.clear_hints()
    for index, value in enumerate(values or ()):
        cp.add_hint(cp.get_int_var_from_proto_index(index), value)
