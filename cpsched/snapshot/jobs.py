"""Jobs as a session sees them when it opens: who counts as ready, who starves, who may take part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from typing import NamedTuple

from cpsched.instance import HOLDS_ROOM, PENDING, PREEMPTABLE, Instance, Job, Status, Task
from cpsched.policy import Policy
from cpsched.snapshot.sub_groups import SubGroups, sub_groups_of

DEFAULT_SCHEDULER = "default-scheduler"
_READY = HOLDS_ROOM | {Status.SUCCEEDED}


class SessionJob(NamedTuple):
    """A gang, or a pod on its own; counters as in Volcano's job_info.go.

    A tuple, since a session has tens of thousands of them, and nothing frozen is made as quickly.
    """

    key: str
    queue: str | None
    priority: int
    min_available: int
    min_by_role: Mapping[str, int]
    tasks: tuple[Task, ...]
    phase: str
    min_resources: Mapping[str, int] | None
    group: Job | None
    """The gang as the instance has it; few ask for more of it than stands here."""
    pending: tuple[Task, ...]
    """Tasks that could be placed: pending and not gated."""
    ready: int
    """Tasks that are at work or done."""
    holding: int
    """Tasks that hold room."""
    is_valid: bool
    """It has enough tasks, in all and per role, and enough sub-groups, to ever become ready."""
    sub_groups: SubGroups | None = None
    """What its tasks are divided into, None without policies."""

    def with_tasks(self, tasks: tuple[Task, ...]) -> SessionJob:
        """The job, had it only these."""
        return self._counted(self._replace(tasks=tasks))

    def with_minimum(self, min_available: int) -> SessionJob:
        """The job, were so many enough, whatever their roles and sub-groups."""
        return self._counted(self._replace(min_available=min_available, min_by_role={}, sub_groups=None))

    @staticmethod
    def _counted(job: SessionJob) -> SessionJob:
        pending, ready, holding, is_valid = counted(job.tasks, job.min_available, job.min_by_role)
        if (groups := job.sub_groups) is not None:
            groups = groups._replace(by_task={task.key: groups.by_task[task.key] for task in job.tasks})
            is_valid = is_valid and groups.exist
        return job._replace(pending=pending, ready=ready, holding=holding, is_valid=is_valid, sub_groups=groups)

    @property
    def name(self) -> str:
        """What users call it: its key, or, for a pod without a PodGroup of its user's making, the pod's own key."""
        own = self.tasks[0] if len(self.tasks) == 1 else None
        if own is not None and self.key == f"{own.namespace}/podgroup-{own.pod.metadata.uid}":
            return own.key
        return self.key

    @property
    def created(self) -> int:
        """Creation time."""
        if self.group is not None:
            return self.group.created
        return self.tasks[0].pod.metadata.creation_timestamp or 0

    @property
    def sla_waiting_time(self) -> str | None:
        """How long it may wait, as its PodGroup states it."""
        if self.group is None:
            return None
        annotations = self.group.group.metadata.annotations
        return annotations.get("volcano.sh/sla-waiting-time", annotations.get("sla-waiting-time"))

    @property
    def is_preemptable(self) -> bool:
        """The gang's own mark."""
        return self.group is not None and self.group.preemptable

    @property
    def is_shaped(self) -> bool:
        """Whether its PodGroup says how near to each other its tasks run, or divides them."""
        spec = None if self.group is None else self.group.group.spec
        return spec is not None and (spec.network_topology is not None or bool(spec.sub_group_policy))

    @property
    def is_willing(self) -> bool:
        """Whether its PodGroup has no mark, or one that allows its tasks to be victims."""
        metadata = None if self.group is None else self.group.group.metadata
        marked = metadata is not None and (PREEMPTABLE in metadata.annotations or PREEMPTABLE in metadata.labels)
        return not marked or self.is_preemptable

    @property
    def is_pending(self) -> bool:
        """Its PodGroup has not been let into the cycle yet."""
        return self.phase in ("", "Pending")

    @property
    def roles_count(self) -> bool:
        """Per-role minima hold only where together they do not exceed the gang's minimum."""
        return _roles_count(self.min_available, self.min_by_role)

    @property
    def is_below_minimum(self) -> bool:
        """Too few tasks at work, with something left to place."""
        return self.ready < self.min_available and bool(self.pending)

    def is_starving(self, policy: Policy) -> bool:
        """Hungry enough to evict, in the eyes of the first tier in which any plugin looks (`JobStarving`)."""
        return is_starving(self, starving_voters(policy))

    def is_ready(self, binds: Container[str], evicted: Container[str]) -> bool:
        """Ready once `binds` start and `evicted` are gone; pending tasks that ask for nothing count as ready."""
        return self._reaches(binds, evicted)

    def is_pipelined(self, placed: Container[str], evicted: Container[str]) -> bool:
        """As is_ready, with reserved tasks counted too."""
        return self._reaches(placed, evicted)

    @property
    def is_whole(self) -> bool:
        """Whether what is at work is its minimum, before anything is decided."""
        return self.keeps_minimum((), ())

    def keeps_minimum(self, binds: Container[str], evicted: Container[str]) -> bool:
        """As is_ready, but pending tasks that ask for nothing count only if they start."""
        there = [task for task in self.tasks if task.key in binds or task.status in _READY]
        return self.is_enough([task for task in there if task.key not in evicted])

    def at_work(self, placed: Container[str], evicted: Container[str]) -> list[Task]:
        """Tasks that count as ready once `placed` start and `evicted` are gone."""
        return [
            task
            for task in self.tasks
            if (task.key in placed or task.status in _READY or (task.status is PENDING and task.best_effort))
            and task.key not in evicted
        ]

    def is_enough(self, there: list[Task]) -> bool:
        """Whether these tasks are its minimum, in all, per role and by sub-groups."""
        if len(there) < self.min_available:
            return False
        if self.min_by_role and not _roles_met(there, self.min_available, self.min_by_role):
            return False
        return self.sub_groups is None or self.sub_groups.is_complete(there)

    def _reaches(self, placed: Container[str], evicted: Container[str]) -> bool:
        return self.is_enough(self.at_work(placed, evicted))


def counted(
    tasks: tuple[Task, ...], min_available: int, min_by_role: Mapping[str, int]
) -> tuple[tuple[Task, ...], int, int, bool]:
    """What a job of these tasks has pending, ready and holding room, and whether it is valid."""
    if len(tasks) == 1 and not min_by_role:
        return _counted_alone(tasks, min_available)
    pending, waiting, ready, holding = [], 0, 0, 0
    for task in tasks:
        status = task.status
        if status is PENDING:
            waiting += 1
            if not task.gated:
                pending.append(task)
        elif status in _READY:
            ready += 1
            holding += status in HOLDS_ROOM
    valid = waiting + ready >= min_available
    if valid and min_by_role:
        there = [task for task in tasks if task.status is PENDING or task.status in _READY]
        valid = _roles_met(there, min_available, min_by_role)
    return tuple(pending), ready, holding, valid


def _counted_alone(tasks: tuple[Task, ...], min_available: int) -> tuple[tuple[Task, ...], int, int, bool]:
    """The same of a job of one task, as most are."""
    status = tasks[0].status
    if status is PENDING:
        return () if tasks[0].gated else tasks, 0, 0, min_available <= 1
    ready = int(status in _READY)
    return (), ready, int(status in HOLDS_ROOM), min_available <= ready


def _roles_met(tasks: Iterable[Task], min_available: int, min_by_role: Mapping[str, int]) -> bool:
    if not _roles_count(min_available, min_by_role):
        return True
    by_role = Counter(task.role for task in tasks)
    return all(by_role[role] >= minimum for role, minimum in min_by_role.items())


def _roles_count(min_available: int, min_by_role: Mapping[str, int]) -> bool:
    return bool(min_by_role) and min_available >= sum(min_by_role.values())


STARVING: dict[str, Callable[[SessionJob], bool]] = {
    "gang": lambda job: job.ready < job.min_available,
    "priority": lambda job: job.ready < len(job.tasks),
    "tdm": lambda job: not job.is_preemptable and bool(job.pending),
}


def starving_voters(policy: Policy) -> tuple[str, ...] | None:
    """The plugins that say who starves: those of the first tier in which any does; None under kube-scheduler."""
    if policy.is_kube:
        return None
    for tier in policy.volcano.tiers:
        voters = tuple(plugin.name for plugin in tier if plugin.name in STARVING and plugin.on("enableJobStarving"))
        if voters:
            return voters
    return ()


def is_starving(job: SessionJob, voters: tuple[str, ...] | None) -> bool:
    """Whether the voters agree that the job is hungry enough to evict; without any none is."""
    if voters is None:
        return job.is_below_minimum
    return bool(voters) and not [name for name in voters if not STARVING[name](job)]


def session_jobs(instance: Instance, policy: Policy) -> dict[str, SessionJob]:
    """All jobs of the session: PodGroups under Volcano, single pods under kube-scheduler."""
    return _single_pods(instance, policy) if policy.jobs_are_pods else group_jobs(instance)


def group_jobs(instance: Instance) -> dict[str, SessionJob]:
    """Volcano's jobs, whatever the model that checks them."""
    tasks = instance.tasks
    found = {}
    for key, job in instance.jobs.items():
        own, least, by_role = tuple(map(tasks.__getitem__, job.tasks)), job.min_available, job.min_by_role
        pending, ready, holding, is_valid = counted(own, least, by_role)
        groups = sub_groups_of(job, own)
        found[key] = SessionJob(
            key,
            job.queue,
            job.priority,
            least,
            by_role,
            own,
            job.phase,
            job.min_resources,
            job,
            pending,
            ready,
            holding,
            is_valid and (groups is None or groups.exist),
            groups,
        )
    return found


def _single_pods(instance: Instance, policy: Policy) -> dict[str, SessionJob]:
    schedulers = {profile.scheduler_name for profile in policy.kube.profiles}
    return {
        task.key: SessionJob(
            task.key, None, task.pod_priority, 1, {}, (task,), "Running", None, None, *counted((task,), 1, {})
        )
        for task in instance.tasks.values()
        if task.status is not PENDING or (task.pod.spec.scheduler_name or DEFAULT_SCHEDULER) in schedulers
    }
