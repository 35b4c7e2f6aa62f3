"""Seeded tiny sessions with HyperNodes: jobs and sub-groups that stay near each other, and evictions for whole jobs."""

from __future__ import annotations

import random
from collections.abc import Callable

from cpsched.snapshot import Snapshot
from tests.oracle.plugin_sessions import Raw, Session

NEAR = "network-topology-aware"
GANG_ACTIONS = ("allocate, gangpreempt", "gangpreempt", "allocate, gangreclaim", "allocate, gangpreempt, gangreclaim")
KEY = "volcano.sh/partition-id"


def _members(*names: str, kind: str = "Node") -> list[Raw]:
    return [{"type": kind, "selector": {"exactMatch": {"name": name}}} for name in names]


def _hyper_node(name: str, tier: int, members: list[Raw]) -> Raw:
    spec = {"tier": tier, "tierName": f"tier-{tier}", "members": members}
    return {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": name}, "spec": spec}


def racks(s: Session, *, nodes: int = 3, most_cpu: int = 2) -> list[str]:
    """A few nodes in racks, in shapes that are a tree or not quite one."""
    r = s.r
    names = [f"n{number}" for number in range(nodes)]
    for name in names:
        s.node(name, cpu=r.randint(1, most_cpu))
    shape = r.choice(["pairs", "pairs", "pairs", "loose", "overlap", "deep", "broken", "none"])
    first, rest = names[: (nodes + 1) // 2], names[(nodes + 1) // 2 :]
    if shape == "overlap":
        rest = names[1:]
    found = [_hyper_node("s0", 1, _members(*first))]
    if shape != "loose":
        found.append(_hyper_node("s1", 1, _members(*rest)))
    if shape == "deep":
        found.append(_hyper_node("s2", r.choice([1, 2]), _members(names[0])))
    if shape in ("pairs", "deep"):
        found.append(_hyper_node("b", 2, _members("s0", "s1", kind="HyperNode")))
    if shape == "broken":
        found += [_hyper_node(name, 2, _members("s0", kind="HyperNode")) for name in ("b", "c")]
    s.others += [] if shape == "none" else found
    s.plugins.append({"name": NEAR, "enabledHyperNodeGradient": r.random() < 0.85})
    return names


def wish(r: random.Random, *, most: int = 2) -> Raw:
    """How near the tasks are to be, if at all."""
    hard = {"mode": "hard", "highestTierAllowed": r.randint(1, most)}
    by_name = {"mode": "hard", "highestTierName": r.choice(["tier-1", "tier-2", "tier-9"])}
    stated = r.choice([hard, hard, hard, {"mode": "soft"}, by_name, {"mode": "hard"}, None])
    return {} if stated is None else {"networkTopology": stated}


def _running(s: Session, names: list[str], *, most: int = 3, queues: tuple[str, ...] = ("q0",)) -> None:
    """Gangs that run, some below their minimum, some with a task that waits too."""
    r = s.r
    for number in range(r.randint(1, 2)):
        pods: list[Raw] = [{"node": r.choice(names)} for _ in range(r.randint(1, most))]
        if r.random() < 0.2:
            pods.append({})
        if r.random() < 0.1:
            pods[0]["labels"] = {"volcano.sh/preemptable": "false"}
        minimum = r.choice([1, len(pods), len(pods)])
        level = r.choice(["low", "low", "mid"])
        s.job(f"r{number}", *pods, minimum=minimum, level=level, queue=r.choice(queues))


def _pods(r: random.Random, count: int) -> list[Raw]:
    size = r.choice(["1", "1", "1", "2"])
    return [{"asks": [{"cpu": size}]} for _ in range(count)]


def near_jobs(r: random.Random) -> Session:
    """Jobs that are to stay in one rack, some with a task that runs already."""
    s = Session(r)
    names = racks(s)
    s.actions = r.choice(
        ["allocate", "allocate", "allocate, backfill", "allocate, preempt", "allocate, preempt, reclaim"]
    )
    if r.random() < 0.5:
        _running(s, names, most=2)
    for number in range(r.choice([1, 2, 2])):
        pods = _pods(r, r.randint(1, 2))
        if r.random() < 0.3:
            pods.append({"node": r.choice(names), "leaving": r.random() < 0.2})
        s.job(f"j{number}", *pods, minimum=r.choice([1, len(pods)]), level=r.choice(["mid", "high"]), **wish(r))
    return s


def soft_jobs(r: random.Random) -> Session:
    """Jobs that would rather be near together, in racks of one or two nodes; some run in part, where it is full."""
    s = Session(r)
    names = [f"n{number}" for number in range(r.choice([3, 4]))]
    for name in names:
        s.node(name, cpu=r.randint(1, 2))
    width = r.choice([1, 1, 2])
    racks_of = [names[at : at + width] for at in range(0, len(names), width)]
    s.others += [_hyper_node(f"s{number}", 1, _members(*some)) for number, some in enumerate(racks_of)]
    inner = [f"s{number}" for number in range(len(racks_of))]
    s.others.append(_hyper_node("b", 2, _members(*(inner if width == 1 else inner[:2]), kind="HyperNode")))
    s.plugins.append({"name": NEAR})
    s.actions = "allocate"
    for number in range(2):
        pods = _pods(r, r.randint(1, 2))
        if r.random() < 0.5:
            pods.append({"node": r.choice(names)})
        s.job(f"j{number}", *pods, minimum=len(pods), level="high", networkTopology={"mode": "soft"})
    return s


def sub_groups(r: random.Random) -> Session:
    """Jobs in sub-groups, of which some must be complete and some must stay in a rack."""
    s = Session(r)
    names = racks(s, most_cpu=r.choice([2, 3]))
    s.actions = r.choice(["allocate", "allocate", "allocate, preempt"])
    if r.random() < 0.35:
        _running(s, names, most=1)
    size, number = r.choice([(1, 2), (2, 2), (2, 1), (1, 3)])
    pods = [{"labels": {KEY: str(index // size)}} for index in range(size * number)]
    if r.random() < 0.3:
        pods.append({})
    if r.random() < 0.3:
        pods[0]["node"] = r.choice(names)
    policy = {
        "name": "w",
        "labelSelector": {},
        "matchLabelKeys": [KEY],
        "subGroupSize": size,
        "minSubGroups": r.choice([0, 1, number]),
        **wish(r, most=1),
    }
    minimum = r.choice([1, size, len(pods)])
    own = wish(r) if r.random() < 0.6 else {}
    s.job("g", *pods, minimum=minimum, level="high", subGroupPolicy=[policy], **own)
    if r.random() < 0.3:
        s.job("alone", *_pods(r, 1), level="mid")
    return s


def _evicting(r: random.Random, actions: str) -> Session:
    s = Session(r)
    names = racks(s)
    s.actions = actions
    queues = ("q0", "q1")
    _running(s, names, most=r.choice([1, 2]), queues=queues if "reclaim" in actions else ("q0",))
    size, divided = r.randint(1, 2), r.random() < 0.25
    pods = [{"labels": {KEY: str(number)}} for number in range(size)] if divided else _pods(r, size)
    policy = {"name": "w", "labelSelector": {}, "matchLabelKeys": [KEY], "minSubGroups": r.choice([0, size])}
    fields = {"subGroupPolicy": [{**policy, **wish(r, most=1)}]} if divided else {}
    s.job("p", *pods, minimum=r.choice([1, size]), level="high", **fields, **wish(r))
    if r.random() < 0.3:
        s.job("q", *_pods(r, 1), level="high", queue=r.choice(queues), **wish(r))
    return s


def gang_preempt(r: random.Random) -> Session:
    """A gang that evicts for all of its tasks in its own queue."""
    return _evicting(r, r.choice(["allocate, gangpreempt", "gangpreempt", "allocate, gangpreempt, preempt"]))


def gang_reclaim(r: random.Random) -> Session:
    """The same from other queues."""
    return _evicting(r, r.choice(["allocate, gangreclaim", "allocate, gangpreempt, gangreclaim"]))


KINDS: dict[str, Callable[[random.Random], Session]] = {
    "near": near_jobs,
    "soft": soft_jobs,
    "sub-groups": sub_groups,
    "gangpreempt": gang_preempt,
    "gangreclaim": gang_reclaim,
}
"""What a kind is about → a session of it."""


def topology_session(kind: str, seed: int) -> Snapshot:
    """The session of that kind and seed; some evict whole gangs, some in the node or the cluster as their scope."""
    r = random.Random(f"{kind} {seed}")
    session = KINDS[kind](r)
    scope = r.choice(["domain", "domain", "domain", "node", "cluster"])
    rules = {"eviction.scope": scope, "protect.gang": r.choice(["auto", "auto", "whole", "keep", "off"])}
    return session.snapshot(rules=rules if kind.startswith("gang") else None)
