"""Rules about queues: queue, deserved, enqueue."""

from __future__ import annotations

import pytest

from tests.judge import broken, cluster, conf, decide, findings, job, pending, running, snapshot_of

BASE = ("priority", "gang", "predicates")
CAPACITY = conf("enqueue, allocate, preempt, reclaim, backfill", *BASE, "capacity")
TREE = conf("enqueue, allocate, preempt, reclaim, backfill", *BASE, {"name": "capacity", "enableHierarchy": True})


def binds(**numbers):
    """So many tasks of each job on n1."""
    return {"binds": {f"{name}/task-{i}": "n1" for name, number in numbers.items() for i in range(number)}}


def found(source, decision, **options):
    """(rule, subject, message) of every finding."""
    return [tuple(v) for v in findings(decide(snapshot_of(source, **options), decision))]


class TestQueue:
    """A queue that received something stays within its limit in what was asked for."""

    halves = cluster(
        job("a", pending(replicas=4), minMember=1, queue="left"),
        job("b", pending(replicas=4), minMember=1, queue="right"),
        nodes=4,
        queues=[{"name": "left"}, {"name": "right"}],
    )

    def test_deserved_share_is_the_limit_under_proportion(self):
        """Two queues of equal weight have two CPUs each, also while the other uses none."""
        assert found(self.halves, binds(a=2, b=2)) == []
        assert found(self.halves, binds(a=3)) == [("queue", "left", "holds more cpu than its deserved share")]

    def test_each_queue_has_its_own_limit(self):
        """Tasks that ask for the same are counted in each queue for itself."""
        assert found(self.halves, binds(a=1, b=3)) == [("queue", "right", "holds more cpu than its deserved share")]
        assert found(self.halves, binds(a=3, b=1)) == [("queue", "left", "holds more cpu than its deserved share")]

    def test_places_are_no_limit(self):
        """A queue of many small tasks may have more than its share of places."""
        source = cluster(
            job("a", pending("100m", replicas=3), minMember=1, queue="left"),
            job("b", pending("100m", replicas=3), minMember=1, queue="right"),
            nodes=[{"name": "n1", "allocatable": {"cpu": 4, "pods": 4}}],
            queues=[{"name": "left"}, {"name": "right"}],
        )
        assert snapshot_of(source).shares["left"].deserved["pods"] == 2
        assert found(source, binds(a=3)) == []

    def test_what_runs_counts(self):
        """A queue that holds its share gets nothing more."""
        source = cluster(
            job("old", running(replicas=2), queue="left"),
            job("a", pending(), queue="left"),
            job("b", pending(replicas=4), minMember=1, queue="right"),
            nodes=4,
            queues=[{"name": "left"}, {"name": "right"}],
        )
        assert found(source, binds(a=1)) == [("queue", "left", "holds more cpu than its deserved share")]

    def test_evictions_give_quota_back(self):
        """What an eviction frees in the queue may be used at once, even by a start elsewhere."""
        old = job("old", running(replicas=2), priority=10, minMember=0, queue="left")
        source = cluster(
            old,
            job("a", pending(), pending(role="more"), priority=100, minMember=1, queue="left"),
            job("b", pending(replicas=4), minMember=1, queue="right"),
            nodes=4,
            queues=[{"name": "left"}, {"name": "right"}],
        )
        decision = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]}
        assert found(source, decision) == []

    def test_only_what_is_asked_for(self):
        """A queue beyond its share of memory may still start tasks without memory."""
        node = {"name": "n1", "allocatable": {"cpu": 4, "memory": "4Gi", "pods": 20}}
        source = cluster(
            job("old", running(requests={"memory": "4Gi"}), queue="left"),
            job("a", pending(), queue="left"),
            job("b", pending(cpu=3, requests={"memory": "4Gi"}), queue="right"),
            nodes=[node],
            queues=[{"name": "left"}, {"name": "right"}],
        )
        assert found(source, binds(a=1)) == []

    def test_zero_is_not_asked_for(self):
        """Nor does a request of zero count; one byte does."""
        node = {"name": "n1", "allocatable": {"cpu": 4, "memory": "4Gi", "pods": 20}}
        for memory, expected in ((0, []), (1, [("queue", "left", "holds more memory than its deserved share")])):
            source = cluster(
                job("old", running(requests={"memory": "3Gi"}), queue="left"),
                job("a", pending(requests={"memory": memory}), queue="left"),
                job("b", pending(3, requests={"memory": "4Gi"}), queue="right"),
                nodes=[node],
                queues=[{"name": "left"}, {"name": "right"}],
            )
            assert found(source, binds(a=1)) == expected

    def test_best_effort_tasks_are_not_counted(self):
        """Backfill asks no queue."""
        source = cluster(
            job("old", running(replicas=2), queue="left"),
            job("a", pending(None), queue="left"),
            job("b", pending(replicas=4), minMember=1, queue="right"),
            nodes=4,
            queues=[{"name": "left", "state": "Closed"}, {"name": "right"}],
        )
        assert found(source, binds(a=1)) == []

    def test_closed_queue(self):
        """Only an Open queue takes part."""
        source = cluster(job("a", pending(), queue="left"), queues=[{"name": "left", "state": "Closed"}])
        assert found(source, binds(a=1)) == [("queue", "left", "is not Open but a/task-0 is placed")]

    @pytest.mark.parametrize(
        "options",
        [
            {"conf": conf("allocate", *BASE)},
            {"conf": conf("allocate", *BASE, {"name": "proportion", "enabledAllocatable": False})},
            {"rules": {"queue": "off"}},
        ],
    )
    def test_no_task_limits_queues(self, options):
        """Without a share plugin, with its flag off, or by the model there is no limit."""
        assert found(self.halves, binds(a=3), **options) == []

    def test_model_may_insist(self):
        """The rule can be switched on against the flag."""
        settings = conf("allocate", *BASE, {"name": "proportion", "enabledAllocatable": False})
        assert broken(decide(snapshot_of(self.halves, conf=settings, rules={"queue": "on"}), binds(a=3))) == {"queue"}

    def test_capability_is_the_limit_under_capacity(self):
        """There a queue may exceed its deserved share, but not its capability."""
        queue = {"name": "left", "deserved": {"cpu": 1}, "capability": {"cpu": 3}}
        source = cluster(job("a", pending(replicas=4), minMember=1, queue="left"), queues=[queue])
        assert found(source, binds(a=3), conf=CAPACITY) == []
        assert found(source, binds(a=4), conf=CAPACITY) == [("queue", "left", "holds more cpu than its capability")]

    def test_ancestors_have_limits_too(self):
        """What two teams hold together stays within their department."""
        queues = [
            {"name": "root"},
            {"name": "dept", "parent": "root", "capability": {"cpu": 3}},
            {"name": "one", "parent": "dept"},
            {"name": "two", "parent": "dept"},
        ]
        source = cluster(
            job("a", pending(replicas=2), minMember=1, queue="one"),
            job("b", pending(replicas=2), minMember=1, queue="two"),
            queues=queues,
        )
        assert found(source, binds(a=2, b=1), conf=TREE) == []
        assert found(source, binds(a=2, b=2), conf=TREE) == [("queue", "dept", "holds more cpu than its capability")]


class TestDeserved:
    """Shares can be computed, or nothing that asks for resources is placed."""

    queues = [{"name": "root"}, {"name": "dept", "parent": "root"}, {"name": "team", "parent": "dept"}]

    def test_jobs_above_a_leaf(self):
        """A tree with a job in an inner queue has no shares."""
        source = cluster(job("a", pending(), queue="dept"), queues=self.queues)
        ((rule, subject, message),) = found(source, binds(a=1), conf=TREE)
        assert (rule, subject) == ("deserved", "a/task-0")
        assert message.startswith("is placed although queues have no shares: ")

    def test_best_effort_is_spared(self):
        """Backfill asks no share plugin."""
        source = cluster(job("a", pending(None), queue="dept"), queues=self.queues)
        assert found(source, binds(a=1), conf=TREE) == []

    def test_jobs_in_leaves(self):
        """A usable tree is no reason to refuse."""
        source = cluster(job("a", pending(), queue="team"), queues=self.queues)
        assert found(source, binds(a=1), conf=TREE) == []

    def test_no_placement_no_finding(self):
        """The empty decision is fine even then."""
        source = cluster(job("a", pending(), queue="dept"), queues=self.queues)
        assert found(source, {}, conf=TREE) == []


class TestEnqueue:
    """Jobs that enter from Pending pass overcommit and queue quota together."""

    def waiting(self, *minima, **fields):
        """Pending jobs j0, j1, ... with these minima of CPUs, a small task each, on a node of two CPUs."""
        jobs = [
            job(f"j{i}", pending("500m"), phase="Pending", **({} if cpu is None else {"minResources": {"cpu": cpu}}))
            for i, cpu in enumerate(minima)
        ]
        return cluster(*jobs, nodes=2, **fields)

    def test_one_by_one_is_not_enough(self):
        """Each may enter alone, both together overcommit the cluster; both are stated so."""
        assert found(self.waiting(2, 2), binds(j0=1)) == []
        refused = found(self.waiting(2, 2), binds(j0=1, j1=1))
        assert [(rule, subject) for rule, subject, _ in refused] == [
            ("enqueue", "default/j0"),
            ("enqueue", "default/j1"),
        ]
        assert refused[0][2] == "is refused by overcommit: cpu"

    def test_within_the_factor(self):
        """A fifth more than the cluster has is allowed: 1.2 + 1.2 of 2 × 1.2."""
        settings = conf("enqueue, allocate", *BASE, "overcommit")
        assert found(self.waiting("1200m", "1200m"), binds(j0=1, j1=1), conf=settings) == []
        assert len(found(self.waiting("1200m", "1201m"), binds(j0=1, j1=1), conf=settings)) == 2

    def test_a_job_without_a_minimum_enters(self):
        """Nothing announced, nothing to refuse, and nothing that others would have to make room for."""
        assert found(self.waiting(None, 2), binds(j0=1, j1=1)) == []

    def test_entering_without_being_placed_counts(self):
        """A job whose phase turns Inqueue has entered and takes others' room at the door."""
        decision = binds(j0=1) | {"phases": {"default/j1": "Inqueue"}}
        assert [(rule, subject) for rule, subject, _ in found(self.waiting(2, 2), decision)] == [
            ("enqueue", "default/j0"),
            ("enqueue", "default/j1"),
        ]

    def test_phases_of_jobs_in_the_cycle_do_not_count(self):
        """Only a Pending job can enter."""
        decision = {"phases": {"default/a": "Inqueue", "default/gone": "Inqueue"}}
        assert found(cluster(job("a", pending())), decision) == []

    def test_rule_off(self):
        """With the rule off every task enters."""
        assert found(self.waiting(2, 2), binds(j0=1, j1=1), rules={"enqueue": "off"}) == []

    def test_allocate_promotes_without_the_action(self):
        """Where enqueue is not configured allocate lets Pending jobs in."""
        assert found(self.waiting(2, 2), binds(j0=1, j1=1), conf=conf("allocate", *BASE, "overcommit")) == []

    def test_no_task_lets_them_in(self):
        """With neither action they stay out."""
        decision = {"reserves": {"j0/task-0": "n1"}}
        assert found(self.waiting(None), decision, conf=conf("preempt", *BASE)) == [
            ("enqueue", "default/j0", "enters from Pending, but no configured action lets it in")
        ]
