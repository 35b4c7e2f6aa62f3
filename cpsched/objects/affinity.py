"""Where a pod wants to be: affinity terms, tolerations, spread constraints, with their Kubernetes names."""

from __future__ import annotations

from pydantic import Field

from cpsched.objects.base import Items, LabelRequirement, LabelSelector, Shape


class NodeSelectorTerm(Shape):
    """Expressions over node labels and fields, ANDed."""

    match_expressions: Items[LabelRequirement] = ()
    match_fields: Items[LabelRequirement] = ()


class NodeSelector(Shape):
    """Terms, ORed; no term matches nothing."""

    node_selector_terms: Items[NodeSelectorTerm] = ()


class PreferredTerm(Shape):
    """A node preference with its weight."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Shape):
    """Which nodes; `required` None means no requirement, a selector without terms means no node."""

    required: NodeSelector | None = Field(None, alias="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: Items[PreferredTerm] = Field((), alias="preferredDuringSchedulingIgnoredDuringExecution")


class PodAffinityTerm(Shape):
    """Which other pods, in which namespaces, sharing which topology."""

    label_selector: LabelSelector | None = None
    topology_key: str = ""
    namespaces: Items[str] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: Items[str] = ()
    mismatch_label_keys: Items[str] = ()


class WeightedPodAffinityTerm(Shape):
    """A preferred term with its weight."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Shape):
    """Affinity or anti-affinity to pods."""

    required: Items[PodAffinityTerm] = Field((), alias="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: Items[WeightedPodAffinityTerm] = Field((), alias="preferredDuringSchedulingIgnoredDuringExecution")


class Affinity(Shape):
    """The three kinds together."""

    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()


class Toleration(Shape):
    """A taint the pod accepts."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class TopologySpreadConstraint(Shape):
    """How evenly matching pods must lie over a topology."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = ""
    node_taints_policy: str = ""
    match_label_keys: Items[str] = ()
