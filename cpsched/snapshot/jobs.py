"""Jobs as a session sees them when it opens: who counts as ready, who starves, who may take part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field

from cpsched.instance import HOLDS_ROOM, Instance, Job, Status, Task
from cpsched.policy import Policy

DEFAULT_SCHEDULER = "default-scheduler"
_READY = HOLDS_ROOM | {Status.SUCCEEDED}


@dataclass(frozen=True)
class SessionJob:
    """A gang, or a pod on its own; counters as in Volcano's job_info.go."""

    key: str
    queue: str | None
    priority: int
    min_available: int
    min_by_role: Mapping[str, int]
    tasks: tuple[Task, ...]
    phase: str
    min_resources: Mapping[str, int] | None
    group: Job | None = None
    """The gang as the instance has it; few ask for more of it than stands here."""
    pending: tuple[Task, ...] = field(init=False, compare=False)
    """Tasks that could be placed: pending and not gated."""
    ready: int = field(init=False, compare=False)
    """Tasks that are at work or done."""
    holding: int = field(init=False, compare=False)
    """Tasks that hold room."""
    is_valid: bool = field(init=False, compare=False)
    """It has enough tasks, in all and per role, to ever become ready."""

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
    def is_pending(self) -> bool:
        """Its PodGroup has not been let into the cycle yet."""
        return self.phase in ("", "Pending")

    def __post_init__(self) -> None:
        pending, counted, ready, holding = [], [], 0, 0
        for task in self.tasks:
            status = task.status
            if status is Status.PENDING:
                counted.append(task)
                if not task.gated:
                    pending.append(task)
            elif status in _READY:
                counted.append(task)
                ready += 1
                holding += status is not Status.SUCCEEDED
        valid = len(counted) >= self.min_available and (not self.min_by_role or self._roles_met(counted))
        keep = object.__setattr__
        keep(self, "pending", tuple(pending))
        keep(self, "ready", ready)
        keep(self, "holding", holding)
        keep(self, "is_valid", valid)

    @property
    def roles_count(self) -> bool:
        """Per-role minima hold only where together they do not exceed the gang's minimum."""
        return bool(self.min_by_role) and self.min_available >= sum(self.min_by_role.values())

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

    def _reaches(self, placed: Container[str], evicted: Container[str]) -> bool:
        counted = [
            task
            for task in self.tasks
            if (task.key in placed or task.status in _READY or (task.status is Status.PENDING and task.best_effort))
            and task.key not in evicted
        ]
        return len(counted) >= self.min_available and (not self.min_by_role or self._roles_met(counted))

    def _roles_met(self, counted: Iterable[Task]) -> bool:
        if not self.roles_count:
            return True
        by_role = Counter(task.role for task in counted)
        return all(by_role[role] >= minimum for role, minimum in self.min_by_role.items())


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
    """Whether the voters agree that the job is hungry enough to evict; without any nobody is."""
    if voters is None:
        return job.is_below_minimum
    return bool(voters) and not [name for name in voters if not STARVING[name](job)]


def session_jobs(instance: Instance, policy: Policy) -> dict[str, SessionJob]:
    """All jobs of the session: PodGroups under Volcano, single pods under kube-scheduler."""
    return _single_pods(instance, policy) if policy.jobs_are_pods else group_jobs(instance)


def group_jobs(instance: Instance) -> dict[str, SessionJob]:
    """Volcano's jobs, whatever the model that judges them."""
    tasks = instance.tasks
    found = {}
    for key, job in instance.jobs.items():
        stated = job.group.spec
        found[key] = SessionJob(
            key=key,
            queue=job.queue,
            priority=job.priority,
            min_available=stated.min_member,
            min_by_role=stated.min_task_member,
            tasks=tuple([tasks[task] for task in job.tasks]),
            phase=job.phase,
            min_resources=job.min_resources,
            group=job,
        )
    return found


def _single_pods(instance: Instance, policy: Policy) -> dict[str, SessionJob]:
    schedulers = {profile.scheduler_name for profile in policy.kube.profiles}
    return {
        task.key: SessionJob(
            key=task.key,
            queue=None,
            priority=task.pod_priority,
            min_available=1,
            min_by_role={},
            tasks=(task,),
            phase="Running",
            min_resources=None,
        )
        for task in instance.tasks.values()
        if task.status is not Status.PENDING or (task.pod.spec.scheduler_name or DEFAULT_SCHEDULER) in schedulers
    }
