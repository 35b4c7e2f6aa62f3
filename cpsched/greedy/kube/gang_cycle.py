"""One attempt of a whole pod group, written down pod by pod; mirrors `schedule_one_podgroup.go` in its main steps."""

from __future__ import annotations

from cpsched.filters.status import Code, Status
from cpsched.greedy.kube.cycle import NodeSearch
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.gang import Gang, PlacedMember, place_gang, preempt_for_gang, take_off
from cpsched.greedy.kube.groups import Groups, pod_group_key
from cpsched.greedy.kube.podgroups import GroupVictims
from cpsched.greedy.kube.preemption import act
from cpsched.greedy.kube.report import Attempt, Run
from cpsched.greedy.kube.statuses import fit_message
from cpsched.greedy.kube.victims import Victims
from cpsched.greedy.kube.world import World
from cpsched.instance import Instance, Task

INCOMPLETE = "its pod group cannot be scheduled as a whole"


def entries(queue: list[Task], groups: Groups | None, instance: Instance) -> list[Task | Gang]:
    """The queue with the pods of a group as one entry, at the place of its first pod."""
    if groups is None:
        return list(queue)
    found: list[Task | Gang] = []
    seen: set[str] = set()
    for task in queue:
        name = task.pod.spec.scheduling_group.pod_group_name
        key = f"{task.namespace}/{name}"
        group = groups.groups.get(pod_group_key(task.namespace, name)) if name else None
        if group is None:
            found.append(task)
        elif key not in seen:
            seen.add(key)
            members = tuple(t for t in queue if f"{t.namespace}/{t.pod.spec.scheduling_group.pod_group_name}" == key)
            policy = instance.workload_groups[key].spec.scheduling_policy.gang
            found.append(Gang(key, members, 1 if policy is None else policy.min_count, group.priority))
    return found


def attempt_gang(world: World, framework: Framework, gang: Gang, run: Run) -> list[Attempt]:
    """Bind the group, or make room for it."""
    placed, failed = place_gang(world, framework, gang)
    if len(placed) >= gang.at_least:
        return _bound(world, gang, placed, failed, run)
    take_off(world, placed)
    answer = preempt_for_gang(world, framework, gang)
    nodes: dict[str, str] = {}
    evicted: list[Task] = []
    cleared: list[str] = []
    if isinstance(answer, GroupVictims):
        nodes = {task.key: node for task, node in answer.placements}
        for node in dict.fromkeys(nodes.values()):
            here = tuple(t for t in answer.victims.tasks if world.snapshot.cluster.node_by_task[t.key] == node)
            gone, lost = act(world, gang.tasks[0], gang.priority, node, Victims(here, 0))
            evicted, cleared = evicted + gone, cleared + lost
        away = tuple(
            t for t in answer.victims.tasks if world.snapshot.cluster.node_by_task[t.key] not in nodes.values()
        )
        evicted += act(world, gang.tasks[0], gang.priority, "", Victims(away, 0))[0]
        run.evictions += [(t.key, world.snapshot.cluster.node_by_task[t.key], gang.key) for t in evicted]
    return [_waiting(world, task, failed.get(task.key), answer, nodes, evicted, cleared) for task in gang.tasks]


def _bound(
    world: World, gang: Gang, placed: list[PlacedMember], failed: dict[str, NodeSearch], run: Run
) -> list[Attempt]:
    nodes = {one.task.key: one.node for one in placed}
    attempts = []
    for task in gang.tasks:
        world.nominator.drop(task.key)
        world.nominated.pop(task.key, None)
        attempt = Attempt(task.key)
        if task.key in nodes:
            attempt.result, attempt.node, attempt.via = "bound", nodes[task.key], "score"
            run.binds[task.key] = attempt.node
        else:
            attempt.message = fit_message(len(world.snapshot.nodes), failed[task.key].statuses)
            attempt.reason, attempt.requeue, attempt.nominating = "Unschedulable", "unschedulable", "clear"
        attempts.append(attempt)
    return attempts


def _waiting(
    world: World,
    task: Task,
    found: NodeSearch | None,
    answer: GroupVictims | Status,
    nodes: dict[str, str],
    evicted: list[Task],
    cleared: list[str],
) -> Attempt:
    attempt = Attempt(task.key, reason="Unschedulable", requeue="unschedulable")
    keeps = isinstance(answer, Status) and answer.code is Code.SUCCESS
    reasons = answer.reasons if isinstance(answer, Status) else ()
    attempt.post_filter_message = f"pod group preemption: {', '.join(reasons)}" if reasons else ""
    if found is not None:
        total = len(world.snapshot.nodes)
        attempt.message = fit_message(total, found.statuses, found.pre_filter_message, attempt.post_filter_message)
    else:
        attempt.message = " ".join(filter(None, (f"{INCOMPLETE}.", attempt.post_filter_message)))
    attempt.nominated = nodes.get(task.key, "")
    attempt.nominating = "keep" if keeps else "set" if attempt.nominated else "clear"
    if not keeps:
        world.nominator.drop(task.key)
        world.nominated.pop(task.key, None)
    if attempt.nominated:
        world.nominator.put(task, attempt.nominated)
        world.nominated[task.key] = attempt.nominated
        attempt.victims = tuple(sorted(victim.key for victim in evicted))
        attempt.cleared_nominations = tuple(sorted(cleared))
    return attempt
