"""DaemonSet: one pod for every node that takes it; mirrors `pkg/controller/daemon`."""

from __future__ import annotations

from typing import Any

from cpsched.objects.affinity import Toleration
from cpsched.objects.base import Object, Shape
from cpsched.objects.node import Node
from cpsched.objects.pod import Pod, PodSpec
from cpsched.selectors import blocks, required_node_affinity
from cpsched.workloads.admission import admitted, unknown_class
from cpsched.workloads.groups import grouped
from cpsched.workloads.plan import Names, Owner, Plan, Pods, Surroundings, Template, pod

_TOLERATED = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
_OF_HOST_NETWORK = ("network-unavailable", "NoSchedule")


class DaemonSpec(Shape):
    """Of what its pods are."""

    template: Template = Template()


class DaemonStatus(Shape):
    """What its controller counts."""

    current_number_scheduled: int = 0


class DaemonSet(Object):
    """An apps DaemonSet."""

    spec: DaemonSpec = DaemonSpec()
    status: DaemonStatus = DaemonStatus()

    @property
    def counted(self) -> int:
        """How many pods its status says there are."""
        return self.status.current_number_scheduled

    @property
    def ended(self) -> bool:
        """It has no end."""
        return False


def plan(owned: DaemonSet, around: Surroundings) -> Plan:
    """A pod bound by its affinity to each node whose labels and taints it agrees with."""
    owner = Owner.of("DaemonSet", owned.metadata)
    spec = owned.spec.template.spec
    tolerated = owned.spec.template.model_copy(
        update={"spec": spec.model_copy(update={"tolerations": (*spec.tolerations, *_tolerations(spec))})}
    )
    template, groups = grouped(owner, admitted(tolerated, around), around)
    nodes = [node for node in around.nodes if _runs_on(template.spec, node)]
    names = Names(around, owned.metadata.namespace, owner.name)

    def make(number: int) -> Pod:
        bound = template.model_copy(update={"spec": _bound_to(template.spec, nodes[number].metadata.name)})
        return pod(owner, bound, names[number], around=around)

    notes = [note for note in [unknown_class(spec.priority_class_name, around)] if note]
    return Plan((Pods(len(nodes), template, make),), groups if nodes else (), tuple(notes))


def _tolerations(spec: PodSpec) -> list[Toleration]:
    wanted = [*_TOLERATED, *([_OF_HOST_NETWORK] if spec.host_network else [])]
    return [
        Toleration.model_validate({"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect})
        for key, effect in wanted
    ]


def _runs_on(spec: PodSpec, node: Node) -> bool:
    if spec.node_name not in ("", node.metadata.name):
        return False
    if blocks(node.spec.taints, spec.tolerations):
        return False
    return required_node_affinity(Pod.model_validate({"spec": spec})).matches(node.metadata.labels, node.metadata.name)


def _bound_to(spec: PodSpec, node: str) -> PodSpec:
    """Its required node affinity is replaced by the node's name; nodeSelector stays."""
    only = {"key": "metadata.name", "operator": "In", "values": [node]}
    required: dict[str, Any] = {"nodeSelectorTerms": [{"matchFields": [only]}]}
    stated = spec.affinity.node_affinity
    affinity = type(stated).model_validate({"requiredDuringSchedulingIgnoredDuringExecution": required})
    affinity = affinity.model_copy(update={"preferred": stated.preferred})
    return spec.model_copy(update={"affinity": spec.affinity.model_copy(update={"node_affinity": affinity})})
