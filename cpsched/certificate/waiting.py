"""Who waits: jobs with something to place, how much of it each needs at least, and where its tasks may go at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

from cpsched.instance import HOLDS_ROOM, Status, Task
from cpsched.policy.policy import GANG_ACTIONS
from cpsched.snapshot import SessionJob, Snapshot

_COUNTED = HOLDS_ROOM | {Status.SUCCEEDED}


@dataclass(frozen=True, eq=False)
class Kind:
    """Tasks of one job that no bound tells apart."""

    tasks: tuple[Task, ...]
    nodes: frozenset[str]
    """Where no static filter refuses them."""
    may_bind: bool
    may_reserve: bool

    @property
    def sample(self) -> Task:
        """Any one of them."""
        return self.tasks[0]


@dataclass(frozen=True, eq=False)
class Waiting:
    """A job that takes part in the session and has tasks to place."""

    job: SessionJob
    kinds: tuple[Kind, ...]
    starving: bool
    whole: bool
    """Whether it gets its minimum or nothing; reserves included."""
    whole_start: bool
    """Whether what starts of it is its minimum or nothing."""

    @cached_property
    def need(self) -> int:
        """How many tasks that ask for something have to be placed for its minimum; evictions only add to that."""
        return max(0, self.job.min_available - self._have().total())

    @cached_property
    def need_by_role(self) -> dict[str, int]:
        """The same per role, where roles have a minimum of their own."""
        have = self._have()
        minima = self.job.min_by_role if self.job.roles_count else {}
        return {role: least - have[role] for role, least in minima.items() if least > have[role]}

    def _have(self) -> Counter[str]:
        """Tasks that count before anything is placed: those at work, and those that ask for nothing."""
        return Counter(
            task.role
            for task in self.job.tasks
            if task.status in _COUNTED or (task.status is Status.PENDING and task.best_effort)
        )


def waiting_jobs(snapshot: Snapshot) -> list[Waiting]:
    """All jobs that could be given something, with the tasks that could be placed."""
    policy = snapshot.policy
    starving = {job.key for job in snapshot.starving}
    whole = policy.requires_gangs and (policy.is_kube or policy.enabled("gang", "enableJobPipelined"))
    found = []
    for job in snapshot.jobs.values():
        if job.pending and snapshot.takes_part(job):
            kinds = _kinds(snapshot, job)
            found.append(Waiting(job, kinds, job.key in starving, whole, policy.requires_gangs))
    return found


def _kinds(snapshot: Snapshot, job: SessionJob) -> tuple[Kind, ...]:
    members: dict[Hashable, list[Task]] = {}
    for task in job.pending:
        # Claims and volumes are a pod's own: two pods with equal wishes may be refused different nodes.
        own = task.key if task.pod.spec.volumes or task.pod.spec.resource_claims else None
        wishes = task.pod.spec.model_dump_json(exclude={"containers", "init_containers"})
        ports = tuple(port.model_dump_json() for c in task.pod.spec.containers for port in c.ports)
        alike = (tuple(sorted(task.requests.items())), task.role, tuple(sorted(task.labels.items())), wishes, ports)
        members.setdefault((*alike, task.priority, own), []).append(task)
    return tuple(_kind(snapshot, tuple(tasks)) for tasks in members.values())


def _kind(snapshot: Snapshot, tasks: tuple[Task, ...]) -> Kind:
    sample, policy = tasks[0], snapshot.policy
    queue = snapshot.queue_of(sample)
    closed = queue is not None and policy.limits_queues and not queue.is_open
    nodes = frozenset(snapshot.instance.nodes).difference(snapshot.predicates.refused(sample))
    if not sample.best_effort and (snapshot.shares_refused or closed):
        nodes = frozenset()
    if policy.is_kube:
        return Kind(tasks, nodes, True, True)
    evicting = policy.has_action("preempt") or policy.has_action("reclaim")
    if sample.best_effort:
        return Kind(tasks, nodes, policy.has_action("backfill"), evicting)
    evicting = evicting or any(map(policy.has_action, GANG_ACTIONS))
    allocating = policy.has_action("allocate")
    return Kind(tasks, nodes, allocating, allocating or evicting)
