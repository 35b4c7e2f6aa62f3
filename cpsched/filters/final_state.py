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
from cpsched.filters.coupling import PlacedTask, coupled, placed_task
from cpsched.filters.feasible import PreFiltered, first_failure, prefilter
from cpsched.filters.order import Order, OrderSearch, kinds_of
from cpsched.filters.registry import chosen
from cpsched.filters.shortcuts import no_order_helps, order_does_not_matter
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
    items = [placed_task(task, cluster.node_by_task[task.key], cluster, names, args) for task in placed]
    for item in items:
        alone = [name for name in names if name not in item.coupled_by]
        status, _ = _among_all_others(item, cluster, alone, args)
        if not status.is_success:
            yield item.task, item.node, status
    for group in coupled(items):
        coupled_by = [name for name in names if any(name in item.coupled_by for item in group)]
        yield from _failures_of_group(group, cluster, coupled_by, args)


def legal_order(
    cluster_before: ClusterState, placements: Iterable[tuple[Task, str]], names: Iterable[str], args: Args
) -> Order:
    """An order in which the tasks can be placed one after another, each passing all filters when its turn comes.

    `cluster_before` has the evictions done and holds none of the tasks; it stays as it is.
    """
    cluster = cluster_before.copy()
    return OrderSearch(cluster, list(placements), [one.name for one in chosen(names)], args).run()


def _failures_of_group(
    group: list[PlacedTask], cluster: ClusterState, names: list[str], args: Args
) -> Iterator[Failure]:
    """Failures of tasks that look at each other: reported at once where no order helps, or else found by searching."""
    refused, hopeless = [], []
    item_by_key = {item.task.key: item for item in group}
    for kind in kinds_of([(item.task, item.node) for item in group], args):
        item = item_by_key[kind.waiting[-1].key]
        status, prefiltered = _among_all_others(item, cluster, names, args)
        if not status.is_success:
            failures = [(task, kind.node, status) for task in kind.waiting]
            refused += failures
            hopeless += failures if no_order_helps(item, status, prefiltered, group, cluster) else []
    if hopeless or order_does_not_matter(group, cluster):
        yield from hopeless or refused
        return
    for item in group:
        cluster.remove(item.task)
    found = OrderSearch(cluster, [(item.task, item.node) for item in group], names, args).run()
    for item in group:
        cluster.add(item.task, item.node)
    if found.order is None:
        yield from refused if found.exhausted else found.stuck


def _among_all_others(
    item: PlacedTask, cluster: ClusterState, names: list[str], args: Args
) -> tuple[Status, PreFiltered]:
    """The first refusal of the task on its node while all other tasks are there."""
    node = cluster.nodes[item.node].without(item.task)
    cluster.remove(item.task)
    prefiltered = prefilter(item.task, cluster, names, args)
    status = prefiltered.status
    if status.is_success:
        status = first_failure(item.task, node, cluster, prefiltered, chosen(names))
    cluster.add(item.task, item.node)
    return status, prefiltered
