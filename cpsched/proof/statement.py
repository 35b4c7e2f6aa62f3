"""The statement of a level: the rules, the earlier levels' values, and the claim that nothing beats the bound.

It is made from the instance, the policy and these values, by the writer of a proof and again by its checker.
"""

from __future__ import annotations

from collections.abc import Mapping

from cpsched.policy.levels import LevelRef, Value
from cpsched.proof.counted import CountedSession
from cpsched.proof.counts import Counts
from cpsched.proof.draft import Draft
from cpsched.proof.forms import FORMS, Form, StartCut
from cpsched.proof.levels import UnstatedError, claim, give
from cpsched.proof.rows import ProofStatement
from cpsched.proof.rules import ROWS
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot

Given = Mapping[LevelRef, Value]


class Session:
    """What does not depend on the level: the rows of the rules, written once for every form."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self._rules: dict[Form, Draft] = {}
        self._counts: dict[Form, CountedSession] = {}

    def statement(self, form: Form, given: Given, level: LevelRef, bound: Value) -> ProofStatement:
        """The statement that the level has this bound, given the values of the levels before it.

        Raises UnstatedError where the level cannot be stated.
        """
        draft = self._draft(form._replace(cut=_cut(given, level, bound)))
        top = given.get(LevelRef("victim_max_priority"))
        try:
            for earlier, value in given.items():
                give(draft, earlier, value, top)
            claimed = claim(draft, level, bound, top)
            return ProofStatement(dict(draft.variables), draft.rows, claimed)
        finally:
            # What levels define stays for the next ones; what was given is withdrawn.
            draft.rows = {label: row for label, row in draft.rows.items() if not label.startswith("given[")}

    def size(self, form: Form) -> int:
        """About how many variables the form has."""
        counted = self._counted(form)
        return sum(len(place.kinds) for place in counted.places) + len(counted.victims)

    def values(self, form: Form, given: Given, level: LevelRef, bound: Value, decision: Decision) -> dict[str, int]:
        """What every variable of the statement is in a decision."""
        draft = self._draft(form._replace(cut=_cut(given, level, bound)))
        counts = Counts(draft.counted, decision)
        return {name: variable.value(counts) for name, variable in draft.variables.items()}

    def _counted(self, form: Form) -> CountedSession:
        if form not in self._counts:
            self._counts[form] = CountedSession(self.snapshot, form)
        return self._counts[form]

    def _draft(self, form: Form) -> Draft:
        if form not in self._rules:
            draft = Draft(self._counted(form))
            for write in ROWS.values():
                write(draft)
            self._rules[form] = draft
        return self._rules[form]


def _cut(given: Given, level: LevelRef, bound: Value) -> StartCut | None:
    """Where victims of the highest priority are distinguished by their start."""
    top = given.get(LevelRef("victim_max_priority"))
    times = {value for one, value in given.items() if one.is_time and value is not None}
    if level.is_time and bound is not None:
        times.add(bound)
    return StartCut(top, tuple(sorted(times))) if top is not None and times else None


__all__ = ["FORMS", "Form", "Given", "Session", "UnstatedError"]
