"""All filters over all nodes: what a scheduling attempt finds out before it scores; mirrors `runtime/framework.go`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched.filters.args import Args
from cpsched.filters.contract import Filter
from cpsched.filters.registry import chosen
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Code, Status
from cpsched.instance import Task


@dataclass
class PreFiltered:
    """What the PreFilter phase leaves behind: per-filter state, who skips, which nodes remain, who refused."""

    states: dict[str, Any] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    status: Status = SUCCESS
    nodes: frozenset[str] | None = None
    narrowed_by: set[str] = field(default_factory=set)

    @property
    def outside(self) -> Status:
        """The status of a node that a PreFilter left out."""
        names = " ".join(sorted(self.narrowed_by))
        return Status(Code.UNRESOLVABLE, (f"node(s) didn't satisfy plugin(s) [{names}]",))

    def clone(self, filters: Iterable[Filter]) -> PreFiltered:
        """A copy whose states hooks may change."""
        by_name = {one.name: one for one in filters}
        states = {n: by_name[n].cloned(state) if n in by_name else state for n, state in self.states.items()}
        return PreFiltered(states, set(self.skipped), self.status, self.nodes, set(self.narrowed_by))


def prefilter(
    task: Task, cluster: ClusterState, names: Iterable[str], args: Args, *, prepare: Iterable[str] = ()
) -> PreFiltered:
    """Run the PreFilters: UNRESOLVABLE and ERROR end it, UNSCHEDULABLE is remembered, node sets are intersected.

    Filters named in `prepare` alone, those without a PreFilter upstream, only get their state.
    """
    result = PreFiltered()
    filters = chosen(names)
    for one in filters:
        answer = one.prefilter(task, cluster, args)
        if answer.status.is_skip:
            result.skipped.add(one.name)
            continue
        if not answer.status.is_success:
            result.status = answer.status
            if answer.status.code is Code.UNSCHEDULABLE:
                continue
            return result
        result.states[one.name] = answer.state
        if answer.nodes is not None:
            result.narrowed_by.add(one.name)
            result.nodes = answer.nodes if result.nodes is None else result.nodes & answer.nodes
            if not result.nodes:
                result.status = _nothing_left(result.narrowed_by)
                return result
    ran = {one.name for one in filters}
    for one in chosen(name for name in prepare if name not in ran):
        result.states[one.name] = one.prefilter(task, cluster, args).state
    return result


def first_failure(
    task: Task, node: NodeState, cluster: ClusterState, prefiltered: PreFiltered, filters: Iterable[Filter]
) -> Status:
    """The status of the first filter that refuses the node, as upstream reports it."""
    for one in filters:
        if one.name not in prefiltered.skipped:
            status = one.filter(prefiltered.states.get(one.name), task, node, cluster)
            if not status.is_success:
                return status
    return SUCCESS


def add_task(prefiltered: PreFiltered, filters: Iterable[Filter], task: Task, other: Task, node: NodeState) -> None:
    """Tell the filters' states that another task comes to the node; a filter that skips it is left out."""
    for one in filters:
        if one.add_task is not None and one.name not in prefiltered.skipped:
            one.add_task(prefiltered.states[one.name], task, other, node)


def remove_task(prefiltered: PreFiltered, filters: Iterable[Filter], task: Task, other: Task, node: NodeState) -> None:
    """Tell the filters' states that another task leaves the node; a filter that skips it is left out."""
    for one in filters:
        if one.remove_task is not None and one.name not in prefiltered.skipped:
            one.remove_task(prefiltered.states[one.name], task, other, node)


class Verdicts:
    """One status per node, in snapshot order: `codes` are places in `table`, 0 is success."""

    def __init__(self, cluster: ClusterState, prefiltered: PreFiltered):
        self._names = list(cluster.nodes)
        self.prefiltered = prefiltered
        self.table: list[Status] = [SUCCESS]
        self.codes: npt.NDArray[np.int16] = np.zeros(len(self._names), dtype=np.int16)

    def fail(self, mask: npt.NDArray[np.bool_], status: Status) -> None:
        """Give the nodes of the mask a status, unless they have failed before."""
        fresh = mask & (self.codes == 0)
        if fresh.any():
            if status not in self.table:
                self.table.append(status)
            self.codes[fresh] = self.table.index(status)

    @property
    def passing(self) -> list[str]:
        """Names of the nodes that pass everything."""
        return [self._names[place] for place in np.flatnonzero(self.codes == 0).tolist()]

    def __iter__(self) -> Iterator[Status]:
        return (self.table[code] for code in self.codes.tolist())

    def by_node(self) -> dict[str, Status]:
        """Status per node name."""
        return dict(zip(self._names, self, strict=True))


def feasible(
    task: Task, cluster: ClusterState, names: Iterable[str], args: Args, *, prefilters: Iterable[str] | None = None
) -> Verdicts:
    """Test the task on all nodes; the same answer as `first_failure` on each, found class by class and array by array.

    `prefilters` are those of a configuration that names them apart. A node outside their node sets gets
    `PreFiltered.outside`, and if one refuses the task, every node gets its status.
    """
    filters = chosen(names)
    own = [one.name for one in filters]
    prefiltered = prefilter(task, cluster, own if prefilters is None else prefilters, args, prepare=own)
    verdicts = Verdicts(cluster, prefiltered)
    everywhere = np.ones(len(verdicts.codes), dtype=np.bool_)
    if not prefiltered.status.is_success:
        verdicts.fail(everywhere, prefiltered.status)
        return verdicts
    if prefiltered.nodes is not None:
        inside = prefiltered.nodes
        outside = (name not in inside for name in cluster.nodes)
        verdicts.fail(np.fromiter(outside, dtype=np.bool_, count=len(everywhere)), prefiltered.outside)
    for one in filters:
        if one.name not in prefiltered.skipped:
            _apply(one, prefiltered.states.get(one.name), task, cluster, verdicts)
    return verdicts


def _apply(one: Filter, state: Any, task: Task, cluster: ClusterState, verdicts: Verdicts) -> None:
    if one.masks is not None:
        for mask, status in one.masks(state, task, cluster):
            verdicts.fail(mask, status)
        return
    single = np.zeros(len(verdicts.codes), dtype=np.bool_)
    for place in np.flatnonzero(verdicts.codes == 0).tolist():
        status = one.filter(state, task, cluster.node_list[place], cluster)
        if not status.is_success:
            single[place] = True
            verdicts.fail(single, status)
            single[place] = False


def _nothing_left(narrowed_by: set[str]) -> Status:
    names = " ".join(sorted(narrowed_by))
    reason = f"plugin {names}" if len(narrowed_by) == 1 else f"plugin(s) [{names}] simultaneously"
    return Status(Code.UNRESOLVABLE, (f"node(s) didn't satisfy {reason}",))
