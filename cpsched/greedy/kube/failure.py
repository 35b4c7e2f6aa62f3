"""What follows when a pod fits nowhere; mirrors `schedule_one.go` (the PostFilter step, handleSchedulingFailure)."""

from __future__ import annotations

from dataclasses import dataclass, field

from cpsched.filters import PreFiltered
from cpsched.filters.dynamic_resources import NAME as DYNAMIC_RESOURCES
from cpsched.filters.status import Code
from cpsched.greedy.kube.cycle import NodeSearch
from cpsched.greedy.kube.dry_run import DryRun
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.preemption import Preempted, act, preempt
from cpsched.greedy.kube.recording import candidate, record_preemption
from cpsched.greedy.kube.report import Attempt
from cpsched.greedy.kube.statuses import NO_NODES, fit_message
from cpsched.greedy.kube.world import World
from cpsched.instance import Task

NO_CLAIMS = "no new claims to deallocate"
STILL_NOT = "still not schedulable"
NOT_FOUND = "not found"
UNSCHEDULABLE, SCHEDULER_ERROR = "Unschedulable", "SchedulerError"


@dataclass
class PostFiltered:
    """The PostFilter plugins' joint answer; `nominate` as in `Preempted`."""

    messages: list[str] = field(default_factory=list)
    nominate: str | None = None
    preempted: Preempted | None = None


def fail(world: World, framework: Framework, task: Task, found: NodeSearch, attempt: Attempt) -> list[Task]:
    """Preempt if that helps, and write down why the pod waits; returns the evicted."""
    dry = DryRun(world, framework, task, found.pre, world.budgets)
    if world.options.record and framework.profile.preempts:
        record_preemption(dry, found.statuses, attempt)
    answer = _post_filter(dry, found)
    attempt.post_filter_message = ", ".join(answer.messages)
    nodes = len(world.snapshot.nodes)
    attempt.pre_filter_message = found.pre_filter_message
    attempt.message = fit_message(nodes, found.statuses, found.pre_filter_message, attempt.post_filter_message)
    attempt.failed = found.statuses.of(world.snapshot.names)
    attempt.reason, attempt.requeue = UNSCHEDULABLE, "unschedulable"
    attempt.rejectors = tuple(sorted(found.rejectors))
    evicted = _carry_out(world, task, answer.preempted, attempt)
    nominate = answer.nominate if framework.profile.post_filters else ""
    _nominate(world, task, nominate, attempt)
    return evicted


def give_up(world: World, task: Task, message: str, attempt: Attempt) -> None:
    """An error: the nomination goes, the pod comes back after its back-off."""
    attempt.result, attempt.message = "error", message
    attempt.reason, attempt.requeue = SCHEDULER_ERROR, "backoff"
    _nominate(world, task, "", attempt)


def no_nodes(world: World, task: Task, attempt: Attempt) -> None:
    """A cluster without nodes: refused without preemption."""
    attempt.message, attempt.reason, attempt.requeue = NO_NODES, UNSCHEDULABLE, "unschedulable"
    _nominate(world, task, "", attempt)


def _post_filter(dry: DryRun, found: NodeSearch) -> PostFiltered:
    """The plugins in order: success ends it, an error too, a refusal is remembered."""
    answer = PostFiltered()
    for name in dry.framework.profile.post_filters:
        if name == DYNAMIC_RESOURCES:
            message = _deallocate(dry.pre)
            if message == NOT_FOUND:
                return PostFiltered([message])
            answer.messages.append(message)
            continue
        outcome = preempt(dry, found.statuses)
        message = f"preemption: {outcome.message}" if outcome.message else ""
        answer.preempted = outcome
        if outcome.code is not Code.UNSCHEDULABLE:
            nominate = outcome.nominate if outcome.code is Code.SUCCESS else None
            return PostFiltered([message] if message else [], nominate, outcome)
        answer.messages.append(message)
        if outcome.nominate is not None:
            answer.nominate = outcome.nominate
    return answer


def _deallocate(pre: PreFiltered) -> str:
    """What DynamicResources says after a failed attempt; that it frees the pod's own unusable claim is left out.

    If an earlier PreFilter refused the pod, its own never ran: it misses its state, which counts as an error.
    """
    if DYNAMIC_RESOURCES in pre.skipped or pre.status.plugin == DYNAMIC_RESOURCES:
        return NO_CLAIMS
    return STILL_NOT if DYNAMIC_RESOURCES in pre.states else NOT_FOUND


def _carry_out(world: World, task: Task, outcome: Preempted | None, attempt: Attempt) -> list[Task]:
    if outcome is None or outcome.victims is None or not outcome.nominate:
        return []
    attempt.nominated = outcome.nominate
    attempt.chosen = candidate(world, outcome.nominate, outcome.victims)
    evicted, cleared = act(world, task, task.pod_priority, outcome.nominate, outcome.victims)
    attempt.victims = tuple(sorted(victim.key for victim in evicted))
    attempt.cleared_nominations = tuple(sorted(cleared))
    return evicted


def _nominate(world: World, task: Task, node: str | None, attempt: Attempt) -> None:
    """Set, clear or keep the pod's own nomination, in its status and in the nominator."""
    attempt.nominating = "keep" if node is None else "set" if node else "clear"
    if node is None:
        node = world.nominated.get(task.key, "")
    world.nominator.drop(task.key)
    if node:
        world.nominator.put(task, node)
        world.nominated[task.key] = node
    else:
        world.nominated.pop(task.key, None)
