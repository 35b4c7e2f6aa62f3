"""Victim classes: which running tasks are interchangeable as victims, and which task classes may evict them.

A victim's job is part of the key only where a rule or a level reads it: running tasks of many small jobs are then one
class instead of one per job. So is when it started; a level that reads only the earliest start of the victims, and
prefers a late one, finds the tasks of a class in that order. Tasks that the rules never let go are in no class.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import partial
from operator import attrgetter

from cpsched.instance import HOLDS_ROOM, Task
from cpsched.optimum.model.classes import TaskClass, VictimClass
from cpsched.optimum.model.features import FeatureIds
from cpsched.optimum.model.level_traits import LEVEL_TRAITS, Reads, reads_of_rules
from cpsched.policy.policy import GANG_ACTIONS, VICTIM_ACTIONS
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.gang_rights import keeps_gang
from cpsched.snapshot.rights import Action, is_above_share_now

ACTIONS: tuple[Action, ...] = VICTIM_ACTIONS


def victim_classes(
    snapshot: Snapshot, tasks: tuple[TaskClass, ...], *, presolve: bool = True
) -> tuple[VictimClass, ...]:
    """Per node the running tasks that some task class may evict, those together that are interchangeable.

    Without `presolve` those that no rule lets go are kept, and start times tell tasks apart.
    """
    reads = reads_of(snapshot) | reads_of_rules() if presolve else reads_of(snapshot) | {Reads.VICTIM_START}
    everywhere = snapshot.policy.rules.eviction_scope == "cluster"
    on = [frozenset(one.nodes) for one in tasks]
    rights_by_shape: dict[tuple[int, tuple[int, ...]], dict[Action, tuple[int, ...]]] = {}
    known: dict[Hashable, dict[Action, tuple[int, ...]]] = {}
    found: list[VictimClass] = []
    for node, by_shape in _by_node_and_shape(snapshot, reads):
        near = tuple([c.index for c in tasks if everywhere or node in on[c.index]])
        for shape, group in by_shape.items():
            group.sort(key=partial(latest_first, snapshot) if Reads.EARLIEST_START in reads else attrgetter("key"))
            if (shape, near) not in rights_by_shape:
                actions = _actions(snapshot, group[0])
                if presolve:
                    actions = tuple([action for action in actions if _most(snapshot, group[0], [action]) != 0])
                equal = (snapshot.rights.victim_kind(group[0]), actions, near)
                if equal not in known:
                    known[equal] = _rights(snapshot, [tasks[index] for index in near], group[0], actions)
                    known[equal] |= _gang_rights(snapshot, tasks, group[0], actions)
                rights_by_shape[shape, near] = known[equal]
            rights = rights_by_shape[shape, near]
            if rights:
                job = snapshot.job_by_task[group[0].key]
                merged = may_lose_all_tasks(snapshot, job, reads)
                most = _most(snapshot, group[0], rights) if presolve and not merged else None
                most = len(group) if most is None else min(most, len(group))
                found.append(VictimClass(len(found), node, job.key, tuple(group), rights, merged, shape, most))
    return tuple(found)


def _by_node_and_shape(snapshot: Snapshot, reads: frozenset[Reads]) -> Iterator[tuple[str, dict[int, list[Task]]]]:
    """Per node the tasks that hold capacity there, by shape; shapes are the same on all nodes."""
    disrupted = frozenset(name for budget in snapshot.instance.budgets for name in budget.status.disrupted_pods)
    shapes: dict[Hashable, int] = {}
    equal: dict[int, int] = {}
    features, identical_of, job_of = FeatureIds(), snapshot.identities, snapshot.job_by_task
    for node in snapshot.instance.nodes:
        found: dict[int, list[Task]] = {}
        for victim in snapshot.instance.tasks_by_node[node]:
            owner = job_of.get(victim.key) if victim.status in HOLDS_ROOM else None
            if owner is None:
                continue
            shape = equal.get(identical_of[victim.key])
            if shape is None:
                key = _victim_features(snapshot, owner, victim, disrupted, features, reads)
                shape = shapes.setdefault(key, len(shapes))
                # Where budgets name pods, or a job of one task keeps its minimum, identical tasks are distinguished.
                if not disrupted and (len(owner.tasks) > 1 or may_lose_all_tasks(snapshot, owner, reads)):
                    equal[identical_of[victim.key]] = shape
            if shape in found:
                found[shape].append(victim)
            else:
                found[shape] = [victim]
        yield node, found


def latest_first(snapshot: Snapshot, task: Task) -> tuple[int, str]:
    """Sorts tasks by their start, the latest first; equal ones by name."""
    return -started(snapshot, task), task.key


def started(snapshot: Snapshot, task: Task) -> int:
    """When the task started; one that did not start yet counts as started now."""
    start = task.pod_status.start_time
    return snapshot.now if start is None else start


def _most(snapshot: Snapshot, victim: Task, actions: Iterable[Action]) -> int | None:
    """How many tasks the victim's job can lose if one goes by any of these actions; None for no limit.

    Where `protect.gang` says `keep`, what is left of the job together with what starts is its minimum, and no more can
    start than is pending. With 0 no decision evicts the victim, so it needs no variable (exact).
    """
    job = snapshot.job_by_task[victim.key]
    if not all(keeps_gang(snapshot.policy, job, action) for action in actions):
        return None
    return max(0, job.ready + len(job.pending) - job.min_available)


def _actions(snapshot: Snapshot, victim: Task) -> tuple[Action, ...]:
    """By which actions the victim could be evicted at all, whichever task it is for."""
    policy, critical, cools_down = snapshot.policy, victim.pod.is_critical, snapshot.cools_down(victim)
    allowed = [action for action in ACTIONS if not (critical and policy.conformance_protects(action))]
    if cools_down:
        allowed = [action for action in allowed if not policy.cooldown_protects(action)]
    asks = policy.asks_shares
    return tuple([action for action in allowed if not asks(action) or is_above_share_now(snapshot, victim)])


def _rights(
    snapshot: Snapshot, near: Iterable[TaskClass], victim: Task, actions: tuple[Action, ...]
) -> dict[Action, tuple[int, ...]]:
    by_action: dict[Action, list[int]] = {}
    for one in near if actions else ():
        for action in snapshot.rights.actions(one.representative, victim):
            if action in actions:
                by_action.setdefault(action, []).append(one.index)
    return {action: tuple(indices) for action, indices in by_action.items()}


def _gang_rights(
    snapshot: Snapshot, tasks: Iterable[TaskClass], victim: Task, actions: tuple[Action, ...]
) -> dict[Action, tuple[int, ...]]:
    """The same for the actions that evict for a job, wherever its tasks are."""
    found: dict[Action, tuple[int, ...]] = {}
    for action in GANG_ACTIONS & frozenset(actions):
        may_evict = partial(snapshot.gang_rights.may_evict, victim=victim, action=action)
        if able := tuple([one.index for one in tasks if one.nodes and may_evict(one.representative)]):
            found[action] = able
    return found


def _victim_features(
    snapshot: Snapshot,
    owner: SessionJob,
    victim: Task,
    disrupted: frozenset[str],
    features: FeatureIds,
    reads: frozenset[Reads],
) -> Hashable:
    return (
        _victim_job_features(snapshot, owner, reads),
        victim.namespace,
        features.requests(victim.requests),
        features.interaction(victim.spec),
        victim.pod_status.start_time if Reads.VICTIM_START in reads else None,
        victim.priority,
        victim.role,
        victim.preemptable,
        frozenset(victim.labels.items()) if victim.labels else None,
        bool(disrupted) and victim.name in disrupted,
        snapshot.mark(victim),
        (victim.status, owner.is_willing) if snapshot.gang_rights.exist else None,
    )


def _victim_job_features(snapshot: Snapshot, job: SessionJob, reads: frozenset[Reads]) -> Hashable:
    """A victim's job, or only what rights and queues see of it where nothing else reads the job."""
    return (job.queue, job.priority) if may_lose_all_tasks(snapshot, job, reads) else job.key


def reads_of(snapshot: Snapshot) -> frozenset[Reads]:
    """What the levels of the policy read of a victim beyond what every key holds."""
    names = (name for level in snapshot.policy.levels for name in level.names)
    return frozenset[Reads]().union(*(LEVEL_TRAITS[name].reads for name in names))


def may_lose_all_tasks(snapshot: Snapshot, job: SessionJob, reads: frozenset[Reads]) -> bool:
    """Whether no rule and no level of the policy sees which job such a victim belongs to, however many are evicted.

    What levels see follows from LEVEL_TRAITS. A level that reads the job while classes merge jobs would be evaluated
    for one job and stated for another, and the search would end in a disagreement.
    """
    if job.pending or Reads.VICTIM_JOB in reads:
        return False
    policy = snapshot.policy
    # A gang that goes whole takes its tasks elsewhere along, so it matters whose tasks they are.
    along = any(policy.evicts(action) and policy.gang_protects(action) == "whole" for action in GANG_ACTIONS)
    plain = not job.min_by_role and job.sub_groups is None and not along
    if plain and job.ready - job.holding >= job.min_available:
        return True
    guarded = any(policy.evicts(action) and policy.gang_protects(action) != "off" for action in ACTIONS)
    return not guarded and Reads.VICTIM_JOB_MINIMUM not in reads
