"""How many victims, and how important ones, the jobs that are admitted cost at least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from cpsched.certificate.admission import is_reachable
from cpsched.certificate.case import Case
from cpsched.certificate.room import Room, could_be_served, least_demand
from cpsched.certificate.waiting import Waiting
from cpsched.instance import Task
from cpsched.objectives import PRIORITY_OFFSET
from cpsched.policy.levels import Value


def least_top_priority(case: Case, priority: int | None) -> Value:
    """The lowest priority such that victims up to it suffice by count; None if no victim is needed."""
    counted = {task.key: task.pod_priority for task in _counted(case, priority)}
    for limit in [None, *sorted(set(counted.values()))]:
        if is_reachable(case, _room(case, counted, limit)):
            return limit
    return max(counted.values(), default=None)


def least_sum(case: Case, priority: int | None) -> int:
    """The smallest sum over the least number of victims; the most important one is settled before."""
    number = least_number(case, priority)
    weights = sorted(task.pod_priority + PRIORITY_OFFSET for task in _counted(case, priority))
    top = case.given.get(("victim_max_priority", priority))
    if top is not None and number:
        return top + PRIORITY_OFFSET + sum(weights[: number - 1])
    return sum(weights[:number])


def least_number(case: Case, priority: int | None) -> int:
    """How many victims free the room that is missing, if each frees as much as the largest."""
    counted = _counted(case, priority)
    without = _room(case, {task.key: task.pod_priority for task in counted}, None)
    if is_reachable(case, without):
        return int(case.given.get(("victim_max_priority", priority)) is not None)
    most = case.room
    per_tier = [_nth(case, without, most, p, count, counted) for p, count in case.admitted.items() if count]
    return max([1, *per_tier, *_by_resources(case, without, most, counted)])


def _nth(case: Case, without: Room, most: Room, priority: int, count: int, counted: Sequence[Task]) -> int:
    """Of so many admitted jobs the most costly one costs at least what the count-th cheapest does."""
    jobs = [one for one in case.session.tiers.get(priority, []) if could_be_served(most, one)]
    costs = sorted(_of_job(one, without, most, counted) for one in jobs)
    return costs[count - 1] if count <= len(costs) else 0


def _of_job(one: Waiting, without: Room, most: Room, counted: Sequence[Task]) -> int:
    """Victims that one job needs for itself: for tasks it has no place for, each victim makes place for so many."""
    asking = [kind for kind in one.kinds if not kind.sample.best_effort and most.most_of(kind)]
    if not (one.whole and one.need and asking) and any(kind.sample.best_effort for kind in one.kinds):
        return 0
    if not asking:
        return 0
    smallest = {
        name: least
        for name in asking[0].sample.requests
        if (least := min(kind.sample.requests.get(name, 0) for kind in asking)) > 0
    }
    missing = (one.need if one.whole and one.need else 1) - without.most_of_size(asking, smallest)
    if missing <= 0:
        return 0
    shapes = Counter(tuple(victim.requests.get(name, 0) for name in smallest) for victim in counted)
    gains = [gain for shape, n in shapes.items() for gain in [_gain(shape, smallest.values())] * n]
    return _fewest(sorted(gains, reverse=True), missing)


def _gain(freed: Iterable[int], asked: Iterable[int]) -> int:
    """How many more tasks fit once a victim is gone, at most: the resource in which it frees most decides."""
    return max((-(-amount // least) for amount, least in zip(freed, asked, strict=True)), default=0)


def _by_resources(case: Case, without: Room, most: Room, counted: Sequence[Task]) -> list[int]:
    found = []
    for resource in without.resources:
        wanted = 0
        for priority, count in case.admitted.items():
            jobs = [one for one in case.session.tiers.get(priority, []) if could_be_served(most, one)]
            wanted += sum(sorted(least_demand(most, one, resource) for one in jobs)[:count])
        sizes = sorted((victim.requests.get(resource, 0) for victim in counted), reverse=True)
        found.append(_fewest(sizes, wanted - without.total(resource)))
    return found


def _fewest(gains: Sequence[int], missing: int) -> int:
    if missing <= 0:
        return 0
    enough = (number for number, total in enumerate(accumulate(gains), start=1) if total >= missing)
    return next(enough, 0)


def _counted(case: Case, priority: int | None) -> list[Task]:
    return [task for task in case.candidates if case.victims.is_counted(task, priority)]


def _room(case: Case, counted: dict[str, int], limit: int | None) -> Room:
    """The room if of the counted victims only those up to the limit may go."""

    def may_go(victim: Task) -> bool:
        if victim.key not in counted:
            return case.may_go(victim)
        return limit is not None and counted[victim.key] <= limit

    return case.session.room(may_go)


NEEDED: dict[str, Callable[[Case, int | None], Value]] = {
    "victim_max_priority": least_top_priority,
    "victim_priority_sum": least_sum,
    "victim_count": least_number,
}
