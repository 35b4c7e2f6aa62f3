"""The openb trace as one Volcano session: gangs of equal pods in four queues, some running, the rest pending."""

from __future__ import annotations

import csv
import gzip
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
CLASSES = {"low": 10, "mid": 100, "high": 1000}
PODS_PER_NODE = 110
CONF = {
    "actions": "enqueue, allocate, backfill, preempt, reclaim",
    "tiers": [
        {
            "plugins": [
                {"name": name}
                for name in ("priority", "gang", "conformance", "proportion", "predicates", "nodeorder", "binpack")
            ]
        }
    ],
}

Object = dict[str, Any]
Shape = tuple[int, int, int, str]
"""cpu in thousandths, memory in MiB, whole GPUs, allowed models."""


def session(nodes: int, fill: float, seed: int) -> list[Object]:
    """So many nodes and the same share of the pods; `fill` of the gangs run already, placed first fit."""
    draw = random.Random(seed)
    listed, pods = _rows("openb_node_list_all_node.csv.gz"), _rows("openb_pod_list_default.csv.gz")
    chosen = draw.sample(listed, nodes)
    waiting = draw.sample(pods, len(pods) * nodes // len(listed))
    free = {
        row["sn"]: [int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"]), PODS_PER_NODE] for row in chosen
    }
    gangs = _gangs(draw, waiting)
    objects = [_node(row) for row in chosen]
    objects += [_object("scheduling.k8s.io/v1", "PriorityClass", name, value=value) for name, value in CLASSES.items()]
    for number in range(4):
        metadata = {"creationTimestamp": _stamp(0, number)}
        spec, status = {"weight": number + 1}, {"state": "Open"}
        objects.append(
            _object("scheduling.volcano.sh/v1beta1", "Queue", f"q{number}", metadata, spec=spec, status=status)
        )
    for number, (shape, names) in enumerate(gangs):
        objects += _gang(draw, number, shape, names, free, running=number < int(len(gangs) * fill))
    return objects


def _rows(name: str) -> list[dict[str, str]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _gangs(draw: random.Random, pods: list[dict[str, str]]) -> list[tuple[Shape, list[str]]]:
    by_shape: dict[Shape, list[str]] = {}
    for row in pods:
        shape = (int(row["cpu_milli"]), int(row["memory_mib"]), int(row["num_gpu"]), row["gpu_spec"])
        by_shape.setdefault(shape, []).append(row["name"])
    gangs = []
    for shape, names in by_shape.items():
        start = 0
        while start < len(names):
            size = draw.choice([1, 2, 4, 8])
            gangs.append((shape, names[start : start + size]))
            start += size
    draw.shuffle(gangs)
    return gangs


def _gang(
    draw: random.Random, number: int, shape: Shape, names: list[str], free: dict[str, list[int]], *, running: bool
) -> Iterator[Object]:
    priority, queue = draw.choice(["low", "low", "mid"] if running else ["low", "mid", "high"]), f"q{draw.randrange(4)}"
    minimum = len(names) if draw.random() < 0.6 else 1
    pods = [_pod(number, place, name, shape, priority, free, running=running) for place, name in enumerate(names)]
    placed = sum("nodeName" in pod["spec"] for pod in pods)
    metadata = {"namespace": "ns", "creationTimestamp": _stamp(number // 3600 % 24, number)}
    spec = {"minMember": minimum, "queue": queue, "priorityClassName": priority}
    status = {"phase": "Running" if placed >= minimum else "Inqueue"}
    yield _object("scheduling.volcano.sh/v1beta1", "PodGroup", f"j{number}", metadata, spec=spec, status=status)
    yield from pods


def _pod(
    number: int, place: int, name: str, shape: Shape, priority: str, free: dict[str, list[int]], *, running: bool
) -> Object:
    cpu, memory, gpu, models = shape
    annotations = {"scheduling.k8s.io/group-name": f"j{number}", "volcano.sh/task-spec": "w"}
    metadata = {"namespace": "ns", "uid": name, "creationTimestamp": _stamp(number // 3600 % 24, number)}
    container = {"name": "main", "resources": {"requests": _amounts(cpu, memory, gpu)}}
    spec: Object = {"containers": [container], "priority": CLASSES[priority], "priorityClassName": priority}
    if models:
        expression = {"key": "gpu-model", "operator": "In", "values": models.split("|")}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    status = {"phase": "Pending"}
    need = (cpu, memory, gpu, 1)
    home = _first_fit(need, free) if running else None
    if home is not None:
        free[home] = [have - wanted for have, wanted in zip(free[home], need, strict=True)]
        spec["nodeName"] = home
        status = {"phase": "Running", "startTime": _stamp(1, number * 8 + place)}
    return _object("v1", "Pod", name, metadata | {"annotations": annotations}, spec=spec, status=status)


def _first_fit(need: tuple[int, ...], free: dict[str, list[int]]) -> str | None:
    fitting = (name for name, room in free.items() if all(have >= want for have, want in zip(room, need, strict=True)))
    return next(fitting, None)


def _node(row: dict[str, str]) -> Object:
    amounts = _amounts(int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"])) | {"pods": str(PODS_PER_NODE)}
    labels = {"kubernetes.io/hostname": row["sn"], "gpu-model": row["model"] or "none"}
    return _object("v1", "Node", row["sn"], {"labels": labels}, status={"allocatable": amounts, "capacity": amounts})


def _amounts(cpu: int, memory: int, gpu: int) -> dict[str, str]:
    amounts = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    return amounts | {"nvidia.com/gpu": str(gpu)} if gpu else amounts


def _object(version: str, kind: str, name: str, metadata: Object | None = None, **parts: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **(metadata or {})}, **parts}


def _stamp(hour: int, rest: int) -> str:
    return f"2026-01-01T{hour:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}Z"
