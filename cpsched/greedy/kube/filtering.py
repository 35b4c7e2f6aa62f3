"""Filters on one node or on all, with the pods nominated there; mirrors `RunFilterPluginsWithNominatedPods`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from cpsched.filters import ClusterState, Filter, NodeState, PreFiltered, add_task, first_failure
from cpsched.filters.room import Amounts, FreeAmounts
from cpsched.filters.status import SUCCESS, Status
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.reserved import Sums
from cpsched.instance import Task

if TYPE_CHECKING:
    from cpsched.greedy.kube.world import World

FIT = "NodeResourcesFit"
Mask = npt.NDArray[np.bool_]


@dataclass
class CachedVerdicts:
    """One status per node in snapshot order: `codes` are places in `table`, 0 is success."""

    codes: npt.NDArray[np.int64]
    table: list[Status] = field(default_factory=lambda: [SUCCESS])

    def number(self, status: Status) -> int:
        """The place of a status in the table."""
        if status not in self.table:
            self.table.append(status)
        return self.table.index(status)

    def fail(self, mask: Mask, status: Status) -> None:
        """Nodes that have passed so far fail here."""
        fresh = mask & (self.codes == 0)
        if fresh.any():
            self.codes[fresh] = self.number(status)


def filter_node(world: World, framework: Framework, task: Task, pre: PreFiltered, node: NodeState) -> Status:
    """The node must do with the pods nominated there and without them; the first failure counts."""
    cluster = world.snapshot.cluster
    competitors = world.nominator.competitors(task, node.name)
    if competitors:
        crowded, state = node.clone(), pre.clone(framework.hooked)
        for other in competitors:
            crowded.add(other)
            add_task(state, framework.hooked, task, other, crowded)
        status = first_failure(task, crowded, cluster, state, framework.filters)
        if not status.is_success:
            return status
    return first_failure(task, node, cluster, pre, framework.filters)


def filter_all(world: World, framework: Framework, task: Task, pre: PreFiltered) -> CachedVerdicts:
    """The same verdicts for all nodes at once."""
    nodes = world.snapshot.nodes
    verdicts = CachedVerdicts(np.zeros(len(nodes), dtype=np.int64))
    if world.options.plain:
        for node in nodes:
            verdicts.codes[node.index] = verdicts.number(filter_node(world, framework, task, pre, node))
        return verdicts
    # More pods only ever take room, so a second look without them can be left out where room alone is at stake.
    fit_only = all(one.name == FIT for one in framework.moving(pre))
    competitors = world.reserved.competitors(task, world.nominator.node_of(task.key))
    whole = world.snapshot.cluster
    reduced = _reduced(whole, competitors) if competitors is not None and fit_only else whole
    for one in framework.filters:
        if one.name not in pre.skipped:
            apply(one, pre.states.get(one.name), task, reduced if one.name == FIT else whole, verdicts)
    if competitors is not None and not fit_only:
        for node in (nodes[index] for index in np.flatnonzero(competitors.pods).tolist()):
            verdicts.codes[node.index] = verdicts.number(filter_node(world, framework, task, pre, node))
    return verdicts


def apply(one: Filter, state: Any, task: Task, cluster: ClusterState, verdicts: CachedVerdicts) -> None:
    """Let one filter fail nodes that have passed so far."""
    if one.masks is not None:
        for mask, status in one.masks(state, task, cluster):
            verdicts.fail(mask, status)
        return
    for place in np.flatnonzero(verdicts.codes == 0).tolist():
        status = one.filter(state, task, cluster.node_list[place], cluster)
        if not status.is_success:
            verdicts.codes[place] = verdicts.number(status)


class _ReducedRoom:
    """Room that is left if the nominated pods were there already."""

    def __init__(self, room: FreeAmounts, competitors: Sums):
        self._room, self._taken = room, competitors.taken
        self.pods, self.allowed_pods = room.pods + competitors.pods, room.allowed_pods

    def allocatable(self, name: str) -> Amounts:
        return self._room.allocatable(name)

    def free(self, name: str) -> Amounts:
        free = self._room.free(name)
        return free - self._taken[name] if name in self._taken else free


class _ReducedCluster:
    """As much of a cluster state as NodeResourcesFit looks at."""

    def __init__(self, cluster: ClusterState, room: _ReducedRoom):
        self.node_list, self.room, self.devices = cluster.node_list, room, cluster.devices


def _reduced(cluster: ClusterState, competitors: Sums) -> ClusterState:
    return cast(ClusterState, _ReducedCluster(cluster, _ReducedRoom(cluster.room, competitors)))
