"""All verdicts of one run, and what they come to."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import cpsched.version
from cpsched.contents import read_of_many
from cpsched.errors import InputError
from cpsched.gate.baseline import Baseline, Entry
from cpsched.gate.demands import Demands
from cpsched.gate.measure import Measured
from cpsched.gate.verdict import CaseVerdict, State, verdict
from cpsched.importers.chosen import grouped

PASSED, FAILED, BAD_CASE, NO_ANSWER = 0, 1, 2, 3


@dataclass
class CheckedCases:
    """Grows case by case."""

    corpus: str
    engine: str
    baseline: Baseline | None = None
    demands: Demands = field(default_factory=Demands)
    command: str = ""
    """What was typed, as far as it matters for one case; empty if nothing was typed."""
    chosen: frozenset[str] = frozenset()
    """The cases that were asked for; empty: all."""
    verdicts: list[CaseVerdict] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    def add(self, case: Measured) -> CaseVerdict:
        """Add one more case."""
        if case.id in self._ids:
            raise InputError(f"two cases are called {case.id}", file=case.file, right="give each row an id of its own")
        self._ids.add(case.id)
        entry = None if self.baseline is None else self.baseline.cases.get(case.id)
        found = verdict(case, entry, has_baseline=self.baseline is not None, demands=self.demands)
        self.verdicts.append(found)
        return found

    def reproduce(self, one: CaseVerdict) -> str:
        """The command that checks this case alone; empty if there is none, as for a case from stdin."""
        if not self.command or self.corpus == "-":
            return ""
        return f"{self.command} --case {shlex.quote(one.case.in_corpus or one.case.id)}"

    @property
    def states(self) -> Counter[State]:
        """How many cases passed, failed, and so on."""
        return Counter(one.state for one in self.verdicts)

    @property
    def removed(self) -> list[str]:
        """Cases of the baseline that the corpus no longer has; not known if only some were asked for."""
        return (
            []
            if self.baseline is None or self.chosen
            else [case for case in self.baseline.cases if case not in self._ids]
        )

    @property
    def bad(self) -> list[CaseVerdict]:
        """Everything that did not pass."""
        return [one for one in self.verdicts if one.state != "passed"]

    @property
    def rules(self) -> Counter[str]:
        """rule → cases that fail by it."""
        return Counter(fault.key for one in self.verdicts for fault in one.faults if fault.kind == "rule")

    @property
    def exit_code(self) -> int:
        """0 if all passed; a case that cannot be read is bad input, a fault is a finding, else it is lack of time."""
        states = self.states
        if states["bad case"]:
            return BAD_CASE
        if states["failed"] or states["error"]:
            return FAILED
        return NO_ANSWER if states["no answer"] else PASSED

    @property
    def headline(self) -> str:
        """The run in one sentence."""
        total, states = len(self.verdicts), self.states
        counts = [f"{count} {state}" for state, count in sorted(states.items()) if state != "passed"]
        news = [("better than the baseline", sum(one.better for one in self.verdicts)), ("removed", len(self.removed))]
        counts += [f"{count} {what}" for what, count in news if count]
        outcome = "all passed" if states["passed"] == total else f"{states['passed']} passed"
        return ", ".join([f"{total} case{'s' * (total != 1)}, engine {self.engine}: {outcome}", *counts])

    @property
    def models(self) -> str:
        """How many cases have which model and by what; empty where nothing was to choose."""
        decided = (one.case for one in self.verdicts if one.case.outcome == "decided")
        return grouped(((case.model, case.chosen_by) for case in decided), "case", "cases")

    @property
    def read(self) -> list[str]:
        """What the cases hold, in a few lines."""
        return read_of_many({one.case.id: one.case.read for one in self.verdicts if one.case.read}, "case")

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "apiVersion": "cpsched/v1",
            "kind": "GateReport",
            "corpus": self.corpus,
            "engine": self.engine,
            "baseline_engine": None if self.baseline is None else self.baseline.engine,
            "versions": {"cpsched": cpsched.version.__version__},
            "headline": self.headline,
            **({"models": self.models} if self.models else {}),
            "states": dict(self.states),
            "rules": dict(self.rules),
            "removed": self.removed,
            "cases": [_case(one, self.reproduce(one)) for one in self.verdicts],
        }


def _case(one: CaseVerdict, reproduce: str) -> dict[str, Any]:
    case = one.case
    shown: dict[str, Any] = {"id": case.id, "file": case.file, "line": case.line, "state": one.state}
    notes = (*one.notes, case.note) if case.note else one.notes
    shown |= {"faults": [vars(fault) for fault in one.faults], "notes": list(notes)}
    if one.faults and reproduce:
        shown["reproduce"] = reproduce
    if case.read is not None:
        shown["read"] = case.read._asdict()
    if case.outcome != "decided":
        return shown
    entry = Entry.of(case).model_dump(mode="json")
    findings = [finding.model_dump(mode="json") for finding in case.findings]
    if case.choice:
        shown["choice"] = case.choice
    return {**shown, "better": one.better, "decided_by": case.decided_by, **entry, "findings": findings}
