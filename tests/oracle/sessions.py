"""Seeded tiny sessions in which something is contested: between them they need every rule, and plain random is fast."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

from cpsched.snapshot import Snapshot
from tests.judge import PRIORITIES, conf, snapshot_of

Raw = dict[str, Any]
CRITICAL = "system-cluster-critical"
ACTIONS = ("enqueue", "allocate", "preempt", "reclaim", "backfill")
FLAGS = ("enablePreemptable", "enableReclaimable", "enableJobReady", "enableJobPipelined", "enabledAllocatable")
BESIDE_A = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
WISHES: tuple[Raw, ...] = (
    {"nodeSelector": {"disk": "ssd"}},
    {"ports": [{"containerPort": 80, "hostPort": 80}]},
    {"affinity": {"podAntiAffinity": {REQUIRED: [BESIDE_A]}}},
    {"affinity": {"podAffinity": {REQUIRED: [BESIDE_A]}}},
    {"topologySpreadConstraints": [{**BESIDE_A, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]},
)


@dataclass(frozen=True)
class Contest:
    """A session before it is loaded."""

    source: Raw
    model: str
    conf: Raw | None
    rules: Raw = field(default_factory=dict)

    def snapshot(self) -> Snapshot:
        """The session under its model."""
        return snapshot_of(self.source, model=self.model, conf=self.conf, rules=self.rules or None)


def contest(seed: int, *, scope: str | None = None) -> Contest:
    """One or two crowded nodes, up to four running and three waiting tasks of two queues."""
    r = random.Random(seed)
    model = r.choice(["volcano"] * 5 + ["volcano-fair", "kube", "kube", "throughput"])
    nodes = {f"n{number}": 0 for number in range(r.choice([1, 2, 2]))}
    jobs = _running(r, nodes)
    waiting = 0
    for number in range(r.choice([1, 2, 2])):
        job = _waiting(r, f"w{number}", 3 - waiting)
        waiting += sum(task["replicas"] for task in job["tasks"])
        jobs += [job] if job["tasks"] else []
    share = r.choice(["proportion", "proportion", "capacity", "capacity", "tree", ""])
    source: Raw = {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "now": "2026-01-01T12:00:00Z",
        "nodes": [_node(r, name, used) for name, used in nodes.items()],
        "priorityClasses": {**{f"p{value}": value for value in PRIORITIES}, CRITICAL: 10},
        "jobs": jobs,
        "queues": _queues(r, share),
        "budgets": [
            {"name": "b", "selector": {"matchLabels": {"app": "a"}}, "disruptionsAllowed": r.choice([0, 0, 1])}
        ],
    }
    if model == "kube":
        return Contest(source, model, None)
    if share == "tree" and r.random() < 0.2:
        # Jobs above a leaf: capacity refuses to decide, and the rule `deserved` with it.
        jobs[-1]["queue"] = "dept"
    return Contest(source, model, _conf(r, share), _rules(r, model, scope))


def overcommitted(seed: int) -> Contest:
    """A contest on nodes that hold more than they can: they have shrunk since their pods were placed."""
    one, r = contest(seed), random.Random(f"overcommitted {seed}")
    nodes = []
    for node in one.source["nodes"]:
        room = node["allocatable"]
        nodes.append({**node, "allocatable": {**room, "cpu": max(0, room["cpu"] - r.choice([1, 1, 2, 3]))}})
    return replace(one, source={**one.source, "nodes": nodes})


def entering(seed: int) -> Contest:
    """Half empty nodes, and two Pending jobs that may each enter, but not always both."""
    r = random.Random(seed)
    jobs = [
        {
            "name": f"w{number}",
            "minMember": 1,
            "phase": "Pending",
            "minResources": {"cpu": r.randint(1, 3)},
            "priorityClassName": r.choice(["p1000", "p100"]),
            "tasks": [{"replicas": 1, "requests": {"cpu": 1}}],
        }
        for number in range(2)
    ]
    nodes = [{"name": f"n{number}", "allocatable": {"cpu": r.randint(1, 2), "pods": 9}} for number in range(2)]
    source = {"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": nodes, "jobs": jobs}
    source["priorityClasses"] = {f"p{value}": value for value in PRIORITIES}
    overcommit = {"name": "overcommit", "arguments": {"overcommit-factor": r.choice(["1.0", "1.2"])}}
    plugins = ("priority", "gang", overcommit, "predicates")
    return Contest(source, "volcano", conf("enqueue, allocate, preempt", *plugins))


def _rules(r: random.Random, model: str, scope: str | None) -> Raw:
    rules: Raw = {}
    if r.random() < 0.2:
        rules["protect.gang"] = r.choice(["keep", "whole", "off"])
    if r.random() < 0.2:
        rules |= r.choice([{"charge": "off"}, {"enqueue": "off"}, {"gang": "off"}, {"protect.guarantee": "on"}])
    if model != "throughput" and (scope or r.random() < 0.1):
        rules["eviction.scope"] = scope or "cluster"
    return rules


def _node(r: random.Random, name: str, used: int) -> Raw:
    room = {"cpu": used + r.choice([0, 0, 0, 1, 2]), "memory": "4Gi", "pods": r.choice([10, 10, 10, 3])}
    return {"name": name, "allocatable": room, "labels": r.choice([{}, {}, {"disk": "ssd"}])}


def _task(r: random.Random) -> Raw:
    requests: Raw = {"cpu": r.choice([1, 1, 1, 2, 2, 3])} if r.random() < 0.93 else {}
    if r.random() < 0.15:
        requests["memory"] = r.choice(["1Gi", "3Gi"])
    task: Raw = {"replicas": 1, "requests": requests, "labels": {"app": r.choice(["a", "a", "b"])}}
    return task | r.choice(WISHES) if r.random() < 0.12 else task


def _running(r: random.Random, nodes: dict[str, int]) -> list[Raw]:
    jobs, left = [], r.choice([2, 3, 4])
    for number in range(3):
        tasks = []
        for role in range(min(left, r.choice([1, 1, 2]))):
            task = _task(r) | {"role": f"t{role}", "startTime": f"2026-01-01T0{r.randint(0, 3)}:00:00Z"}
            task["running"] = r.choice(sorted(nodes))
            nodes[task["running"]] += task["requests"].get("cpu", 0)
            tasks.append(task | r.choice([{}] * 9 + [{"preemptable": False}]))
            left -= 1
        job = {"name": f"r{number}", "minMember": r.choice([0, 0, 0, 1, len(tasks)]), "tasks": tasks}
        job |= {
            "queue": r.choice(["left", "left", "right"]),
            "priorityClassName": r.choice(["p10"] * 6 + ["p100", CRITICAL]),
        }
        if r.random() < 0.08:
            job["namespace"] = "kube-system"
        jobs += [job] if tasks else []
    return jobs


def _waiting(r: random.Random, name: str, most: int) -> Raw:
    tasks = []
    if most > 0:
        tasks.append(_task(r) | {"role": "t", "replicas": r.randint(1, min(2, most))})
        tasks[0] |= r.choice([{}] * 12 + [{"preemptionPolicy": "Never"}, {"schedulingGates": [{"name": "g"}]}])
    size = sum(task["replicas"] for task in tasks)
    job: Raw = {"name": name, "minMember": r.choice([1, size, size]), "tasks": tasks}
    job |= {"queue": r.choice(["left", "right"]), "priorityClassName": r.choice(["p1000", "p1000", "p100", "p10"])}
    if r.random() < 0.2:
        job |= {"phase": "Pending", "minResources": {"cpu": r.randint(0, 4)}}
    return job


def _queues(r: random.Random, share: str) -> list[Raw]:
    queues = [{"name": name, "weight": r.randint(1, 3)} for name in ("left", "right")]
    for queue in queues:
        if share in ("capacity", "tree"):
            queue |= {"deserved": {"cpu": r.randint(0, 3)}, "guarantee": {"cpu": r.choice([0, 0, 1, 2])}}
        if r.random() < 0.15:
            queue["capability"] = {"cpu": r.randint(0, 4)}
        queue |= r.choice([{}] * 12 + [{"reclaimable": False}, {"state": "Closed"}])
    if share == "tree":
        queues = [{"name": "root"}, {"name": "dept", "parent": "root"}, *(q | {"parent": "dept"} for q in queues)]
    return queues


def _conf(r: random.Random, share: str) -> Raw:
    plugins: list[Raw] = [{"name": name} for name in ("priority", "gang", "conformance", "predicates")]
    plugins += [{"name": name} for name in ("overcommit", "pdb") if r.random() < 0.4]
    if share:
        tree = {"enableHierarchy": True} if share == "tree" else {}
        plugins.append({"name": "capacity" if share == "tree" else share, **tree})
    for plugin in plugins:
        plugin.update({flag: False for flag in FLAGS if r.random() < 0.03})
    return conf(", ".join(a for a in ACTIONS if r.random() > 0.06) or "allocate", *plugins)
