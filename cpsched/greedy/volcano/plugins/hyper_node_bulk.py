"""Scores of network-topology-aware for many nodes at once; each equals the one of `network_topology_aware.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cpsched.greedy.volcano.fast.arrays import Ints
from cpsched.greedy.volcano.plugins.hyper_node_room import HyperNodeSums, Weights
from cpsched.greedy.volcano.plugins.hyper_node_tiers import Tiers
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.sub_jobs import SubJob

Nearness = Callable[[str, str], float]


class NearScores:
    """The tree laid out over the nodes."""

    def __init__(
        self, session: Session, room: HyperNodeSums, weights: Weights, tiers: Tiers | None, scale: float, near: Nearness
    ):
        self._session, self._room, self._weights, self._scale, self._near = session, room, weights, scale, near
        tree = session.tree
        leaves = [tree.leaf(node.name) for node in session.node_list]
        self._leaves = sorted({*leaves})
        numbers = {name: number for number, name in enumerate(self._leaves)}
        self._leaf: Ints = np.array([numbers[name] for name in leaves], dtype=np.int64)
        self._leaf_of_node = {node.name: numbers[leaf] for node, leaf in zip(session.node_list, leaves, strict=True)}
        self._nearness: dict[str, Any] = {}
        self._tier_weights, self._tier_total = (tiers.weights, tiers.total) if tiers is not None else ([], 0.0)
        self._around: list[Any] = []
        """Tier by tier the number of the HyperNode around each node; one behind the last where there is none."""
        for place in range(len(self._tier_weights)):
            assert tiers is not None
            names = [tiers.around(node.name)[place] for node in session.node_list]
            none = len(room.number)
            self._around.append(np.array([room.number[one[0]] if one else none for one in names], dtype=np.int64))

    @classmethod
    def possible(cls, session: Session, tiers: Tiers | None) -> bool:
        """Whether every node is in one HyperNode of a tier at most, so that nothing is left to chance."""
        tree = session.tree
        seen = [node for name in tree.by_tier[tree.tiers[0]] for node in tree.nodes.get(name, ())]
        if len(seen) != len(set(seen)):
            return False
        return tiers is None or all(len(one) < 2 for node in tree.nodes_of_top for one in tiers.around(node))

    def scores(self, task: TaskState, nodes: Ints) -> Any:
        """The scores of some nodes, None if there are none."""
        sub_job = self._session.jobs[task.job].sub_job_of[task.key]
        if sub_job.demand is None:
            return self._fullness(task, nodes) if self._tier_total > 0 else None
        return self._scaled(task.here, sub_job, nodes) if task.here else None

    def _scaled(self, here: str, sub_job: SubJob, nodes: Ints) -> Any:
        if here not in self._nearness:
            self._nearness[here] = np.array([self._near(leaf, here) for leaf in self._leaves])[self._leaf]
        scores = self._nearness[here][nodes]
        best = scores == scores.max()
        if np.count_nonzero(best) > 1:
            there = np.zeros(len(self._leaves))
            for task in sub_job.tasks.values():
                if task.node:
                    there[self._leaf_of_node[task.node]] += 1
            if self._leaves[0] == "":
                there[0] = 0
            scores[best] += there[self._leaf[nodes[best]]] / len(sub_job.tasks)
        return self._scale * scores

    def _fullness(self, task: TaskState, nodes: Ints) -> Any:
        full = np.append(self._room.fullness_of_all(self._weights.weighed(task.ordered_request)), 1.0)
        total = np.zeros(len(nodes))
        for weight, around in zip(self._tier_weights, self._around, strict=True):
            total += weight * full[around[nodes]]
        return self._scale * (total / self._tier_total)
