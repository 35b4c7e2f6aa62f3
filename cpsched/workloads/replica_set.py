"""Deployments and ReplicaSets: `replicas` pods that are all alike; mirrors `pkg/controller/{deployment,replicaset}`."""

from __future__ import annotations

from pydantic import Field

from cpsched.objects.base import INT32_MAX, Object, Shape
from cpsched.objects.pod import Pod
from cpsched.workloads.admission import admitted, unknown_class
from cpsched.workloads.groups import grouped
from cpsched.workloads.plan import Names, Owner, Plan, Pods, Surroundings, Template, pod

POD_TEMPLATE_HASH = "pod-template-hash"
_OF_DEPLOYMENT = frozenset({"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision"})
"""Annotations that its ReplicaSets do not take over."""


class ReplicaSpec(Shape):
    """How many pods, and of what."""

    replicas: int | None = Field(None, ge=0, le=INT32_MAX)
    template: Template = Template()
    paused: bool = False


class ReplicaStatus(Shape):
    """What its controller counts."""

    replicas: int = 0


class ReplicaSet(Object):
    """An apps ReplicaSet, or a ReplicationController, which is one of before."""

    spec: ReplicaSpec = ReplicaSpec()
    status: ReplicaStatus = ReplicaStatus()

    @property
    def counted(self) -> int:
        """How many pods its status says there are."""
        return self.status.replicas

    @property
    def ended(self) -> bool:
        """It has no end."""
        return False


class Deployment(ReplicaSet):
    """An apps Deployment."""


def plan(owned: ReplicaSet, around: Surroundings) -> Plan:
    """All its pods."""
    return _plan(owned, Owner.of("ReplicaSet", owned.metadata), around)


def plan_controller(owned: ReplicaSet, around: Surroundings) -> Plan:
    """The same of a ReplicationController."""
    return _plan(owned, Owner.of("ReplicationController", owned.metadata), around)


def plan_deployment(deployment: Deployment, around: Surroundings) -> Plan:
    """The pods of its first ReplicaSet; the hash in that one's name is 0 here."""
    if deployment.spec.paused:
        return Plan(notes=("it is paused: it makes no pods",))
    meta = deployment.metadata
    kept = {key: text for key, text in meta.annotations.items() if key not in _OF_DEPLOYMENT}
    update = {"name": f"{meta.name}-0", "uid": f"{meta.uid}-0" if meta.uid else "", "annotations": kept}
    template = deployment.spec.template
    labels = {**template.metadata.labels, POD_TEMPLATE_HASH: "0"}
    template = template.model_copy(update={"metadata": template.metadata.model_copy(update={"labels": labels})})
    owned = deployment.model_copy(
        update={
            "metadata": meta.model_copy(update=update),
            "spec": deployment.spec.model_copy(update={"template": template}),
        }
    )
    return plan(owned, around)


def _plan(owned: ReplicaSet, owner: Owner, around: Surroundings) -> Plan:
    spec = owned.spec
    count = 1 if spec.replicas is None else spec.replicas
    template, groups = grouped(owner, admitted(spec.template, around), around)
    names = Names(around, owned.metadata.namespace, owner.name)

    def make(number: int) -> Pod:
        return pod(owner, template, names[number], around=around)

    notes = [note for note in [unknown_class(spec.template.spec.priority_class_name, around)] if note]
    return Plan((Pods(count, template, make),), groups if count else (), tuple(notes))
