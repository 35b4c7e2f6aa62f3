"""eviction, protect.pdb: every victim goes for somebody with a right to it, placed where it stood."""

from __future__ import annotations

from math import ceil, floor

from ortools.sat.python import cp_model

from cpsched.check.protections import covers
from cpsched.instance import Task
from cpsched.optimum.classes import TaskClass, VictimGroup
from cpsched.optimum.constraints.queues import change, line_of
from cpsched.optimum.variables import Expr, Variables, sum_of, weighted
from cpsched.resources import THRESHOLD, Vector, names
from cpsched.snapshot import Snapshot


def eviction(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Victims of an action need a task that may evict them; reclaim also needs shares on both sides."""
    claims = _claims(cp, snapshot, v)
    for group in v.classes.victims:
        for action, indices in sorted(group.rights.items()):
            count = v.evict[group.index, action]
            entitled = [v.classes.tasks[index] for index in indices]
            needed = v.flag(f"{group.sample.key} goes by {action}")
            cp.add(count <= len(group.tasks) * needed)
            beside = [(one, _beside(snapshot, v, group, one)) for one in entitled]
            if action == "preempt":
                cp.add(sum_of([placed for _, placed in beside]) >= 1).only_enforce_if(needed)
                continue
            claimed = []
            for one, placed in beside:
                by = v.flag(f"{group.sample.key} reclaimed by {one.index}")
                cp.add(placed >= 1).only_enforce_if(by)
                cp.add_implication(by, claims[one.index])
                claimed.append(by)
            cp.add_bool_or([~needed, *claimed])
    _above_shares(cp, snapshot, v)


def _beside(snapshot: Snapshot, v: Variables, group: VictimGroup, one: TaskClass) -> Expr:
    if snapshot.policy.rules.eviction_scope == "cluster":
        return sum_of([v.placed(one, node) for node in one.nodes])
    return v.placed(one, group.node)


def _claims(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> dict[int, cp_model.IntVar]:
    """Per class that may reclaim: its queue stays within its deserved share, as the share plugin tests it."""
    reclaiming = sorted({i for group in v.classes.victims for i in group.rights.get("reclaim", ())})
    claims = {}
    for index in reclaiming:
        one = v.classes.tasks[index]
        claims[index] = v.flag(f"claim of {one.sample.key}")
        line = line_of(snapshot, snapshot.jobs[one.jobs[0]].queue)
        resources = sorted(r for r, amount in one.sample.requests.items() if amount > 0 and r != "pods")
        if not line:
            cp.add(claims[index] == 0)
        elif snapshot.policy.share_plugin == "proportion":
            for resource in resources:
                cp.add(change(v, line[0], resource) <= _room(v, line[0], resource, 0.0)).only_enforce_if(claims[index])
        else:
            plugin = snapshot.policy.plugin("capacity")
            reach = plugin.arguments.integer("ancestorReclaimLevel") if plugin else 0
            within = []
            for name in (line[0], *line[:0:-1][:reach]) if len(line) > 1 else line:
                for resource in resources:
                    within.append(_within(cp, v, name, resource))
            cp.add_bool_or([~claims[index], *within])
    return claims


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
    cp.add(sum_of([v.evict[g.index, "reclaim"] for g in gone]) == 0).only_enforce_if(~any_gone)
    ways = [~any_gone]
    for alike in shapes:
        sample = alike[0].sample
        for resource in sorted(share.allocated if proportion else _relevant(sample, share.deserved)):
            unit = v.classes.unit.get(resource, 1)
            deserved = share.deserved.get(resource, 0)
            least = deserved + THRESHOLD if proportion else deserved
            spare = share.allocated.get(resource, 0) - least
            lost = weighted((v.classes.amount(g.sample, resource), v.evict[g.index, "reclaim"]) for g in gone)
            own = v.classes.amount(sample, resource)
            way = v.flag(f"{queue} above in {resource} when {sample.key} goes")
            most = floor(spare / unit) if proportion else ceil(spare / unit) - 1
            cp.add(lost - own <= most).only_enforce_if(way)
            cp.add(sum_of([v.evict[g.index, "reclaim"] for g in alike]) >= 1).only_enforce_if(way)
            ways.append(way)
    cp.add_bool_or(ways)


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
