"""What filters say of two tasks: who takes whose port, who repels, supports or counts whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from cpsched.filters.facts import ANY_IP, Facts, HostPort
from cpsched.filters.pod_topology_spread import is_eligible, uncounted
from cpsched.filters.spread_constraint import SpreadConstraint, hard_constraints
from cpsched.instance import Task
from cpsched.proof.counted import CountedSession
from cpsched.selectors import AffinityTerm, Selector, SelectorError

Pairwise = Callable[[Task, Task], bool]


class DomainLimit(NamedTuple):
    """Who a spread constraint counts, on which nodes, and how far a domain may be above the emptiest one."""

    namespace: str
    selector: Selector
    key: str
    eligible: tuple[str, ...]
    skew: int
    above_emptiest: bool
    """While there are too few domains the emptiest one counts as nothing."""

    def counts(self, task: Task) -> bool:
        """Whether the task counts where it is; one that is on its way out does not."""
        stays = task.pod.metadata.deletion_timestamp is None
        return stays and task.namespace == self.namespace and self.selector.matches(task.labels)


class Neighbours:
    """Facts about pairs of tasks; only for a form that tells nodes apart, and tasks by what they state."""

    def __init__(self, counted: CountedSession):
        self._predicates = counted.snapshot.predicates
        self._cluster = self._predicates.cluster
        nodes = self._cluster.nodes.values()
        self.staying: dict[int, list[Task]] = {}
        """Per place the tasks that are there whatever is decided."""
        for node in nodes:
            place = counted.place_of[node.name]
            self.staying[place] = [task for task in node.tasks if task.key not in counted.victim_of]
        self._places = {node.name: counted.place_of[node.name] for node in nodes}

    def asks(self, task: Task, name: str) -> bool:
        """Whether the filter is asked for the task."""
        return name in self._predicates.names(task)

    def facts(self, task: Task) -> Facts:
        """What filters derive from the task."""
        return self._cluster.facts(task)

    def domains(self, key: str) -> dict[str, list[int]]:
        """Places by their value of a topology key; those without it are in none."""
        found: dict[str, list[int]] = {}
        for name, node in self._cluster.nodes.items():
            if key in node.labels:
                found.setdefault(node.labels[key], []).append(self._places[name])
        return found

    def without(self, key: str) -> list[int]:
        """Places without the key."""
        return [self._places[name] for name, node in self._cluster.nodes.items() if key not in node.labels]

    def same_port(self, one: Task, other: Task) -> bool:
        """NodePorts: whether both want the same port of a node."""
        return any(_same(a, b) for a in self.facts(one).ports for b in self.facts(other).ports)

    @cached_property
    def anti_keys(self) -> list[str]:
        """Topology keys of required anti-affinity."""
        tasks = self._predicates.instance.tasks.values()
        return sorted({term.topology_key for task in tasks for term in self.facts(task).anti_affinity})

    def repels(self, key: str) -> Pairwise:
        """InterPodAffinity: whether a newcomer may not come to a domain of the key where the other already is."""

        def repels(newcomer: Task, present: Task) -> bool:
            own = (t for t in self.facts(newcomer).anti_affinity if t.topology_key == key)
            theirs = (t for t in self.facts(present).anti_affinity if t.topology_key == key)
            return any(self._means(t, present) for t in own) or any(self._meant(t, newcomer) for t in theirs)

        return repels

    def supports(self, task: Task, other: Task) -> bool:
        """InterPodAffinity: whether the other is meant by all terms of the task's required affinity."""
        return all(self._means(term, other) for term in self.facts(task).affinity)

    def spread(self, task: Task) -> Iterable[DomainLimit]:
        """PodTopologySpread: the task's hard constraints; none if they do not parse."""
        if not self.asks(task, "PodTopologySpread"):
            return
        args = self._predicates.args(task)
        try:
            constraints = hard_constraints(task, self._cluster, args)
            state = uncounted(task, self._cluster, args)
        except SelectorError:
            return
        for one in constraints:
            nodes = [node for node in self._cluster.nodes.values() if is_eligible(state, one, node)]
            values = {node.labels[one.topology_key] for node in nodes}
            yield self._limit(task, one, tuple(node.name for node in nodes), len(values))

    def _limit(self, task: Task, one: SpreadConstraint, nodes: tuple[str, ...], domains: int) -> DomainLimit:
        above = domains >= one.min_domains
        return DomainLimit(task.namespace, one.selector, one.topology_key, nodes, one.max_skew, above)

    def _means(self, term: AffinityTerm, other: Task) -> bool:
        again = self._predicates.args(other).features.asks_selectors_again
        expanded = term.expanded(self._cluster.namespaces, asks_again=again)
        return self._meant(expanded, other)

    def _meant(self, term: AffinityTerm, other: Task) -> bool:
        return term.matches(other.namespace, other.labels, self._cluster.namespaces.get(other.namespace, {}))


def _same(one: HostPort, other: HostPort) -> bool:
    taken = (one.protocol, one.port) == (other.protocol, other.port)
    return taken and (one.ip == other.ip or ANY_IP in (one.ip, other.ip))
