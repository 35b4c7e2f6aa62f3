"""PodTopologySpread: matching pods must lie evenly over a topology; mirrors `plugins/podtopologyspread`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from cpsched.filters.args import Args
from cpsched.filters.contract import SKIPPED, Filter, Mask, PreFilterResult
from cpsched.filters.facts import Facts
from cpsched.filters.masks import per_node, per_taints
from cpsched.filters.spread_constraint import SpreadConstraint, hard_constraints
from cpsched.filters.state import ClusterState, FactsOf, NodeState
from cpsched.filters.status import SUCCESS, Status, error, unresolvable, unschedulable
from cpsched.instance import Task
from cpsched.selectors import SelectorError, blocks

NAME = "PodTopologySpread"
SKEWED = unschedulable(NAME, "node(s) didn't match pod topology spread constraints")
KEYLESS = unresolvable(NAME, "node(s) didn't match pod topology spread constraints (missing required label)")

_NO_DOMAIN = 2**31 - 1


@dataclass
class TopologySpreadState:
    """Matching pods per domain of each constraint; only domains with an eligible node have an entry."""

    facts: FactsOf
    own: Facts
    taint_comparison: bool
    constraints: tuple[SpreadConstraint, ...]
    counts: list[dict[str, int]]

    def clone(self) -> TopologySpreadState:
        """A copy with counts of its own."""
        return replace(self, counts=[dict(count) for count in self.counts])

    def minimum(self, number: int) -> int:
        """Fewest matching pods in a domain; 0 where there are fewer domains than asked for."""
        counts = self.counts[number]
        if len(counts) < self.constraints[number].min_domains:
            return 0
        # Upstream tracks the two smallest only, which is exact while one domain changes, as in its dry runs.
        return min(counts.values(), default=_NO_DOMAIN)

    def limit(self, number: int) -> int:
        """How many matching pods a domain may hold before the task comes."""
        constraint = self.constraints[number]
        own_match = constraint.selector.matches(self.own.labels.labels)
        return constraint.max_skew + self.minimum(number) - own_match


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Count matching pods per domain; skip a task without hard constraints."""
    try:
        state = uncounted(task, cluster, args)
    except SelectorError as broken:
        text = "get constraints from pod: obtaining pod's hard topology spread constraints"
        return PreFilterResult(error(NAME, f"{text}: {broken}"))
    if not state.constraints:
        return SKIPPED
    state.counts = [_counts(state, constraint, cluster) for constraint in state.constraints]
    return PreFilterResult(state=state)


def uncounted(task: Task, cluster: ClusterState, args: Args) -> TopologySpreadState:
    """The task's hard constraints, before any pod is counted; SelectorError if one does not parse."""
    constraints = hard_constraints(task, cluster, args)
    return TopologySpreadState(cluster.facts, cluster.facts(task), args.features.taint_comparison, constraints, [])


def check(state: TopologySpreadState, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node without the key, or in a domain that is too full; constraints in order."""
    for number, constraint in enumerate(state.constraints):
        value = node.labels.get(constraint.topology_key)
        if value is None:
            return KEYLESS
        if state.counts[number].get(value, 0) > state.limit(number):
            return SKEWED
    return SUCCESS


def masks(state: TopologySpreadState, task: Task, cluster: ClusterState) -> Iterable[tuple[Mask, Status]]:
    """The verdict for all nodes."""
    for number, constraint in enumerate(state.constraints):
        domains = cluster.domains(constraint.topology_key)
        yield domains.codes < 0, KEYLESS
        yield domains.per_node(state.counts[number], missing=0) > state.limit(number), SKEWED


def add_task(state: TopologySpreadState, task: Task, other: Task, node: NodeState) -> None:
    """Another task comes to the node."""
    _shift(state, task, other, node, 1)


def remove_task(state: TopologySpreadState, task: Task, other: Task, node: NodeState) -> None:
    """Another task leaves the node; one that was terminating is taken off although it was not counted."""
    _shift(state, task, other, node, -1)


def _counts(state: TopologySpreadState, constraint: SpreadConstraint, cluster: ClusterState) -> dict[str, int]:
    eligible = _eligible_nodes(state, constraint, cluster)
    domains = cluster.domains(constraint.topology_key)
    codes, values = domains.code_by_node, domains.values
    counts = {values[code]: 0 for code in np.unique(domains.codes[eligible]).tolist()}
    if constraint.selector.is_empty:
        return counts
    is_eligible = eligible.tolist()
    for one in cluster.labels.matching(frozenset((state.own.labels.namespace,)), constraint.selector):
        if not one.terminating:
            for index, amount in one.counts.items():
                if is_eligible[index]:
                    counts[values[codes[index]]] += amount
    return counts


def _eligible_nodes(state: TopologySpreadState, constraint: SpreadConstraint, cluster: ClusterState) -> Mask:
    """Nodes with all keys of all constraints that the constraint's policies count."""
    eligible = np.ones(len(cluster.node_list), dtype=np.bool_)
    for key in {one.topology_key for one in state.constraints}:
        eligible &= cluster.domains(key).codes >= 0
    if constraint.honours_affinity:
        wanted = state.own.node_affinity
        eligible &= per_node(cluster, (NAME, wanted), lambda n: wanted.matches(n.labels, n.name))
    if constraint.honours_taints:
        kind = (NAME, state.own.tolerations, state.taint_comparison)
        eligible &= per_taints(cluster, kind, lambda node: not _keeps_away(state, node))
    return eligible


def _keeps_away(state: TopologySpreadState, node: NodeState) -> bool:
    tolerations = state.own.task.pod.spec.tolerations
    return blocks(node.node.node.spec.taints, tolerations, comparison=state.taint_comparison)


def is_eligible(state: TopologySpreadState, constraint: SpreadConstraint, node: NodeState) -> bool:
    """Whether pods on the node count for the constraint."""
    if any(one.topology_key not in node.labels for one in state.constraints):
        return False
    if constraint.honours_affinity and not state.own.node_affinity.matches(node.labels, node.name):
        return False
    return not (constraint.honours_taints and _keeps_away(state, node))


def _shift(state: TopologySpreadState, task: Task, other: Task, node: NodeState, change: int) -> None:
    if other.namespace != task.namespace:
        return
    for constraint, counts in zip(state.constraints, state.counts, strict=True):
        if constraint.selector.matches(other.labels) and is_eligible(state, constraint, node):
            value = node.labels[constraint.topology_key]
            counts[value] = counts.get(value, 0) + change


FILTER = Filter(
    NAME, prefilter, check, masks=masks, add_task=add_task, remove_task=remove_task, clone=lambda state: state.clone()
)
