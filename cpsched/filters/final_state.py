"""Is the cluster after a decision one that the filters could have led to?

kube-scheduler tests a pod when it places it, against the pods that are there by then. A final state is legal iff,
with the evictions made first, there is an order in which every placed task passes its filters when its turn comes.
Most filters only grow stricter as pods come, so for them it is enough to test each task against all others.
For affinity (the first of its kind may go anywhere, the next ones need company), spread (a domain may have to wait for
the emptiest one), volume limits, volumes to be bound and devices, the order can matter: there it is searched for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cpsched.filters.args import Args
from cpsched.filters.coupling import Placed, components, placed_task
from cpsched.filters.feasible import first_failure, prefilter
from cpsched.filters.order import Order, OrderSearch
from cpsched.filters.registry import chosen
from cpsched.filters.spread_order import order_does_not_matter
from cpsched.filters.state import ClusterState
from cpsched.filters.status import Status
from cpsched.instance import Task

Failure = tuple[Task, str, Status]


def final_state_failures(
    cluster_after: ClusterState, placed: Iterable[Task], names: Iterable[str], args: Args
) -> Iterator[Failure]:
    """Placed tasks that a filter refuses on their node, with the node and the status; the cluster stays as it is."""
    cluster = cluster_after.copy()
    names = [one.name for one in chosen(names)]
    coupled = []
    for task in placed:
        item = placed_task(task, cluster.node_by_task[task.key], cluster, names, args)
        alone = [name for name in names if name not in item.coupled_by]
        status = _among_all_others(item, cluster, alone, args)
        if not status.is_success:
            yield task, item.node, status
        coupled.append(item)
    yield from _failures_of_order(cluster, coupled, names, args)


def legal_order(
    cluster_before: ClusterState, placements: Iterable[tuple[Task, str]], names: Iterable[str], args: Args
) -> Order:
    """An order in which the tasks can be placed one after another, each passing all filters when its turn comes.

    `cluster_before` has the evictions done and holds none of the tasks; it stays as it is.
    """
    cluster = cluster_before.copy()
    names = [one.name for one in chosen(names)]
    items = [placed_task(task, node, cluster, names, args) for task, node in placements]
    return OrderSearch(cluster, items, names, args).run()


def _failures_of_order(cluster: ClusterState, placed: list[Placed], names: list[str], args: Args) -> Iterator[Failure]:
    """Failures of tasks whose turn matters, group by group; groups do not look at each other."""
    for group in components(placed):
        coupled_by = [name for name in names if any(name in item.coupled_by for item in group)]
        if not order_does_not_matter(group, cluster):
            for item in group:
                cluster.remove(item.task)
            found = OrderSearch(cluster, group, coupled_by, args).run()
            for item in group:
                cluster.add(item.task, item.node)
            if found.order is not None:
                continue
            if not found.exhausted:
                yield from found.stuck
                continue
        for item in group:
            status = _among_all_others(item, cluster, coupled_by, args)
            if not status.is_success:
                yield item.task, item.node, status


def _among_all_others(item: Placed, cluster: ClusterState, names: list[str], args: Args) -> Status:
    """The first refusal of the task on its node while everybody else is there."""
    node = cluster.nodes[item.node].without(item.task)
    cluster.remove(item.task)
    prefiltered = prefilter(item.task, cluster, names, args)
    status = prefiltered.status
    if status.is_success:
        status = first_failure(item.task, node, cluster, prefiltered, chosen(names))
    cluster.add(item.task, item.node)
    return status
