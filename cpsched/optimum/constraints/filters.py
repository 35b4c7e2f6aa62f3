"""filters: the dynamic ones as rows. Rows are necessary; where order matters the checker has the last word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ortools.sat.python import cp_model

from cpsched.instance import Task
from cpsched.optimum.classes import TaskClass
from cpsched.optimum.interplay import Interplay, domains, fixed_tasks
from cpsched.optimum.variables import Expr, Variables, sum_of
from cpsched.snapshot import Snapshot


def filters(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Ports, anti-affinity, affinity and spread, as far as the instance uses them."""
    if snapshot.predicates.any_dynamic:
        rows = _Rows(cp, snapshot, v)
        rows.ports()
        rows.anti_affinity()
        rows.affinity()
        rows.spread_keys()


Pairwise = Callable[[Task, Task], bool]


class _Rows:
    """Posts the rows; keeps one presence flag per class and set of nodes."""

    def __init__(self, cp: cp_model.CpModel, snapshot: Snapshot, v: Variables):
        self.cp, self.snapshot, self.v = cp, snapshot, v
        self.interplay = Interplay(snapshot, v.classes)
        self.fixed = fixed_tasks(snapshot, v.classes.victims)
        self._present: dict[tuple[int, tuple[str, ...]], cp_model.IntVar] = {}

    def ports(self) -> None:
        """Of tasks that want the same host port at most one is on a node."""
        tasks = [c for c in self.v.classes.tasks if self.interplay.enabled(c.sample, "NodePorts")]
        for one in tasks:
            if self.interplay.facts(one.sample).ports:
                for node in one.nodes:
                    self._keep_apart(one, tasks, [node], self.interplay.ports_clash, self.interplay.ports_clash)

    def anti_affinity(self) -> None:
        """Tasks that repel each other do not share a domain."""
        for key in self.interplay.anti_keys:
            for nodes in domains(self.snapshot, key).values():
                for one in self.v.classes.tasks:
                    clash, repels = partial(self.interplay.clash, key=key), partial(self.interplay.repels, key=key)
                    self._keep_apart(one, self.v.classes.tasks, nodes, clash, repels)

    def affinity(self) -> None:
        """A task with affinity finds support in every domain it asks for, or is of the kind that supports itself."""
        for one in self.v.classes.tasks:
            asked = self.interplay.enabled(one.sample, "InterPodAffinity")
            terms = self.interplay.facts(one.sample).affinity if asked else ()
            for key in sorted({term.topology_key for term in terms}):
                by_value = domains(self.snapshot, key)
                self._forbid(one, [node for node in one.nodes if not any(node in nodes for nodes in by_value.values())])
                if self.interplay.supports(one.sample, one.sample):
                    continue
                for nodes in by_value.values():
                    support = self._support(one, nodes)
                    if support is not None:
                        self.cp.add(support >= 1).only_enforce_if(self._presence(one, nodes))

    def spread_keys(self) -> None:
        """A node that lacks the topology key of a hard spread constraint is out."""
        for one in self.v.classes.tasks:
            keys = [constraint.topology_key for constraint in self.interplay.spread(one.sample)]
            labels = {name: node.labels for name, node in self.snapshot.instance.nodes.items()}
            self._forbid(one, [node for node in one.nodes if any(key not in labels[node] for key in keys)])

    def _support(self, one: TaskClass, nodes: list[str]) -> Expr | None:
        """How many supporters end up on the nodes; None if some stay for certain."""
        if any(task.node in nodes and self.interplay.supports(one.sample, task) for task in self.fixed):
            return None
        parts: list[Expr] = [
            len(group.tasks) - self.v.evicted(group)
            for group in self.v.classes.victims
            if group.node in nodes and self.interplay.supports(one.sample, group.sample)
        ]
        for other in self.v.classes.tasks:
            if other is not one and self.interplay.supports(one.sample, other.sample):
                parts += [self.v.placed(other, node) for node in nodes]
        return sum_of(parts)

    def _keep_apart(
        self, one: TaskClass, others: Sequence[TaskClass], nodes: list[str], clash: Pairwise, present: Pairwise
    ) -> None:
        """Within the nodes: no clash with other newcomers, nor with those present who stay or are not gone."""
        if any(task.node in nodes and present(one.sample, task) for task in self.fixed):
            self._forbid(one, nodes)
            return
        for group in self.v.classes.victims:
            if group.node in nodes and present(one.sample, group.sample):
                self._forbid_binds(one, nodes)
                gone = self.v.evicted(group) == len(group.tasks)
                self.cp.add(gone).only_enforce_if(self._presence(one, nodes))
        if clash(one.sample, one.sample):
            self.cp.add(sum_of([self.v.placed(one, node) for node in nodes]) <= 1)
        for other in others:
            if other.index > one.index and clash(one.sample, other.sample):
                self.cp.add_bool_or([~self._presence(one, nodes), ~self._presence(other, nodes)])

    def _presence(self, one: TaskClass, nodes: list[str]) -> cp_model.IntVar:
        key = (one.index, tuple(nodes))
        if key not in self._present:
            flag = self.v.flag(f"{one.sample.key} among {len(nodes)} nodes from {nodes[0]}")
            self.cp.add(sum_of([self.v.placed(one, node) for node in nodes]) <= flag * len(one.tasks))
            self._present[key] = flag
        return self._present[key]

    def _forbid(self, one: TaskClass, nodes: list[str]) -> None:
        if nodes:
            self.cp.add(sum_of([self.v.placed(one, node) for node in nodes]) == 0)

    def _forbid_binds(self, one: TaskClass, nodes: list[str]) -> None:
        self.cp.add(sum_of([self.v.bound(one, node) for node in nodes]) == 0)
