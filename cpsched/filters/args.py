"""What configures the filters: the release with its feature gates, and the plugins' arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cpsched.objects.affinity import NodeAffinity, TopologySpreadConstraint

Version = Literal["1.36", "head"]


@dataclass(frozen=True)
class Features:
    """A kube-scheduler release and the gates that a filter asks for; the defaults are those of 1.36."""

    version: Version = "1.36"
    volume_limit_scaling: bool = False
    taint_comparison: bool = False
    """TaintTolerationComparisonOperators: tolerations with Lt and Gt."""
    node_inclusion_policy: bool = True
    """NodeInclusionPolicyInPodTopologySpread; locked on, the switch serves upstream's tests."""
    match_label_keys: bool = True
    """MatchLabelKeysInPodTopologySpread."""
    dra_extended_resource: bool = True

    @property
    def asks_selectors_again(self) -> bool:
        """Whether namespace selectors of a newcomer's terms are asked again after they were resolved."""
        return self.version == "1.36"

    @classmethod
    def of(cls, version: Version) -> Features:
        """The gates as the release ships them."""
        return cls(version, volume_limit_scaling=version == "head")


@dataclass(frozen=True)
class Args:
    """Arguments of the plugins that filter; the defaults are upstream's."""

    features: Features = Features()
    added_affinity: NodeAffinity | None = None
    ignored_resources: frozenset[str] = frozenset()
    ignored_resource_groups: frozenset[str] = frozenset()
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    """Constraints of pods without their own; only those with DoNotSchedule filter."""
