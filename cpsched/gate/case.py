"""A case in the tests of another project: the cluster goes in, their scheduler's decision comes back and is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from cpsched.comparison.contender import OPTIMAL, Contender, contend, given
from cpsched.comparison.optima import optima_in
from cpsched.comparison.session import Session, open_session
from cpsched.gate.baseline import Baseline
from cpsched.gate.measure import CaseQuestion, Measured, measured
from cpsched.gate.verdict import CaseVerdict, verdict
from cpsched.importers.corpus import Case
from cpsched.importers.recorded import decision as short_form
from cpsched.instance import Instance
from cpsched.policy import Policy
from cpsched.solution import Solution
from cpsched.visible import visible


class GateCase:
    """One case of a corpus; loaded when first looked at."""

    def __init__(self, case: Case, question: CaseQuestion, baseline: Baseline | None = None, *, accepts: bool = False):
        self.id = case.id
        self.measured: Measured | None = None
        """What the last checked decision came to."""
        self._case, self._question, self._baseline, self._accepts = case, question, baseline, accepts

    def __repr__(self) -> str:
        return f"GateCase({self.id!r})"

    @property
    def instance(self) -> Instance:
        """The cluster; `instance.to_dict()` is JSON with Kubernetes objects."""
        return self._session.instance

    @property
    def policy(self) -> Policy:
        """The model and the scheduler's configuration."""
        return self._session.policy

    @cached_property
    def optimum(self) -> Solution:
        """The best decision; solved when first asked for, and remembered on disk."""
        return self._best.solution

    def judge(self, decision: Solution | Mapping[str, Any]) -> CaseVerdict:
        """The gate's verdict on a decision: a Solution, its JSON, or the short form with `evicted`."""
        if not isinstance(decision, Solution):
            read = short_form if "evicted" in decision else Solution.parse
            decision = read(decision, file=self.id)
        own = given(self._session, self._question.engine, decision)
        best = self._best if self._question.optimum and own.standing is not None else None
        self.measured = measured(self._session, own, best)
        entry = None if self._baseline is None else self._baseline.cases.get(self.id)
        found = verdict(self.measured, entry, has_baseline=self._baseline is not None)
        warning = self.measured.cache_warning
        return replace(found, notes=(*found.notes, warning)) if warning else found

    def check(self, decision: Solution | Mapping[str, Any]) -> CaseVerdict:
        """Like `judge`, but a case that does not pass is an AssertionError that names rule or level.

        While a baseline is being written, every decision is accepted.
        """
        __tracebackhide__ = True
        found = self.judge(decision)
        if found.faults and not self._accepts:
            lines = [
                f"  {fault.key or fault.kind}: {'; '.join(filter(None, [fault.message, fault.names]))}"
                for fault in found.faults
            ]
            raise AssertionError("\n".join(map(visible, [f"{self.id} does not pass:", *lines])))
        return found

    @cached_property
    def _session(self) -> Session:
        return open_session(self._case, self._question.given)

    @cached_property
    def _best(self) -> Contender:
        return contend(self._session, OPTIMAL, self._question.options, optima_in(self._question.cache))
