"""eviction, by reclaim: a queue is above its deserved share whenever one of its victims goes."""

from __future__ import annotations

from math import floor

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import VictimClass
from cpsched.optimum.model.variables import Shape, Variables, sum_of, weighted
from cpsched.snapshot import Snapshot
from cpsched.snapshot.rights import claims_any, declared_of


def above_shares(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A queue that loses reclaim victims is above its share until the last goes: some last victim finds it so.

    Under capacity a victim looks at its own resources alone, so victims of different shape need an order; here each
    shape is asked for itself. Where the checker finds no order, `in_some_order` states that there is one.
    """
    for queue, groups in sorted(_reclaimed_by_queue(v).items()):
        if queue not in snapshot.shares:
            for group in groups:
                cp.add(v.reclaimed(group) == 0)
        elif snapshot.policy.share_plugin == "proportion":
            _one_last(cp, v, queue, groups, _by_shape(groups))
        else:
            for alike in _claimed(v, queue, groups):
                _one_last(cp, v, queue, alike, [alike])


def in_some_order(cp: cp_model.CpModel, v: Variables, queue: str) -> bool:
    """Under capacity there is an order in which each reclaim victim finds the queue above its share; False if known.

    Seen backwards, from the last victim to the first: the queue is above its share in a resource from some victim on,
    and then no victim that asks for that resource is in the way. So the resources have an order. The first victim
    through a resource needs it to be above the share by what is given back until then and by its own request.
    """
    if queue in v.ordered or v.snapshot.policy.share_plugin == "proportion" or queue not in v.snapshot.shares:
        return False
    v.ordered.add(queue)
    shapes = _claimed(v, queue, _reclaimed_by_queue(v).get(queue, []))
    if len(shapes) < 2:
        return False
    share = v.snapshot.shares[queue]
    relevant = [sorted(declared_of(share.deserved, alike[0].representative.requests)) for alike in shapes]
    resources = sorted({name for some in relevant for name in some})
    gone = [sum_of([v.reclaimed(g) for g in alike]) for alike in shapes]
    most = [sum(g.most for g in alike) for alike in shapes]
    through = {name: v.flag(f"{queue} above in {name}") for name in resources}
    rank = {name: cp.new_int_var(0, len(resources), f"rank of {name} in {queue}") for name in resources}
    for number in range(len(shapes)):
        cp.add(gone[number] <= most[number] * sum_of([through[name] for name in relevant[number]]))
    for name in resources:
        earlier: dict[str, cp_model.IntVar] = {}
        for other in resources:
            if other != name:
                earlier[other] = v.flag(f"{other} before {name} in {queue}")
                cp.add_implication(earlier[other], through[other])
                cp.add(rank[other] + 1 <= rank[name]).only_enforce_if(earlier[other])
        back = [cp.new_int_var(0, many, f"given back before {name} in {queue}") for many in most]
        for number, count in enumerate(back):
            cp.add(count <= gone[number])
            ways = [earlier[other] for other in relevant[number] if other != name]
            cp.add(count <= most[number] * sum_of(ways))
        amounts = [v.classes.amount(alike[0].representative, name) for alike in shapes]
        still_gone = weighted([*zip(amounts, gone, strict=True)]) - weighted([*zip(amounts, back, strict=True)])
        firsts = [~through[name]]
        for number, some in enumerate(relevant):
            if name in some:
                firsts.append(v.flag(f"like {shapes[number][0].representative.key} first through {name}"))
                cp.add(still_gone <= _spare(v, queue, name) + amounts[number]).only_enforce_if(firsts[-1])
                cp.add(gone[number] - back[number] >= 1).only_enforce_if(firsts[-1])
        cp.add_bool_or(firsts)
    return True


def _reclaimed_by_queue(v: Variables) -> dict[str, list[VictimClass]]:
    """Groups that may be reclaimed."""
    by_queue: dict[str, list[VictimClass]] = {}
    for group in v.classes.victims:
        queue = v.snapshot.jobs[group.job].queue
        if any(map(v.snapshot.policy.asks_shares, group.rights)) and queue is not None:
            by_queue.setdefault(queue, []).append(group)
    return by_queue


def _by_shape(groups: list[VictimClass]) -> list[list[VictimClass]]:
    shapes: dict[Shape, list[VictimClass]] = {}
    for group in groups:
        shapes.setdefault(tuple(sorted(group.representative.requests.items())), []).append(group)
    return list(shapes.values())


def _claimed(v: Variables, queue: str, groups: list[VictimClass]) -> list[list[VictimClass]]:
    """Groups by shape, of those that hold something for which a share is declared; capacity gives others up freely."""
    deserved = v.snapshot.shares[queue].deserved
    return [alike for alike in _by_shape(groups) if claims_any(deserved, alike[0].representative.requests)]


def _spare(v: Variables, queue: str, resource: str) -> int:
    """How many units may be gone while the queue is above its share."""
    share, unit = v.snapshot.shares[queue], v.classes.unit.get(resource, 1)
    spare = share.allocated.get(resource, 0) - share.deserved.get(resource, 0)
    return -floor(-spare // unit) - 1


def _one_last(
    cp: cp_model.CpModel, v: Variables, queue: str, gone: list[VictimClass], shapes: list[list[VictimClass]]
) -> None:
    """If any of `gone` is reclaimed, some shape has a victim that, going last, finds the queue above its share."""
    share = v.snapshot.shares[queue]
    proportion = v.snapshot.policy.share_plugin == "proportion"
    any_gone = v.flag(f"{queue} is reclaimed from")
    most_gone = sum(g.most for g in gone)
    cp.add(sum_of([v.reclaimed(g) for g in gone]) <= most_gone * any_gone)
    ways = [~any_gone]
    lost: dict[str, cp_model.IntVar] = {}
    farthest: dict[str, int] = {}
    for alike in shapes:
        sample = alike[0].representative
        one_goes = v.flag(f"one like {sample.key} is reclaimed")
        cp.add(sum_of([v.reclaimed(g) for g in alike]) >= one_goes)
        for resource in sorted(share.allocated if proportion else declared_of(share.deserved, sample.requests)):
            own, most = v.classes.amount(sample, resource), _spare(v, queue, resource)
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


def _lost(cp: cp_model.CpModel, v: Variables, queue: str, resource: str, gone: list[VictimClass]) -> cp_model.IntVar:
    """How many units the queue gives back."""
    asked = v.classes.requested_by_shape(resource)
    sizes = [(asked[g.shape], g) for g in gone]
    lost = cp.new_int_var(0, sum([size * g.most for size, g in sizes]), f"{resource} reclaimed from {queue}")
    cp.add(lost == weighted((size, v.reclaimed(g)) for size, g in sizes))
    return lost
