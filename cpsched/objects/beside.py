"""What is stated of a cluster beside its objects: which nodes are whose, and how loaded they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sharding:
    """Which nodes are this scheduler's own, and how strictly."""

    mode: str
    nodes: frozenset[str]
    name: str = ""


@dataclass(frozen=True)
class NodeLoad:
    """What was measured on a node: percent of its cpu and memory, and how many seconds ago."""

    cpu: float = 0.0
    memory: float = 0.0
    age: float = 0.0
