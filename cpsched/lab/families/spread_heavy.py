"""Spread- and affinity-heavy: services that must spread over uneven zones, keep apart, or stay near their cache."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import frame, gang, node, quantities, workers

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
CLASSES = {"service": 100}
_SLOTS = 8


class SpreadHeavy(Parameters):
    """The zones, and how many services of each kind."""

    zones: int = Field(3, ge=2, le=20)
    """zones; the first is nearly full, the others are empty"""
    nodes_per_zone: int = Field(2, ge=1, le=200)
    """nodes of eight slots in each zone"""
    spreading: int = Field(1, ge=0, le=100)
    """services whose replicas may differ by at most one between zones"""
    apart: int = Field(1, ge=0, le=100)
    """services that accept no second replica on a node"""
    near: int = Field(1, ge=0, le=100)
    """services that must be in a zone where the cache runs; there is one, in the nearly full zone"""
    replicas: int = Field(4, ge=1, le=500)
    """replicas of each service; each can start alone"""
    free_slots: int = Field(1, ge=0, le=7)
    """slots left on each node of the nearly full zone"""


def spread_heavy(given: SpreadHeavy, draw: Draw) -> Raw:
    """All of one priority: no task is evicted, only the constraints stand in the way."""
    homes = [[f"z{zone}n{number}" for number in range(given.nodes_per_zone)] for zone in range(given.zones)]
    nodes = (
        node(name, quantities(_SLOTS * 1000, _SLOTS * 4), {ZONE: f"z{zone}"})
        for zone, names in enumerate(homes)
        for name in names
    )
    instance = frame(nodes, [{"name": "default", "weight": 1}], CLASSES)
    request = quantities(1000, 2)
    jobs: list[Raw] = instance["jobs"]
    taken = [name for name in homes[0] for _ in range(_SLOTS - given.free_slots)]
    cache = workers(1, request, [taken.pop(draw.below(len(taken)))]) | {"labels": {"app": "cache"}}
    jobs.append(gang("cache", "default", "service", 1, cache))
    if taken:
        jobs.append(gang("old", "default", "service", 0, workers(len(taken), request, taken)))
    kinds = ["spreading"] * given.spreading + ["apart"] * given.apart + ["near"] * given.near
    draw.shuffle(kinds)
    for number, kind in enumerate(kinds):
        app = f"{kind}{number}"
        task = workers(given.replicas, request) | {"labels": {"app": app}} | _constraint(kind, app)
        jobs.append(gang(app, "default", "service", 1, task))
    return instance


def _constraint(kind: str, app: str) -> Raw:
    selector = {"matchLabels": {"app": app}}
    if kind == "spreading":
        constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
        return {"topologySpreadConstraints": [constraint | {"labelSelector": selector}]}
    if kind == "apart":
        return {"affinity": {"podAntiAffinity": _required(selector, HOST)}}
    return {"affinity": {"podAffinity": _required({"matchLabels": {"app": "cache"}}, ZONE)}}


def _required(selector: Raw, key: str) -> Raw:
    return {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": selector, "topologyKey": key}]}
