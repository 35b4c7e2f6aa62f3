"""Scores that no other pod changes; mirrors kube-scheduler's `nodeaffinity`, `tainttoleration` and `imagelocality`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cpsched.greedy.volcano.picture import FilterView
from cpsched.instance import Task
from cpsched.objects.affinity import NodeSelector
from cpsched.selectors import node_selector, tolerates

_MB = 1024 * 1024
_SMALLEST, _LARGEST_PER_CONTAINER = 23 * _MB, 1000 * _MB


def node_affinity_scores(picture: FilterView, task: Task, indexes: Sequence[int]) -> list[int] | None:
    """The weights of the preferred terms a node matches, the best node 100."""
    stated = task.pod.spec.affinity.node_affinity.preferred
    if not stated:
        return None
    terms = [
        (node_selector(NodeSelector.model_construct(node_selector_terms=(one.preference,))), one.weight)
        for one in stated
    ]
    nodes = [picture.node_list[index] for index in indexes]
    return _normalised([sum(w for term, w in terms if term.matches(node.labels, node.name)) for node in nodes])


def taint_scores(picture: FilterView, task: Task, indexes: Sequence[int]) -> list[int]:
    """The fewer PreferNoSchedule taints are not tolerated, the better."""
    tolerations = [one for one in task.pod.spec.tolerations if one.effect in ("", "PreferNoSchedule")]
    counts = []
    for index in indexes:
        soft = [taint for taint in picture.node_list[index].node.node.spec.taints if taint.effect == "PreferNoSchedule"]
        counts.append(sum(not any(tolerates(one, taint) for one in tolerations) for taint in soft))
    if not any(counts):
        return [100] * len(counts)
    return [100 - score for score in _normalised(counts)]


def image_score(picture: FilterView, task: Task, index: int) -> int:
    """How much of the task's images the node has, images on many nodes counting for more."""
    sizes, spread = _images(picture)
    if not spread:
        return 0
    containers = (*task.pod.spec.init_containers, *task.pod.spec.containers)
    total = 0
    for container in containers:
        name = _normal_name(container.image)
        if name in sizes[index]:
            total += int(sizes[index][name] * (spread[name] / len(picture.node_list)))
    most = _LARGEST_PER_CONTAINER * len(containers)
    return 100 * (min(max(total, _SMALLEST), most) - _SMALLEST) // (most - _SMALLEST)


def _images(picture: FilterView) -> tuple[list[dict[str, int]], Counter[str]]:
    found = picture.memo.get(image_score)
    if found is None:
        sizes = [
            {name: image.size_bytes for image in state.node.node.status.images for name in image.names}
            for state in picture.node_list
        ]
        found = picture.memo[image_score] = (sizes, Counter(name for names in sizes for name in names))
    result: tuple[list[dict[str, int]], Counter[str]] = found
    return result


def _normal_name(image: str) -> str:
    return f"{image}:latest" if image.rfind(":") <= image.rfind("/") else image


def _normalised(counts: Sequence[int]) -> list[int]:
    top = max(counts, default=0)
    return [100 * count // top for count in counts] if top else list(counts)
