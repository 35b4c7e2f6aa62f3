"""Rules about victims: charge."""

from __future__ import annotations

import pytest

from tests.judge import broken, cluster, decide, findings, job, pending, running, snapshot_of
from tests.unit.rules.test_evictions import CAPACITY, take, two_queues


class TestCharge:
    """Room belongs to those who had a right to it."""

    def rider(self, *, new_cpu=1, rider_cpu=1, victims=2, victim_cpu=1, **fields):
        """Running tasks, a job a that may evict them and a job rider that never preempts."""
        old = job("old", running(victim_cpu, replicas=victims), priority=10, minMember=0)
        new = job("a", pending(new_cpu), priority=100)
        rider = job("rider", pending(rider_cpu, preemptionPolicy="Never"), priority=100)
        return cluster(old, new, rider, **{"nodes": victims * victim_cpu, **fields})

    def both(self, victims):
        """Both are reserved, so many tasks go."""
        return {
            "reserves": {"a/task-0": "n1", "rider/task-0": "n1"},
            "evicted": [f"old/task-{i}" for i in range(victims)],
        }

    def test_no_task_rides_along(self):
        """The second victim's room is used by one who may evict no task; his neighbour does not need it."""
        found = findings(decide(snapshot_of(self.rider()), self.both(2)))
        assert [tuple(v) for v in found] == [
            ("charge", "n1", "uses room of victims that no task with a right to it needs")
        ]

    def test_leftovers_may_be_used(self):
        """One victim of two CPUs, needed for one: the other CPU is there for any task."""
        source = self.rider(victims=1, victim_cpu=2)
        assert broken(decide(snapshot_of(source), self.both(1))) == set()

    def test_idle_room_may_be_used(self):
        """Who fits into idle room needs no victim, and the victim is charged to the other."""
        assert broken(decide(snapshot_of(self.rider(victims=1, nodes=2)), self.both(1))) == set()

    def test_needed_by_its_payer(self):
        """A request of two CPUs needs two victims of one."""
        source = self.rider(
            new_cpu=2, rider_cpu="1m", nodes=[{"name": "n1", "allocatable": {"cpu": "2001m", "pods": 10}}]
        )
        assert broken(decide(snapshot_of(source), self.both(2))) == set()

    def test_unused_room_is_waste_but_no_breach(self):
        """Victims beyond what is used are allowed; the levels tell."""
        decision = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0", "old/task-1"]}
        assert broken(decide(snapshot_of(self.rider()), decision)) == set()

    def test_switched_off(self):
        """A model can do without the rule."""
        assert broken(decide(snapshot_of(self.rider(), rules={"charge": "off"}), self.both(2))) == set()

    def test_any_one_dimension_makes_a_victim_needed(self):
        """A payer needs each of its victims in some dimension: one for CPU, one for memory."""
        node = {"name": "n1", "allocatable": {"cpu": 2, "memory": "2Gi", "pods": 10}}
        old = job(
            "old", running(cpu=2), running(cpu=None, requests={"memory": "2Gi"}, role="m"), priority=10, minMember=0
        )
        new = job("a", pending(cpu=1, requests={"memory": "1Gi"}), priority=100)
        rider = job("rider", pending(1, preemptionPolicy="Never"), priority=100)
        decision = {"reserves": {"a/task-0": "n1", "rider/task-0": "n1"}, "evicted": ["old/task-0", "old/m-0"]}
        assert broken(decide(snapshot_of(cluster(old, new, rider, nodes=[node])), decision)) == set()

    def test_reclaimed_room_goes_to_a_queue_with_a_claim(self):
        """A victim without a right breaks eviction by its share; its room is not held against the node again."""
        source = two_queues(2, left={"deserved": {"cpu": 2}}, right={"deserved": {"cpu": 1}})
        assert broken(decide(snapshot_of(source, conf=CAPACITY), take())) == {"eviction"}

    def test_two_victims_two_payers(self):
        """Each of two that may evict takes one, whichever way round."""
        old = job("old", running(replicas=2), priority=10, minMember=0)
        source = cluster(old, job("a", pending(), priority=100), job("b", pending(), priority=50), nodes=2)
        decision = {"reserves": {"a/task-0": "n1", "b/task-0": "n1"}, "evicted": ["old/task-0", "old/task-1"]}
        assert broken(decide(snapshot_of(source), decision)) == set()

    def test_the_right_payer_has_to_be_found(self):
        """One victim only a may evict, one any task; b must be given the one it has a right to."""
        low = job("low", running(), priority=10, minMember=0)
        mid = job("mid", running(), priority=50, minMember=0)
        source = cluster(low, mid, job("a", pending(), priority=1000), job("b", pending(), priority=50), nodes=2)
        decision = {"reserves": {"a/task-0": "n1", "b/task-0": "n1"}, "evicted": ["low/task-0", "mid/task-0"]}
        assert broken(decide(snapshot_of(source), decision)) == set()
        source["jobs"][3]["priorityClassName"] = "p10"
        assert broken(decide(snapshot_of(source), decision)) == {"charge"}

    def test_cluster_scope_charges_across_nodes(self):
        """With scope cluster a victim elsewhere may be charged to any task that may evict it anywhere."""
        old = job("old", running(), running(node="n2", role="far"), priority=10, minMember=0)
        new = job("a", pending(), priority=100)
        rider = job("rider", pending(preemptionPolicy="Never"), priority=100)
        source = cluster(old, new, rider, nodes={"n1": 1, "n2": 1})
        decision = {"reserves": {"a/task-0": "n1", "rider/task-0": "n2"}, "evicted": ["old/task-0", "old/far-0"]}
        assert broken(decide(snapshot_of(source, rules={"eviction.scope": "cluster"}), decision)) == {"charge"}

    def test_room_that_is_being_released_may_be_used(self):
        """One task is going anyway; its room needs no victim."""
        old = job("old", running(), priority=10, minMember=0)
        leaving = job("gone", running(deletionTimestamp="2026-01-01T00:00:00Z"), minMember=0)
        rider = job("rider", pending(preemptionPolicy="Never"), priority=100)
        source = cluster(old, leaving, job("a", pending(), priority=100), rider, nodes=2)
        assert broken(decide(snapshot_of(source), self.both(1))) == set()

    def test_some_victim_may_be_left_out(self):
        """Charged to the large one, the payer needs no other; charged to the two small ones, all is paid for."""
        old = job("old", running(4), running(3, 2, role="small"), priority=10, minMember=0)
        rider = job("rider", pending(2, preemptionPolicy="Never"), priority=100)
        source = cluster(old, job("a", pending(4), priority=100), rider, nodes=10)
        evicted = ["old/task-0", "old/small-0", "old/small-1"]
        decision = {"reserves": {"a/task-0": "n1", "rider/task-0": "n1"}, "evicted": evicted}
        assert broken(decide(snapshot_of(source), decision)) == set()


class TestPayers:
    """Which of several payers is charged matters; only those that nothing tells apart are tried once."""

    def test_of_another_size(self):
        """The large victim has to go to the small task of a job, for its large one needs both small victims."""
        old = job("old", running(2), running(1, 2, role="small"), priority=10, minMember=0)
        new = job("a", pending(2, role="big"), pending(1, role="bit"), priority=100)
        rider = job("rider", pending(preemptionPolicy="Never"), priority=100)
        decision = {
            "reserves": {"a/big-0": "n1", "a/bit-0": "n1", "rider/task-0": "n1"},
            "evicted": ["old/task-0", "old/small-0", "old/small-1"],
        }
        assert broken(decide(snapshot_of(cluster(old, new, rider, nodes=4)), decision)) == set()

    def test_of_another_job(self):
        """Pods of one rank in jobs of two: the victim that both may evict has to go to the lower one."""
        both = [job("y", running(), priority=10, minMember=0), job("x", running(), priority=50, minMember=0)]
        new = [job("a", pending(priority=7), priority=1000), job("b", pending(priority=7), priority=50)]
        decision = {"reserves": {"a/task-0": "n1", "b/task-0": "n1"}, "evicted": ["x/task-0", "y/task-0"]}
        assert broken(decide(snapshot_of(cluster(*both, *new, nodes=2)), decision)) == set()

    def test_of_another_rank(self):
        """Of two tasks of a job only the higher may evict one of its own; what is left goes to the other."""
        low, mid, high = ({"annotations": {"volcano.sh/task-priority": rank}} for rank in "159")
        tasks = (running(**mid), pending(role="high", **high), pending(role="low", **low))
        new = job("a", *tasks, priority=100, minMember=2)
        source = cluster(job("z", running(), priority=10, minMember=0), new, nodes=2)
        decision = {"reserves": {"a/high-0": "n1", "a/low-0": "n1"}, "evicted": ["z/task-0", "a/task-0"]}
        assert broken(decide(snapshot_of(source, rules={"protect.gang": "off"}), decision)) == set()


class TestGivenBack:
    """Payers of other queues need a claim, and what they are charged must be the victim's queue's to give back."""

    def queues(self, **deserved):
        """Queues with so many cores deserved."""
        return [{"name": name, "deserved": {"cpu": cpu}} for name, cpu in deserved.items()]

    @pytest.mark.parametrize(("share", "expected"), [(1, {"charge"}), (9, set())])
    def test_only_a_queue_with_a_claim_pays(self, share, expected):
        """The second victim's room is used by a queue that holds its share already."""
        old = job("old", running(replicas=2), minMember=0, queue="left")
        held = job("held", running(node="n2"), minMember=0, queue="far")
        new = [job("near", pending(), queue="right"), job("late", pending(), queue="far")]
        source = cluster(old, held, *new, nodes={"n1": 2, "n2": 1}, queues=self.queues(left="1m", right=9, far=share))
        decision = {
            "reserves": {"near/task-0": "n1", "late/task-0": "n1"},
            "evicted": ["old/task-0", "old/task-1"],
        }
        assert broken(decide(snapshot_of(source, conf=CAPACITY), decision)) == expected

    def test_queues_give_back_each_for_itself(self):
        """Two queues may each give one back; that the other does so as well is none of theirs."""
        jobs = [job("a", pending(replicas=2), queue="poor")]
        for name in ("left", "right"):
            jobs.append(job(f"old-{name}", running(replicas=2), priority=10, minMember=0, queue=name))
            jobs.append(job(f"own-{name}", pending(), priority=100, queue=name))
        source = cluster(*jobs, nodes=4, queues=self.queues(left=1, right=1, poor=9))
        placed = ("a/task-0", "a/task-1", "own-left/task-0", "own-right/task-0")
        evicted = [f"old-{name}/task-{number}" for name in ("left", "right") for number in range(2)]
        decision = {"reserves": dict.fromkeys(placed, "n1"), "evicted": evicted}
        assert broken(decide(snapshot_of(source, conf=CAPACITY), decision)) == set()

    @pytest.mark.parametrize(("share", "expected"), [(2, set()), (3, {"charge"})])
    def test_beside_what_is_reclaimed_elsewhere(self, share, expected):
        """Of five cores three go to another queue: two on this node and one on the next."""
        tasks = (running(replicas=3), running(node="n2", role="far"), running(node="n3", role="stays"))
        old = job("old", *tasks, priority=10, minMember=0, queue="left")
        new = [job("own", pending(), priority=100, queue="left"), job("a", pending(replicas=3), queue="poor")]
        source = cluster(old, *new, nodes={"n1": 3, "n2": 1, "n3": 1}, queues=self.queues(left=share, poor=9))
        decision = {
            "reserves": {"own/task-0": "n1", "a/task-0": "n1", "a/task-1": "n1", "a/task-2": "n2"},
            "evicted": ["old/task-0", "old/task-1", "old/task-2", "old/far-0"],
        }
        assert broken(decide(snapshot_of(source, conf=CAPACITY), decision)) == expected


class TestAlike:
    """Nodes share a verdict only if all that it depends on is the same."""

    def verdicts(self, source, conf=None):
        """The nodes that break the rule if all who run go and all who wait come, each to the node it is named after."""
        snapshot = snapshot_of(source, conf=conf)
        tasks = snapshot.instance.tasks
        decision = {
            "reserves": {key: key.split("/")[0][-2:] for key, task in tasks.items() if not task.node},
            "evicted": [key for key, task in tasks.items() if task.node],
        }
        found = findings(decide(snapshot, decision))
        return [one.subject for one in found if one.rule == "charge"]

    @pytest.mark.parametrize("turned", [False, True])
    def test_sizes_of_victims(self, turned):
        """Of two equal ones both are needed for three cores; of one and three only the large one is."""
        sizes = {"n1": (2, 2), "n2": (1, 3)}
        jobs = []
        for node in sorted(sizes, reverse=turned):
            old = [running(cpu, node=node, role=f"r{number}") for number, cpu in enumerate(sizes[node])]
            jobs.append(job(f"old-{node}", *old, priority=10, minMember=0))
            jobs.append(job(f"a-{node}", pending(3), priority=100))
            jobs.append(job(f"rider-{node}", pending(1, preemptionPolicy="Never"), priority=100))
        assert self.verdicts(cluster(*jobs, nodes={"n1": 4, "n2": 4})) == ["n2"]

    @pytest.mark.parametrize("turned", [False, True])
    def test_who_may_evict_which(self, turned):
        """Of three victims the last is within reach of either payer: of one who needs it still, or has enough."""
        ranks = {"n1": (50, 10, 10), "n2": (50, 10, 50)}
        jobs = []
        for node in sorted(ranks, reverse=turned):
            for number, (cpu, rank) in enumerate(zip((3, 2, 1), ranks[node], strict=True)):
                jobs.append(job(f"old{number}-{node}", running(cpu, node=node), priority=rank, minMember=0))
            jobs.append(job(f"high-{node}", pending(3), priority=100))
            jobs.append(job(f"low-{node}", pending(3), priority=50))
        assert self.verdicts(cluster(*jobs, nodes={"n1": 6, "n2": 6})) == ["n2"]

    @pytest.mark.parametrize("turned", [False, True])
    def test_shares_behind_victims_that_either_action_may_take(self, turned):
        """Either victim could be given back alone; both of them only by the queue with the smaller share."""
        share = {"n1": 1, "n2": 2}
        jobs, queues = [], [{"name": "poor", "deserved": {"cpu": 9}}]
        for node in sorted(share, reverse=turned):
            queues.append({"name": node, "deserved": {"cpu": share[node]}})
            jobs.append(job(f"old-{node}", running(replicas=3, node=node), priority=10, minMember=0, queue=node))
            jobs.append(job(f"own-{node}", pending(), priority=100, queue=node))
            jobs.append(job(f"a-{node}", pending(replicas=2), queue="poor"))
        assert self.verdicts(cluster(*jobs, nodes={"n1": 3, "n2": 3}, queues=queues), CAPACITY) == ["n2"]
