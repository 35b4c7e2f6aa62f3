"""Every level: what it counts, how it is shown, and which of two values is better."""

from __future__ import annotations

import pytest

from cpsched import objectives
from cpsched.policy.levels import SENSES, SPLIT
from tests.judge import cluster, conf, decide, job, pending, running, snapshot_of, values

BASE = ("priority", "gang", "predicates")
ALL = "enqueue, allocate, preempt, reclaim, backfill"
AT = "2026-01-01T{:02}:00:00Z"
LEVELS = [
    {"jobs_admitted": {"victims_between": True}},
    "queue_deficit",
    "pdb_violations",
    "victim_max_priority",
    "victim_priority_sum",
    "victim_count",
    "victim_start_time",
    "gangs_broken",
    "tasks_bound",
    "tasks_placed",
    "resources_placed",
    "topology_tier_max",
    "topology_tier_sum",
    "hypernodes_used",
    "nodes_used",
]
OFFSET = 2**31


def checked(source, decision, **options):
    """All levels there are, for one decision."""
    return values(decide(snapshot_of(source, **{"levels": LEVELS, **options}), decision))


def test_every_level_has_a_function_and_a_sense() -> None:
    """What a model may list can be computed, and nothing else."""
    names = {name for level in LEVELS for key in [next(iter(level))] if isinstance(level, dict) for name in [key]}
    names |= {name for level in LEVELS if isinstance(level, str) for name in SPLIT.get(level, (level,))}
    assert names == set(SENSES)
    assert {*objectives.OF_DECISION, *objectives.OF_VICTIMS, "jobs_admitted"} == set(SENSES)


class TestJobsAdmitted:
    """One level per priority of starving jobs, highest first."""

    three = cluster(
        job("a", pending(), priority=100),
        job("b", pending(replicas=2), priority=10),
        job("c", pending(), priority=10),
        job("full", running(), pending(role="more"), priority=50, minMember=1),
    )

    def test_counts_jobs_not_tasks(self):
        """Two tasks of one job are one admission."""
        shown = checked(self.three, {"binds": {"b/task-0": "n1", "b/task-1": "n1"}})
        assert (shown["jobs_admitted[100]"], shown["jobs_admitted[10]"]) == (0, 1)

    def test_reserved_jobs_count(self):
        """Pipelined is admitted too, at its own priority."""
        shown = checked(self.three, {"reserves": {"a/task-0": "n1"}})
        assert (shown["jobs_admitted[100]"], shown["jobs_admitted[10]"]) == (1, 0)

    def test_priorities_without_a_starving_job_have_no_level(self):
        """A job at its minimum is not waiting to be admitted; more tasks for it admit no task."""
        shown = checked(self.three, {"binds": {"full/more-0": "n1"}})
        assert [label for label in shown if label.startswith("jobs_admitted")] == [
            "jobs_admitted[100]",
            "jobs_admitted[10]",
        ]
        assert (shown["jobs_admitted[100]"], shown["jobs_admitted[10]"]) == (0, 0)

    def test_order_of_levels(self):
        """Between the priorities stand the victim levels, behind the lowest they do not."""
        assert list(checked(self.three, {}))[:5] == [
            "jobs_admitted[100]",
            "victim_max_priority[100]",
            "victim_priority_sum[100]",
            "jobs_admitted[10]",
            "queue_deficit_max",
        ]

    def test_without_victims_between(self):
        """A model may leave them out."""
        shown = checked(self.three, {}, levels=["jobs_admitted", "victim_max_priority"])
        assert list(shown) == ["jobs_admitted[100]", "jobs_admitted[10]", "victim_max_priority"]

    def test_jobs_that_cannot_take_part_do_not_starve(self):
        """An invalid gang, a gated task, a refused job: no level for them."""
        gated = pending(schedulingGates=[{"name": "g"}])
        refused = job("r", pending(), priority=50, phase="Pending", minResources={"cpu": 100})
        source = cluster(job("a", pending(), priority=10, minMember=2), job("b", gated, priority=100), refused)
        assert not any(label.startswith("jobs_admitted") for label in checked(source, {}))


class TestVictimsBetween:
    """Victims that no starving job of lower priority has a right to evict."""

    def test_out_of_reach_of_the_rest(self):
        """A victim of priority 50 is settled after 100 because the job of priority 10 has no right to it."""
        source = cluster(
            job("mid", running(), priority=50, minMember=0),
            job("low", running(), priority=-10, minMember=0),
            job("a", pending(), priority=100),
            job("b", pending(), priority=10),
            nodes=2,
        )
        decision = {"reserves": {"a/task-0": "n1", "b/task-0": "n1"}, "evicted": ["mid/task-0", "low/task-0"]}
        shown = checked(source, decision)
        assert shown["victim_max_priority[100]"] == 50
        assert shown["victim_priority_sum[100]"] == OFFSET + 50
        assert shown["victim_max_priority"] == 50
        assert shown["victim_priority_sum"] == 2 * OFFSET + 40

    def reclaim(self, **fields):
        """Queue left holds two CPUs and deserves one; a job of left preempts, a lower one of right may reclaim."""
        old = job("old", running(replicas=2), priority=-10, minMember=0, queue="left")
        above = job("a", pending(), priority=100, queue="left")
        below = job("b", pending(preemptionPolicy=fields.pop("policy", "")), priority=10, queue="right")
        queues = [{"name": "left", **fields.pop("left", {})}, {"name": "right"}]
        return cluster(old, above, below, nodes=2, queues=queues, **fields)

    taking = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]}

    def test_reclaim_counts_as_a_right(self):
        """A lower job of another queue with a right to reclaim the victim leaves it for later."""
        assert checked(self.reclaim(), self.taking)["victim_max_priority[100]"] is None

    @pytest.mark.parametrize(
        "fields", [{"left": {"reclaimable": False}}, {"policy": "Never"}, {"left": {"guarantee": {"cpu": 2}}}]
    )
    def test_no_right_to_reclaim(self, fields):
        """Not reclaimable, no preemptor, or not above its share now: the victim is settled at once."""
        assert checked(self.reclaim(**fields), self.taking)["victim_max_priority[100]"] == -10

    def test_no_action_to_reclaim(self):
        """Without the action the right is none."""
        settings = conf("enqueue, allocate, preempt", *BASE, "proportion")
        assert checked(self.reclaim(), self.taking, conf=settings)["victim_max_priority[100]"] == -10

    def test_no_shares_to_be_above_of(self):
        """Without a share plugin no task reclaims, whatever the actions."""
        shown = checked(self.reclaim(), self.taking, conf=conf(ALL, *BASE))
        assert shown["victim_max_priority[100]"] == -10


class TestVictims:
    """The four scoring levels, over pod priorities."""

    source = cluster(
        job(
            "mid", running(startTime=AT.format(3)), running(role="b", startTime=AT.format(2)), priority=50, minMember=0
        ),
        job("low", running(startTime=AT.format(1)), running(role="unset"), priority=10, minMember=0),
        job("odd", running(priority=7, startTime=AT.format(4)), priority=50, minMember=0),
        job("a", pending(4), priority=100),
        nodes=5,
        now=AT.format(9),
    )

    def shown(self, *evicted):
        """The four levels for these victims."""
        found = checked(self.source, {"reserves": {"a/task-0": "n1"}, "evicted": list(evicted)})
        names = ("victim_max_priority", "victim_priority_sum", "victim_count", "victim_start_time")
        return tuple(found[name] for name in names)

    def test_none(self):
        """Without victims priorities and times are null, sums 0."""
        assert self.shown() == (None, 0, 0, None)

    def test_several(self):
        """Highest priority, sum with 2^31 each, number, and the earliest start among those of highest priority."""
        expected = (50, 110 + 3 * OFFSET, 3, AT.format(2))
        assert self.shown("mid/task-0", "mid/b-0", "low/task-0") == expected

    def test_pod_priority_counts(self):
        """The pod's own number, not its job's class."""
        assert self.shown("odd/task-0") == (7, OFFSET + 7, 1, AT.format(4))

    def test_not_started_counts_as_now(self):
        """A victim without a start time has lost nothing yet."""
        assert self.shown("low/unset-0")[3] == AT.format(9)
        assert self.shown("low/unset-0", "low/task-0")[3] == AT.format(1)

    def test_no_priority_is_zero(self):
        """A pod without a class counts as 0, not as Volcano's 1."""
        source = cluster(job("old", running(), minMember=0), job("a", pending(), priority=100), nodes=1)
        found = checked(source, {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]})
        assert (found["victim_max_priority"], found["victim_priority_sum"]) == (0, OFFSET)

    def test_fractions_of_a_second_are_shown(self):
        """Start times are exact."""
        old = job("old", running(startTime="2026-01-01T00:00:00.000000001Z"), minMember=0)
        found = checked(cluster(old, job("a", pending(), priority=100), nodes=1), {"evicted": ["old/task-0"]})
        assert found["victim_start_time"] == "2026-01-01T00:00:00.000000001Z"


class TestQueueDeficit:
    """How far queues are from what they deserve and ask for, in millionths of their worst resource."""

    capacity = conf(ALL, *BASE, "capacity")

    def test_what_is_wanted_is_what_is_deserved_and_asked_for(self):
        """left deserves 3 and asks for 2: it wants 2. right deserves 1 and asks for 3: it wants 1."""
        queues = [{"name": "left", "deserved": {"cpu": 3}}, {"name": "right", "deserved": {"cpu": 1}}]
        source = cluster(
            job("a", pending(replicas=2), minMember=1, queue="left"), job("b", pending(3), queue="right"), queues=queues
        )
        shown = checked(source, {"binds": {"a/task-0": "n1"}}, conf=self.capacity)
        assert (shown["queue_deficit_max"], shown["queue_deficit_total"]) == (1_000_000, 1_500_000)

    def test_rounded_up(self):
        """A third is 333334 millionths."""
        source = cluster(job("a", running(2), pending(role="more"), minMember=1))
        assert checked(source, {})["queue_deficit_max"] == 333_334

    def test_worst_resource(self):
        """CPU is there, half the memory is missing."""
        node = {"name": "n1", "allocatable": {"cpu": 4, "memory": "4Gi", "pods": 10}}
        tasks = (running(1, requests={"memory": "1Gi"}), pending("1m", role="more", requests={"memory": "1Gi"}))
        assert checked(cluster(job("a", *tasks, minMember=1), nodes=[node]), {})["queue_deficit_max"] == 500_000

    def test_pods_do_not_count(self):
        """Nine of ten tasks ask for nothing; their missing places are no deficit."""
        source = cluster(job("a", running(1), pending(None, role="more", replicas=9), minMember=1))
        assert checked(source, {})["queue_deficit_max"] == 0

    def test_reserved_counts_as_held_and_victims_as_lost(self):
        """What is promised is held, what is evicted is gone."""
        source = cluster(job("old", running(2), priority=10, minMember=0), job("a", pending(1), priority=100), nodes=2)
        shown = checked(source, {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]})
        assert shown["queue_deficit_max"] == 500_000

    def test_more_than_wanted_is_no_credit(self):
        """A surplus here does not make up for a deficit there."""
        queues = [{"name": "left", "deserved": {"cpu": 1}}, {"name": "right", "deserved": {"cpu": 2}}]
        source = cluster(job("a", running(3), queue="left"), job("b", pending(2), queue="right"), queues=queues)
        shown = checked(source, {}, conf=self.capacity)
        assert (shown["queue_deficit_max"], shown["queue_deficit_total"]) == (1_000_000, 1_000_000)

    def test_only_leaves_count(self):
        """In a tree a department's deficit is its teams'."""
        tree = conf(ALL, *BASE, {"name": "capacity", "enableHierarchy": True})
        queues = [
            {"name": "root"},
            {"name": "dept", "parent": "root", "deserved": {"cpu": 2}},
            {"name": "team", "parent": "dept", "deserved": {"cpu": 2}},
        ]
        shown = checked(cluster(job("a", pending(2), queue="team"), queues=queues), {}, conf=tree)
        assert shown["queue_deficit_total"] == 1_000_000

    def test_no_share_plugin_no_level(self):
        """Without shares there is nothing to fall short of."""
        assert "queue_deficit_max" not in checked(cluster(job("a", pending())), {}, conf=conf("allocate", *BASE))


class TestPdbViolations:
    """Evictions beyond what budgets allow, each budget counted truly."""

    @pytest.mark.parametrize(("allowed", "expected"), [(0, 3), (1, 2), (3, 0), (5, 0), (-2, 3)])
    def test_excess(self, allowed, expected):
        """Three victims less what is allowed, never below zero; a negative allowance is none."""
        budget = {"name": "b", "selector": {"matchLabels": {"app": "db"}}, "disruptionsAllowed": allowed}
        old = job("old", running(replicas=3, labels={"app": "db"}), minMember=0)
        source = cluster(old, job("a", pending(3), priority=100), nodes=3, budgets=[budget])
        decision = {"reserves": {"a/task-0": "n1"}, "evicted": [f"old/task-{i}" for i in range(3)]}
        assert checked(source, decision, model="kube", levels=["pdb_violations"]) == {"pdb_violations": expected}

    def test_each_budget_counts(self):
        """A pod under two budgets violates both."""
        selector = {"matchLabels": {"app": "db"}}
        budgets = [{"name": name, "selector": selector} for name in ("one", "two")]
        old = job("old", running(labels={"app": "db"}), minMember=0)
        source = cluster(old, job("a", pending(), priority=100), nodes=1, budgets=budgets)
        decision = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]}
        assert checked(source, decision)["pdb_violations"] == 2


class TestGangsBroken:
    """Running gangs pushed below their minimum."""

    @pytest.mark.parametrize(
        ("minimum", "evicted", "expected"), [(2, 1, 0), (3, 1, 1), (2, 2, 1), (0, 3, 0), (1, 3, 1)]
    )
    def test_below_the_minimum(self, minimum, evicted, expected):
        """Three run; what counts is how many are left."""
        source = cluster(job("old", running(replicas=3), minMember=minimum), nodes=3)
        assert checked(source, {"evicted": [f"old/task-{i}" for i in range(evicted)]})["gangs_broken"] == expected

    def test_a_gang_that_was_not_running_is_not_broken(self):
        """Below its minimum before, it was no gang at work."""
        source = cluster(job("old", running(), pending(role="more"), minMember=2))
        assert checked(source, {"evicted": ["old/task-0"]})["gangs_broken"] == 0

    def test_new_tasks_make_up(self):
        """What it starts again counts, what it reserves does not run yet."""
        source = cluster(job("old", running(replicas=2), pending(role="more"), minMember=2))
        evicted = {"evicted": ["old/task-0"]}
        assert checked(source, {**evicted, "binds": {"old/more-0": "n1"}})["gangs_broken"] == 0
        assert checked(source, {**evicted, "reserves": {"old/more-0": "n1"}})["gangs_broken"] == 1

    def test_each_gang_once(self):
        """Two gangs, two breaks."""
        source = cluster(job("x", running(replicas=2)), job("y", running(replicas=2)))
        assert checked(source, {"evicted": ["x/task-0", "x/task-1", "y/task-0"]})["gangs_broken"] == 2


class TestPlacement:
    """tasks_bound, tasks_placed, resources_placed, nodes_used."""

    nodes = {"n1": 3, "n2": 1}

    def test_bound_and_placed(self):
        """Started now; started or reserved."""
        source = cluster(job("a", pending(replicas=3), minMember=1))
        shown = checked(source, {"binds": {"a/task-0": "n1"}, "reserves": {"a/task-1": "n1", "a/task-2": "n1"}})
        assert (shown["tasks_bound"], shown["tasks_placed"]) == (1, 3)

    def test_dominant_share_in_millionths(self):
        """One of three CPUs is more than one of ten pods; each task is rounded down for itself."""
        source = cluster(job("a", pending(replicas=2), minMember=1), nodes=3)
        shown = checked(source, {"binds": {"a/task-0": "n1"}, "reserves": {"a/task-1": "n1"}})
        assert shown["resources_placed"] == 2 * 333_333

    def test_pods_are_a_share_too(self):
        """A BestEffort task takes a tenth of the places."""
        assert checked(cluster(job("a", pending(None))), {"binds": {"a/task-0": "n1"}})["resources_placed"] == 100_000

    def test_whole_cluster_is_the_measure(self):
        """Shares are of all nodes together."""
        source = cluster(job("a", pending()), nodes={"n1": 3, "n2": 1})
        assert checked(source, {"binds": {"a/task-0": "n1"}})["resources_placed"] == 250_000

    def test_nodes_hosting_anything(self):
        """Running, terminating and placed tasks use a node; finished and evicted ones do not."""
        leaving = running(node="n2", role="leaving", deletionTimestamp=AT.format(0))
        done = {**pending(role="done", phase="Succeeded"), "nodeName": "n4"}
        old = job("old", running(), leaving, done, minMember=0)
        nodes = dict.fromkeys(("n1", "n2", "n3", "n4"), 1)
        source = cluster(old, job("a", pending()), nodes=nodes)
        assert checked(source, {})["nodes_used"] == 2
        assert checked(source, {"binds": {"a/task-0": "n3"}})["nodes_used"] == 3
        assert checked(source, {"evicted": ["old/task-0"]})["nodes_used"] == 1
        assert checked(source, {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]})["nodes_used"] == 2


class TestComparison:
    """Which of two decisions is better."""

    @pytest.mark.parametrize(
        ("name", "better", "worse"),
        [
            ("jobs_admitted", 2, 1),
            ("victim_max_priority", 10, 100),
            ("victim_max_priority", None, -10),
            ("victim_start_time", 5, 4),
            ("victim_start_time", None, 5),
            ("nodes_used", 1, 2),
        ],
    )
    def test_sense(self, name, better, worse):
        """More admissions, later starts, but less of everything that costs; no victim at all is best."""
        plan = [(name, None)]
        assert objectives.comparable(plan, [better]) < objectives.comparable(plan, [worse])

    def test_first_level_decides(self):
        """Lexicographic order."""
        plan = [("jobs_admitted", 10), ("victim_count", None)]
        assert objectives.comparable(plan, [2, 9]) < objectives.comparable(plan, [1, 0])
