"""Rules about victims: charge."""

from __future__ import annotations

from tests.judge import broken, cluster, decide, findings, job, pending, running, snapshot_of
from tests.unit.test_check_evictions import CAPACITY, take, two_queues


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

    def test_nobody_rides_along(self):
        """The second victim's room is used by one who may evict nobody; his neighbour does not need it."""
        found = findings(decide(snapshot_of(self.rider()), self.both(2)))
        assert [tuple(v) for v in found] == [
            ("charge", "n1", "uses room of victims that nobody with a right to it needs")
        ]

    def test_leftovers_may_be_used(self):
        """One victim of two CPUs, needed for one: the other CPU is there for anybody."""
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
        """One victim only a may evict, one anybody; b must be given the one it has a right to."""
        low = job("low", running(), priority=10, minMember=0)
        mid = job("mid", running(), priority=50, minMember=0)
        source = cluster(low, mid, job("a", pending(), priority=1000), job("b", pending(), priority=50), nodes=2)
        decision = {"reserves": {"a/task-0": "n1", "b/task-0": "n1"}, "evicted": ["low/task-0", "mid/task-0"]}
        assert broken(decide(snapshot_of(source), decision)) == set()
        source["jobs"][3]["priorityClassName"] = "p10"
        assert broken(decide(snapshot_of(source), decision)) == {"charge"}

    def test_cluster_scope_charges_across_nodes(self):
        """With scope cluster a victim elsewhere may be charged to whoever may evict it anywhere."""
        old = job("old", running(), running(node="n2", role="far"), priority=10, minMember=0)
        new = job("a", pending(), priority=100)
        rider = job("rider", pending(preemptionPolicy="Never"), priority=100)
        source = cluster(old, new, rider, nodes={"n1": 1, "n2": 1})
        decision = {"reserves": {"a/task-0": "n1", "rider/task-0": "n2"}, "evicted": ["old/task-0", "old/far-0"]}
        assert broken(decide(snapshot_of(source, rules={"eviction.scope": "cluster"}), decision)) == {"charge"}
