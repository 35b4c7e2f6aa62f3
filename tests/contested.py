"""Small sessions in which something is contested, and any decisions about them, good or bad."""

from __future__ import annotations

import random
from collections.abc import Iterator

from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from cpsched.solution import Eviction
from tests.judge import cluster, conf, job, pending, running, snapshot_of
from tests.oracle.sessions import contest, entering

SEEDS = range(60)
ALL = "enqueue, allocate, preempt, reclaim, backfill"


def sessions() -> Iterator[Snapshot]:
    """Small sessions in which something is contested, under every rule."""
    for seed in SEEDS:
        yield contest(seed).snapshot()
        yield entering(seed).snapshot()
        yield mixed(seed)


def mixed(seed: int) -> Snapshot:
    """Jobs that run and wait at once, tasks of every rank and shape, some of them leaving, on nodes not for all."""
    r = random.Random(seed)

    def tasks(kind, count, **fields):
        for number in range(count):
            wishes = [
                {},
                {},
                {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
                {"nodeSelector": {"disk": "ssd"}},
            ]
            rank = {"annotations": {"volcano.sh/task-priority": r.choice(["1", "5", "9"])}}
            asked = {"requests": {"memory": "1Gi"}} if r.random() < 0.3 else {}
            yield kind(
                r.choice([None, 1, 2]), role=f"{kind.__name__}{number}", **rank, **asked, **r.choice(wishes), **fields
            )

    def one(number):
        leaving = {"deletionTimestamp": "2026-01-01T11:00:00Z"} if r.random() < 0.2 else {}
        there = tasks(running, r.choice([0, 1, 2, 3]), node=r.choice(["n1", "n2"]), **leaving)
        queue, priority = r.choice(["left", "left", "right"]), r.choice([10, 100])
        waiting = list(tasks(pending, r.choice([0, 1, 2])))
        given_up = {"preemptionPolicy": "Never"} if r.random() < 0.2 else {}
        members = [*there, *({**task, **given_up} for task in waiting)] or [pending()]
        return job(f"j{number}", *members, minMember=r.choice([0, 1, len(members)]), priority=priority, queue=queue)

    nodes = [
        {"name": "n1", "allocatable": {"cpu": 6, "memory": "4Gi", "pods": 20}, "labels": {"disk": "ssd"}},
        {"name": "n2", "allocatable": {"cpu": 4, "memory": "2Gi", "pods": 20}},
        {"name": "n3", "allocatable": {"cpu": 4, "pods": 20}, "taints": [{"key": "gpu", "effect": "NoSchedule"}]},
    ]
    deserved = [{"cpu": 1, "memory": r.choice(["1Gi", "3Gi"])}, {"cpu": r.choice([1, 5]), "memory": "1Gi"}]
    queues = [{"name": name, "deserved": share} for name, share in zip(("left", "right"), deserved, strict=True)]
    stated = conf(
        ALL,
        "priority",
        {"name": "gang", "enablePreemptable": False},
        "predicates",
        r.choice(["capacity", "proportion"]),
    )
    return snapshot_of(cluster(*map(one, range(6)), nodes=nodes, queues=queues), conf=stated)


def crowds() -> Iterator[Snapshot]:
    """Many jobs of one task each, few of them different: some gated, too small, not let in, or in a closed queue."""
    for seed in range(10):
        r = random.Random(seed)

        def one(name, r=r):
            waits = [pending(1), pending(1), pending(None), pending(1, schedulingGates=[{"name": "later"}])]
            task = r.choice([running(1, node=r.choice(["n1", "n2"])), *waits, pending(1, nodeSelector={"disk": "ssd"})])
            phase, roles = r.choice(["Inqueue", "Inqueue", "Pending"]), r.choice([{}, {}, {"task": 1}])
            queue, least = r.choice(["left", "right", "right", "shut"]), r.choice([0, 1, 1, 2])
            fields = {"phase": phase, "minTaskMember": roles, "minMember": least, "queue": queue}
            return job(name, task, priority=100 if task.get("running") is None else 10, **fields)

        queues = [{"name": "left", "weight": 1}, {"name": "right", "weight": 3}, {"name": "shut", "state": "Closed"}]
        gang = {"name": "gang", "enableJobPipelined": r.random() < 0.5}
        stated = conf(ALL, "priority", r.choice([gang, gang, "overcommit"]), "predicates", "proportion")
        nodes = {"n1": 6, "n2": 6, "n3": 1}
        yield snapshot_of(cluster(*(one(f"j{n}") for n in range(60)), nodes=nodes, queues=queues), conf=stated)


def crowded(seed: int) -> Decision:
    """Full nodes on which small and large tasks of one queue make room for those of another and of their own."""
    r = random.Random(seed)
    actions = r.choice(["enqueue, allocate, preempt, backfill", "enqueue, allocate, reclaim, backfill", ALL])
    rules = {"eviction.scope": "cluster"} if seed % 4 == 0 else None
    names = [f"n{number}" for number in range(3 if rules or actions == ALL else 12)]
    sizes = {name: r.choice([(2, 2), (1, 3), (1, 1, 2)]) for name in names}
    ranks, asked = r.choice([(10,), (10, 50)]), r.choice([(1, 2), (1, 2, 3)])
    jobs = [
        job(f"old-{name}-{i}", running(cpu, node=name), priority=r.choice(ranks), minMember=0, queue="left")
        for name, cpus in sizes.items()
        for i, cpu in enumerate(cpus)
    ]
    where = {}
    for name in names:
        for i in range(r.choice([1, 2, 3])):
            queue, priority = r.choice(["right", "left"]), r.choice([10, 50, 100])
            jobs.append(job(f"new-{name}-{i}", pending(r.choice(asked)), priority=priority, queue=queue))
            where[f"new-{name}-{i}"] = name
    queues = [{"name": "left"}, {"name": "right", "weight": 5}]
    stated = conf(actions, "priority", "gang", "predicates", "proportion")
    nodes = {name: sum(cpus) + r.choice([0, 0, 1]) for name, cpus in sizes.items()}
    snapshot = snapshot_of(cluster(*jobs, nodes=nodes, queues=queues), conf=stated, rules=rules)
    tasks = snapshot.instance.tasks
    placed = {key: where[key.split("/")[0]] for key, task in tasks.items() if not task.node}
    gone = [Eviction(task=key) for key, task in tasks.items() if task.node and r.random() < 0.7]
    return Decision(snapshot, {}, placed, tuple(gone))


def decisions(snapshot: Snapshot, count: int = 6) -> Iterator[Decision]:
    """Anything goes: placed anywhere, evicted by any task, running tasks placed again."""
    r = random.Random(len(snapshot.instance.tasks))
    tasks, nodes = snapshot.instance.tasks.values(), list(snapshot.instance.nodes)
    for _ in range(count):
        binds: dict[str, str] = {}
        reserves: dict[str, str] = {}
        evictions: list[Eviction] = []
        for task in tasks:
            fate = r.random()
            if task.node and fate < 0.6:
                evictions.append(Eviction(task=task.key, action=r.choice(["", "", "preempt", "reclaim"])))
            if fate > (0.9 if task.node else 0.2):
                (binds if fate < 0.4 else reserves)[task.key] = r.choice(nodes)
        owners = [snapshot.job_of(snapshot.instance.tasks[key]) for key in (*binds, *reserves)]
        entered = frozenset(owner.key for owner in owners if owner is not None and owner.is_pending)
        yield Decision(snapshot, binds, reserves, tuple(evictions), entered)
