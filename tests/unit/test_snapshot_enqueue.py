"""Who may leave the phase Pending: overcommit, queue quota, sla, tier by tier."""

from __future__ import annotations

import pytest

from cpsched.snapshot.enqueue import may_enter, refusal
from tests.judge import cluster, conf, job, pending, running, snapshot_of

BASE = ("priority", "gang")


def waiting(cpu=2, name="a", **fields):
    """A Pending job that announces so many CPUs."""
    return job(name, pending("100m"), **{"phase": "Pending", "minResources": {"cpu": cpu}, **fields})


def refused(*jobs, plugins=("overcommit",), tiers=(), entering=("a",), **fields):
    """Why job a may not enter along with `entering`."""
    settings = conf("enqueue, allocate", *BASE, *plugins, tiers=tiers)
    snapshot = snapshot_of(cluster(*jobs, **{"nodes": 2, **fields}), conf=settings)
    together = [snapshot.jobs[f"default/{name}"] for name in entering]
    return refusal(snapshot, snapshot.jobs["default/a"], together)


class TestOvercommit:
    """The cluster's size times the factor, less what is used and promised."""

    @pytest.mark.parametrize(("cpu", "expected"), [("2400m", ()), ("2401m", ("overcommit", "cpu"))])
    def test_default_factor(self, cpu, expected):
        """A fifth on top."""
        assert refused(waiting(cpu)) == expected

    @pytest.mark.parametrize(("factor", "expected"), [(2, ()), (1.9, ("overcommit", "cpu"))])
    def test_stated_factor(self, factor, expected):
        """The argument overcommit-factor."""
        plugin = {"name": "overcommit", "arguments": {"overcommit-factor": factor}}
        assert refused(waiting(4), plugins=(plugin,)) == expected

    def test_what_runs_is_taken(self):
        """Also what is terminating and what belongs to no task's session."""
        leaving = running(role="leaving", deletionTimestamp="2026-01-01T00:00:00Z")
        assert refused(job("old", running(), leaving, minMember=0), waiting("400m")) == ()
        assert refused(job("old", running(), leaving, minMember=0), waiting("401m")) == ("overcommit", "cpu")

    def test_what_is_promised_is_taken(self):
        """A job in the cycle holds its minimum, a complete running one what it lacks of it."""
        assert refused(waiting("1400m"), waiting(1, "b", phase="Inqueue")) == ()
        assert refused(waiting("1401m"), waiting(1, "b", phase="Inqueue")) == ("overcommit", "cpu")
        half = job("b", running(), minMember=1, phase="Running", minResources={"cpu": 2})
        assert refused(waiting("400m"), half) == ()
        assert refused(waiting("401m"), half) == ("overcommit", "cpu")

    def test_incomplete_running_job_is_promised_nothing(self):
        """Only with its minimum at work does it count."""
        half = job("b", running(), pending(role="more"), minMember=2, phase="Running", minResources={"cpu": 2})
        assert refused(waiting("1400m"), half) == ()

    def test_gated_tasks_of_others_are_not_counted(self):
        """What they ask for waits for their gates; one's own minimum counts in full."""
        gate = [{"name": "example.com/g"}]
        other = job("b", pending(1, schedulingGates=gate), phase="Inqueue", minResources={"cpu": 1})
        assert refused(waiting("2400m"), other) == ()
        own = job("a", pending(1, schedulingGates=gate), phase="Pending", minResources={"cpu": 3})
        assert refused(own) == ("overcommit", "cpu")

    def test_only_what_is_announced_counts(self):
        """A full dimension no task asks for does not matter."""
        node = {"name": "n1", "allocatable": {"cpu": 2, "memory": "1Gi", "pods": 10}}
        hog = job("old", running(None, requests={"memory": "2Gi"}))
        assert refused(hog, waiting(2), nodes=[node]) == ()
        nothing_more = waiting(minResources={"cpu": 2, "memory": 0, "pods": 99})
        assert refused(hog, nothing_more, nodes=[node]) == ()

    def test_more_than_its_minimum_is_no_credit(self):
        """A running job that holds more than it announced leaves no more than what is free."""
        old = job("b", running(2), minMember=1, phase="Running", minResources={"cpu": 1})
        assert refused(waiting("400m"), old) == ()
        assert refused(waiting("401m"), old) == ("overcommit", "cpu")

    def test_together(self):
        """Those who enter along count with their minima, in any order."""
        assert refused(waiting(2), waiting(2, "b"), entering=("a", "b")) == ("overcommit", "cpu")
        assert refused(waiting(1), waiting(1, "b"), entering=("a", "b")) == ()

    def test_flag(self):
        """With enableJobEnqueued off the plugin does not vote."""
        assert refused(waiting(9), plugins=({"name": "overcommit", "enableJobEnqueued": False},)) == ()

    def test_no_minimum(self):
        """A job that announces nothing is never refused."""
        assert refused(job("a", pending(9), phase="Pending")) == ()


class TestQuota:
    """The queue's capability, and its ancestors'."""

    def test_proportion(self):
        """Minimum, held and promised within the real capability."""
        small = [{"name": "q", "capability": {"cpu": 1}}]
        options = {"plugins": ("proportion",), "queues": small}
        assert refused(waiting(1, queue="q"), **options) == ()
        assert refused(waiting("1001m", queue="q"), **options) == ("proportion", "cpu")
        assert refused(waiting(1, queue="q"), waiting(1, "b", queue="q", phase="Inqueue"), **options) == (
            "proportion",
            "cpu",
        )

    def test_elastic_tasks_are_not_counted(self):
        """What a job holds beyond its minimum would be given back."""
        old = job("old", running("900m"), queue="q", minMember=0)
        options = {"plugins": ("proportion",), "queues": [{"name": "q", "capability": {"cpu": 1}}]}
        assert refused(old, waiting(1, queue="q"), **options) == ()
        held = {**old, "minResources": {"cpu": "900m"}}
        assert refused(held, waiting(1, queue="q"), **options) == ("proportion", "cpu")

    def test_closed_queue(self):
        """No task enters a closed queue who announces a minimum."""
        options = {"plugins": ("proportion",), "queues": [{"name": "q", "state": "Closing"}]}
        assert refused(waiting(1, queue="q"), **options)[:1] == ("proportion",)

    def tree(self, *jobs, **fields):
        """Refusal in a tree: a department of one CPU with two teams."""
        queues = [
            {"name": "root"},
            {"name": "dept", "parent": "root", "capability": {"cpu": 1}},
            {"name": "one", "parent": "dept"},
            {"name": "two", "parent": "dept"},
            {"name": "three", "parent": "root"},
        ]
        plugin = {"name": "capacity", "enableHierarchy": True}
        return refused(*jobs, plugins=(plugin,), queues=queues, **fields)

    def test_ancestors(self):
        """The department's limit holds for both teams together."""
        assert self.tree(waiting(1, queue="one")) == ()
        together = (waiting("600m", queue="one"), waiting("600m", "b", queue="two"))
        assert self.tree(*together) == ()
        assert self.tree(*together, entering=("a", "b")) == ("capacity", "cpu")

    def test_other_branches_do_not_matter(self):
        """A job that enters elsewhere takes nothing here."""
        together = (waiting("600m", queue="one"), waiting("600m", "b", queue="three"))
        assert self.tree(*together, entering=("a", "b")) == ()

    def test_tree_without_shares(self):
        """Where the plugin refuses to decide no task enters."""
        assert self.tree(waiting(1, queue="dept"))[:1] == ("capacity",)


class TestTiers:
    """A tier in which a task permits and no task refuses ends the vote."""

    def test_permit_ends_the_vote(self):
        """overcommit permits in tier 1, so proportion in tier 2 is not asked."""
        queues = [{"name": "q", "capability": {"cpu": 1}}]
        options = {"queues": queues, "tiers": [["proportion"]]}
        assert refused(waiting(2, queue="q"), **options) == ()
        assert refused(waiting(2, queue="q"), plugins=("overcommit", "proportion"), queues=queues) == (
            "proportion",
            "cpu",
        )

    @pytest.mark.parametrize(
        ("wait", "expected"), [("1h", ()), ("3h", ("overcommit", "cpu")), ("soon", ("overcommit", "cpu"))]
    )
    def test_sla(self, wait, expected):
        """Once the wait is over sla permits and ends the vote; before, it abstains; an unreadable wait is none."""
        late = waiting(9, creationTimestamp="2026-01-01T00:00:00Z", annotations={"sla-waiting-time": wait})
        options = {"plugins": ("sla",), "tiers": [["overcommit"]], "now": "2026-01-01T02:00:00Z"}
        assert refused(late, **options) == expected

    def test_sla_of_the_plugin(self):
        """Its argument holds for jobs without an annotation, to the very moment."""
        plugin = {"name": "sla", "arguments": {"sla-waiting-time": "2h"}}
        late = waiting(9, creationTimestamp="2026-01-01T00:00:00Z")
        options = {"plugins": (plugin,), "tiers": [["overcommit"]]}
        assert refused(late, **options, now="2026-01-01T02:00:00Z") == ()
        assert refused(late, **options, now="2026-01-01T01:59:59Z") == ("overcommit", "cpu")

    def test_unreadable_wait_of_the_job_is_not_the_plugins(self):
        """A job that states nonsense waits without end, whatever the plugin's argument."""
        plugin = {"name": "sla", "arguments": {"sla-waiting-time": "1h"}}
        odd = waiting(9, creationTimestamp="2026-01-01T00:00:00Z", annotations={"sla-waiting-time": "soon"})
        options = {"plugins": (plugin,), "tiers": [["overcommit"]], "now": "2026-01-01T02:00:00Z"}
        assert refused(odd, **options) == ("overcommit", "cpu")

    def test_plugin_whose_shares_do_not_count_abstains(self):
        """Of proportion and capacity the one whose shares count votes."""
        queues = [{"name": "q", "capability": {"cpu": 1}}]
        both = ({"name": "proportion", "enabledAllocatable": False}, "capacity")
        assert refused(waiting(2, queue="q"), plugins=both, queues=queues) == ("capacity", "cpu")


def test_may_enter_looks_at_the_job_alone():
    """A job that would fit alone may enter, whatever others want."""
    snapshot = snapshot_of(cluster(waiting(2), waiting(2, "b"), nodes=2))
    assert all(may_enter(snapshot, one) for one in snapshot.jobs.values())


@pytest.mark.parametrize(("cpu", "expected"), [(0, ()), (1, ("capacity", "cpu"))])
def test_where_shares_are_refused(cpu, expected):
    """A job in a queue with queues below it leaves all without shares; who announces nothing enters all the same."""
    queues = [{"name": "root"}, {"name": "dept", "parent": "root"}, {"name": "left", "parent": "dept"}]
    jobs = [waiting(cpu, queue="left"), waiting(0, "b", queue="dept")]
    tree = {"name": "capacity", "enableHierarchy": True}
    assert refused(*jobs, plugins=(tree,), entering=("a", "b"), queues=queues) == expected
