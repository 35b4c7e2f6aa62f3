"""Board: what all families of rows share; flags for who is where, and what they forbid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from ortools.sat.python import cp_model

from cpsched.instance import Task
from cpsched.optimum.model.classes import TaskClass, VictimClass
from cpsched.optimum.model.interactions import Interactions, fixed_tasks
from cpsched.optimum.model.variables import Variables, sum_of
from cpsched.snapshot import Snapshot

Pairwise = Callable[[Task, Task], bool]


class FilterModel:
    """The model's variables as the filters see them; one flag per set of classes and set of nodes.

    The checker tests twice: everything that is placed once the victims are gone, and, if there are victims, what starts
    at once while they still stand. `starting` means the second question.
    """

    def __init__(self, cp: cp_model.CpModel, snapshot: Snapshot, v: Variables):
        self.cp, self.snapshot, self.v = cp, snapshot, v
        self.interactions = Interactions(snapshot, v.classes)
        self.fixed = fixed_tasks(snapshot, v.classes.victims)
        self._present: dict[tuple[tuple[int, ...], tuple[str, ...], bool], cp_model.IntVar] = {}

    @property
    def tasks(self) -> tuple[TaskClass, ...]:
        """Classes of newcomers."""
        return self.v.classes.tasks

    def victims_on(self, nodes: Iterable[str]) -> list[VictimClass]:
        """Groups of possible victims on the nodes."""
        by_node = self.v.victims_by_node
        return [group for node in nodes for group in by_node.get(node, ())]

    @cached_property
    def fixed_by_node(self) -> dict[str, list[Task]]:
        """Tasks that stay whatever is decided."""
        by_node: dict[str, list[Task]] = {}
        for task in self.fixed:
            by_node.setdefault(task.node, []).append(task)
        return by_node

    def counts(self, one: TaskClass, nodes: Iterable[str], *, starting: bool = False) -> list[cp_model.IntVar]:
        """What is placed of the class on the nodes, or only what starts there."""
        variables = (self.v.bind,) if starting else (self.v.bind, self.v.reserve)
        return [of[one.index, node] for node in nodes for of in variables if (one.index, node) in of]

    def most(self, one: TaskClass, nodes: Iterable[str], *, starting: bool = False) -> int:
        """How many of the class the nodes can take at most."""
        places = (
            (self.v.capacity.bind_limit,) if starting else (self.v.capacity.bind_limit, self.v.capacity.reserve_limit)
        )
        return min(len(one.tasks), sum(max(of.get((one.index, node), 0) for of in places) for node in nodes))

    def any_placed(
        self, classes: Sequence[TaskClass], nodes: Iterable[str], *, starting: bool = False
    ) -> cp_model.IntVar:
        """True if any of the classes is placed on the nodes."""
        key = (tuple(one.index for one in classes), tuple(nodes), starting)
        if key not in self._present:
            counts = [count for one in classes for count in self.counts(one, key[1], starting=starting)]
            flag = self.v.flag(f"{classes[0].representative.key} among {len(key[1])} nodes from {key[1][0]}")
            most = sum(self.most(one, key[1], starting=starting) for one in classes)
            self.cp.add(sum_of(counts) <= flag * most)
            self._present[key] = flag
        return self._present[key]

    def forbid(self, one: TaskClass, nodes: Iterable[str], *, starting: bool = False) -> None:
        """Nothing of the class is placed on the nodes, or at least nothing starts there."""
        if counts := self.counts(one, nodes, starting=starting):
            self.cp.add(sum_of(counts) == 0)

    def add_exclusion(
        self, one: TaskClass, others: Sequence[TaskClass], nodes: Sequence[str], clash: Pairwise, present: Pairwise
    ) -> None:
        """Within the nodes: no clash with other newcomers, nor with those present who stay or are not gone."""
        if not self.counts(one, nodes):
            return
        if any(present(one.representative, task) for node in nodes for task in self.fixed_by_node.get(node, ())):
            self.forbid(one, nodes)
            return
        for group in self.victims_on(nodes):
            if present(one.representative, group.representative):
                self.forbid(one, nodes, starting=True)
                gone = self.v.evicted(group) == len(group.tasks)
                self.cp.add(gone).only_enforce_if(self.any_placed([one], nodes))
        if clash(one.representative, one.representative):
            self.cp.add(sum_of(self.counts(one, nodes)) <= 1)
        for other in others:
            if (
                other.index > one.index
                and self.counts(other, nodes)
                and clash(one.representative, other.representative)
            ):
                self.cp.add_bool_or([~self.any_placed([one], nodes), ~self.any_placed([other], nodes)])
