"""Volcano's Job: one PodGroup, and the pods of its tasks; mirrors `pkg/controllers/job` and the job's webhook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from cpsched.instance import GROUP_ANNOTATION
from cpsched.objects.base import INT32_MAX, Items, Object, Shape
from cpsched.objects.groups import NetworkTopology, PodGroup
from cpsched.objects.pod import Pod
from cpsched.objects.storage import PersistentVolumeClaim
from cpsched.objects.volumes import ClaimSpec, ClaimVolume, PodVolume
from cpsched.workloads.admission import admitted, priority_of, unknown_class
from cpsched.workloads.groups import VOLCANO, asked_by, pod_group
from cpsched.workloads.plan import DeniedError, Owner, Plan, Pods, Surroundings, Template, pod

_FROM_JOB = ("volcano.sh/preemptable", "volcano.sh/cooldown-time", "volcano.sh/revocable-zone")
_BUDGETS = ("volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable")
_ENDED = frozenset({"Completed", "Completing", "Terminated", "Terminating", "Failed", "Aborted", "Aborting"})


class PartitionPolicy(Shape):
    """Tasks in parts of one size."""

    partition_size: int = Field(0, ge=0, le=INT32_MAX)
    min_partitions: int = Field(0, ge=0, le=INT32_MAX)
    network_topology: NetworkTopology | None = None


class DependsOn(Shape):
    """Tasks that have to run first."""

    name: Items[str] = ()


class TaskSpec(Shape):
    """Pods of one role."""

    name: str = ""
    replicas: int = Field(1, ge=0, le=INT32_MAX)
    min_available: int | None = Field(None, ge=0, le=INT32_MAX)
    template: Template = Template()
    partition_policy: PartitionPolicy | None = None
    depends_on: DependsOn | None = None

    @property
    def least(self) -> int:
        """How many of them are needed."""
        policy = self.partition_policy
        if self.min_available is not None:
            return self.min_available
        if policy is not None and policy.min_partitions and policy.partition_size:
            return policy.min_partitions * policy.partition_size
        return self.replicas


class VolumeSpec(Shape):
    """A claim that every container mounts."""

    volume_claim_name: str = ""
    volume_claim: ClaimSpec | None = None


class JobSpec(Shape):
    """The tasks and how many of them are a job."""

    tasks: Items[TaskSpec] = ()
    min_available: int = Field(0, ge=0, le=INT32_MAX)
    queue: str = ""
    scheduler_name: str = ""
    priority_class_name: str = ""
    network_topology: NetworkTopology | None = None
    volumes: Items[VolumeSpec] = ()


class JobState(Shape):
    """Its phase."""

    phase: str = ""


class JobStatus(Shape):
    """What its controller counts."""

    state: JobState = JobState()
    pending: int = 0
    running: int = 0
    terminating: int = 0
    succeeded: int = 0
    failed: int = 0


class VolcanoJob(Object):
    """A batch.volcano.sh Job."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def counted(self) -> int:
        """How many pods its status says there are."""
        one = self.status
        return one.pending + one.running + one.terminating + one.succeeded + one.failed

    @property
    def ended(self) -> bool:
        """Whether it makes no more pods."""
        return self.status.state.phase in _ENDED


def plan(job: VolcanoJob, around: Surroundings) -> Plan:
    """Its PodGroup, unless there is one, and all its pods: those of a job that waits for enqueue are still to come."""
    owner = Owner.of("Job", job.metadata)
    tasks = tuple(
        task if task.name else task.model_copy(update={"name": f"default{number}"})
        for number, task in enumerate(job.spec.tasks)
    )
    _check(job, tasks)
    group = _group_of(job, around) or _new_group(job, tasks, owner, around)
    volumes, claims = _volumes(job, around)
    parts = tuple(_pods(job, task, owner, group, volumes, around) for task in tasks)
    names = {job.spec.priority_class_name, *(task.template.spec.priority_class_name for task in tasks)}
    notes = [note for name in sorted(names) if (note := unknown_class(name, around))]
    if any(task.depends_on is not None for task in tasks):
        notes.append("its tasks depend on each other, but all are made at once here")
    objects = (*(() if group.key in around.groups else (group,)), *claims)
    return Plan(parts, objects, tuple(notes))


def _check(job: VolcanoJob, tasks: tuple[TaskSpec, ...]) -> None:
    """What Volcano's webhook denies."""
    if not tasks:
        raise DeniedError("a Job without tasks")
    names = [task.name for task in tasks]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DeniedError(f"two tasks are called {twice}")
    for task in tasks:
        if task.least > task.replicas:
            raise DeniedError(
                f"minAvailable {task.least} of task {task.name} is more than its {task.replicas} replicas"
            )
    if any(one.volume_claim is None and not one.volume_claim_name for one in job.spec.volumes):
        raise DeniedError("a volume with neither volumeClaim nor volumeClaimName")
    replicas = sum(task.replicas for task in tasks)
    if job.spec.min_available > replicas:
        raise DeniedError(f"minAvailable {job.spec.min_available} is more than the {replicas} replicas of its tasks")


def _group_of(job: VolcanoJob, around: Surroundings) -> PodGroup | None:
    """The PodGroup that the job has already; older releases call it like the job."""
    namespace, name = job.metadata.namespace, job.metadata.name
    names = [f"{name}-{job.metadata.uid}", name] if job.metadata.uid else [name]
    for one in names:
        if f"{namespace}/{one}" in around.groups:
            return around.groups[f"{namespace}/{one}"]
    return next((group for group in around.groups.values() if _is_owned(group, job)), None)


def _is_owned(group: PodGroup, job: VolcanoJob) -> bool:
    """In a capture with pseudonyms the name of the PodGroup is not made of the job's."""
    return any(one.uid == job.metadata.uid for one in group.metadata.owner_references if job.metadata.uid)


def _new_group(job: VolcanoJob, tasks: tuple[TaskSpec, ...], owner: Owner, around: Surroundings) -> PodGroup:
    least = job.spec.min_available or sum(task.least for task in tasks)
    spec: dict[str, Any] = {
        "minMember": least,
        "minTaskMember": {task.name: task.least for task in tasks},
        "queue": job.spec.queue,
        "minResources": min_resources(tasks, least, around),
        "priorityClassName": job.spec.priority_class_name,
        "networkTopology": job.spec.network_topology,
        "subGroupPolicy": [_sub_group(task, policy) for task in tasks if (policy := task.partition_policy)],
    }
    # Without a uid the name would end in a dash; then it is called like the job, as by releases before 1.5.
    name = f"{owner.name}-{job.metadata.uid}" if job.metadata.uid else owner.name
    meta = job.metadata
    return pod_group(owner, name, spec, around, annotations=meta.annotations, labels=meta.labels)


def min_resources(tasks: tuple[TaskSpec, ...], least: int, around: Surroundings) -> dict[str, str]:
    """What the first `least` pods ask for, by priority: each task's minimum first, then more of their replicas."""
    ordered = sorted(tasks, key=lambda task: -priority_of(task.template.spec.priority_class_name, around))
    minima = [task.replicas if least < sum(one.least for one in tasks) else task.least for task in ordered]
    counts, left = [], least
    for minimum in minima:
        counts.append(min(minimum, left))
        left -= counts[-1]
    for number, task in enumerate(ordered):
        more = min(task.replicas - counts[number], left)
        counts[number] += more
        left -= more
    return asked_by((count, task.template.spec) for count, task in zip(counts, ordered, strict=True) if count)


def _sub_group(task: TaskSpec, policy: PartitionPolicy) -> dict[str, Any]:
    return {
        "name": task.name,
        "subGroupSize": policy.partition_size,
        "minSubGroups": policy.min_partitions,
        "labelSelector": {"matchLabels": {"volcano.sh/task-spec": task.name}},
        "matchLabelKeys": ["volcano.sh/partition-id"],
        "networkTopology": policy.network_topology,
    }


def _volumes(job: VolcanoJob, around: Surroundings) -> tuple[tuple[PodVolume, ...], tuple[PersistentVolumeClaim, ...]]:
    """The volumes that every pod has, and the claims that are made for them."""
    volumes, claims = [], []
    for number, one in enumerate(job.spec.volumes):
        name = one.volume_claim_name or f"{job.metadata.name}-volume-{number}"
        volumes.append(PodVolume(name=name, persistentVolumeClaim=ClaimVolume(claimName=name)))
        if one.volume_claim is not None and f"{job.metadata.namespace}/{name}" not in around.claims:
            metadata = {"name": name, "namespace": job.metadata.namespace}
            claims.append(PersistentVolumeClaim.model_validate({"metadata": metadata, "spec": one.volume_claim}))
    return tuple(volumes), tuple(claims)


def _pods(
    job: VolcanoJob,
    task: TaskSpec,
    owner: Owner,
    group: PodGroup,
    volumes: tuple[PodVolume, ...],
    around: Surroundings,
) -> Pods:
    spec = task.template.spec
    spec = spec.model_copy(
        update={
            "scheduler_name": spec.scheduler_name or job.spec.scheduler_name or VOLCANO,
            "priority_class_name": spec.priority_class_name or job.spec.priority_class_name,
            "volumes": (*spec.volumes, *volumes),
        }
    )
    template = admitted(task.template.model_copy(update={"spec": spec}), around)
    labels, annotations = _marks(job, task, group)

    def make(number: int) -> Pod:
        own = {"volcano.sh/task-index": str(number)}
        policy = task.partition_policy
        part = {} if policy is None else {"volcano.sh/partition-id": str(number // max(1, policy.partition_size))}
        name = f"{owner.name}-{task.name}-{number}"
        return pod(
            owner, template, name, around=around, labels={**labels, **own, **part}, annotations={**annotations, **own}
        )

    return Pods(task.replicas, template, make)


def _marks(job: VolcanoJob, task: TaskSpec, group: PodGroup) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Labels and annotations that all pods of a task have."""
    stated = job.metadata.annotations
    both = {"volcano.sh/job-name": job.metadata.name, "volcano.sh/task-spec": task.name}
    queue = {"volcano.sh/queue-name": job.spec.queue or "default"}
    budgets = [key for key in _BUDGETS if key in stated][:1]
    annotations = {
        **both,
        **queue,
        GROUP_ANNOTATION: group.metadata.name,
        "volcano.sh/template-uid": f"{job.metadata.name}-{task.name}",
        **{key: stated[key] for key in (*_FROM_JOB, *budgets) if key in stated},
    }
    of_job = {key: job.metadata.labels[key] for key in _FROM_JOB[:2] if key in job.metadata.labels}
    return {**both, **queue, "volcano.sh/job-namespace": job.metadata.namespace, **of_job}, annotations
