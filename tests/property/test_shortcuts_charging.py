"""Whose room it is: what tells nodes apart on which victims are charged."""

from __future__ import annotations

from cpsched.rules import Decision, charging
from cpsched.solution import Eviction
from tests.contested import ALL, crowded
from tests.judge import cluster, conf, job, pending, running, snapshot_of


class TestCharging:
    """Nodes that are alike are charged once."""

    def test_every_payer_counts(self):
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
        stated = conf("enqueue, allocate, preempt", "priority", "gang")
        source = cluster(*jobs, nodes=dict.fromkeys(both, 4), queues=[{"name": "left"}, {"name": "right"}])
        snapshot = snapshot_of(source, conf=stated)
        tasks = snapshot.instance.tasks
        placed = {key: key.split("/")[0][-2:] for key, task in tasks.items() if not task.node}
        gone = tuple(Eviction(task=key) for key, task in tasks.items() if task.node)
        assert list(charging.uncharged_nodes(Decision(snapshot, {}, placed, gone))) == [("n2", True)]

    def test_both_verdicts_occur(self):
        """And one decision often has both, on nodes that are not alike."""
        found = [(len(list(charging.uncharged_nodes(d))), len(d.victims_by_node)) for d in map(crowded, range(60))]
        assert any(0 < refused < nodes for refused, nodes in found)
