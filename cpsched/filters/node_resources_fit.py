"""NodeResourcesFit: pods and resources must fit; mirrors `plugins/noderesources/fit.go`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cpsched.filters.args import Args
from cpsched.filters.contract import Filter, Mask, PreFilterResult
from cpsched.filters.facts import COUNTED
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Code, Status
from cpsched.instance import Task

NAME = "NodeResourcesFit"
TOO_MANY_PODS = "Too many pods"


@dataclass(frozen=True)
class ResourcesFitState:
    """What is checked, in the order of the messages, and what devices may stand in for."""

    requests: tuple[tuple[str, int], ...]
    delegated: frozenset[str]


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Take the pod's requests; upstream never skips this filter."""
    asked = cluster.facts(task).requests
    checked = [name for name in COUNTED if name in asked]
    checked += sorted(name for name in asked if name not in COUNTED and not _ignored(name, args))
    by_devices = cluster.devices.class_by_resource if args.features.dra_extended_resource else {}
    delegated = frozenset(name for name in checked if name in by_devices)
    return PreFilterResult(state=ResourcesFitState(tuple((name, asked[name]) for name in checked), delegated))


def check(state: ResourcesFitState, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node without room; UNRESOLVABLE if even the empty node would be too small."""
    lacking = []
    unresolvable = False
    for name, amount in state.requests:
        allocatable = node.allocatable.get(name, 0)
        if amount <= allocatable - node.requested.get(name, 0) or (name in state.delegated and allocatable == 0):
            continue
        lacking.append(name)
        unresolvable |= amount > allocatable
    full = len(node.tasks) + 1 > node.allowed_pods
    return _status(full, tuple(lacking), unresolvable) if full or lacking else SUCCESS


def masks(state: ResourcesFitState, task: Task, cluster: ClusterState) -> Iterable[tuple[Mask, Status]]:
    """The verdict for all nodes: one mask per combination of what is lacking."""
    room = cluster.room
    full: Mask = room.pods >= room.allowed_pods
    lacking, oversized = [], np.zeros(len(cluster.node_list), dtype=np.bool_)
    for name, amount in state.requests:
        short = np.asarray(room.free(name) < amount, dtype=np.bool_)
        if name in state.delegated:
            short &= np.asarray(room.allocatable(name) != 0, dtype=np.bool_)
        if short.any():
            lacking.append((name, short))
            oversized |= short & np.asarray(room.allocatable(name) < amount, dtype=np.bool_)
    return _combinations(full, lacking, oversized)


def _combinations(full: Mask, lacking: list[tuple[str, Mask]], oversized: Mask) -> Iterator[tuple[Mask, Status]]:
    combination = full + 2 * oversized.astype(np.int64)
    for place, (_, short) in enumerate(lacking, start=2):
        combination += short.astype(np.int64) << place
    for kind in np.unique(combination).tolist():
        if kind:
            names = tuple(name for place, (name, _) in enumerate(lacking, start=2) if kind >> place & 1)
            yield combination == kind, _status(bool(kind & 1), names, bool(kind & 2))


@lru_cache(maxsize=1024)
def _status(full: bool, lacking: tuple[str, ...], unresolvable: bool) -> Status:
    reasons = tuple(f"Insufficient {name}" for name in lacking)
    code = Code.UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE
    return Status(code, (TOO_MANY_PODS, *reasons) if full else reasons, NAME)


def _ignored(name: str, args: Args) -> bool:
    """Only extended resources can be ignored: names with a domain other than kubernetes.io."""
    if "/" not in name or "kubernetes.io/" in name:
        return False
    return name in args.ignored_resources or name.partition("/")[0] in args.ignored_resource_groups


FILTER = Filter(NAME, prefilter, check, masks=masks)
