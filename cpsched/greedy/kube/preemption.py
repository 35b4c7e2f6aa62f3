"""Room for a pod that fits nowhere; mirrors `preemption/preemption.go` (Preempt) and `executor.go`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cpsched.filters.status import Code, Status
from cpsched.greedy.kube.candidates import DryRuns, candidates_wanted, find_candidates, pick_one
from cpsched.greedy.kube.dry_run import DryRun
from cpsched.greedy.kube.extenders import ExtenderError
from cpsched.greedy.kube.statuses import NodeStatuses, fit_message
from cpsched.greedy.kube.victims import BY_SCHEDULER, DISRUPTED, Victims, terminating_by_preemption
from cpsched.greedy.kube.world import World
from cpsched.instance import Task
from cpsched.objects.base import Condition

NEVER = "not eligible due to preemptionPolicy=Never."
WAITING = "not eligible due to a terminating pod on the nominated node."
NOT_HELPFUL = Status(Code.UNRESOLVABLE, ("Preemption is not helpful for scheduling",))
NO_CANDIDATE = "no candidate node for preemption"
_GRACE = 30 * 10**9


@dataclass
class Preempted:
    """What PostFilter says: `nominate` is a node, "" to clear the nomination, None to leave it as it is."""

    code: Code
    message: str = ""
    nominate: str | None = None
    victims: Victims | None = None
    found: DryRuns = field(default_factory=DryRuns)


def ineligible(world: World, task: Task, statuses: NodeStatuses) -> str:
    """Why the pod may not preempt now, or nothing."""
    if task.never_preempts:
        return NEVER
    nominated = world.nominated.get(task.key, "")
    node = world.snapshot.cluster.nodes.get(nominated)
    if not nominated or node is None or statuses.get(nominated).code is Code.UNRESOLVABLE:
        return ""
    for other in node.tasks:
        priority = other.pod_priority if world.groups is None else world.groups.priority(other)
        if priority < task.pod_priority and terminating_by_preemption(other):
            return WAITING
    return ""


def preempt(dry: DryRun, statuses: NodeStatuses) -> Preempted:
    """Choose a node and its victims, without acting on it."""
    world, task = dry.world, dry.task
    if reason := ineligible(world, task, statuses):
        return Preempted(Code.UNSCHEDULABLE, reason)
    nodes = potential_nodes(dry, statuses)
    wanted = candidates_wanted(len(nodes), dry.framework.profile.args.default_preemption)
    # Where every node is looked at, it makes no difference where the search begins.
    offset = world.choices.pick(len(nodes)) if wanted < len(nodes) else 0
    found = find_candidates(dry, nodes, offset, wanted)
    if not found.victims:
        if found.errors:
            return Preempted(Code.ERROR, _aggregate(found.errors), found=found)
        found.statuses.absent = NOT_HELPFUL
        message = fit_message(len(world.snapshot.nodes), found.statuses)
        return Preempted(Code.UNSCHEDULABLE, message, "", found=found)
    try:
        remaining = call_extenders(world, task, found.victims)
    except ExtenderError as error:
        return Preempted(Code.ERROR, str(error), found=found)
    if not remaining:
        return Preempted(Code.UNSCHEDULABLE, NO_CANDIDATE, found=found)
    chosen = pick_one(remaining, choices=world.choices)
    victims = remaining[chosen]
    message = ""
    if world.version == "head":
        message = f"found a potential placement for pod on node {chosen}, preempting {len(victims.tasks)} victims"
    return Preempted(Code.SUCCESS, message, chosen, victims, found)


def potential_nodes(dry: DryRun, statuses: NodeStatuses) -> list[str]:
    """Nodes where an eviction might help: those whose status is exactly Unschedulable."""
    return statuses.with_code(dry.world.snapshot.names, Code.UNSCHEDULABLE)


def call_extenders(world: World, task: Task, victims: Mapping[str, Victims]) -> dict[str, Victims]:
    """Let extenders that preempt drop nodes and change victims; what one answers is what the next one sees."""
    remaining = dict(victims)
    for extender in world.extenders:
        if not remaining or not extender.conf.preempt_verb or not extender.is_interested(task):
            continue
        try:
            answer = extender.process_preemption(task, remaining, world.snapshot.cluster.nodes)
        except ExtenderError:
            if extender.conf.ignorable:
                continue
            raise
        empty = [name for name, one in answer.items() if not one.tasks]
        if empty and not extender.conf.ignorable:
            raise ExtenderError(f'expected at least one victim pod on node "{empty[0]}"')
        remaining = {name: one for name, one in answer.items() if one.tasks}
    return remaining


def act(world: World, task: Task, priority: int, node: str, victims: Victims) -> tuple[list[Task], list[str]]:
    """Evict the victims that are not going yet, clear lower nominations to the node; returns both.

    Asynchronous preemption with no task left to delete does nothing at all, and leaves lower nominations alone.
    """
    evicted = [victim for victim in victims.tasks if victim.pod.metadata.deletion_timestamp is None]
    if not evicted and world.options.async_preemption:
        return [], []
    cleared = [other.key for other in world.nominator.inferior(priority, node) if other.key != task.key]
    for key in cleared:
        world.nominator.drop(key)
        world.nominated.pop(key, None)
    for victim in evicted:
        world.snapshot.update(marked(victim, world.instance.now))
    return evicted, cleared


def marked(victim: Task, now: int | None) -> Task:
    """The victim as the API server shows it from now on: still on its node, but going."""
    pod = victim.pod
    seconds = pod.spec.termination_grace_period_seconds
    grace = _GRACE if seconds is None else seconds * 10**9
    going = pod.metadata.model_copy(update={"deletion_timestamp": (now or 0) + grace})
    fields = {"type": DISRUPTED, "status": "True", "reason": BY_SCHEDULER}
    others = tuple(condition for condition in pod.status.conditions if condition.type != DISRUPTED)
    status = pod.status.model_copy(update={"conditions": (*others, Condition.model_validate(fields))})
    return Task(victim.key, pod.model_copy(update={"metadata": going, "status": status}), victim.group)


def _aggregate(errors: list[str]) -> str:
    unique = list(dict.fromkeys(errors))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
