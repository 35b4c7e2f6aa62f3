"""From counts to named tasks: ties are broken by name, so that equal counts give equal decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from heapq import heapify, heapreplace
from itertools import cycle, islice

from ortools.sat.python import cp_model

from cpsched.check import Decision
from cpsched.optimum.variables import Expr, Variables
from cpsched.snapshot.rights import Action
from cpsched.solution import Eviction

Places = dict[str, str]


def extract(v: Variables, value: Callable[[Expr], int]) -> tuple[Places, Places, tuple[Eviction, ...], frozenset[str]]:
    """Binds, reserves, evictions and the jobs that enter, of one assignment of the variables."""
    served_by_class = [value(v.served(jobs)) for jobs in v.classes.jobs]
    waiting = _waiting(v, {job for jobs in v.classes.jobs for job in jobs.jobs[: served_by_class[jobs.index]]})
    slots: dict[tuple[str, int], list[str]] = {}
    for kind, places in (("bind", v.bind), ("reserve", v.reserve)):
        for one in v.classes.tasks:
            free: list[str] = []
            for node in reversed(one.nodes):
                if (one.index, node) in places:
                    free += [node] * value(places[one.index, node])
            slots[kind, one.index] = free
    found: dict[str, Places] = {"bind": {}, "reserve": {}}
    entered: set[str] = set()
    class_of: dict[str, int] = {}
    for jobs in v.classes.jobs:
        ready, served = value(v.ready[jobs.index]), served_by_class[jobs.index]
        if jobs.sample.is_pending:
            entered |= set(jobs.jobs[:served])
        starts = ready if v.snapshot.policy.requires_gangs else served
        for index, size in jobs.counts.items():
            count = {
                kind: value(of[jobs.index, index]) if (jobs.index, index) in of else 0
                for kind, of in (("bind", v.bound_of), ("reserve", v.reserved_of))
            }
            for kind, position in _dealt(count["bind"], count["reserve"], starts, served, size):
                key = waiting[index][jobs.jobs[position]].pop()
                found[kind][key] = slots[kind, index].pop()
                class_of[key] = index
    binds, reserves = found["bind"], found["reserve"]
    return binds, reserves, _evictions(v, value, {**binds, **reserves}, class_of), frozenset(entered)


def _waiting(v: Variables, served: set[str]) -> list[dict[str, list[str]]]:
    """Per class and job that receives something its tasks, the first to go last."""
    found: list[dict[str, list[str]]] = []
    job_of = v.snapshot.job_by_task
    for one in v.classes.tasks:
        waiting: dict[str, list[str]] = {}
        for task in reversed(one.tasks):
            if (job := job_of[task.key].key) in served:
                waiting.setdefault(job, []).append(task.key)
        found.append(waiting)
    return found


def _dealt(binds: int, reserves: int, ready: int, served: int, size: int) -> Iterator[tuple[str, int]]:
    """Hand out evenly: what starts to the jobs that are ready, reserves to those that wait first."""
    hands = [0] * served
    first = min(reserves, size * (served - ready))
    for kind, total, wanted in (("bind", binds, range(ready)), ("reserve", first, range(ready, served))):
        for position in islice(cycle(wanted), total):
            hands[position] += 1
            yield kind, position
    if first < reserves:
        heap = [(count, position) for position, count in enumerate(hands)]
        heapify(heap)
        for _ in range(first, reserves):
            count, position = heap[0]
            heapreplace(heap, (count + 1, position))
            yield "reserve", position


def _evictions(
    v: Variables, value: Callable[[Expr], int], placed: Places, class_of: dict[str, int]
) -> tuple[Eviction, ...]:
    gone: list[tuple[str, str, Action, str]] = []
    everywhere = v.snapshot.policy.rules.eviction_scope == "cluster"
    first: dict[tuple[int, str], str] = {}
    for key, node in placed.items():
        place = (class_of[key], "" if everywhere else node)
        first[place] = min(key, first.get(place, key))
    for group in v.classes.victims:
        left = iter(group.tasks)
        for action in sorted(group.rights):
            places = ((index, "" if everywhere else group.node) for index in group.rights[action])
            entitled = min((first[place] for place in places if place in first), default=None)
            job = "" if entitled is None else v.snapshot.job_key(v.snapshot.instance.tasks[entitled])
            for victim in islice(left, value(v.evict[group.index, action])):
                gone.append((victim.key, group.node, action, job))
    return tuple([Eviction(task=key, node=node, action=action, for_job=job) for key, node, action, job in sorted(gone)])


def counts_of(v: Variables, decision: Decision) -> dict[cp_model.IntVar, int]:
    """The other way round: the counts that a decision stands for."""
    class_of = {task.key: one.index for one in v.classes.tasks for task in one.tasks}
    counts: dict[cp_model.IntVar, int] = {}
    for places, found in ((v.bind, decision.binds), (v.reserve, decision.reserves)):
        totals = Counter((class_of[key], node) for key, node in found.items() if key in class_of)
        counts |= {variable: totals[place] for place, variable in places.items()}
    actions = {item.task: item.action or decision.rights.action(item.task) for item in decision.evictions}
    for group in v.classes.victims:
        for action in group.rights:
            counts[v.evict[group.index, action]] = sum(actions.get(task.key) == action for task in group.tasks)
    return counts
