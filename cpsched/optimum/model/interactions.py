"""Which tasks a dynamic filter can make depend on each other: ports, pod affinity, spread, volumes and claims."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cpsched.components import components
from cpsched.filters.facts import ANY_IP, Facts, HostPort
from cpsched.filters.pod_topology_spread import is_eligible, uncounted
from cpsched.filters.spread_constraint import SpreadConstraint, hard_constraints
from cpsched.instance import Task
from cpsched.optimum.model.classes import Classes, VictimClass
from cpsched.selectors import AffinityTerm, Labels, Selector, SelectorError
from cpsched.snapshot import Snapshot


@dataclass(frozen=True)
class SpreadView:
    """What a spread constraint counts: such pods of a namespace on these nodes, per value of the key."""

    namespace: str
    selector: Selector
    key: str
    eligible: tuple[str, ...]

    def counts(self, task: Task) -> bool:
        """Whether the task counts where it is; one that is on its way out does not."""
        stays = task.pod.metadata.deletion_timestamp is None
        return stays and task.namespace == self.namespace and self.selector.matches(task.labels)


class Interactions:
    """Facts about pairs of tasks, as the filters see them."""

    def __init__(self, snapshot: Snapshot, classes: Classes):
        self.snapshot, self.classes = snapshot, classes
        self.predicates = snapshot.predicates

    @property
    def namespaces(self) -> dict[str, Labels]:
        """Labels of the namespaces that exist."""
        return self.predicates.cluster.namespaces

    def facts(self, task: Task) -> Facts:
        """What filters derive from the task."""
        return self.predicates.cluster.facts(task)

    def enabled(self, task: Task, name: str) -> bool:
        """Whether the filter is asked for the task."""
        return name in self.predicates.names(task)

    def ports_clash(self, one: Task, other: Task) -> bool:
        """Whether both want the same host port."""
        return any(_same_port(a, b) for a in self.facts(one).ports for b in self.facts(other).ports)

    def excludes(self, newcomer: Task, present: Task, key: str) -> bool:
        """Whether anti-affinity over the topology key keeps the newcomer away from where the other already is."""
        if not self.enabled(newcomer, "InterPodAffinity"):
            return False
        own = (t for t in self.facts(newcomer).anti_affinity if t.topology_key == key)
        theirs = (t for t in self.facts(present).anti_affinity if t.topology_key == key)
        return any(self.selects(t, present) for t in own) or any(self.is_selected(t, newcomer) for t in theirs)

    def clash(self, one: Task, other: Task, key: str) -> bool:
        """Whether neither could come after the other within one domain of the key."""
        return self.excludes(one, other, key) and self.excludes(other, one, key)

    def selects(self, term: AffinityTerm, other: Task) -> bool:
        """Whether a newcomer's term means the other."""
        labels = self.namespaces.get(other.namespace, {})
        again = self.predicates.args(other).features.asks_selectors_again
        return term.expanded(self.namespaces, asks_again=again).matches(other.namespace, other.labels, labels)

    def is_selected(self, term: AffinityTerm, newcomer: Task) -> bool:
        """Whether a term of a task that is already there means the newcomer."""
        return term.matches(newcomer.namespace, newcomer.labels, self.namespaces.get(newcomer.namespace, {}))

    def supports(self, task: Task, other: Task) -> bool:
        """Whether the other matches all required affinity terms of the task."""
        return all(self.selects(term, other) for term in self.facts(task).affinity)

    def spread(self, task: Task) -> tuple[SpreadConstraint, ...]:
        """Hard spread constraints of the task, if the filter is asked; none if they do not parse."""
        if not self.enabled(task, "PodTopologySpread"):
            return ()
        try:
            return hard_constraints(task, self.predicates.cluster, self.predicates.args(task))
        except SelectorError:
            return ()

    def spread_view(self, task: Task, constraint: SpreadConstraint) -> SpreadView:
        """What the task's constraint counts."""
        cluster = self.predicates.cluster
        state = uncounted(task, cluster, self.predicates.args(task))
        eligible = (name for name, node in cluster.nodes.items() if is_eligible(state, constraint, node))
        return SpreadView(task.namespace, constraint.selector, constraint.topology_key, tuple(eligible))

    @cached_property
    def anti_keys(self) -> list[str]:
        """Topology keys that some anti-affinity term uses."""
        tasks = self.snapshot.instance.tasks.values()
        return sorted({term.topology_key for task in tasks for term in self.facts(task).anti_affinity})

    def component_of(self, task: Task) -> tuple[set[int], set[int]]:
        """Indices of the task classes and victim groups on which a filter's verdict about the task can depend."""
        component = self._components["task", self._class_of(task)]
        return {i for kind, i in component if kind == "task"}, {i for kind, i in component if kind == "victim"}

    @cached_property
    def _components(self) -> dict[tuple[str, int], list[tuple[str, int]]]:
        """Per task class and victim class all that it can depend on, itself included."""
        items: list[tuple[tuple[str, int], Task]] = [(("task", c.index), c.representative) for c in self.classes.tasks]
        items += [(("victim", g.index), g.representative) for g in self.classes.victims]
        meeting = (
            (name, other_name)
            for position, (name, task) in enumerate(items)
            for other_name, other in items[:position]
            if self._interact(task, other) or self._interact(other, task)
        )
        return {name: found for found in components([name for name, _ in items], meeting) for name in found}

    def _interact(self, one: Task, other: Task) -> bool:
        facts = self.facts(one)
        return (
            (self._competes(one) and self._competes(other))
            or self.ports_clash(one, other)
            or any(
                self.selects(t, other) or self.is_selected(t, other) for t in (*facts.affinity, *facts.anti_affinity)
            )
            or any(one.namespace == other.namespace and c.selector.matches(other.labels) for c in self.spread(one))
        )

    def _competes(self, task: Task) -> bool:
        """Whether the task may take volumes or devices that others want."""
        by_devices = self.predicates.cluster.devices.class_by_resource
        spec = task.pod.spec
        return bool(spec.volumes or spec.resource_claims) or any(name in by_devices for name in task.requests)

    def _class_of(self, task: Task) -> int:
        return next(one.index for one in self.classes.tasks if any(t.key == task.key for t in one.tasks))


def domains(snapshot: Snapshot, key: str) -> dict[str, list[str]]:
    """Nodes by their value of a topology key; nodes without it belong to no domain."""
    by_value: dict[str, list[str]] = {}
    for name, node in snapshot.predicates.cluster.nodes.items():
        if key in node.labels:
            by_value.setdefault(node.labels[key], []).append(name)
    return by_value


def fixed_tasks(snapshot: Snapshot, groups: tuple[VictimClass, ...]) -> list[Task]:
    """Tasks on nodes that no task may evict; filters see nodes too on which nothing is placed."""
    removable = {task.key for group in groups for task in group.tasks}
    nodes = snapshot.predicates.cluster.node_list
    return [task for node in nodes for task in node.tasks if task.key not in removable]


def _same_port(one: HostPort, other: HostPort) -> bool:
    if (one.protocol, one.port) != (other.protocol, other.port):
        return False
    return one.ip == other.ip or ANY_IP in (one.ip, other.ip)
