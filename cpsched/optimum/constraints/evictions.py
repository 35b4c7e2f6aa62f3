"""eviction, protect.pdb: every victim goes for somebody with a right to it, placed where it stood."""

from __future__ import annotations

from math import ceil, floor

from ortools.sat.python import cp_model

from cpsched.check.protections import covers
from cpsched.instance import Task
from cpsched.optimum.classes import VictimGroup
from cpsched.optimum.constraints.queues import change, line_of
from cpsched.optimum.variables import Expr, Variables, sum_of, weighted
from cpsched.resources import THRESHOLD, Vector, names
from cpsched.snapshot import Snapshot
from cpsched.snapshot.rights import Action

Claims = dict[int, cp_model.IntVar | None]
"""Per class that may reclaim: whether its queue has the claim; None for always."""


def eviction(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Victims of an action need a task that may evict them; reclaim also needs shares on both sides."""
    claims = _claims(cp, snapshot, v)
    if v.knows_who:
        _present(cp, snapshot, v, claims)
    else:
        _claimed(cp, v, claims)
    _above_shares(cp, snapshot, v)


def _present(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables, claims: Claims) -> None:
    """Somebody entitled is placed where the victim stood and, to reclaim, its queue has the claim."""
    everywhere = snapshot.policy.rules.eviction_scope == "cluster"
    present: dict[tuple[str, Action, tuple[int, ...]], list[cp_model.IntVar]] = {}
    for group in v.classes.victims:
        for action, indices in sorted(group.rights.items()):
            key = ("" if everywhere else group.node, action, indices)
            if key not in present:
                present[key] = _entitled(cp, v, key, claims)
            flags: list[Expr] = [*present[key]]
            if v.lenient:
                flags.append(v.excuse(1, f"{action} of {group.sample.key}"))
            cp.add(v.evict[group.index, action] <= len(group.tasks) * sum_of(flags))


def _claimed(cp: cp_model.CpModel, v: Variables, claims: Claims) -> None:
    """Where nobody knows who is placed: one of the queues that could reclaim the victims has the claim."""
    together: dict[tuple[int, ...], list[VictimGroup]] = {}
    for group in v.classes.victims:
        if "reclaim" in group.rights:
            together.setdefault(group.rights["reclaim"], []).append(group)
    for indices, groups in together.items():
        flags = [flag for index in indices if (flag := claims[index]) is not None]
        if len(flags) == len(indices):
            gone = sum_of([v.evict[group.index, "reclaim"] for group in groups])
            cp.add(gone <= sum(len(group.tasks) for group in groups) * sum_of(list(dict.fromkeys(flags))))


def _entitled(
    cp: cp_model.CpModel, v: Variables, key: tuple[str, Action, tuple[int, ...]], claims: Claims
) -> list[cp_model.IntVar]:
    """Flags of which one must hold: somebody entitled is placed there and, to reclaim, its queue has the claim."""
    node, action, indices = key
    by_claim: dict[cp_model.IntVar | None, list[Expr]] = {}
    for index in indices:
        one = v.classes.tasks[index]
        placed = v.placed(one, node) if node else v.total(one)
        by_claim.setdefault(claims[index] if action == "reclaim" else None, []).append(placed)
    flags = []
    for claim, counts in by_claim.items():
        flag = v.flag(f"somebody may {action} on {node or 'any node'}")
        cp.add(flag <= sum_of(counts))
        if claim is not None:
            cp.add_implication(flag, claim)
        flags.append(flag)
    return flags


def _claims(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> Claims:
    """Per class that may reclaim: its queue stays within its deserved share, as the share plugin tests it.

    None where the rule `queue` keeps it there anyway, as proportion's does.
    """
    reclaiming = sorted({i for group in v.classes.victims for i in group.rights.get("reclaim", ())})
    claims: Claims = {}
    alike: dict[tuple[str | None, tuple[str, ...]], cp_model.IntVar] = {}
    proportion = snapshot.policy.share_plugin == "proportion"
    for index in reclaiming:
        one = v.classes.tasks[index]
        queue = snapshot.jobs[one.jobs[0]].queue
        resources = tuple(sorted(r for r, amount in one.sample.requests.items() if amount > 0 and r != "pods"))
        if line_of(snapshot, queue) and proportion and (snapshot.policy.limits_queues or not resources):
            claims[index] = None
            continue
        if (queue, resources) not in alike:
            alike[queue, resources] = _claim(cp, snapshot, v, queue, resources)
        claims[index] = alike[queue, resources]
    return claims


def _claim(
    cp: cp_model.CpModel, snapshot: Snapshot, v: Variables, queue: str | None, resources: tuple[str, ...]
) -> cp_model.IntVar:
    claim = v.flag(f"claim of {queue}")
    line = line_of(snapshot, queue)
    if not line:
        cp.add(claim == 0)
    elif snapshot.policy.share_plugin == "proportion":
        for resource in resources:
            cp.add(change(v, line[0], resource) <= _room(v, line[0], resource, 0.0)).only_enforce_if(claim)
    else:
        plugin = snapshot.policy.plugin("capacity")
        reach = plugin.arguments.integer("ancestorReclaimLevel") if plugin else 0
        names = (line[0], *line[:0:-1][:reach]) if len(line) > 1 else line
        cp.add_bool_or([~claim, *(_within(cp, v, name, resource) for name in names for resource in resources)])
    return claim


def _within(cp: cp_model.CpModel, v: Variables, queue: str, resource: str) -> cp_model.IntVar:
    within = v.flag(f"{queue} within share of {resource}")
    cp.add(change(v, queue, resource) <= _room(v, queue, resource, THRESHOLD)).only_enforce_if(within)
    return within


def _room(v: Variables, queue: str, resource: str, tolerance: float) -> int:
    """How many units more keep the queue within its deserved share."""
    share = v.snapshot.shares[queue]
    room = share.deserved.get(resource, 0) + tolerance - share.allocated.get(resource, 0)
    return floor(room / v.classes.unit.get(resource, 1))


def _above_shares(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A queue that loses reclaim victims is above its share until the last goes: some last victim finds it so.

    Under capacity a victim looks at its own resources alone, so victims of different shape need an order; here each
    shape is asked for itself, and the checker has the last word.
    """
    by_queue: dict[str, list[VictimGroup]] = {}
    for group in v.classes.victims:
        queue = snapshot.jobs[group.job].queue
        if "reclaim" in group.rights and queue is not None:
            by_queue.setdefault(queue, []).append(group)
    for queue, groups in sorted(by_queue.items()):
        if queue not in snapshot.shares:
            for group in groups:
                cp.add(v.evict[group.index, "reclaim"] == 0)
            continue
        shapes: dict[tuple[tuple[str, int], ...], list[VictimGroup]] = {}
        for group in groups:
            shapes.setdefault(tuple(sorted(group.sample.requests.items())), []).append(group)
        if snapshot.policy.share_plugin == "proportion":
            _one_last(cp, v, queue, groups, list(shapes.values()))
        else:
            for alike in shapes.values():
                if set(names(alike[0].sample.requests)) & set(names(snapshot.shares[queue].deserved)):
                    _one_last(cp, v, queue, alike, [alike])


def _one_last(
    cp: cp_model.CpModel, v: Variables, queue: str, gone: list[VictimGroup], shapes: list[list[VictimGroup]]
) -> None:
    """If any of `gone` is reclaimed, some shape has a victim that, going last, finds the queue above its share."""
    share = v.snapshot.shares[queue]
    proportion = v.snapshot.policy.share_plugin == "proportion"
    any_gone = v.flag(f"{queue} is reclaimed from")
    most_gone = sum(len(g.tasks) for g in gone)
    cp.add(sum_of([v.evict[g.index, "reclaim"] for g in gone]) <= most_gone * any_gone)
    ways = [~any_gone]
    lost: dict[str, cp_model.IntVar] = {}
    farthest: dict[str, int] = {}
    for alike in shapes:
        sample = alike[0].sample
        one_goes = v.flag(f"one like {sample.key} is reclaimed")
        cp.add(sum_of([v.evict[g.index, "reclaim"] for g in alike]) >= one_goes)
        for resource in sorted(share.allocated if proportion else _relevant(sample, share.deserved)):
            unit = v.classes.unit.get(resource, 1)
            deserved = share.deserved.get(resource, 0)
            least = deserved + THRESHOLD if proportion else deserved
            spare = share.allocated.get(resource, 0) - least
            own = v.classes.amount(sample, resource)
            most = floor(spare / unit) if proportion else ceil(spare / unit) - 1
            if most + own < 0:
                continue
            if resource not in lost:
                lost[resource] = _lost(cp, v, queue, resource, gone)
            farthest[resource] = max(most + own, farthest.get(resource, 0))
            way = v.flag(f"{queue} above in {resource} when {sample.key} goes")
            cp.add(lost[resource] <= most + own).only_enforce_if(way)
            cp.add_implication(way, one_goes)
            ways.append(way)
    cp.add_bool_or(ways)
    if len(farthest) == 1:
        # Whichever way it is, no more than this goes: a row that needs no condition.
        for resource, most in farthest.items():
            cp.add(lost[resource] <= most)


def _lost(cp: cp_model.CpModel, v: Variables, queue: str, resource: str, gone: list[VictimGroup]) -> cp_model.IntVar:
    """How many units the queue gives back."""
    asked = v.classes.asked_by_kind(resource)
    sizes = [(asked[g.kind], g) for g in gone]
    lost = cp.new_int_var(0, sum([size * len(g.tasks) for size, g in sizes]), f"{resource} reclaimed from {queue}")
    cp.add(lost == weighted((size, v.evict[g.index, "reclaim"]) for size, g in sizes))
    return lost


def _relevant(victim: Task, deserved: Vector) -> set[str]:
    """What capacity looks at: the victim's resources for which a share is declared."""
    return {
        name
        for name, amount in victim.requests.items()
        if amount > 0 and name != "pods"
        if (deserved.get(name, 0) >= THRESHOLD if name in ("cpu", "memory") else name in deserved)
    }


def protect_pdb(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """With `hard`, no budget loses more pods than it allows."""
    for budget in snapshot.instance.budgets:
        covered = [g for g in v.classes.victims if covers(budget, g.sample)]
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
