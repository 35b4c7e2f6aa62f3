"""A profile at work: its filters in order with their arguments; mirrors `framework/runtime/framework.go`."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.filters import Args, Features, Filter, PreFiltered, chosen, prefilter
from cpsched.filters.state import ClusterState
from cpsched.instance import Task
from cpsched.policy.kube_profile import Profile
from cpsched.policy.kube_registry import KubeVersion


@dataclass(frozen=True)
class Framework:
    """Everything that is the same for all pods of a profile."""

    profile: Profile
    version: KubeVersion
    args: Args
    filters: tuple[Filter, ...]
    hooked: tuple[Filter, ...]
    """Filters whose state follows pods that come and go."""

    @classmethod
    def of(cls, profile: Profile, version: KubeVersion) -> Framework:
        """The framework of a profile in a release."""
        args = Args(
            features=Features.of(version),
            added_affinity=profile.args.node_affinity.added_affinity,
            ignored_resources=frozenset(profile.args.fit.ignored_resources),
            ignored_resource_groups=frozenset(profile.args.fit.ignored_resource_groups),
            default_constraints=profile.args.topology_spread.constraints,
        )
        return cls(profile, version, args, tuple(chosen(profile.filters)), tuple(chosen(profile.pre_filters)))

    def pre_filter(self, task: Task, cluster: ClusterState) -> PreFiltered:
        """Run the PreFilters."""
        return prefilter(task, cluster, self.profile.pre_filters, self.args, prepare=self.profile.filters)

    def moving(self, pre: PreFiltered) -> list[Filter]:
        """Filters whose verdict on this task other pods can change."""
        return [one for one in self.filters if not one.is_static and one.name not in pre.skipped]
