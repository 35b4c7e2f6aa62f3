"""Rows for the number of volumes that a driver attaches to a node.

Of the tasks that bring a volume no task there had, the last to come finds the volumes of all others attached; after it
nothing new is attached, so that all of them together are no more than the driver's limit.
"""

from __future__ import annotations

from collections.abc import Iterable

from ortools.sat.python import cp_model

from cpsched.filters.csi_translation import CsiVolume
from cpsched.filters.node_volume_limits import (
    NAME,
    TOO_MANY,
    VolumeLimitsState,
    attached_to,
    check,
    limits_at,
    volumes_at,
)
from cpsched.filters.state import NodeState
from cpsched.instance import Task
from cpsched.optimum.model.classes import TaskClass
from cpsched.optimum.model.constraints.pod_filters.context import FilterModel
from cpsched.optimum.model.constraints.pod_filters.volumes import with_volumes
from cpsched.optimum.model.variables import Expr, sum_of


def limits(board: FilterModel) -> None:
    """Every driver's limit on every node, once the victims are gone and for what starts beside them."""
    predicates = board.snapshot.predicates
    storage = predicates.cluster.storage
    by_node: dict[str, list[TaskClass]] = {}
    for one in with_volumes(board, NAME):
        needs_driver = predicates.args(one.representative).features.volume_limit_scaling
        for name in one.nodes:
            bare = NodeState(predicates.cluster.nodes[name].node, 0, predicates.cluster.facts)
            status = check(VolumeLimitsState(needs_driver), one.representative, bare, predicates.cluster)
            if status.is_success or status == TOO_MANY:
                by_node.setdefault(name, []).append(one)
            else:
                board.forbid(one, [name])
    for name, classes in by_node.items():
        for driver, limit in limits_at(name, storage).items():
            node = _Node(board, name, driver, classes)
            if any(node.wanted.values()):
                node.forbid_alone(limit)
                node.post(limit, starting=False)
                if node.leaving:
                    node.post(limit, starting=True)


class _Node:
    """The volumes of one driver on one node."""

    def __init__(self, board: FilterModel, name: str, driver: str, classes: list[TaskClass]):
        self.board, self.name, self.driver = board, name, driver
        self.wanted = {one.index: self._volumes([one.representative]) for one in classes}
        self.held = self._volumes(board.fixed_by_node.get(name, ()))
        storage = board.snapshot.predicates.cluster.storage
        self.staying = self.held | {volume for volume in attached_to(name, storage) if volume.driver == driver}
        self.groups = [(group, self._volumes(group.tasks)) for group in board.victims_on([name])]
        self.held_by_victims = frozenset[CsiVolume]().union(*(volumes for _, volumes in self.groups))
        self.leaving = self.held_by_victims - self.staying

    def _volumes(self, tasks: Iterable[Task]) -> frozenset[CsiVolume]:
        storage = self.board.snapshot.predicates.cluster.storage
        found = (volume for task in tasks for volume in volumes_at(task, self.name, storage))
        return frozenset(volume for volume in found if volume.driver == self.driver)

    def forbid_alone(self, limit: int) -> None:
        """No task is placed whose own volumes alone are too many; one that is attached but unused counts twice."""
        for index, wanted in self.wanted.items():
            others = (volumes for other, volumes in self.wanted.items() if other != index)
            own = wanted - self.held - self.held_by_victims.union(*others)
            if own and len(self.staying) + len(own) > limit:
                self.board.forbid(self.board.tasks[index], [self.name])

    def post(self, limit: int, *, starting: bool) -> None:
        """All volumes in the end are within the limit, if a task brings a new one."""
        fresh = frozenset[CsiVolume]().union(*self.wanted.values()) - self.staying - self.leaving
        parts: list[Expr] = [self._attached(volume, starting=starting) for volume in sorted(fresh)]
        before = len(self.staying) + len(self.leaving)
        parts.append(before * self._brings(starting=starting))
        if starting:
            self.board.cp.add(sum_of(parts) <= limit)
        else:
            parts += [self._attached(volume, starting=False) for volume in sorted(self.leaving)]
            self.board.cp.add(sum_of(parts) <= limit + len(self.leaving))

    def _brings(self, *, starting: bool) -> cp_model.IntVar:
        """True if a task brings a volume that no task uses that was there before and stays."""
        board = self.board
        flag = board.v.flag(f"new {self.driver} at {self.name}")
        for index, wanted in self.wanted.items():
            count = sum_of(board.counts(board.tasks[index], [self.name], starting=starting))
            for volume in sorted(wanted - self.held):
                holders = [group for group, volumes in self.groups if volume in volumes]
                if not holders or not starting:
                    staying = [len(group.tasks) - board.v.evicted(group) for group in holders]
                    board.cp.add(count - sum_of(staying) <= flag)
        return flag

    def _attached(self, volume: CsiVolume, *, starting: bool) -> Expr:
        """At least 1 if a task on the node uses the volume in the end."""
        board = self.board
        users = [index for index, wanted in self.wanted.items() if volume in wanted]
        counts = [board.counts(board.tasks[index], [self.name], starting=starting) for index in users]
        staying = [group for group, volumes in self.groups if volume in volumes and len(group.tasks) == 1]
        if len(users) == 1 and not staying:
            return sum_of(counts[0])
        flag = board.v.flag(f"{volume.handle} at {self.name}")
        for count in counts:
            board.cp.add(sum_of(count) <= flag)
        for group in staying:
            board.cp.add(1 - board.v.evicted(group) <= flag)
        return flag
