"""Verdicts over all nodes at once that no other pod can change: worked out once per kind of pod."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched.filters.contract import Mask
from cpsched.filters.state import ClusterState, NodeState


def per_node(cluster: ClusterState, key: Hashable, fails: Callable[[NodeState], bool]) -> Mask:
    """Which nodes fail, memoised under the key; it must name everything the test depends on besides the node."""
    found = cluster.memo.get(key)
    if found is None:
        answers = (fails(node) for node in cluster.node_list)
        found = cluster.memo[key] = np.fromiter(answers, dtype=np.bool_, count=len(cluster.node_list))
    mask: Mask = found
    return mask


def per_taints(cluster: ClusterState, key: Hashable, fails: Callable[[NodeState], bool]) -> Mask:
    """The same for a test that looks at taints and cordon only: asked once per kind of node."""
    found = cluster.memo.get(key)
    if found is None:
        codes, kinds = _taint_kinds(cluster)
        found = cluster.memo[key] = np.array([fails(node) for node in kinds], dtype=np.bool_)[codes]
    mask: Mask = found
    return mask


def _taint_kinds(cluster: ClusterState) -> tuple[npt.NDArray[np.int64], list[NodeState]]:
    found: Any = cluster.memo.get(_taint_kinds)
    if found is None:
        numbers: dict[Hashable, int] = {}
        kinds: list[NodeState] = []
        codes = []
        for node in cluster.node_list:
            spec = node.node.node.spec
            key = (spec.unschedulable, tuple((taint.key, taint.value, taint.effect) for taint in spec.taints))
            if key not in numbers:
                numbers[key] = len(kinds)
                kinds.append(node)
            codes.append(numbers[key])
        found = cluster.memo[_taint_kinds] = (np.array(codes, dtype=np.int64), kinds)
    result: tuple[npt.NDArray[np.int64], list[NodeState]] = found
    return result
