"""From counts to named tasks: ties are broken by name, so that equal counts give equal decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from heapq import heapify, heapreplace
from itertools import cycle, islice

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import Classes
from cpsched.optimum.model.counts import ClassCounts
from cpsched.optimum.model.variables import Variables
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from cpsched.snapshot.rights import Action
from cpsched.solution import Eviction

Places = dict[str, str]


def decode(snapshot: Snapshot, classes: Classes, totals: ClassCounts) -> Decision:
    """The decision of these counts; ties go by name, so equal counts give equal decisions."""
    served_by_class = [ready + waiting for ready, waiting in zip(totals.ready, totals.pipelined, strict=True)]
    served = {job for jobs in classes.jobs for job in jobs.jobs[: served_by_class[jobs.index]]}
    waiting = _waiting(snapshot, classes, served)
    counts = (
        ("bind", totals.bind, totals.bind_by_job),
        ("reserve", totals.reserve, totals.reserve_by_job),
    )
    slots: dict[tuple[str, int], list[str]] = {}
    for kind, places, _ in counts:
        for one in classes.tasks:
            free = slots[kind, one.index] = []
            for node in reversed(one.nodes):
                if count := places.get((one.index, node)):
                    free += [node] * count
    found: dict[str, Places] = {"bind": {}, "reserve": {}}
    entered: set[str] = set()
    class_of: dict[str, int] = {}
    for jobs in classes.jobs:
        most = served_by_class[jobs.index]
        if jobs.representative.is_pending:
            entered |= set(jobs.jobs[:most])
        starts = totals.ready[jobs.index] if snapshot.policy.requires_gangs else most
        for index, size in jobs.counts.items():
            binds, reserves = (of.get((jobs.index, index), 0) for _, _, of in counts)
            for kind, position in _deal(binds, reserves, starts, most, size):
                key = waiting[index][jobs.jobs[position]].pop()
                found[kind][key] = slots[kind, index].pop()
                class_of[key] = index
    placed = {**found["bind"], **found["reserve"]}
    evictions = _evictions(snapshot, classes, totals, placed, class_of)
    return _for_entitled(Decision(snapshot, found["bind"], found["reserve"], evictions, frozenset(entered)))


def _waiting(snapshot: Snapshot, classes: Classes, served: set[str]) -> list[dict[str, list[str]]]:
    """Per class and job that receives something its tasks, the first to go last."""
    found: list[dict[str, list[str]]] = []
    job_of = snapshot.job_by_task
    for one in classes.tasks:
        waiting: dict[str, list[str]] = {}
        for task in reversed(one.tasks):
            if (job := job_of[task.key].key) in served:
                waiting.setdefault(job, []).append(task.key)
        found.append(waiting)
    return found


def _deal(binds: int, reserves: int, ready: int, served: int, size: int) -> Iterator[tuple[str, int]]:
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
    snapshot: Snapshot, classes: Classes, totals: ClassCounts, placed: Places, class_of: dict[str, int]
) -> tuple[Eviction, ...]:
    gone: list[tuple[str, str, Action, str]] = []
    everywhere = snapshot.policy.rules.eviction_scope == "cluster"
    first: dict[tuple[int, str], str] = {}
    for key, node in placed.items():
        place = (class_of[key], "" if everywhere else node)
        first[place] = min(key, first.get(place, key))
    for group in classes.victims:
        left = iter(group.tasks)
        for action in sorted(group.rights):
            count = totals.evict.get((group.index, action), 0)
            if not count:
                continue
            places = ((index, "" if everywhere else group.node) for index in group.rights[action])
            entitled = min((first[place] for place in places if place in first), default=None)
            job = "" if entitled is None else snapshot.job_key(snapshot.instance.tasks[entitled])
            gone += [(victim.key, group.node, action, job) for victim in islice(left, count)]
    return tuple([Eviction(task=key, node=node, action=action, for_job=job) for key, node, action, job in sorted(gone)])


def _for_entitled(decision: Decision) -> Decision:
    """Every victim goes for a job that may evict it now that all is placed: of two, one may lack the claim."""
    job_of, by_victim = decision.snapshot.job_by_task, decision.rights.by_victim
    jobs: dict[int, dict[str, str]] = {}
    changed: dict[str, Eviction] = {}
    for item in decision.evictions:
        pairs = by_victim[item.task]
        if id(pairs) not in jobs:
            jobs[id(pairs)] = {job_of[task.key].key: task.key for task, _ in pairs}
        entitled = jobs[id(pairs)]
        if entitled and item.for_job not in entitled:
            first = min(entitled, key=lambda job: entitled[job])
            changed[item.task] = item.model_copy(update={"for_job": first})
    if not changed:
        return decision
    return replace(decision, evictions=tuple([changed.get(item.task, item) for item in decision.evictions]))


def encode(v: Variables, decision: Decision) -> dict[cp_model.IntVar, int]:
    """The other way round: the counts that a decision stands for."""
    class_of = {task.key: one.index for one in v.classes.tasks for task in one.tasks}
    counts: dict[cp_model.IntVar, int] = {}
    for places, found in ((v.bind, decision.binds), (v.reserve, decision.reserves)):
        totals = Counter((class_of[key], node) for key, node in found.items() if key in class_of)
        counts |= {variable: totals[place] for place, variable in places.items()}
    actions = {item.task: item.action or decision.rights.protection(item.task) for item in decision.evictions}
    for group in v.classes.victims:
        for action in group.rights:
            counts[v.evict[group.index, action]] = sum(actions.get(task.key) == action for task in group.tasks)
    return counts
