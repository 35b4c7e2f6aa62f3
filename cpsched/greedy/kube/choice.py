"""The best of several nodes; mirrors `schedule_one.go` (prioritizeNodes) and `framework.SortedScoredNodes`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cpsched.greedy.kube.cycle import NodeSearch
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.scores import SCORES, ScoreRequest, Scores
from cpsched.greedy.kube.world import World
from cpsched.greedy.outcomes import Choices
from cpsched.instance import Task


@dataclass
class Ranking:
    """Weighted scores per plugin and their sum, in the order of the nodes found."""

    total: Scores
    parts: dict[str, Scores] = field(default_factory=dict)

    def best(self) -> list[int]:
        """Positions of the nodes with the highest sum."""
        return np.flatnonzero(self.total == self.total.max()).tolist()


def rank(world: World, framework: Framework, task: Task, found: NodeSearch) -> Ranking:
    """Score the nodes that fit."""
    places = np.array(found.feasible, dtype=np.int64)
    weights = framework.profile.scores
    if not weights and not world.extenders:
        return Ranking(np.ones(len(places), dtype=np.int64))
    request = ScoreRequest(task, places, world.snapshot, framework, found.pre, found.bare)
    ranking = Ranking(np.zeros(len(places), dtype=np.int64))
    for name, weight in weights.items():
        scored = SCORES[name](request)
        if scored is not None:
            ranking.parts[name] = scored * weight
            ranking.total = ranking.total + ranking.parts[name]
    _ask_extenders(world, task, found, ranking)
    return ranking


def _ask_extenders(world: World, task: Task, found: NodeSearch, ranking: Ranking) -> None:
    nodes = [world.snapshot.nodes[place] for place in found.feasible] if world.extenders else []
    for extender in world.extenders:
        if extender.is_interested(task):
            given = extender.prioritize(task, nodes)
            if given:
                scores = np.array([given.get(node.name, 0) for node in nodes], dtype=np.int64)
                ranking.parts[extender.conf.url_prefix] = scores
                ranking.total = ranking.total + scores


def winner(total: Scores, choices: Choices | None = None) -> int:
    """The position of the node that is taken.

    First comes the root of a heap built over the order in which nodes are found. That order depends on parallel workers
    and on when the scheduler heard of the nodes, so any of the best may be it.
    """
    best = np.flatnonzero(total == total.max()).tolist()
    if len(best) == 1:
        return int(best[0])
    first = _Heap(total.tolist()).pop()
    others = [place for place in best if place != first]
    return [first, *others][0 if choices is None else choices.pick(len(best))]


def descending(total: Scores, choices: Choices | None = None) -> list[int]:
    """All positions: the one that is taken, then the others in the order in which the heap gives them."""
    heap, first = _Heap(total.tolist()), winner(total, choices)
    return [first, *(place for _ in range(len(total)) if (place := heap.pop()) != first)]


class _Heap:
    """Go's container/heap with the largest on top: which of several equals comes first depends on its steps."""

    def __init__(self, values: list[int]):
        self._items = list(enumerate(values))
        for place in range(len(values) // 2 - 1, -1, -1):
            self._sink(place, len(values))

    def pop(self) -> int:
        """Take the top."""
        items, last = self._items, len(self._items) - 1
        items[0], items[last] = items[last], items[0]
        self._sink(0, last)
        return items.pop()[0]

    def _sink(self, place: int, size: int) -> None:
        items = self._items
        while (child := 2 * place + 1) < size:
            if child + 1 < size and items[child + 1][1] > items[child][1]:
                child += 1
            if items[child][1] <= items[place][1]:
                break
            items[place], items[child] = items[child], items[place]
            place = child
