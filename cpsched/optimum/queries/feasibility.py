"""Is there any feasible decision that contains what is wanted? One answer: a decision, none, or not found out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ortools.sat.python import cp_model

from cpsched.instance import Task
from cpsched.objectives import PRIORITY_OFFSET, out_of_reach, value_of
from cpsched.optimum import disagreement as mismatch
from cpsched.optimum.disagreement import SolverDisagreementError
from cpsched.optimum.model.counts import counts_in
from cpsched.optimum.model.decode import decode
from cpsched.optimum.model.features import FeatureIds
from cpsched.optimum.model.lazy import LAZY_RULES
from cpsched.optimum.model.nogoods import exclude_refused
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.model.symmetry import task_features
from cpsched.optimum.model.variables import Expr, sum_of, value_in, weighted
from cpsched.optimum.solvers.cp_sat import CpSat
from cpsched.policy.levels import LevelRef
from cpsched.rules import Decision, Violation, violations
from cpsched.snapshot import Snapshot

MOST_ROUNDS = 5_000
"""How many decisions the checker may refuse before the question stays open."""


class UndecidedError(Exception):
    """Time or rounds ran out."""


@dataclass(frozen=True)
class Effort:
    """Deterministic time in place of seconds; `spend` is called with what was used of it."""

    limit: float
    spend: Callable[[float], None]


Limit = float | Effort


@dataclass(frozen=True)
class Demand:
    """What a decision must contain; jobs named under `tasks` and `alike` must be distinguished by the snapshot."""

    served: frozenset[str] = frozenset()
    """Jobs that receive something; the rule `gang` makes that their minimum. Jobs that are alike may stand in."""
    tasks: Mapping[str, int] = field(default_factory=dict)
    """job → at least so many of its tasks are placed."""
    alike: Mapping[str, int] = field(default_factory=dict)
    """task → at least so many of those of its job that are just like it are placed."""
    levels: tuple[LevelRef, ...] = ()
    """Name and priority of levels that are no worse than those of `reference`."""
    reference: Decision | None = None


def find(
    snapshot: Snapshot, wanted: Demand, limit: Limit, cost: Callable[[Task], int] | None = None
) -> Decision | None:
    """A feasible decision with all that is wanted, None if there is none; UndecidedError if that stays open.

    With `cost` its victims cost as little together as can be.
    """
    question = FeasibilityQuery(snapshot, limit)
    if not question.demand(wanted):
        return None
    if cost is None:
        return question.answer()
    victims = question.v.classes.victims
    return question.answer(weighted((cost(group.representative), question.v.evicted(group)) for group in victims))


def identical_pending(snapshot: Snapshot, task: Task) -> frozenset[str]:
    """The task and the pending ones of its job that nothing tells apart from it."""
    job = snapshot.jobs[snapshot.job_key(task)]
    features = FeatureIds()
    content = task_features(snapshot, job, task, features)
    return frozenset(one.key for one in job.pending if task_features(snapshot, job, one, features) == content)


class FeasibilityQuery:
    """A session model with demands; decisions that only the checker can refuse are excluded one by one."""

    def __init__(self, snapshot: Snapshot, limit: Limit):
        self.snapshot = snapshot
        self._effort = limit if isinstance(limit, Effort) else None
        self._left = limit.limit if isinstance(limit, Effort) else limit
        self._began = time.monotonic()
        self.model = SessionModel(snapshot)
        self.v, self.cp = self.model.variables, self.model.cp

    def demand(self, wanted: Demand) -> bool:
        """State what is wanted; False if a job that is wanted takes no part."""
        v = self.v
        if not {*wanted.served, *wanted.tasks} <= v.class_by_job.keys():
            return False
        for index, count in sorted(Counter(v.class_by_job[job].index for job in wanted.served).items()):
            self.cp.add(v.served(v.classes.jobs[index]) >= count)
        for job, least in sorted(wanted.tasks.items()):
            self.cp.add(sum_of([count for _, count in v.taken(v.class_by_job[job])]) >= least)
        for task, least in sorted(wanted.alike.items()):
            self.cp.add(self._alike(task) >= least)
        for name, priority in wanted.levels:
            assert wanted.reference is not None
            self._no_worse(name, priority, wanted.reference)
        return True

    def answer(self, minimise: Expr | None = None) -> Decision | None:
        """A decision, or None if there is none; where model and checker disagree, the question stays open."""
        try:
            return self._answer(minimise)
        except SolverDisagreementError as error:
            if mismatch.LOUD:
                raise
            raise UndecidedError from error

    def _answer(self, minimise: Expr | None) -> Decision | None:
        """Solve, let the checker look, exclude, and again."""
        cp: Any = self.cp
        counts = [*self.v.bind.values(), *self.v.reserve.values(), *self.v.evict.values()]
        cp.clear_objective()
        cp.clear_hints()
        if minimise is not None:
            cp.minimize(minimise)
        for count in counts:
            # Without an objective the solver should not evict and place more than it must.
            cp.add_hint(count, 0)
        for _ in range(MOST_ROUNDS):
            values = self._solve(cp, exactly=minimise is not None)
            if values is None:
                return None
            decision = self._decision(values)
            found = violations(decision)
            if not found:
                return decision
            wrong = [item for item in found if item.rule not in LAZY_RULES]
            if wrong:
                raise SolverDisagreementError(
                    f"the decision breaks {wrong[0].rule}: {wrong[0].subject} {wrong[0].message}"
                )
            if found[0].rule == "filters":
                exclude_refused(self.model, decision, partial(value_in, values=values))
            else:
                self.model.exclude((count, values[count.index]) for count in self._involved(found[0]))
        raise UndecidedError

    def _alike(self, task: str) -> Expr:
        jobs = self.v.class_by_job.get(self.snapshot.job_key(self.snapshot.instance.tasks[task]))
        taken = [] if jobs is None else self.v.taken(jobs)
        return sum_of([count for one, count in taken if any(member.key == task for member in one.tasks)])

    def _no_worse(self, name: str, priority: int | None, reference: Decision) -> None:
        if name != "victim_priority_sum":
            [stage] = stages_of(self.v, name, priority)
            self.cp.add(stage.expr <= stage.value(reference))
            return
        groups = list(self.v.classes.victims)
        if priority is not None:
            beyond = out_of_reach(self.snapshot, priority)
            groups = [group for group in groups if beyond(group.representative)]
        total = weighted(
            (group.representative.pod_priority + PRIORITY_OFFSET, self.v.evicted(group)) for group in groups
        )
        self.cp.add(total <= (value_of(reference, name, priority) or 0))

    def _solve(self, cp: Any, *, exactly: bool) -> list[int] | None:
        if self._effort is None:
            cp_sat = CpSat(seconds=self._left - (time.monotonic() - self._began))
            status = cp_sat.run(cp)
        else:
            cp_sat = CpSat(effort=max(0.01, self._left))
            status = cp_sat.run(cp)
            self._left -= cp_sat.effort
            self._effort.spend(cp_sat.effort)
        if status == cp_model.MODEL_INVALID:
            raise SolverDisagreementError(f"the model is invalid: {cp.validate()}")
        if status == cp_model.INFEASIBLE:
            return None
        if status != cp_model.OPTIMAL and (exactly or status != cp_model.FEASIBLE):
            raise UndecidedError
        return cp_sat.values

    def _decision(self, values: list[int]) -> Decision:
        return decode(self.snapshot, self.v.classes, counts_in(self.v, values))

    def _involved(self, found: Violation) -> list[cp_model.IntVar]:
        """The counts that the violation hangs on; the fewer, the more decisions it excludes."""
        v = self.v
        policy = self.snapshot.policy
        if found.rule == "charge" and not policy.evicts("reclaim") and policy.evicts_beside:
            here = [x for places in (v.bind, v.reserve) for (_, node), x in places.items() if node == found.subject]
            groups = {group.index for group in v.victims_by_node.get(found.subject, [])}
            return here + [x for (i, _), x in v.evict.items() if i in groups]
        return [*v.bind.values(), *v.reserve.values(), *v.evict.values()]
