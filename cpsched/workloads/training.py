"""Kubeflow's training jobs: replicas by type, under Volcano one PodGroup; mirrors its operator's `pkg/controller.v1`.

The operator makes a PodGroup if it was started for gang scheduling. That is taken for granted where a template names
Volcano as its scheduler, or where a scheduling policy is stated and the cluster has Volcano.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import AliasChoices, Field

from cpsched.instance import GROUP_ANNOTATION
from cpsched.objects.base import INT32_MAX, Condition, Items, Object, Quantities, Shape
from cpsched.objects.groups import PodGroup
from cpsched.objects.pod import Container, Pod
from cpsched.workloads.admission import admitted, priority_of, unknown_class
from cpsched.workloads.groups import VOLCANO, asked_by, pod_group
from cpsched.workloads.plan import Owner, Plan, Pods, Surroundings, Template, pod

_LABEL = "training.kubeflow.org/"
_MASTERS = frozenset({"master", "chief", "launcher"})
_DELIVERY = {"cpu": "100m", "memory": "512Mi", "ephemeral-storage": "5Gi"}
"""What the launcher's init container of an MPIJob asks for."""
_WAITING = {"cpu": "50m", "memory": "10Mi"}
"""What the init container of a PyTorchJob's worker asks for, which waits for the master."""


class TrainingReplicas(Shape):
    """Pods of one type."""

    replicas: int | None = Field(None, ge=0, le=INT32_MAX)
    template: Template = Template()


class TrainingPolicy(Shape):
    """schedulingPolicy: what its PodGroup is to be."""

    min_available: int | None = Field(None, ge=0, le=INT32_MAX)
    queue: str = ""
    min_resources: Quantities | None = None
    priority_class: str = ""


class RunPolicy(Shape):
    """runPolicy."""

    scheduling_policy: TrainingPolicy | None = None
    suspend: bool = False


class TrainingSpec(Shape):
    """Replicas by type, under the name that its kind gives them."""

    replica_specs: dict[str, TrainingReplicas] = Field(
        {},
        validation_alias=AliasChoices(
            "pytorchReplicaSpecs", "tfReplicaSpecs", "mpiReplicaSpecs", "xgbReplicaSpecs", "paddleReplicaSpecs"
        ),
    )
    run_policy: RunPolicy = RunPolicy()


class TrainingCount(Shape):
    """Pods of one type, by state."""

    active: int = 0
    succeeded: int = 0
    failed: int = 0


class TrainingStatus(Shape):
    """What its controller counts."""

    replica_statuses: dict[str, TrainingCount] = {}
    conditions: Items[Condition] = ()


class TrainingJob(Object):
    """A kubeflow.org PyTorchJob, TFJob, MPIJob, XGBoostJob or PaddleJob."""

    spec: TrainingSpec = TrainingSpec()
    status: TrainingStatus = TrainingStatus()

    @property
    def counted(self) -> int:
        """How many pods its status says there are."""
        return sum(one.active + one.succeeded + one.failed for one in self.status.replica_statuses.values())

    @property
    def ended(self) -> bool:
        """Whether it makes no more pods."""
        return any(one.type in ("Succeeded", "Failed") and one.status == "True" for one in self.status.conditions)


def plan_pytorch(job: TrainingJob, around: Surroundings) -> Plan:
    """A PyTorchJob."""
    return _plan(job, "PyTorchJob", around)


def plan_tf(job: TrainingJob, around: Surroundings) -> Plan:
    """A TFJob."""
    return _plan(job, "TFJob", around)


def plan_mpi(job: TrainingJob, around: Surroundings) -> Plan:
    """An MPIJob; its workers come before the launcher."""
    return _plan(job, "MPIJob", around)


def plan_xgboost(job: TrainingJob, around: Surroundings) -> Plan:
    """An XGBoostJob."""
    return _plan(job, "XGBoostJob", around)


def plan_paddle(job: TrainingJob, around: Surroundings) -> Plan:
    """A PaddleJob."""
    return _plan(job, "PaddleJob", around)


def _plan(job: TrainingJob, kind: str, around: Surroundings) -> Plan:
    if job.spec.run_policy.suspend:
        return Plan(notes=("it is suspended: it makes no pods",))
    types = {role.lower(): replicas for role, replicas in job.spec.replica_specs.items()}
    types = dict(sorted(types.items(), key=lambda one: kind == "MPIJob" and one[0] == "launcher"))
    owner = Owner.of(kind, job.metadata)
    group = _group(job, owner, types, kind, around) if _is_gang(job, types, around) else None
    parts = tuple(_pods(owner, role, types, kind, group, around) for role in types)
    names = sorted({replicas.template.spec.priority_class_name for replicas in types.values()})
    notes = [note for name in names if (note := unknown_class(name, around))]
    new = () if group is None or group.key in around.groups else (group,)
    return Plan(parts, new, tuple(notes))


def _is_gang(job: TrainingJob, types: Mapping[str, TrainingReplicas], around: Surroundings) -> bool:
    schedulers = {replicas.template.spec.scheduler_name for replicas in types.values()}
    if VOLCANO in schedulers:
        return True
    return job.spec.run_policy.scheduling_policy is not None and around.has_volcano and schedulers <= {""}


def _count(replicas: TrainingReplicas, role: str, kind: str) -> int:
    if replicas.replicas is not None:
        return 1 if (kind, role) == ("MPIJob", "launcher") else replicas.replicas
    return 0 if (kind, role) == ("MPIJob", "worker") else 1


def _group(
    job: TrainingJob, owner: Owner, types: Mapping[str, TrainingReplicas], kind: str, around: Surroundings
) -> PodGroup:
    policy = job.spec.run_policy.scheduling_policy or TrainingPolicy()
    least = policy.min_available
    if least is None:
        least = sum(_count(replicas, role, kind) for role, replicas in types.items())
    spec: dict[str, Any] = {
        "minMember": least,
        "queue": policy.queue,
        "priorityClassName": policy.priority_class,
        "minResources": policy.min_resources or _least_asked(types, least, kind, around),
    }
    return pod_group(owner, owner.name, spec, around, annotations=job.metadata.annotations)


def _least_asked(types: Mapping[str, TrainingReplicas], least: int, kind: str, around: Surroundings) -> dict[str, str]:
    """What the first pods ask for in their containers, by the priority of their class."""
    ordered = sorted(types.items(), key=lambda one: -priority_of(one[1].template.spec.priority_class_name, around))
    parts = []
    for role, replicas in ordered:
        count = min(_count(replicas, role, kind), least)
        least -= count
        containers = tuple(map(_or_limits, replicas.template.spec.containers))
        if count:
            parts.append((count, replicas.template.spec.model_copy(update={"containers": containers})))
    return {name: amount for name, amount in asked_by(parts).items() if name != "pods"}


def _or_limits(container: Container) -> Container:
    resources = container.resources
    if resources.requests:
        return container
    return container.model_copy(update={"resources": resources.model_copy(update={"requests": resources.limits})})


def _pods(
    owner: Owner,
    role: str,
    types: Mapping[str, TrainingReplicas],
    kind: str,
    group: PodGroup | None,
    around: Surroundings,
) -> Pods:
    template, annotations = types[role].template, dict[str, str]()
    spec = template.spec
    init = (*spec.init_containers, *_added_containers(role, types, kind))
    update: dict[str, Any] = {"init_containers": init}
    if group is not None:
        update["scheduler_name"] = spec.scheduler_name or VOLCANO
        annotations = {GROUP_ANNOTATION: group.metadata.name, "volcano.sh/task-spec": role}
    template = admitted(template.model_copy(update={"spec": spec.model_copy(update=update)}), around)
    labels = {f"{_LABEL}operator-name": f"{kind.lower()}-controller", f"{_LABEL}job-name": owner.name}
    labels[f"{_LABEL}replica-type"] = role
    alone = not _MASTERS & types.keys()

    def make(number: int) -> Pod:
        own = {f"{_LABEL}replica-index": str(number)}
        if role in _MASTERS or (alone and role == "worker" and number == 0):
            own[f"{_LABEL}job-role"] = "master"
        name = f"{owner.name}-{role}" + ("" if (kind, role) == ("MPIJob", "launcher") else f"-{number}")
        return pod(owner, template, name, around=around, labels={**labels, **own}, annotations=annotations)

    return Pods(_count(types[role], role, kind), template, make)


def _added_containers(role: str, types: Mapping[str, TrainingReplicas], kind: str) -> tuple[Container, ...]:
    asks = None
    if (kind, role) == ("MPIJob", "launcher"):
        asks = _DELIVERY
    elif (kind, role) == ("PyTorchJob", "worker") and "master" in types:
        asks = _WAITING
    if asks is None:
        return ()
    return (Container.model_validate({"name": "added-by-the-operator", "resources": {"requests": asks}}),)
