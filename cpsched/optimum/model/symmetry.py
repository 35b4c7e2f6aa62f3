"""Classes: tasks that differ in nothing but their name are one count, and so are running tasks that may be evicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from operator import attrgetter

from cpsched.instance import HOLDS_ROOM, Task
from cpsched.optimum.model.features import Said, sorted_items
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.enqueue import asked, decisive_limits, promise
from cpsched.snapshot.rights import Action, is_above_share_now

Counts = tuple[tuple[int, int], ...]
"""How many tasks of each class."""
ACTIONS: tuple[Action, ...] = ("preempt", "reclaim")


@dataclass(frozen=True)
class TaskClass:
    """Pending tasks that are interchangeable, possibly of several jobs."""

    index: int
    tasks: tuple[Task, ...]
    jobs: tuple[str, ...]
    nodes: tuple[str, ...]
    may_bind: bool
    may_reserve: bool

    @property
    def sample(self) -> Task:
        """Any one of them."""
        return self.tasks[0]


@dataclass(frozen=True)
class JobClass:
    """Jobs that are interchangeable: each has as many tasks of the same classes, and nothing else tells them apart."""

    index: int
    jobs: tuple[str, ...]
    sample: SessionJob
    counts: dict[int, int]
    """Per task class how many tasks one of the jobs has."""

    def __len__(self) -> int:
        return len(self.jobs)


@dataclass(frozen=True)
class VictimGroup:
    """Running tasks on one node that are interchangeable as victims; of one job, unless that makes no difference."""

    index: int
    node: str
    job: str
    tasks: tuple[Task, ...]
    rights: dict[Action, tuple[int, ...]]
    """Per action the task classes that may evict them, were they placed beside them."""
    whole_job: bool
    """Whether the job can lose them all without anybody minding; then they may be of several such jobs."""
    kind: int
    """The same for groups that only their node tells apart."""

    @property
    def sample(self) -> Task:
        """Any one of them."""
        return self.tasks[0]


@dataclass(frozen=True)
class Classes:
    """Everything that is counted, and the unit in which each resource is counted."""

    tasks: tuple[TaskClass, ...]
    jobs: tuple[JobClass, ...]
    victims: tuple[VictimGroup, ...]
    unit: dict[str, int]

    def amount(self, task: Task, resource: str) -> int:
        """A request in whole units of the resource."""
        return task.requests.get(resource, 0) // self.unit.get(resource, 1)

    def asked_by_kind(self, resource: str) -> dict[int, int]:
        """Per kind of victim how much of the resource one asks for."""
        if resource not in self._asked:
            self._asked[resource] = {kind: self.amount(task, resource) for kind, task in self._victim_by_kind.items()}
        return self._asked[resource]

    @cached_property
    def _victim_by_kind(self) -> dict[int, Task]:
        return {group.kind: group.tasks[0] for group in self.victims}

    @cached_property
    def _asked(self) -> dict[str, dict[int, int]]:
        """What asked_by_kind was asked so far."""
        return {}


def classes_of(snapshot: Snapshot) -> Classes:
    """Aggregate the pending tasks of jobs that take part, and the tasks that one of them may evict."""
    waiting = [job for job in snapshot.jobs.values() if job.pending and snapshot.takes_part(job)]
    waiting.sort(key=attrgetter("key"))
    tasks = _task_classes(snapshot, waiting)
    victims = _victim_groups(snapshot, tasks)
    return Classes(tasks, _job_classes(snapshot, waiting, tasks), victims, _units(snapshot))


def _task_classes(snapshot: Snapshot, waiting: Iterable[SessionJob]) -> tuple[TaskClass, ...]:
    members: dict[Hashable, list[Task]] = {}
    alike: dict[int, list[Task]] = {}
    said, twins = Said(), snapshot.twins
    for job in waiting:
        for task in job.pending:
            twin = twins[task.key]
            if twin not in alike:
                whole = (claimant_key(snapshot, job), task_key(snapshot, job, task, said))
                alike[twin] = members.setdefault(whole, [])
            alike[twin].append(task)
    found: list[TaskClass] = []
    job_of = snapshot.job_by_task
    for tasks in members.values():
        tasks.sort(key=attrgetter("key"))
        owners = tuple(dict.fromkeys([job_of[task.key].key for task in tasks]))
        nodes = _allowed_nodes(snapshot, tasks[0])
        bind, reserve = _allowed_kinds(snapshot, tasks[0])
        found.append(TaskClass(len(found), tuple(tasks), owners, nodes, bind, reserve))
    return tuple(found)


def claimant_key(snapshot: Snapshot, job: SessionJob) -> Hashable:
    """What a rule or a level can tell the tasks of two jobs apart by, however alike they are."""
    stands_alone = job.key in snapshot.apart or job.holding > 0
    return job.queue, job.priority, snapshot.is_starving(job), job.key if stands_alone else None


def task_key(snapshot: Snapshot, job: SessionJob, task: Task, said: Said) -> Hashable:
    """What a rule or a level can tell two tasks of jobs that are no different apart by."""
    wishes = said.wishes(task.pod.spec)
    owners = task.pod.metadata.owner_references
    return (
        said.asked(task.requests),
        wishes,
        task.priority,
        task.role if job.min_by_role else None,
        task.namespace,
        frozenset(task.labels.items()) if task.labels else None,
        task.key if wishes in said.own_things or task.uid in snapshot.instance.claim_owners else None,
        owners if owners and snapshot.predicates.has_default_spread(task) else None,
    )


def _job_classes(
    snapshot: Snapshot, waiting: Iterable[SessionJob], tasks: tuple[TaskClass, ...]
) -> tuple[JobClass, ...]:
    counts: dict[str, Counts] = {}
    job_of, twins = snapshot.job_by_task, snapshot.twins
    for one in tasks:
        alone = len(one.jobs) == len(one.tasks)
        sizes = dict.fromkeys(one.jobs, 1) if alone else Counter([job_of[task.key].key for task in one.tasks])
        only = {count: ((one.index, count),) for count in set(sizes.values())}
        for job, count in sizes.items():
            counts[job] = counts[job] + only[count] if job in counts else only[count]
    members: dict[Hashable, list[str]] = {}
    alike: dict[int, list[str]] = {}
    for owner in waiting:
        twin = twins[owner.tasks[0].key]
        mine = alike.get(twin)
        if mine is None:
            mine = members.setdefault(_job_key(snapshot, owner, counts[owner.key]), [])
            if len(owner.tasks) == 1 and not (owner.is_pending or owner.min_by_role):
                alike[twin] = mine
        mine.append(owner.key)
    return tuple(
        JobClass(index, tuple(keys), snapshot.jobs[keys[0]], dict(counts[keys[0]]))
        for index, keys in enumerate(members.values())
    )


def _job_key(snapshot: Snapshot, job: SessionJob, counts: Counts) -> Hashable:
    """What tells jobs apart, beyond the classes of their tasks, which know queue, priority and who starves.

    Only gangs of one kind of task, all of them pending, are merged.
    """
    if len(counts) != 1 or len(job.tasks) != counts[0][1] or job.roles_count:
        return job.key
    limits = () if not job.is_pending else (sorted_items(asked(job)), repr(decisive_limits(snapshot, job)))
    return (
        counts,
        job.min_available,
        job.phase,
        job.is_below_minimum,
        sorted_items(promise(job)) if job.min_resources else (),
        limits,
    )


def _allowed_nodes(snapshot: Snapshot, task: Task) -> tuple[str, ...]:
    queue = snapshot.queue_of(task)
    if not task.best_effort and (
        snapshot.shares_refused or (queue and snapshot.policy.limits_queues and not queue.is_open)
    ):
        return ()
    refused = snapshot.predicates.refused(task)
    return tuple(name for name in snapshot.instance.nodes if name not in refused)


def _allowed_kinds(snapshot: Snapshot, task: Task) -> tuple[bool, bool]:
    policy = snapshot.policy
    if policy.is_kube:
        return True, True
    evicting = policy.has_action("preempt") or policy.has_action("reclaim")
    if task.best_effort:
        return policy.has_action("backfill"), evicting
    return policy.has_action("allocate"), policy.has_action("allocate") or evicting


def _victim_groups(snapshot: Snapshot, tasks: tuple[TaskClass, ...]) -> tuple[VictimGroup, ...]:
    everywhere = snapshot.policy.rules.eviction_scope == "cluster"
    on = [frozenset(one.nodes) for one in tasks]
    rights_by_kind: dict[tuple[int, tuple[int, ...]], dict[Action, tuple[int, ...]]] = {}
    known: dict[Hashable, dict[Action, tuple[int, ...]]] = {}
    found: list[VictimGroup] = []
    for node, by_kind in _victims_by_kind(snapshot):
        near = tuple([c.index for c in tasks if everywhere or node in on[c.index]])
        for kind, group in by_kind.items():
            group.sort(key=attrgetter("key"))
            if (kind, near) not in rights_by_kind:
                actions = _actions(snapshot, group[0])
                alike = (snapshot.rights.victim_kind(group[0]), actions, near)
                if alike not in known:
                    known[alike] = _rights(snapshot, [tasks[index] for index in near], group[0], actions)
                rights_by_kind[kind, near] = known[alike]
            rights = rights_by_kind[kind, near]
            if rights:
                job = snapshot.job_by_task[group[0].key]
                whole = _may_lose_all(snapshot, job)
                found.append(VictimGroup(len(found), node, job.key, tuple(group), rights, whole_job=whole, kind=kind))
    return tuple(found)


def _victims_by_kind(snapshot: Snapshot) -> Iterator[tuple[str, dict[int, list[Task]]]]:
    """Per node the tasks that hold room there, in kinds that are the same everywhere."""
    disrupted = frozenset(name for budget in snapshot.instance.budgets for name in budget.status.disrupted_pods)
    kinds: dict[Hashable, int] = {}
    alike: dict[int, int] = {}
    said, twins, job_of = Said(), snapshot.twins, snapshot.job_by_task
    for node in snapshot.instance.nodes:
        found: dict[int, list[Task]] = {}
        for victim in snapshot.instance.tasks_by_node[node]:
            owner = job_of.get(victim.key) if victim.status in HOLDS_ROOM else None
            if owner is None:
                continue
            kind = alike.get(twins[victim.key])
            if kind is None:
                whole = _victim_key(snapshot, owner, victim, disrupted, said)
                kind = kinds.setdefault(whole, len(kinds))
                # Where budgets name pods, or jobs mind whom of them it hits, twins are told apart.
                if not disrupted and (len(owner.tasks) > 1 or _may_lose_all(snapshot, owner)):
                    alike[twins[victim.key]] = kind
            if kind in found:
                found[kind].append(victim)
            else:
                found[kind] = [victim]
        yield node, found


def _actions(snapshot: Snapshot, victim: Task) -> tuple[Action, ...]:
    """By which actions the victim could be evicted at all, whoever asks."""
    protects, critical = snapshot.policy.conformance_protects, is_critical(victim)
    allowed = [action for action in ACTIONS if not (critical and protects(action))]
    return tuple([action for action in allowed if action != "reclaim" or is_above_share_now(snapshot, victim)])


def _rights(
    snapshot: Snapshot, near: Iterable[TaskClass], victim: Task, actions: tuple[Action, ...]
) -> dict[Action, tuple[int, ...]]:
    by_action: dict[Action, list[int]] = {}
    for one in near if actions else ():
        for action in snapshot.rights.actions(one.sample, victim):
            if action in actions:
                by_action.setdefault(action, []).append(one.index)
    return {action: tuple(indices) for action, indices in by_action.items()}


def is_critical(task: Task) -> bool:
    """Shielded by the rule `protect.conformance`."""
    return task.namespace == "kube-system" or task.pod.spec.priority_class_name in (
        "system-cluster-critical",
        "system-node-critical",
    )


def _victim_key(snapshot: Snapshot, owner: SessionJob, victim: Task, disrupted: frozenset[str], said: Said) -> Hashable:
    return (
        _seen_of(snapshot, owner),
        victim.namespace,
        said.asked(victim.requests),
        said.company(victim.spec),
        victim.pod_status.start_time,
        victim.priority,
        victim.role,
        victim.preemptable,
        frozenset(victim.labels.items()) if victim.labels else None,
        bool(disrupted) and victim.name in disrupted,
    )


def _seen_of(snapshot: Snapshot, job: SessionJob) -> Hashable:
    """A victim's job, or only what rights and queues see of it where nobody minds how much of it goes."""
    return (job.queue, job.priority) if _may_lose_all(snapshot, job) else job.key


def _may_lose_all(snapshot: Snapshot, job: SessionJob) -> bool:
    if job.pending:
        return False
    if job.ready - job.holding >= job.min_available:
        return True
    policy = snapshot.policy
    guarded = any(policy.evicts(action) and policy.gang_protects(action) != "off" for action in ACTIONS)
    return not guarded and all(level.key != "gangs_broken" for level in policy.levels)


def _units(snapshot: Snapshot) -> dict[str, int]:
    """The largest unit of which every request of a resource is a multiple: small numbers for the solver."""
    unit: dict[str, int] = {}
    vectors = {id(task.requests): task.requests for task in snapshot.instance.tasks.values()}
    for vector in vectors.values():
        for name, amount in vector.items():
            if amount:
                unit[name] = gcd(unit.get(name, 0), amount)
    return unit
