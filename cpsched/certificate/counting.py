"""Bounds by counting: what fits into the room, into the queues' limits, and into what earlier levels leave."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor

import numpy as np

from cpsched.certificate.admission import how_many, most_admitted, queue_room
from cpsched.certificate.case import Case
from cpsched.certificate.room import Room, could_be_served
from cpsched.certificate.waiting import Waiting
from cpsched.instance import Task
from cpsched.objectives import MILLIONTHS
from cpsched.policy.levels import Value
from cpsched.snapshot.queues import cluster_total


def jobs_admitted(case: Case, priority: int | None) -> Value:
    """Jobs of the priority beside those of higher ones."""
    return most_admitted(case, case.room, priority or 0)


def tasks_bound(case: Case, _: int | None) -> Value:
    """Tasks that fit into the room of today."""
    return _most_tasks(case, case.room_today)


def tasks_placed(case: Case, _: int | None) -> Value:
    """Tasks that fit once the victims have gone."""
    return _most_tasks(case, case.room)


def resources_placed(case: Case, _: int | None) -> Value:
    """The largest dominant shares of as many tasks as fit."""
    total = cluster_total(case.snapshot.instance)

    def worth(one: Waiting) -> int:
        found = sorted((_share(task, total) for kind in one.kinds for task in kind.tasks), reverse=True)
        return sum(found[: case.room.most(one.kinds)])

    return _most_of_jobs(case, case.room, worth)


def _share(task: Task, total: dict[str, int]) -> int:
    shares = (Fraction(a) / Fraction(total[n]) for n, a in task.requests.items() if total.get(n))
    return floor(MILLIONTHS * max(shares, default=Fraction(0)))


def _most_tasks(case: Case, room: Room) -> int:
    served = [one for one in case.session.waiting if could_be_served(room, one)]
    kinds = [kind for one in served for kind in one.kinds]
    bounds = [_most_of_jobs(case, room, lambda one: room.most(one.kinds)), room.most(kinds)]
    for resource in room.resources:
        amounts = [kind.sample.requests.get(resource, 0) for kind in kinds for _ in range(room.most_of(kind))]
        bounds.append(how_many(amounts, _total(case, room, resource)))
    return min(*bounds, _by_queue(case, room, served))


def _total(case: Case, room: Room, resource: str) -> int:
    """All the room there is; if the number of victims is settled, with what the largest so many free."""
    if room.today or case.most_victims is None:
        return room.total(resource)
    empty = case.session.room(lambda _: False)
    sizes = sorted((victim.requests.get(resource, 0) for victim in room.gone), reverse=True)
    return min(room.total(resource), empty.total(resource) + sum(sizes[: case.most_victims]))


def _by_queue(case: Case, room: Room, served: list[Waiting]) -> int:
    total = 0
    evicting = case.room
    for queue in {one.job.queue for one in served}:
        own = [kind for one in served if one.job.queue == queue for kind in one.kinds]
        free = sum(room.most_of(kind) for kind in own if kind.sample.best_effort)
        asking = [kind for kind in own if not kind.sample.best_effort]
        bounds = [sum(room.most_of(kind) for kind in asking)]
        for resource in {name for kind in asking for name in kind.sample.requests}:
            left = queue_room(case, evicting, queue, resource)
            if left is not None:
                amounts = [kind.sample.requests.get(resource, 0) for kind in asking for _ in range(room.most_of(kind))]
                bounds.append(how_many(amounts, left))
        total += free + min(bounds)
    return total


def _most_of_jobs(case: Case, room: Room, worth: Callable[[Waiting], int]) -> int:
    """The sum over all jobs that could be served, of starving ones only as many as are admitted."""
    served = [one for one in case.session.waiting if could_be_served(room, one)]
    total = sum(worth(one) for one in served if not one.starving)
    for priority in case.session.tiers:
        worths = sorted((worth(one) for one in served if one.starving and one.job.priority == priority), reverse=True)
        total += sum(worths[: case.admitted.get(priority, len(worths))])
    return total


def queue_deficit_max(case: Case, _: int | None) -> Value:
    """The largest of the deficits that remain however much each queue gets."""
    return max(_deficits(case), default=0)


def queue_deficit_total(case: Case, _: int | None) -> Value:
    """All of them together."""
    return sum(_deficits(case))


def _deficits(case: Case) -> list[int]:
    snapshot, found = case.snapshot, []
    for name, share in snapshot.shares.items():
        if not share.is_leaf or not any(job.queue == name for job in snapshot.jobs.values()):
            continue
        worst = Fraction(0)
        for resource, request in share.request.items():
            want = Fraction(min(share.deserved.get(resource, 0), request))
            if resource != "pods" and want > 0:
                held = Fraction(share.allocated.get(resource, 0)) + _gain(case, name, resource)
                held -= _loss(case, name, resource)
                worst = max(worst, (want - held) / want)
        found.append(ceil(MILLIONTHS * worst))
    return found


def _gain(case: Case, queue: str, resource: str) -> int:
    """How much more of a resource a queue can come to hold."""
    room = case.room

    def amount(one: Waiting) -> int:
        if one.job.queue != queue:
            return 0
        sizes = [kind.sample.requests.get(resource, 0) for kind in one.kinds for _ in range(room.most_of(kind))]
        return sum(sorted(sizes, reverse=True)[: room.most(one.kinds)])

    gain = _most_of_jobs(case, room, amount)
    return min(gain, _total(case, room, resource)) if resource in room.resources else gain


def _loss(case: Case, queue: str, resource: str) -> int:
    """How much a queue loses at least, if the number of victims is settled and the others cannot be all of them."""
    inside, outside = [], 0
    for victim in case.candidates:
        if (owner := case.snapshot.queue_of(victim)) is not None and owner.name == queue:
            inside.append(victim.requests.get(resource, 0))
        else:
            outside += 1
    return sum(sorted(inside)[: max(0, (case.most_victims or 0) - outside)])


def nodes_used(case: Case, _: int | None) -> Value:
    """Nodes that cannot be emptied, and those needed for tasks that the others have no place for.

    Where a victim makes room for a task beside it, its node hosts that task and is not emptied.
    """
    room, by_node = case.room, case.snapshot.instance.tasks_by_node
    hosting = [node for node in room.nodes if by_node.get(node)]
    if case.snapshot.policy.evicts_beside:
        return len(hosting) + _further_nodes(case, room, hosting)
    going = {victim.key for victim in room.gone}
    emptied = [len(by_node[node]) for node in hosting if all(task.key in going for task in by_node[node])]
    most = case.most_victims
    gone = len(emptied) if most is None else how_many(emptied, most)
    if gone:
        return len(hosting) - gone
    return len(hosting) + _further_nodes(case, room, hosting)


def _further_nodes(case: Case, room: Room, hosting: list[str]) -> int:
    placed = case.given.get(("tasks_placed", None)) or 0
    kinds = [kind for one in case.session.waiting if could_be_served(room, one) for kind in one.kinds]
    slots = room.slots(kinds)
    full = np.array([node in set(hosting) for node in room.nodes], dtype=bool)
    missing = placed - int(slots[full].sum())
    if missing <= 0:
        return 0
    offered = sorted((int(count) for count in slots[~full]), reverse=True)
    return next((k for k, total in enumerate(accumulate(offered), start=1) if total >= missing), len(offered))


COUNTED: dict[str, Callable[[Case, int | None], Value]] = {
    "jobs_admitted": jobs_admitted,
    "tasks_bound": tasks_bound,
    "tasks_placed": tasks_placed,
    "resources_placed": resources_placed,
    "queue_deficit_max": queue_deficit_max,
    "queue_deficit_total": queue_deficit_total,
    "nodes_used": nodes_used,
}
