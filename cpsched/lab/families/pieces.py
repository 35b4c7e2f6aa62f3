"""What every family builds with: quantities, time stamps, an instance's frame, and room for running tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from cpsched.instance import API_VERSION
from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Raw

GPU = "nvidia.com/gpu"
PODS = "110"
_PLUGINS = ("priority", "gang", "conformance", "overcommit", "predicates", "{queues}", "nodeorder", "binpack")
CLASSES = {"low": 10, "mid": 100, "high": 1000}
Placement = Literal["first-fit", "best-fit", "worst-fit", "random-fit"]
Need = tuple[int, ...]
_BEGIN = datetime(2026, 1, 1)


def quantities(cpu_milli: int, memory: int, gpu: int = 0, unit: str = "Gi") -> dict[str, str]:
    """Amounts as Kubernetes writes them; no GPU is no entry."""
    found = {"cpu": f"{cpu_milli}m", "memory": f"{memory}{unit}"}
    return found | {GPU: str(gpu)} if gpu else found


def stamp(seconds: int) -> str:
    """So many seconds after the beginning of 2026."""
    return f"{(_BEGIN + timedelta(seconds=seconds)).isoformat()}Z"


def frame(nodes: Iterable[Raw], queues: Iterable[Raw], classes: Mapping[str, int]) -> Raw:
    """An instance without jobs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Instance",
        "nodes": list(nodes),
        "queues": list(queues),
        "priorityClasses": dict(classes),
        "jobs": [],
    }


def node(name: str, amounts: Mapping[str, str], labels: Mapping[str, str] | None = None) -> Raw:
    """A node that takes as many pods as a kubelet does by default."""
    made: Raw = {"name": name, "allocatable": {**amounts, "pods": PODS}}
    return made | {"labels": dict(labels)} if labels else made


def gang(name: str, queue: str, priority: str, minimum: int, task: Raw) -> Raw:
    """A job of one role."""
    return {"name": name, "queue": queue, "minMember": minimum, "priorityClassName": priority, "tasks": [task]}


def workers(replicas: int, requests: Mapping[str, str], places: Sequence[str] = (), start: int = 0) -> Raw:
    """Equal tasks; with places they run there, since `start`."""
    task: Raw = {"role": "w", "replicas": replicas, "requests": dict(requests)}
    return task | {"running": list(places), "startTime": stamp(start)} if places else task


def configuration(actions: str, *more: Raw, queues: str = "proportion") -> Raw:
    """A volcano-scheduler.conf with more plugins than usual; all in one tier, as in the shipped models."""
    plugins: list[Raw] = [{"name": name.format(queues=queues)} for name in _PLUGINS]
    return {"actions": actions, "tiers": [{"plugins": [*plugins, *more]}]}


class NodesLeft:
    """What is left on each node while running tasks are placed."""

    def __init__(self, free: Mapping[str, Need]):
        self.free = dict(free)

    def place(self, need: Need, rule: Placement, draw: Draw, among: Iterable[str] | None = None) -> str | None:
        """The node that the rule chooses, its room taken; None if no node has it."""
        fitting = (
            name for name in (self.free if among is None else among) if all(map(int.__ge__, self.free[name], need))
        )
        home = next(fitting, None) if rule == "first-fit" else _RULES[rule](list(fitting), self.free, draw)
        if home is not None:
            self.free[home] = tuple(map(int.__sub__, self.free[home], need))
        return home


def _emptiness(name: str, free: Mapping[str, Need]) -> Need:
    """GPUs count before cpu, and cpu before memory."""
    cpu, memory, gpu, *_ = free[name]
    return gpu, cpu, memory


def _tightest(names: list[str], free: Mapping[str, Need], draw: Draw) -> str | None:
    del draw
    return min(names, key=lambda name: _emptiness(name, free), default=None)


def _emptiest(names: list[str], free: Mapping[str, Need], draw: Draw) -> str | None:
    del draw
    return max(names, key=lambda name: _emptiness(name, free), default=None)


def _any(names: list[str], free: Mapping[str, Need], draw: Draw) -> str | None:
    del free
    return draw.choice(names) if names else None


_RULES: dict[str, Callable[[list[str], Mapping[str, Need], Draw], str | None]] = {
    "best-fit": _tightest,
    "worst-fit": _emptiest,
    "random-fit": _any,
}
