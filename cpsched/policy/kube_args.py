"""Arguments of kube-scheduler's plugins with its defaults and its checks (apis/config/v1, apis/config/validation)."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from cpsched.objects.affinity import NodeAffinity, TopologySpreadConstraint
from cpsched.objects.base import Items
from cpsched.policy import durations
from cpsched.policy.shapes import ClosedShape

Duration = Annotated[int, BeforeValidator(durations.nanoseconds)]


class SharedArgs(ClosedShape):
    """What all plugin arguments share: they may say their own kind."""

    api_version: str = ""
    kind: str = ""

    @model_validator(mode="after")
    def _kind_fits(self) -> Self:
        if self.kind not in ("", type(self).__name__):
            raise ValueError(f"kind is {self.kind}; it should be {type(self).__name__}")
        return self


class ResourceSpec(ClosedShape):
    """A resource that counts in a score; a weight left out or 0 is 1."""

    name: str
    weight: Annotated[int, Field(ge=1, le=100), BeforeValidator(lambda weight: 1 if weight == 0 else weight)] = 1


class ShapePoint(ClosedShape):
    """A point of a piecewise linear function from utilization to score."""

    utilization: int = Field(0, ge=0, le=100)
    score: int = Field(0, ge=0, le=10)


def _resources_or_default(resources: object) -> object:
    return resources or [{"name": "cpu"}, {"name": "memory"}]


CPU_AND_MEMORY = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))
Resources = Annotated[Items[ResourceSpec], BeforeValidator(_resources_or_default)]


class DefaultPreemptionArgs(SharedArgs):
    """How many candidate nodes a preemption looks for at least."""

    min_candidate_nodes_percentage: int = Field(10, ge=0, le=100)
    min_candidate_nodes_absolute: int = Field(100, ge=0)

    @model_validator(mode="after")
    def _not_both_zero(self) -> Self:
        if self.min_candidate_nodes_percentage == self.min_candidate_nodes_absolute == 0:
            raise ValueError("minCandidateNodesPercentage and minCandidateNodesAbsolute are both 0; raise one of them")
        return self


class InterPodAffinityArgs(SharedArgs):
    """Scoring of pod affinity."""

    hard_pod_affinity_weight: int = Field(1, ge=0, le=100)
    ignore_preferred_terms_of_existing_pods: bool = False


class NodeAffinityArgs(SharedArgs):
    """Node affinity that every pod of the profile has in addition to its own."""

    added_affinity: NodeAffinity | None = None


def _increasing(shape: tuple[ShapePoint, ...]) -> tuple[ShapePoint, ...]:
    if any(left.utilization >= right.utilization for left, right in pairwise(shape)):
        raise ValueError("the utilizations do not increase; sort the points")
    return shape


Curve = Annotated[Items[ShapePoint], AfterValidator(_increasing)]


class RequestedToCapacityRatio(ClosedShape):
    """The score function of the strategy of that name."""

    shape: Curve = Field(min_length=1)


class ScoringStrategy(ClosedShape):
    """How NodeResourcesFit scores a node."""

    type: Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]
    resources: Resources = CPU_AND_MEMORY
    requested_to_capacity_ratio: RequestedToCapacityRatio | None = None

    @model_validator(mode="after")
    def _shape_fits_type(self) -> Self:
        if (self.type == "RequestedToCapacityRatio") != (self.requested_to_capacity_ratio is not None):
            raise ValueError("requestedToCapacityRatio belongs to the type RequestedToCapacityRatio and to no other")
        return self


def _group(name: str) -> str:
    if "/" in name:
        raise ValueError(f"{name} has a slash; a resource group is what stands before it")
    return name


class NodeResourcesFitArgs(SharedArgs):
    """Extended resources that are not checked, and the scoring strategy."""

    ignored_resources: Items[str] = ()
    ignored_resource_groups: Items[Annotated[str, AfterValidator(_group)]] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type="LeastAllocated")


class NodeResourcesBalancedAllocationArgs(SharedArgs):
    """Resources whose usage should be even."""

    resources: Resources = CPU_AND_MEMORY

    @model_validator(mode="after")
    def _plain_weights(self) -> Self:
        if len({resource.name for resource in self.resources}) < len(self.resources):
            raise ValueError("resources names one resource twice")
        if any(resource.weight != 1 for resource in self.resources):
            raise ValueError("a weight in resources is not 1, the only one allowed here")
        return self


class PodTopologySpreadArgs(SharedArgs):
    """Constraints of pods that have none of their own."""

    default_constraints: Items[TopologySpreadConstraint] = ()
    defaulting_type: Literal["System", "List"] = "System"

    @property
    def system_defaulted(self) -> bool:
        """Whether the scheduler's own constraints apply instead of listed ones."""
        return self.defaulting_type == "System"

    @property
    def constraints(self) -> tuple[TopologySpreadConstraint, ...]:
        """The constraints that apply to a pod without its own."""
        return SYSTEM_CONSTRAINTS if self.system_defaulted else self.default_constraints

    @model_validator(mode="after")
    def _constraints_are_right(self) -> Self:
        if self.system_defaulted and self.default_constraints:
            raise ValueError("defaultConstraints are given; set defaultingType to List")
        kinds = [(constraint.topology_key, constraint.when_unsatisfiable) for constraint in self.default_constraints]
        if len(set(kinds)) < len(kinds):
            raise ValueError("defaultConstraints repeats a topologyKey with the same whenUnsatisfiable")
        for constraint in self.default_constraints:
            if constraint.max_skew <= 0 or not constraint.topology_key or constraint.label_selector is not None:
                raise ValueError("a default constraint has a maxSkew above 0, a topologyKey and no labelSelector")
            if constraint.when_unsatisfiable not in ("DoNotSchedule", "ScheduleAnyway"):
                raise ValueError("whenUnsatisfiable of a default constraint is DoNotSchedule or ScheduleAnyway")
        return self


def _soft(topology_key: str, max_skew: int) -> TopologySpreadConstraint:
    fields = {"topologyKey": topology_key, "maxSkew": max_skew, "whenUnsatisfiable": "ScheduleAnyway"}
    return TopologySpreadConstraint.model_validate(fields)


SYSTEM_CONSTRAINTS = (_soft("kubernetes.io/hostname", 3), _soft("topology.kubernetes.io/zone", 5))


class VolumeBindingArgs(SharedArgs):
    """Binding of volumes; a shape is known from 1.37 on."""

    bind_timeout_seconds: int = Field(600, ge=0)
    shape: Curve | None = None


class DynamicResourcesArgs(SharedArgs):
    """Time limits of device allocation, in nanoseconds."""

    filter_timeout: Duration = Field(10 * durations.SECOND, ge=0)
    binding_timeout: Duration = Field(600 * durations.SECOND, ge=durations.SECOND)


class PluginArgs(ClosedShape):
    """The arguments of every plugin that takes some; the aliases are the plugins' names."""

    default_preemption: DefaultPreemptionArgs = Field(DefaultPreemptionArgs(), alias="DefaultPreemption")
    dynamic_resources: DynamicResourcesArgs = Field(DynamicResourcesArgs(), alias="DynamicResources")
    inter_pod_affinity: InterPodAffinityArgs = Field(InterPodAffinityArgs(), alias="InterPodAffinity")
    node_affinity: NodeAffinityArgs = Field(NodeAffinityArgs(), alias="NodeAffinity")
    balanced_allocation: NodeResourcesBalancedAllocationArgs = Field(
        NodeResourcesBalancedAllocationArgs(), alias="NodeResourcesBalancedAllocation"
    )
    fit: NodeResourcesFitArgs = Field(NodeResourcesFitArgs(), alias="NodeResourcesFit")
    topology_spread: PodTopologySpreadArgs = Field(PodTopologySpreadArgs(), alias="PodTopologySpread")
    volume_binding: VolumeBindingArgs = Field(VolumeBindingArgs(), alias="VolumeBinding")
