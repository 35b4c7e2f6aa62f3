"""capacity and charge: what nodes can hold, and whose room it is."""

from __future__ import annotations

from math import inf

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import TaskClass, VictimClass
from cpsched.optimum.model.constraints.reclaim_right import claims_of
from cpsched.optimum.model.variables import Charged, Counts, Expr, Variables, sum_of, weighted
from cpsched.resources import Vector
from cpsched.snapshot import Snapshot
from cpsched.snapshot.rights import Action

Asked = list[tuple[str, list[tuple[int, int]]]]
Freed = list[tuple[VictimClass, Expr]]
"""A sample of the victims, and how many like it make room."""


def capacity(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Binds fit what is idle, everything fits what will be idle once the victims that may be charged are gone."""
    asked_by: dict[tuple[int, ...], Asked] = {}
    charges = v.tracks_owner and snapshot.policy.rules.charge != "off"
    everywhere = snapshot.policy.rules.eviction_scope == "cluster"
    for node, present in sorted(v.classes_by_node.items()):
        if charges:
            freed = _freed(cp, v, node, present, everywhere=everywhere)
        else:
            freed = [(group, v.evicted(group)) for group in v.victims_by_node.get(node, [])]
        count_of = {one.index: v.placed(one, node) for one in present}
        for resource, asking in _once(asked_by, v, present):
            idle, future = v.capacity.idle[node].get(resource, 0), v.capacity.future_idle[node].get(resource, 0)
            bound = [(amount, v.bind[index, node]) for index, amount in asking if (index, node) in v.bind]
            if bound:
                cp.add(weighted(bound) <= max(idle, 0))
            placed = [(amount, count_of[index]) for index, amount in asking]
            requested_by_shape = v.classes.requested_by_shape(resource)
            room = [(-requested_by_shape[group.shape], count) for group, count in freed]
            if v.elastic and v.charged.get(node):
                most = sum(requested_by_shape[group.shape] * group.most for group in v.victims_by_node[node])
                room.append((-1, v.slack(most, f"{resource} on {node}")))
            fits = weighted([*placed, *room]) <= future
            if future >= 0:
                cp.add(fits)
            else:
                asked = v.flag(f"{resource} asked on {node}")
                for index, _ in asking:
                    cp.add(count_of[index] == 0).only_enforce_if(~asked)
                cp.add(fits).only_enforce_if(asked)


def _once(known: dict[tuple[int, ...], Asked], v: Variables, present: list[TaskClass]) -> Asked:
    """Per resource who of those present asks how much; the same classes are present on many nodes."""
    key = tuple([one.index for one in present])
    if key not in known:
        names = sorted({name for one in present for name, amount in one.representative.requests.items() if amount})
        known[key] = [
            (
                name,
                [
                    (o.index, v.classes.amount(o.representative, name))
                    for o in present
                    if o.representative.requests.get(name, 0)
                ],
            )
            for name in names
        ]
    return known[key]


def _freed(cp: cp_model.CpModel, v: Variables, node: str, present: list[TaskClass], *, everywhere: bool) -> Freed:
    """Victims that make room here: all that every class present may evict; of the others those that can be charged.

    Where every class may evict them, charging excludes nothing: either all of them are charged, or every task's request
    is covered by those charged to it, and no more than all requests together is missing. On an overcommitted node more
    is missing than is requested, so charging limits the victims there whatever the rights.
    """
    payers = list(v.classes.tasks) if everywhere else present
    all_classes = frozenset([one.index for one in payers])
    unlimited = not _is_overcommitted(v, node, present)
    freed: Freed = []
    alike: dict[Charged, list[tuple[VictimClass, Action]]] = {}
    for group in v.victims_by_node.get(node, []):
        for action in sorted(group.rights):
            entitled = all_classes & frozenset(group.rights[action])
            asks = v.snapshot.policy.asks_shares(action)
            if unlimited and entitled == all_classes and (not asks or _share_a_claim(v, entitled)):
                freed.append((group, v.evict[group.index, action]))
            elif entitled:
                shape = tuple(sorted(group.representative.requests.items()))
                alike.setdefault((entitled, shape, action), []).append((group, action))
    counts: Counts = {}
    for key, members in alike.items():
        most = sum(group.most for group, _ in members)
        charged = cp.new_int_var(0, most, f"charged like {members[0][0].representative.key}")
        cp.add(charged <= sum_of([v.evict[group.index, action] for group, action in members]))
        freed.append((members[0][0], charged))
        counts[key] = (charged, most)
    _charge(cp, v, None if everywhere else node, counts)
    if counts and not everywhere:
        v.charged[node] = counts
    return freed


def _is_overcommitted(v: Variables, node: str, present: list[TaskClass]) -> bool:
    """Whether the node holds more than it can of a resource that some class here requests."""
    over = {name for name, amount in v.capacity.future_idle[node].items() if amount < 0}
    return bool(over) and any(one.representative.requests.get(name, 0) for one in present for name in over)


def _share_a_claim(v: Variables, entitled: frozenset[int]) -> bool:
    """Whether all classes have the right to reclaim as soon as one of them has: victims are evicted for no others."""
    claims = claims_of(v)
    return len({None if (claim := claims[index]) is None else claim.index for index in entitled}) == 1


def _charge(cp: cp_model.CpModel, v: Variables, node: str | None, counts: Counts) -> None:
    """Victims whom only some may evict are charged to those, none more than it can need; necessary, not sufficient."""
    for entitled in dict.fromkeys(key[0] for key in counts):
        within = [key for key in counts if key[0] <= entitled]
        own = [[key] for key in within if key[0] == entitled]
        for keys in own if len(within) == 1 else [*own, within]:
            smallest = {
                name: min(dict(shape).get(name, 0) for _, shape, _ in keys) for _, s, _ in keys for name, _ in s
            }
            charged = sum_of([counts[key][0] for key in keys])
            most = sum(counts[key][1] for key in keys)
            needs = []
            for index in sorted(entitled):
                one = v.classes.tasks[index]
                placed = v.total(one) if node is None else v.placed(one, node)
                needs.append((min(most, most_needed(one.representative.requests, smallest)), placed))
            cp.add(charged - weighted(needs) <= 0)


def most_needed(request: Vector, victim: Vector) -> int:
    """How many such victims a task can be charged: one less must not cover its request in some resource."""
    most: float = 1
    for name, amount in request.items():
        if amount > 0:
            size = victim.get(name, 0)
            most = max(most, inf if size == 0 else 1 + (amount - 1) // size)
    return 10**6 if most == inf else int(most)
