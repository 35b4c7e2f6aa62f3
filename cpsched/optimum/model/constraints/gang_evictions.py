"""eviction, by the gang actions: victims lie in a HyperNode that their job may have, or go with their whole gang."""

from __future__ import annotations

from collections.abc import Iterable

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import TaskClass, VictimClass
from cpsched.optimum.model.domains import NearDomain, reach_of
from cpsched.optimum.model.variables import Claims, Expr, Variables, sum_of
from cpsched.policy.policy import GANG_ACTIONS, GangAction
from cpsched.snapshot.rights import Action


def gang_evictions(v: Variables, claims: Claims) -> None:
    """Every victim has a job in whose reach it lies; of a gang that loses everything one victim is enough."""
    reaches = _Reaches(v, claims)
    by_owner: dict[tuple[str, GangAction], list[VictimClass]] = {}
    for group in v.classes.victims:
        for action in sorted(GANG_ACTIONS):
            if action in group.rights:
                by_owner.setdefault((group.job, action), []).append(group)
    for (owner, action), groups in by_owner.items():
        if v.snapshot.policy.gang_protects(action) == "whole" and len(groups) > 1:
            _together(v, reaches, owner, action, groups)
            continue
        for group in groups:
            flags = reaches.flags(group.node, action, group.rights[action])
            slack = v.slack(1, f"{action} of {group.representative.key}")
            v.cp.add(v.evict[group.index, action] <= group.most * sum_of([*flags, slack]))


def _together(v: Variables, reaches: _Reaches, owner: str, action: Action, groups: list[VictimClass]) -> None:
    """Victims in reach are counted apart; others go only if the gang loses everything and has one that is in reach."""
    goes_along = v.flag(f"{owner} goes along")
    v.cp.add_implication(goes_along, v.goes_whole(v.snapshot.jobs[owner]))
    reached = []
    for group in groups:
        flags = reaches.flags(group.node, action, group.rights[action])
        slack = v.slack(1, f"{action} of {group.representative.key}")
        reached.append(v.cp.new_int_var(0, group.most, f"{action} of {group.representative.key} in reach"))
        v.cp.add(reached[-1] <= v.evict[group.index, action])
        v.cp.add(reached[-1] <= group.most * sum_of([*flags, slack]))
        v.cp.add(v.evict[group.index, action] - reached[-1] <= group.most * goes_along)
    v.cp.add(sum_of(list(reached)) >= goes_along)


class _Reaches:
    """Whether a job that may evict is placed such that a node is in its reach; flags are shared."""

    def __init__(self, v: Variables, claims: Claims):
        self._v, self._claims = v, claims
        self._known: dict[tuple[object, ...], cp_model.IntVar] = {}
        self._by_job: dict[str, dict[NearDomain, cp_model.IntVar]] = {}

    def flags(self, node: str, action: Action, indices: Iterable[int]) -> list[cp_model.IntVar]:
        """Flags of which one must hold for a victim on the node to go."""
        by_job: dict[tuple[str, cp_model.IntVar | None], list[TaskClass]] = {}
        nearness, scope = self._v.snapshot.nearness, self._v.snapshot.policy.rules.eviction_scope
        limited = nearness.limits if scope == "domain" else {}
        for index in indices:
            one = self._v.classes.tasks[index]
            job = one.jobs[0] if one.jobs[0] in limited else ""
            claim = self._claims[index] if self._v.snapshot.policy.asks_shares(action) else None
            by_job.setdefault((job, claim), []).append(one)
        return [self._flag(node, job, claim, classes) for (job, claim), classes in by_job.items()]

    def _flag(self, node: str, job: str, claim: cp_model.IntVar | None, classes: list[TaskClass]) -> cp_model.IntVar:
        v, beside = self._v, self._v.snapshot.policy.rules.eviction_scope == "node"
        around = tuple([domain for domain in self._reach(job) if node in domain.nodes]) if job else ()
        where: object = node if beside else around
        key = (where, job, None if claim is None else claim.index, tuple([one.index for one in classes]))
        if key not in self._known:
            flag = self._known[key] = v.flag(f"{job or 'some job'} reaches {node}")
            placed: list[Expr] = [v.placed(one, node) if beside else v.total(one) for one in classes]
            v.cp.add(sum_of(placed) >= flag)
            if job:
                v.cp.add_bool_or([~flag, *(self._reach(job)[domain] for domain in around)])
            if claim is not None:
                v.cp.add_implication(flag, claim)
        return self._known[key]

    def _reach(self, job: str) -> dict[NearDomain, cp_model.IntVar]:
        if job not in self._by_job:
            self._by_job[job] = reach_of(self._v, job)
        return self._by_job[job]
