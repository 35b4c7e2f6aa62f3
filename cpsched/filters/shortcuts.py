"""Decisions that can be checked without searching for an order: any order will do, or none will."""

from __future__ import annotations

from cpsched.filters import pod_topology_spread
from cpsched.filters.coupling import PlacedTask
from cpsched.filters.feasible import PreFiltered
from cpsched.filters.inter_pod_affinity import NO_COMPANY, NOT_WELCOME, UNWANTED, matches_all
from cpsched.filters.pod_topology_spread import KEYLESS, SKEWED, is_eligible
from cpsched.filters.spread_constraint import SpreadConstraint
from cpsched.filters.state import ClusterState
from cpsched.filters.status import Status


def order_does_not_matter(group: list[PlacedTask], cluster: ClusterState) -> bool:
    """Whether all tasks share one spread constraint, count the same nodes, and have no other coupling.

    Then an order exists exactly if every task passes among all others. Counts and minimum only grow, so of the tasks
    that match the constraint filling the emptiest receiving domain next is always legal (a domain with nothing left to
    receive has its final count); tasks that do not match it raise no count and go last.
    """
    first = group[0]
    if first.spread is None or len(first.spread.constraints) != 1:
        return False
    constraint = first.spread.constraints[0]
    return all(
        item.coupled_by == {pod_topology_spread.NAME}
        and _spreads_alike(item, first)
        and item.spread is not None
        and is_eligible(item.spread, constraint, cluster.nodes[item.node])
        for item in group
    )


def no_order_helps(
    item: PlacedTask, status: Status, prefiltered: PreFiltered, group: list[PlacedTask], cluster: ClusterState
) -> bool:
    """Whether a task refused among all others would be refused at any time; `cluster` holds the whole group but it."""
    if status in (UNWANTED, NOT_WELCOME, KEYLESS):
        return True
    labels = cluster.nodes[item.node].labels
    if status is NO_COMPANY:
        return any(term.topology_key not in labels for term in item.affinity) or _never_first(item, group, cluster)
    if status is not SKEWED or item.spread is None:
        return False
    state: pod_topology_spread.TopologySpreadState = prefiltered.states[pod_topology_spread.NAME]
    if any(constraint.topology_key not in labels for constraint in state.constraints):
        return True
    return any(
        state.counts[number].get(labels[constraint.topology_key], 0) > state.limit(number)
        and _binds_all(constraint, item, group, cluster)
        for number, constraint in enumerate(state.constraints)
    )


def _never_first(item: PlacedTask, group: list[PlacedTask], cluster: ClusterState) -> bool:
    """The task does not match itself, or a task that was there before matches: it needs the company of others."""
    if not matches_all(item.affinity, item.task.namespace, item.task.labels):
        return True
    newcomers = {other.task.key for other in group}
    return any(
        task.key not in newcomers and matches_all(item.affinity, task.namespace, task.labels)
        for node in cluster.node_list
        for task in node.tasks
    )


def _binds_all(constraint: SpreadConstraint, item: PlacedTask, group: list[PlacedTask], cluster: ClusterState) -> bool:
    """Whether each newcomer that counts in the task's domain has the constraint too.

    The last of them to come met it with the final count, and with a minimum that can only have grown since.
    """
    node = cluster.nodes[item.node]
    if item.spread is None or not constraint.selector.matches(item.task.labels):
        return False
    if not is_eligible(item.spread, constraint, node):
        return False
    for other in group:
        labels = cluster.nodes[other.node].labels
        in_domain = labels.get(constraint.topology_key) == node.labels[constraint.topology_key]
        counts = other.task.namespace == item.task.namespace and constraint.selector.matches(other.task.labels)
        if in_domain and counts and not _spreads_alike(other, item):
            return False
    return True


def _spreads_alike(other: PlacedTask, item: PlacedTask) -> bool:
    """Same constraints over the same nodes."""
    if other.spread is None or item.spread is None or other.spread.constraints != item.spread.constraints:
        return False
    ours, theirs = item.spread.own, other.spread.own
    same_nodes = (ours.node_affinity, ours.tolerations) == (theirs.node_affinity, theirs.tolerations)
    return same_nodes and other.task.namespace == item.task.namespace
