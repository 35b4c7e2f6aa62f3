"""What jobs and queues are made of: PodGroup, Queue, PriorityClass, PodDisruptionBudget."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from cpsched.objects.base import INT32_MAX, Condition, Items, LabelSelector, Object, Quantities, Shape, Time


class NetworkTopology(Shape):
    """How near to each other the pods are to run; without a known tier, or a mode, it asks for nothing."""

    mode: str = ""
    highest_tier_allowed: int | None = None
    highest_tier_name: str = ""


class SubGroupPolicy(Shape):
    """Pods that belong together within a job: one sub-group per combination of the values of some labels."""

    name: str = ""
    network_topology: NetworkTopology | None = None
    sub_group_size: int | None = None
    min_sub_groups: int | None = None
    label_selector: LabelSelector | None = None
    match_label_keys: Items[str] = ()


class PodGroupSpec(Shape):
    """A gang's needs."""

    min_member: int = Field(0, ge=0, le=INT32_MAX)
    min_task_member: dict[str, int] = {}
    min_resources: Quantities | None = None
    queue: str = ""
    priority_class_name: str = ""
    network_topology: NetworkTopology | None = None
    sub_group_policy: Items[SubGroupPolicy] = ()


class PodGroupStatus(Shape):
    """Where the gang stands, and how many pods the cluster counts in it."""

    phase: Literal["", "Pending", "Inqueue", "Running", "Unknown", "Completed"] = ""
    conditions: Items[Condition] = ()
    running: int = 0
    succeeded: int = 0
    failed: int = 0


class PodGroup(Object):
    """A scheduling.volcano.sh PodGroup: a job."""

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class GangPolicy(Shape):
    """All or at least minCount."""

    min_count: int = 1


class SchedulingPolicy(Shape):
    """How a scheduling.k8s.io PodGroup wants to be scheduled."""

    gang: GangPolicy | None = None


class WorkloadPodGroupSpec(Shape):
    """The part of a scheduling.k8s.io PodGroup that preemption reads."""

    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    scheduling_policy: SchedulingPolicy = SchedulingPolicy()
    disruption_mode: Any = None
    parent_group_name: str = ""


class WorkloadPodGroup(Object):
    """A scheduling.k8s.io PodGroup (kube-scheduler's own gangs, behind a feature gate)."""

    spec: WorkloadPodGroupSpec = WorkloadPodGroupSpec()


class Guarantee(Shape):
    """Resources reserved for a queue."""

    resource: Quantities = {}


class NodeGroups(Shape):
    """Names of node groups, such as must be and such as rather be."""

    required: Items[str] = Field((), alias="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: Items[str] = Field((), alias="preferredDuringSchedulingIgnoredDuringExecution")


class QueueAffinity(Shape):
    """The node groups that a queue's pods go to, and those they keep off."""

    node_group_affinity: NodeGroups = NodeGroups()
    node_group_anti_affinity: NodeGroups = NodeGroups()


class QueueSpec(Shape):
    """A queue's share and how it behaves."""

    weight: int = Field(1, ge=0, le=INT32_MAX)
    capability: Quantities | None = None
    deserved: Quantities | None = None
    guarantee: Guarantee = Guarantee()
    reclaimable: bool | None = None
    priority: int = Field(0, ge=-INT32_MAX - 1, le=INT32_MAX)
    parent: str = ""
    affinity: QueueAffinity | None = None


class QueueStatus(Shape):
    """Only an Open queue takes part; `allocated` is what the cluster counts."""

    state: str = ""
    allocated: Quantities = {}


class Queue(Object):
    """A scheduling.volcano.sh Queue."""

    spec: QueueSpec = QueueSpec()
    status: QueueStatus = QueueStatus()


class PriorityClass(Object):
    """A named priority."""

    value: int = Field(0, ge=-INT32_MAX - 1, le=INT32_MAX)
    global_default: bool = False
    preemption_policy: str = ""


class BudgetSpec(Shape):
    """Whom the budget covers."""

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None


class BudgetStatus(Shape):
    """How many disruptions are allowed now, and how many healthy pods the cluster counts."""

    disruptions_allowed: int = 0
    current_healthy: int = 0
    disrupted_pods: dict[str, Time | None] = {}


class PodDisruptionBudget(Object):
    """A policy PodDisruptionBudget."""

    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()
