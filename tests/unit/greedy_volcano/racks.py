"""Four nodes in two racks and a block, and sessions on them."""

from __future__ import annotations

from typing import Any

from cpsched.greedy.volcano import Replay
from cpsched.greedy.volcano.session import Session
from tests.unit.greedy_volcano.cluster import Object, conf, node, opened, pod, queue, run
from tests.unit.topology.shapes import domain, exact, nodes_of

RACKS = [
    domain("s0", 1, nodes_of("n0", "n1")),
    domain("s1", 1, nodes_of("n2", "n3")),
    domain("b", 2, exact("s0", "s1")),
]
NODES = [node(f"n{number}") for number in range(4)]
NEAR = "network-topology-aware"
PLUGINS = ("priority", "gang", "predicates", NEAR)
HARD = {"mode": "hard", "highestTierAllowed": 1}


def pods(job: str, count: int, **spec: Any) -> list[Object]:
    return [pod(f"{job}-w-{number}", job, **spec) for number in range(count)]


def session(*objects: Object, actions: str = "allocate", plugins: tuple[Any, ...] = PLUGINS) -> Session:
    return opened([*NODES, *RACKS, queue(), *objects], conf(actions, plugins))


def decided(*objects: Object, actions: str = "allocate", plugins: Any = PLUGINS, **arguments: Any) -> Replay:
    return run([*NODES, *RACKS, queue(), *objects], conf(actions, plugins, **arguments))


def near(**arguments: Any) -> tuple[Any, ...]:
    return ("priority", "gang", "predicates", {"name": NEAR, "arguments": arguments})
