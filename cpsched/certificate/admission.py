"""How many jobs of a priority can be admitted at most: by counting jobs, tasks and resources, never by searching."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from cpsched.certificate.case import Case
from cpsched.certificate.room import Room, could_be_served, least_demand
from cpsched.certificate.waiting import Waiting
from cpsched.shares import Exact


def most_admitted(case: Case, room: Room, priority: int) -> int:
    """No decision admits more jobs of this priority, given how many of the higher ones it admits."""
    able = {
        p: [one for one in jobs if could_be_served(room, one)]
        for p, jobs in case.session.tiers.items()
        if p == priority or (p > priority and case.admitted.get(p, 0) > 0)
    }
    settled = {p: count for p, count in case.admitted.items() if p > priority and p in able}
    mine = able.get(priority, [])
    if not mine:
        return 0
    bounds = [len(mine), _by_tasks(room, able, settled, mine), _by_queue(case, room, able, settled, mine)]
    for resource in _asked(mine):
        taken = sum(
            sum(sorted(least_demand(room, one, resource) for one in able[p])[:count]) for p, count in settled.items()
        )
        bounds.append(how_many((least_demand(room, one, resource) for one in mine), room.total(resource) - taken))
    return min(bounds)


def is_reachable(case: Case, room: Room) -> bool:
    """Whether counting leaves it possible that as many jobs are admitted as the earlier levels say."""
    return all(most_admitted(case, room, priority) >= count for priority, count in case.admitted.items() if count)


def _by_tasks(room: Room, able: dict[int, list[Waiting]], settled: dict[int, int], mine: list[Waiting]) -> int:
    kinds = [kind for jobs in able.values() for one in jobs for kind in one.kinds if not kind.sample.best_effort]
    taken = sum(sum(sorted(map(_tasks_needed, able[p]))[:count]) for p, count in settled.items())
    return how_many(map(_tasks_needed, mine), room.most(kinds) - taken)


def _tasks_needed(one: Waiting) -> int:
    """Tasks that ask for something and are placed if the job is admitted."""
    if one.whole and one.need:
        return max(one.need, sum(one.need_by_role.values()))
    return int(not any(kind.sample.best_effort for kind in one.kinds))


def _by_queue(
    case: Case, room: Room, able: dict[int, list[Waiting]], settled: dict[int, int], mine: list[Waiting]
) -> int:
    """Every queue admits within its own limit."""
    if not case.snapshot.policy.limits_queues:
        return len(mine)
    total = 0
    for queue in {one.job.queue for one in mine}:
        own = [one for one in mine if one.job.queue == queue]
        bounds = [len(own)]
        for resource in _asked(own):
            left = queue_room(case, room, queue, resource)
            if left is None:
                continue
            for p, count in settled.items():
                inside = sorted(least_demand(room, one, resource) for one in able[p] if one.job.queue == queue)
                outside = len(able[p]) - len(inside)
                left -= sum(inside[: max(0, count - outside)])
            bounds.append(how_many((least_demand(room, one, resource) for one in own), left))
        total += min(bounds)
    return total


def queue_room(case: Case, room: Room, queue: str | None, resource: str) -> Exact | None:
    """How much more of a resource a queue may hold, once all its possible victims have gone; None is no limit."""
    share = None if queue is None else case.snapshot.shares.get(queue)
    if share is None or resource == "pods" or not case.snapshot.policy.limits_queues:
        return None
    by_deserved = case.snapshot.policy.share_plugin == "proportion"
    limit = share.deserved if by_deserved else share.real_capability
    freed = room.freed.get(queue or "", {}).get(resource, 0)
    return limit.get(resource, 0) - share.allocated.get(resource, 0) + freed


def _asked(jobs: Iterable[Waiting]) -> list[str]:
    return sorted({name for one in jobs for kind in one.kinds for name in kind.sample.requests})


def how_many(amounts: Iterable[float], room: Exact) -> int:
    """How many of them fit together at most; what asks for nothing always fits."""
    found: Sequence[float] = sorted(amounts)
    return sum(total <= room or total <= 0 for total in accumulate(found))
