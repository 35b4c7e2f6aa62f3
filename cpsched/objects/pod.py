"""Pod: everything a scheduler reads from spec and status."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cpsched.objects.affinity import Affinity, Toleration, TopologySpreadConstraint
from cpsched.objects.base import INT32_MAX, Condition, Items, Object, Quantities, Shape, Time
from cpsched.objects.volumes import PodVolume


class ResourceRequirements(Shape):
    """Requests, limits and the resource claims a container names."""

    requests: Quantities = {}
    limits: Quantities = {}
    claims: Items[ClaimUse] = ()


class ClaimUse(Shape):
    """A container's use of one of the pod's resource claims."""

    name: str = ""
    request: str = ""


class ContainerPort(Shape):
    """A port; only one with a hostPort occupies the node."""

    container_port: int = Field(0, ge=0, le=65535)
    host_port: int = Field(0, ge=0, le=65535)
    host_ip: str = Field("", alias="hostIP")
    protocol: str = ""


class Container(Shape):
    """A container; an init container with restartPolicy Always is a sidecar."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: Items[ContainerPort] = ()
    restart_policy: str = ""

    @property
    def is_sidecar(self) -> bool:
        """Meaningful for init containers only."""
        return self.restart_policy == "Always"


class SchedulingGate(Shape):
    """A gate keeps the pod out of scheduling until it is removed."""

    name: str = ""


class PodResourceClaim(Shape):
    """A claim the pod refers to, by name or through a template."""

    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class SchedulingGroup(Shape):
    """Membership in a scheduling.k8s.io PodGroup."""

    pod_group_name: str = ""


class PodSpec(Shape):
    """What the pod asks for."""

    node_name: str = ""
    scheduler_name: str = ""
    containers: Items[Container] = ()
    init_containers: Items[Container] = ()
    resources: ResourceRequirements = ResourceRequirements()
    overhead: Quantities = {}
    priority: int | None = Field(None, ge=-INT32_MAX - 1, le=INT32_MAX)
    priority_class_name: str = ""
    preemption_policy: Literal["", "Never", "PreemptLowerPriority"] = ""
    node_selector: dict[str, str] = {}
    affinity: Affinity = Affinity()
    tolerations: Items[Toleration] = ()
    topology_spread_constraints: Items[TopologySpreadConstraint] = ()
    scheduling_gates: Items[SchedulingGate] = ()
    scheduling_group: SchedulingGroup = SchedulingGroup()
    volumes: Items[PodVolume] = ()
    resource_claims: Items[PodResourceClaim] = ()
    host_network: bool = False
    termination_grace_period_seconds: int | None = None


class ContainerStatus(Shape):
    """What a running container really holds (in-place resize)."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: Quantities = {}


class ClaimStatus(Shape):
    """The ResourceClaim made for a pod's claim template."""

    name: str = ""
    resource_claim_name: str = ""


class PodCondition(Condition):
    """A condition, with the moment from which it holds."""

    last_transition_time: Time | None = None


class PodStatus(Shape):
    """Where the pod stands."""

    phase: Literal["", "Pending", "Running", "Succeeded", "Failed", "Unknown"] = ""
    nominated_node_name: str = ""
    start_time: Time | None = None
    conditions: Items[PodCondition] = ()
    container_statuses: Items[ContainerStatus] = ()
    init_container_statuses: Items[ContainerStatus] = ()
    resource_claim_statuses: Items[ClaimStatus] = ()


CRITICAL_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})
"""Priority classes of pods that the cluster cannot do without."""


class Pod(Object):
    """A Kubernetes Pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_critical(self) -> bool:
        """Whether the cluster cannot do without it; the rule `protect.conformance` and its plugin read this."""
        return self.metadata.namespace == "kube-system" or self.spec.priority_class_name in CRITICAL_CLASSES


ResourceRequirements.model_rebuild()
