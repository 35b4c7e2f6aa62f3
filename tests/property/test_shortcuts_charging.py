"""Whose room it is: nodes that are alike are searched once, and each would get that answer on its own."""

from __future__ import annotations

import random

import pytest

from cpsched.check import Decision, charging
from cpsched.solution import Eviction
from tests.contested import ALL
from tests.judge import cluster, conf, job, pending, running, snapshot_of


class TestCharging:
    """Nodes that are alike are charged once."""

    @pytest.mark.parametrize("seed", range(60))
    def test_each_node_on_its_own(self, seed):
        """Six nodes, some of them alike: the verdict on each is that of a search of its own."""
        decision = crowded(seed)
        missing = {n: short for n in decision.victims_by_node if (short := charging._missing(decision, n))}
        expected = [
            nodes[0]
            for nodes in charging._components(decision, missing)
            if not charging._Search(decision, nodes, missing).succeeds
        ]
        assert [node for node, _ in charging.uncharged_nodes(decision)] == expected

    def test_whoever_pays_counts(self):
        """Two nodes lack the same and lose the same, but on one the small task is entitled, on the other the large."""
        entitled = {"n1": 1, "n2": 3}
        jobs = [job(f"old-{n}", running(2, 2, node=n), priority=10, minMember=0) for n in entitled]
        for n, cpu in entitled.items():
            jobs += [job(f"a-{n}", pending(cpu), priority=100), job(f"b-{n}", pending(4 - cpu), priority=10)]
        snapshot = snapshot_of(cluster(*jobs, nodes=dict.fromkeys(entitled, 4)), conf=conf(ALL, "priority", "gang"))
        tasks = snapshot.instance.tasks
        placed = {key: key.split("/")[0][-2:] for key, task in tasks.items() if not task.node}
        gone = tuple(Eviction(task=key) for key, task in tasks.items() if task.node)
        assert list(charging.uncharged_nodes(Decision(snapshot, {}, placed, gone))) == [("n1", True)]

    def test_one_payer_or_two(self):
        """Each of two victims has one payer like the other's; where it is the same one, it cannot need both."""
        both = {"n1": ("left", "right"), "n2": ("left", "left")}
        jobs = []
        for n, queues in both.items():
            for number, queue in enumerate(queues):
                rank = (10, 50)[number]
                jobs.append(job(f"old{number}-{n}", running(2, node=n), priority=rank, minMember=0, queue=queue))
            jobs += [job(f"new-{queue}-{n}", pending(2), priority=100, queue=queue) for queue in ("left", "right")]
        told = conf("enqueue, allocate, preempt", "priority", "gang")
        source = cluster(*jobs, nodes=dict.fromkeys(both, 4), queues=[{"name": "left"}, {"name": "right"}])
        snapshot = snapshot_of(source, conf=told)
        tasks = snapshot.instance.tasks
        placed = {key: key.split("/")[0][-2:] for key, task in tasks.items() if not task.node}
        gone = tuple(Eviction(task=key) for key, task in tasks.items() if task.node)
        assert list(charging.uncharged_nodes(Decision(snapshot, {}, placed, gone))) == [("n2", True)]

    def test_both_verdicts_occur(self):
        """And one decision often has both, on nodes that are not alike."""
        found = [(len(list(charging.uncharged_nodes(d))), len(d.victims_by_node)) for d in map(crowded, range(60))]
        assert any(0 < refused < nodes for refused, nodes in found)


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
    told = conf(actions, "priority", "gang", "predicates", "proportion")
    nodes = {name: sum(cpus) + r.choice([0, 0, 1]) for name, cpus in sizes.items()}
    snapshot = snapshot_of(cluster(*jobs, nodes=nodes, queues=queues), conf=told, rules=rules)
    tasks = snapshot.instance.tasks
    placed = {key: where[key.split("/")[0]] for key, task in tasks.items() if not task.node}
    gone = [Eviction(task=key) for key, task in tasks.items() if task.node and r.random() < 0.7]
    return Decision(snapshot, {}, placed, tuple(gone))
