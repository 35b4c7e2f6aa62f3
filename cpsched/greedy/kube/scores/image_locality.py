"""How much of the pod's images the node has; mirrors `plugins/imagelocality`."""

from __future__ import annotations

import numpy as np

from cpsched.filters.state import ClusterState
from cpsched.greedy.kube.scores.contract import HIGHEST, ScoreRequest, Scores

NAME = "ImageLocality"
_MEGABYTE = 2**20
_LEAST = 23 * _MEGABYTE
_MOST_PER_CONTAINER = 1000 * _MEGABYTE


def score(request: ScoreRequest) -> Scores:
    """Size times spread of the images on the node, between two thresholds; never skipped."""
    spec, cluster = request.task.pod.spec, request.snapshot.cluster
    containers = (*spec.init_containers, *spec.containers)
    most = max(_MOST_PER_CONTAINER * len(containers), _LEAST + 1)
    total = np.zeros(len(request.places), dtype=np.int64)
    if not request.bare:
        for container in containers:
            found = _images(cluster).get(_normalized(container.image))
            if found is not None:
                total += request.pick(found)
    return HIGHEST * (np.clip(total, _LEAST, most) - _LEAST) // (most - _LEAST)


def _images(cluster: ClusterState) -> dict[str, Scores]:
    """Per image name what it is worth on each node; its size is the one the first node reports."""
    found = cluster.memo.get(NAME)
    if found is None:
        sizes: dict[str, int] = {}
        holders: dict[str, set[int]] = {}
        for node in cluster.instance.nodes.values():
            for image in node.node.status.images:
                for name in image.names:
                    sizes.setdefault(name, image.size_bytes)
                    holders.setdefault(name, set()).add(cluster.nodes[node.name].index)
        found = cluster.memo[NAME] = {
            n: _worth(sizes[n], places, len(cluster.node_list)) for n, places in holders.items()
        }
    result: dict[str, Scores] = found
    return result


def _worth(size: int, places: set[int], nodes: int) -> Scores:
    worth = np.zeros(nodes, dtype=np.int64)
    worth[list(places)] = int(float(size) * (len(places) / nodes))
    return worth


def _normalized(name: str) -> str:
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
