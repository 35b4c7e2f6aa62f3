"""Tiny random sessions cut out of recorded ones: real pods with real wishes, few enough for the oracle."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "conformance" / "data"
GROUP = "scheduling.k8s.io/group-name"
EVERYTHING = "enqueue, allocate, preempt, reclaim, backfill"
Row = dict[str, Any]


@cache
def rows(name: str) -> list[Row]:
    """All rows of a recorded file."""
    with gzip.open(DATA / name) as lines:
        return [json.loads(line) for line in lines]


def session(name: str, seed: int) -> tuple[list[Row], Row | None]:
    """(objects, configuration): a few nodes of a recorded session, some of their pods, and some that wait."""
    r = random.Random(seed)
    row = r.choice(rows(name))
    objects = copy.deepcopy(row["objects"])
    nodes = _some(r, [o for o in objects if o["kind"] == "Node"], r.choice([1, 2, 2, 3]))
    names = {node["metadata"]["name"] for node in nodes}
    pods = [o for o in objects if o["kind"] == "Pod"]
    running = _some(r, [p for p in pods if p["spec"].get("nodeName") in names], r.randint(1, 5))
    waiting = _some(r, [p for p in pods if not p["spec"].get("nodeName")], r.randint(1, 4))
    members = Counter(_group(pod) for pod in running + waiting)
    groups = [o for o in objects if o["kind"] == "PodGroup" and _key(o) in members]
    for group in groups:
        if r.random() < 0.8:
            group["spec"]["minMember"] = r.randint(0 if r.random() < 0.2 else 1, members[_key(group)])
    for node in nodes:
        if r.random() < 0.9:
            node["status"]["allocatable"]["cpu"] = str(r.choice([1, 2, 2, 3, 4, 5]))
    conf = row["conf"]
    if conf and "tiers" in conf and r.random() < 0.5:
        conf = {**conf, "actions": EVERYTHING}
    rest = [o for o in objects if o["kind"] not in ("Node", "Pod", "PodGroup")]
    return rest + nodes + groups + running + waiting, conf


def _some(r: random.Random, items: list[Row], most: int) -> list[Row]:
    return r.sample(items, min(len(items), most))


def _group(pod: Row) -> tuple[str, str | None]:
    return pod["metadata"]["namespace"], pod["metadata"].get("annotations", {}).get(GROUP)


def _key(group: Row) -> tuple[str, str]:
    return group["metadata"]["namespace"], group["metadata"]["name"]
