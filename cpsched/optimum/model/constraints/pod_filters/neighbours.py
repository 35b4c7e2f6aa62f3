"""Rows for host ports, anti-affinity and affinity."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cpsched.instance import Task
from cpsched.optimum.model.classes import TaskClass
from cpsched.optimum.model.constraints.pod_filters.context import FilterModel
from cpsched.optimum.model.interactions import domains
from cpsched.optimum.model.variables import Expr, sum_of
from cpsched.selectors import AffinityTerm


def ports(board: FilterModel) -> None:
    """Of tasks that want the same host port at most one is on a node."""
    interactions = board.interactions
    tasks = [c for c in board.tasks if interactions.enabled(c.representative, "NodePorts")]
    for one in tasks:
        if interactions.facts(one.representative).ports:
            for node in one.nodes:
                board.add_exclusion(one, tasks, [node], interactions.ports_clash, interactions.ports_clash)


def anti_affinity(board: FilterModel) -> None:
    """Tasks that repel each other do not share a domain."""
    for key in board.interactions.anti_keys:
        clash, excludes = partial(board.interactions.clash, key=key), partial(board.interactions.excludes, key=key)
        for nodes in domains(board.snapshot, key).values():
            for one in board.tasks:
                board.add_exclusion(one, board.tasks, nodes, clash, excludes)


def affinity(board: FilterModel) -> None:
    """A task with affinity finds support in every domain it asks for, or is the first of those who support themselves.

    Of tasks with the same terms that support themselves one comes first into each domain. Either it finds support
    by others there, or no task in the cluster supports it yet: that happens once.
    """
    alike: dict[tuple[AffinityTerm, ...], list[TaskClass]] = {}
    for one in board.tasks:
        if not board.interactions.enabled(one.representative, "InterPodAffinity"):
            continue
        terms = board.interactions.facts(one.representative).affinity
        for key in {term.topology_key for term in terms}:
            keyless = [node for node in one.nodes if key not in board.snapshot.predicates.cluster.nodes[node].labels]
            board.forbid(one, keyless)
        if not terms:
            continue
        if board.interactions.supports(one.representative, one.representative):
            alike.setdefault(terms, []).append(one)
        else:
            _Company(board, [one], terms).post(may_be_first=False)
    for terms, classes in alike.items():
        _Company(board, classes, terms).post(may_be_first=True)


class _Company:
    """Rows for classes with the same affinity terms."""

    def __init__(self, board: FilterModel, classes: Sequence[TaskClass], terms: tuple[AffinityTerm, ...]):
        self.board, self.classes = board, classes
        self.keys = sorted({term.topology_key for term in terms})
        sample, supports = classes[0].representative, board.interactions.supports
        self.fixed = [task for task in board.fixed if supports(sample, task) and self._counts(task)]
        self.victims = [
            g for g in board.v.classes.victims if supports(sample, g.representative) and self._counts(g.representative)
        ]
        own = {one.index for one in classes}
        self.others = [c for c in board.tasks if c.index not in own and supports(sample, c.representative)]

    def _counts(self, task: Task) -> bool:
        labels = self.board.snapshot.predicates.cluster.nodes[task.node].labels
        return any(key in labels for key in self.keys)

    def post(self, *, may_be_first: bool) -> None:
        """Ask for support in every domain of every key."""
        board = self.board
        for starting in (False, True) if board.v.classes.victims else (False,):
            first_possible = may_be_first and not self.fixed and not (starting and self.victims)
            for key in self.keys:
                firsts = []
                for value, nodes in domains(board.snapshot, key).items():
                    support = self._support(nodes, starting=starting)
                    if support is None or not any(board.counts(one, nodes, starting=starting) for one in self.classes):
                        continue
                    if not support and not first_possible and not starting:
                        for one in self.classes:
                            board.forbid(one, nodes)
                        continue
                    if first_possible:
                        firsts.append(board.v.flag(f"{self.classes[0].representative.key} first in {value}"))
                        support = [*support, firsts[-1]]
                    there = [board.any_placed(self.classes, nodes, starting=starting)]
                    there += [board.v.some_eviction] if starting else []
                    board.cp.add(sum_of(support) >= 1).only_enforce_if(there)
                if firsts:
                    board.cp.add(sum_of(firsts) <= 1)
                for group in self.victims if not starting else ():
                    gone = board.v.evicted(group) == len(group.tasks)
                    for first in firsts:
                        board.cp.add(gone).only_enforce_if(first)

    def _support(self, nodes: list[str], *, starting: bool) -> list[Expr] | None:
        """What others add to the support on the nodes; None if some is there for certain."""
        board = self.board
        if any(task.node in nodes for task in self.fixed):
            return None
        victims = [group for group in self.victims if group.node in nodes]
        if starting and victims:
            return None
        parts: list[Expr] = [len(group.tasks) - board.v.evicted(group) for group in victims]
        parts += [count for other in self.others for count in board.counts(other, nodes, starting=starting)]
        return parts
