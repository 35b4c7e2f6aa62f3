"""When a spread decision can be judged without searching for an order."""

from __future__ import annotations

from cpsched.filters import pod_topology_spread
from cpsched.filters.coupling import Placed
from cpsched.filters.state import ClusterState


def order_does_not_matter(group: list[Placed], cluster: ClusterState) -> bool:
    """Whether all tasks share one spread constraint, count the same nodes, and have no other coupling.

    Then an order exists exactly if every task passes among all others. Counts and minimum only grow, so of the tasks
    that match the constraint filling the emptiest receiving domain next is always legal (a domain with nothing left to
    receive has its final count); tasks that do not match it raise no count and go last.
    """
    if any(item.coupled_by != {pod_topology_spread.NAME} for item in group):
        return False
    states: list[pod_topology_spread.State] = [item.states[pod_topology_spread.NAME] for item in group]
    first = states[0]
    if len(first.constraints) != 1 or any(state.constraints != first.constraints for state in states):
        return False
    constraint = first.constraints[0]
    for item, state in zip(group, states, strict=True):
        if item.task.namespace != group[0].task.namespace:
            return False
        if constraint.honours_affinity and state.own.node_affinity != first.own.node_affinity:
            return False
        if constraint.honours_taints and state.own.tolerations != first.own.tolerations:
            return False
        node = cluster.nodes[item.node]
        if not pod_topology_spread.is_eligible(state, constraint, node):
            return False
    return True
