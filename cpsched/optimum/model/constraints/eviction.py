"""eviction, protect.pdb: every victim is evicted for an entitled task, placed where it ran."""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import VictimClass
from cpsched.optimum.model.constraints.gang_evictions import gang_evictions
from cpsched.optimum.model.constraints.reclaim_order import above_shares
from cpsched.optimum.model.constraints.reclaim_right import claims_of
from cpsched.optimum.model.variables import Claims, Expr, Variables, sum_of
from cpsched.policy.policy import GANG_ACTIONS
from cpsched.rules.protections import covers
from cpsched.snapshot import Snapshot
from cpsched.snapshot.rights import Action


def eviction(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Victims of an action need a task that may evict them; reclaim also needs shares on both sides."""
    claims = claims_of(v)
    if v.tracks_owner:
        _present(cp, snapshot, v, claims)
        gang_evictions(v, claims)
    else:
        _claimed(cp, v, claims)
    above_shares(cp, snapshot, v)


def _present(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables, claims: Claims) -> None:
    """An entitled task is placed where the victim ran and, to reclaim, its queue has the claim."""
    everywhere = snapshot.policy.rules.eviction_scope == "cluster"
    present: dict[tuple[str, Action, tuple[int, ...]], list[cp_model.IntVar]] = {}
    for group in v.classes.victims:
        for action, indices in sorted(group.rights.items()):
            if action in GANG_ACTIONS:
                continue
            key = ("" if everywhere else group.node, action, indices)
            if key not in present:
                present[key] = _entitled(cp, v, key, claims)
            flags: list[Expr] = [*present[key]]
            if v.elastic:
                flags.append(v.slack(1, f"{action} of {group.representative.key}"))
            cp.add(v.evict[group.index, action] <= group.most * sum_of(flags))


def _claimed(cp: cp_model.CpModel, v: Variables, claims: Claims) -> None:
    """Where tasks have no owner: one of the queues that could reclaim the victims has the claim."""
    together: dict[tuple[int, ...], list[VictimClass]] = {}
    for group in v.classes.victims:
        indices = {i for action, some in group.rights.items() if v.snapshot.policy.asks_shares(action) for i in some}
        if indices:
            together.setdefault(tuple(sorted(indices)), []).append(group)
    for entitled, groups in together.items():
        flags = [flag for index in entitled if (flag := claims[index]) is not None]
        if len(flags) == len(entitled):
            gone = sum_of([v.reclaimed(group) for group in groups])
            cp.add(gone <= sum(group.most for group in groups) * sum_of(list(dict.fromkeys(flags))))


def _entitled(
    cp: cp_model.CpModel, v: Variables, key: tuple[str, Action, tuple[int, ...]], claims: Claims
) -> list[cp_model.IntVar]:
    """Flags of which one must hold: an entitled task is placed there and, to reclaim, its queue has the claim."""
    node, action, indices = key
    by_claim: dict[cp_model.IntVar | None, list[Expr]] = {}
    for index in indices:
        one = v.classes.tasks[index]
        placed = v.placed(one, node) if node else v.total(one)
        by_claim.setdefault(claims[index] if v.snapshot.policy.asks_shares(action) else None, []).append(placed)
    flags = []
    for claim, counts in by_claim.items():
        flag = v.flag(f"some task may {action} on {node or 'any node'}")
        cp.add(flag <= sum_of(counts))
        if claim is not None:
            cp.add_implication(flag, claim)
        flags.append(flag)
    return flags


def protect_pdb(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """With `hard`, no budget loses more pods than it allows."""
    for budget in snapshot.instance.budgets:
        covered = [g for g in v.classes.victims if covers(budget, g.representative)]
        hard = [
            v.evict[g.index, action]
            for g in covered
            for action in sorted(g.rights)
            if snapshot.policy.pdb_protects(action) == "hard"
        ]
        if not hard:
            continue
        touched = v.flag(f"{budget.key} loses pods")
        cp.add(sum_of(hard) == 0).only_enforce_if(~touched)
        total = sum_of([v.evicted(group) for group in covered])
        cp.add(total <= budget.status.disruptions_allowed).only_enforce_if(touched)
