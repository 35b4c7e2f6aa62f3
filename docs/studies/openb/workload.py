"""The openb tables as shapes: pods that ask for the same, and nodes of the same size."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

DEVICE = 1000
"""Thousandths of a GPU that one device has."""

COLUMNS = ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
"""What a pod asks for, in the trace's words."""


@dataclass(frozen=True, order=True)
class Pod:
    """What a pod asks for; a part of a GPU lies on one device, whole ones on as many devices of one node."""

    cpu: int
    memory: int
    gpus: int
    milli: int

    @property
    def is_part(self) -> bool:
        """Whether it asks for a part of one device."""
        return self.gpus == 1 and self.milli < DEVICE

    @property
    def gain(self) -> int:
        """Thousandths of a GPU it asks for."""
        return self.gpus * self.milli


@dataclass(frozen=True, order=True)
class Node:
    """How large a node is."""

    cpu: int
    memory: int
    gpus: int
    model: str

    def takes(self, pod: Pod) -> bool:
        """Whether the pod fits the empty node."""
        return pod.cpu <= self.cpu and pod.memory <= self.memory and pod.gpus <= self.gpus


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    """A table of the trace, gzip or not."""
    plain = folder / name
    if plain.exists():
        with plain.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
    with gzip.open(folder / f"{name}.gz", "rt", encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def gpu_nodes(folder: Path) -> dict[Node, int]:
    """How many nodes with GPUs there are of each size."""
    found = rows(folder, "openb_node_list_all_node.csv")
    sizes = (Node(int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"]), row["model"]) for row in found)
    return dict(sorted(Counter(size for size in sizes if size.gpus).items()))


def pod_list(folder: Path) -> list[Pod]:
    """The default pod list, in its order."""
    return [_pod(row) for row in rows(folder, "openb_pod_list_default.csv")]


def tallied(path: Path) -> dict[Pod, int]:
    """How many pods ask for each, from a table with the column pods."""
    with path.open(encoding="utf-8", newline="") as stream:
        return {_pod(row): int(row["pods"]) for row in csv.DictReader(stream)}


def _pod(row: Mapping[str, str]) -> Pod:
    return Pod(*(int(row[column]) for column in COLUMNS))


def inflated(pods: Sequence[Pod], nodes: Mapping[Node, int], percent: int, seed: int) -> list[Pod]:
    """The list and, behind it, pods drawn from it until they ask for that percentage of the GPUs."""
    draw, longer, asked = Random(seed), list(pods), sum(pod.gain for pod in pods)
    wanted = percent * DEVICE * sum(size.gpus * count for size, count in nodes.items()) // 100
    while True:
        pod = pods[int(draw.random() * len(pods))]
        if asked + pod.gain > wanted:
            return longer
        longer.append(pod)
        asked += pod.gain
