"""Which filters a policy enables, and what they say about (task, node) pairs before any decision is made."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property

from cpsched.filters import FILTERS, Args, ClusterState, Features, Status, feasible, final_state_failures
from cpsched.filters.devices import Devices
from cpsched.filters.facts import host_ports
from cpsched.filters.status import unresolvable
from cpsched.filters.storage import Storage
from cpsched.instance import Instance, Task
from cpsched.policy import Policy, Profile
from cpsched.snapshot.identical import Identical
from cpsched.snapshot.jobs import DEFAULT_SCHEDULER

VOLCANO_SWITCHES: dict[str, str | None] = {
    "NodeUnschedulable": None,
    "NodeAffinity": "predicate.NodeAffinityEnable",
    "NodePorts": "predicate.NodePortsEnable",
    "TaintToleration": "predicate.TaintTolerationEnable",
    "InterPodAffinity": "predicate.PodAffinityEnable",
    "NodeVolumeLimits": "predicate.NodeVolumeLimitsEnable",
    "VolumeZone": "predicate.VolumeZoneEnable",
    "PodTopologySpread": "predicate.PodTopologySpreadEnable",
    "VolumeBinding": "predicate.VolumeBindingEnable",
    "DynamicResources": None,
}
"""The ten filters of Volcano's predicates plugin and their switches; None is always on."""

NOT_IN_SHARD = unresolvable("", "node isn't in scheduler node shard")


class Predicates:
    """The filters in force; resources are the rule `capacity`'s business and not asked here."""

    def __init__(self, instance: Instance, policy: Policy, identical: Identical | None = None):
        self.instance, self.policy, self._identical = instance, policy, identical or Identical()
        self._refused_by_wishes = self._identical.once(self._refused, self._wishes)

    def names(self, task: Task) -> tuple[str, ...]:
        """Enabled filters for the task, in upstream's order."""
        if self.policy.is_kube:
            return tuple(name for name in self._profile(task).filters if name in FILTERS and name != "NodeResourcesFit")
        return self._volcano_names

    @cached_property
    def _volcano_names(self) -> tuple[str, ...]:
        plugin = self.policy.plugin("predicates")
        if plugin is None:
            return ()
        return tuple(n for n, switch in VOLCANO_SWITCHES.items() if switch is None or plugin.arguments.boolean(switch))

    def args(self, task: Task) -> Args:
        """Arguments of the filters for the task."""
        if not self.policy.is_kube:
            return Args()
        args = self._profile(task).args
        spread = args.topology_spread
        return Args(
            features=Features.of(self.policy.kube.version),
            added_affinity=args.node_affinity.added_affinity,
            default_constraints=() if spread.system_defaulted else spread.constraints,
        )

    def refused(self, task: Task) -> dict[str, Status]:
        """Nodes on which the task may not be whatever else happens, with the reason."""
        return self._refused_by_wishes(task)

    def _refused(self, task: Task) -> dict[str, Status]:
        static = [name for name in self.names(task) if FILTERS[name].is_static]
        verdicts = feasible(task, self._bare, static, self.args(task))
        found = {node: status for node, status in verdicts.by_node().items() if not status.is_success}
        return found | dict.fromkeys(self._other_shards, NOT_IN_SHARD)

    def _wishes(self, task: Task) -> Hashable:
        """Equal for tasks of which the static filters read the same; of most that is only the scheduler's name."""
        spec = task.pod.spec
        plain = (spec.scheduler_name, spec.node_name)
        required = spec.node_selector or spec.affinity.node_affinity.required is not None
        if not (required or spec.tolerations or spec.volumes):
            return plain
        facts = self._bare.facts(task)
        return task.key if facts.claims else (*plain, facts.node_affinity, facts.tolerations)

    @cached_property
    def _other_shards(self) -> tuple[str, ...]:
        """Nodes that hard sharding keeps for other instances of Volcano; soft sharding only prefers its own."""
        sharding = self.instance.sharding
        if self.policy.is_kube or sharding is None or sharding.mode != "hard":
            return ()
        return tuple(name for name in self.instance.nodes if name not in sharding.nodes)

    def dynamic_names(self, task: Task) -> tuple[str, ...]:
        """Enabled filters whose answer depends on other tasks."""
        return tuple(name for name in self.names(task) if not FILTERS[name].is_static)

    @cached_property
    def cluster(self) -> ClusterState:
        """The cluster as the snapshot shows it; code that changes it takes a copy."""
        return ClusterState.from_instance(self.instance)

    @cached_property
    def _bare(self) -> ClusterState:
        """The nodes without pods, which is all that static filters look at."""
        instance = self.instance
        return ClusterState(
            instance, instance.nodes.values(), storage=Storage.of(instance), devices=Devices.of(instance)
        )

    @cached_property
    def any_dynamic(self) -> bool:
        """Whether some pod has a wish that other pods can grant or refuse."""
        one_of_each = self._identical.one_of_each
        one_per_spec = one_of_each(self.instance.tasks.values(), lambda task: id(task.spec))
        one_per_profile = one_of_each(one_per_spec, lambda task: task.spec.scheduler_name)
        of_devices = Devices.of(self.instance).class_by_resource
        return (
            any(map(self.has_default_spread, one_per_profile))
            or any(map(has_dynamic_wishes, one_per_spec))
            or any(name in of_devices for task in one_per_spec if of_devices for name in task.requests)
        )

    def has_default_spread(self, task: Task) -> bool:
        """Whether the profile spreads pods without constraints of their own, each with those of its owner."""
        return any(c.when_unsatisfiable == "DoNotSchedule" for c in self.args(task).default_constraints)

    def _profile(self, task: Task) -> Profile:
        name = task.pod.spec.scheduler_name or DEFAULT_SCHEDULER
        profiles = self.policy.kube.profiles
        return next((profile for profile in profiles if profile.scheduler_name == name), profiles[0])


def has_dynamic_wishes(task: Task) -> bool:
    """Ports, pod affinity, hard spread, volumes or claims."""
    spec, affinity = task.pod.spec, task.pod.spec.affinity
    if spec.volumes or spec.resource_claims or affinity.pod_affinity.required or affinity.pod_anti_affinity.required:
        return True
    if spec.topology_spread_constraints and any(
        c.when_unsatisfiable == "DoNotSchedule" for c in spec.topology_spread_constraints
    ):
        return True
    for container in (*spec.init_containers, *spec.containers):
        if container.ports:
            return bool(host_ports(task.pod))
    return False


def dynamic_failures(
    predicates: Predicates, placed: dict[str, str], evicted: frozenset[str]
) -> Iterator[tuple[Task, str, Status]]:
    """Placed tasks that a dynamic filter refuses once everything is placed and the victims are gone."""
    cluster = predicates.cluster.copy()
    tasks = predicates.instance.tasks
    for key in sorted(evicted):
        if key in cluster.node_by_task:
            cluster.remove(tasks[key])
    newcomers = [tasks[key] for key, node in placed.items() if key in tasks and node in cluster.nodes]
    for task in newcomers:
        if task.key not in cluster.node_by_task:
            cluster.add(task, placed[task.key])
    groups: dict[tuple[tuple[str, ...], Args], list[Task]] = {}
    for task in newcomers:
        groups.setdefault((predicates.dynamic_names(task), predicates.args(task)), []).append(task)
    for (names, args), members in groups.items():
        yield from final_state_failures(cluster, members, names, args)
