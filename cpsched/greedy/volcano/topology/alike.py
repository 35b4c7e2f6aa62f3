"""Which domains of a row are alike, so that trying one of them tells what all of them would come to.

Upstream tries every domain, in the order of a Go map, and takes the first of the best. Where domains are alike in all
that is looked at, their tries differ in names only, so the mirror tries the first of them alone. What tries leave
behind in texts is as if the others had been tried before. Only where a domain has more than 100 nodes, so that upstream
samples them from a place that moves with every search, may another sample be taken than without this.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from cpsched.greedy.outcomes import First
from cpsched.greedy.volcano.fast.arrays import Ints
from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder
from cpsched.greedy.volcano.fast.task_kind import TaskKind
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.sub_jobs import SubJob


class Alike:
    """Domains by all that a try reads of them: the state of every node, and how they lie in the tree."""

    def __init__(self, session: Session):
        self._session, self._tree = session, session.tree
        self._nodes: dict[str, Ints] = {}
        self._below: dict[str, tuple[list[str], Hashable]] = {}

    def distinct(self, row: Sequence[str], sub_jobs: Iterable[SubJob]) -> list[str]:
        """The first of every class of domains that are alike, and the last domain, whose texts stay."""
        session, finder = self._session, self._session.bulk_finder
        groups = list(sub_jobs)
        if len(row) < 2 or finder is None or session.trace.wanted or not isinstance(session.choices, First):
            return list(row)
        tasks = [task for group in groups for task in group.tasks.values()]
        if not all(self._is_fresh(group) for group in groups) or not all(map(self._is_plain, tasks)):
            return list(row)
        kinds = finder.kinds_of(tasks)
        first: dict[Hashable, str] = {}
        for name in row:
            first.setdefault(self._state(finder, name, kinds), name)
        kept = {*first.values(), row[-1]}
        return [name for name in row if name in kept]

    def _is_fresh(self, sub_job: SubJob) -> bool:
        """Nothing of it is placed or has a place in mind."""
        return sub_job.demand is not None and not sub_job.allocated_in and not sub_job.nominated

    def _is_plain(self, task: TaskState) -> bool:
        finder = self._session.bulk_finder
        if task.status is not Status.PENDING or task.node or self._session.nominated_node(task):
            return False
        if self._session.jobs[task.job].tasks[task.key] is not task:
            # Left behind by operations that were done again with copies: another object may hold room for it.
            return False
        return finder is not None and finder.is_local(task)

    def _state(self, finder: BulkFinder, name: str, kinds: Sequence[TaskKind]) -> Hashable:
        if name not in self._nodes:
            numbers = [self._session.nodes[node].index for node in self._tree.nodes.get(name, ())]
            self._nodes[name] = np.array(numbers, dtype=np.int64)
            self._below[name] = self._shape(name)
        names, shape = self._below[name]
        return shape, finder.state(self._nodes[name], kinds), tuple(finder.domain_state(one) for one in names)

    def _shape(self, name: str) -> tuple[list[str], Hashable]:
        """The domains within, and how they share the nodes, which go by their place here."""
        place = {node: number for number, node in enumerate(self._tree.nodes.get(name, ()))}
        names, shapes, waiting = list[str](), list[Hashable](), [name]
        for one in waiting:
            names.append(one)
            nodes = tuple(place[node] for node in self._tree.nodes.get(one, ()) if node in place)
            children = self._tree.children(one)
            waiting += children
            shapes.append((self._tree.tier(one), len(children), nodes))
        return names, tuple(shapes)
