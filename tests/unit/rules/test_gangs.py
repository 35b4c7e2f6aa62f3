"""Rules about gangs: gang for those who start, protect.gang for those who run."""

from __future__ import annotations

import pytest

from cpsched.optimum.params import SolveParams
from cpsched.optimum.solve import decide as optimum
from tests.judge import broken, cluster, conf, decide, findings, job, pending, running, snapshot_of

PLUGINS = ("priority", "predicates", "proportion")
ACTIONS = "enqueue, allocate, preempt, reclaim, backfill"
LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def with_gang(**flags):
    """A configuration whose gang plugin has these flags."""
    return conf(ACTIONS, {"name": "gang", **flags}, *PLUGINS)


def places(job_name, *numbers):
    """The tasks of that number on n1."""
    return {f"{job_name}/task-{number}": "n1" for number in numbers}


class TestGang:
    """A job that received anything is ready, or pipelined with nothing but reserves."""

    three = cluster(job("a", pending(replicas=3), minMember=2))

    @pytest.mark.parametrize(
        "decision",
        [
            {"binds": places("a", 0, 1)},
            {"binds": places("a", 0, 1, 2)},
            {"binds": places("a", 0, 1), "reserves": places("a", 2)},
            {"reserves": places("a", 0, 1)},
            {},
        ],
    )
    def test_whole_minimum(self, decision):
        """The minimum started, further tasks as they come, or the minimum reserved, or nothing."""
        assert broken(decide(snapshot_of(self.three), decision)) == set()

    @pytest.mark.parametrize("decision", [{"binds": places("a", 0)}, {"reserves": places("a", 0)}])
    def test_less_than_the_minimum(self, decision):
        """One of two is neither ready nor pipelined."""
        found = findings(decide(snapshot_of(self.three), decision))
        assert [(v.rule, v.subject, v.message) for v in found] == [
            ("gang", "default/a", "gets 1 tasks, fewer than its minimum of 2 needs")
        ]

    def test_start_before_the_minimum_is_ready(self):
        """One started, one reserved: the first would run alone."""
        found = findings(decide(snapshot_of(self.three), {"binds": places("a", 0), "reserves": places("a", 1)}))
        assert [(v.rule, v.message) for v in found] == [("gang", "starts 1 tasks before its minimum of 2 is ready")]

    def test_running_tasks_count(self):
        """A gang with one task at work needs one more, not two."""
        source = cluster(job("a", running(), pending(role="new"), minMember=2))
        assert broken(decide(snapshot_of(source), {"binds": {"a/new-0": "n1"}})) == set()

    @pytest.mark.parametrize("cpu", [1, None])
    def test_releasing_tasks_do_not_count(self, cpu):
        """A task that is going is no longer at work, not even if it asks for nothing."""
        source = cluster(job("a", running(cpu, **LEAVING), pending(role="new", replicas=2), minMember=2))
        assert broken(decide(snapshot_of(source), {"binds": {"a/new-0": "n1"}})) == {"gang"}

    def test_finished_tasks_count(self):
        """A task that has done its work counts as ready."""
        source = cluster(job("a", pending(phase="Succeeded"), pending(role="new"), minMember=2))
        assert broken(decide(snapshot_of(source), {"binds": {"a/new-0": "n1"}})) == set()

    def test_pending_best_effort_tasks_count_as_ready(self):
        """A task that asks for nothing is expected to find a place."""
        source = cluster(job("a", pending(None), pending(role="new"), minMember=2))
        assert broken(decide(snapshot_of(source), {"binds": {"a/new-0": "n1"}})) == set()

    @pytest.mark.parametrize("kind", ["binds", "reserves"])
    def test_evicted_siblings_no_longer_count(self, kind):
        """A gang may not stand on a task it stops itself."""
        old = running(priority=1)
        source = cluster(
            job("a", old, pending(role="new", priority=5, replicas=2), minMember=2, phase="Running"), nodes=1
        )
        decision = {kind: {"a/new-0": "n1"}, "evicted": ["a/task-0"]}
        assert "gang" in broken(decide(snapshot_of(source, conf=with_gang(enablePreemptable=False)), decision))

    def test_minimum_per_role(self):
        """Two workers are two tasks, but the server is missing."""
        roles = {"server": 1, "worker": 1}
        tasks = (pending(role="server"), pending(role="worker", replicas=2))
        snapshot = snapshot_of(cluster(job("a", *tasks, minMember=2, minTaskMember=roles)))
        assert broken(decide(snapshot, {"binds": {"a/worker-0": "n1", "a/worker-1": "n1"}})) == {"gang"}
        assert broken(decide(snapshot, {"binds": {"a/server-0": "n1", "a/worker-1": "n1"}})) == set()

    def test_minima_per_role_beyond_the_gangs_minimum_are_ignored(self):
        """Per-role minima count only where together they do not exceed minMember."""
        tasks = (pending(role="server"), pending(role="worker", replicas=2))
        source = cluster(job("a", *tasks, minMember=1, minTaskMember={"server": 1, "worker": 1}))
        assert broken(decide(snapshot_of(source), {"binds": {"a/worker-0": "n1"}})) == set()

    def test_without_the_plugin(self):
        """Without gang no task asks for the minimum."""
        settings = conf(ACTIONS, *PLUGINS)
        assert broken(decide(snapshot_of(self.three, conf=settings), {"binds": places("a", 0)})) == set()

    def test_ready_flag_off(self):
        """With enableJobReady off the rule is off."""
        settings = with_gang(enableJobReady=False)
        assert broken(decide(snapshot_of(self.three, conf=settings), {"binds": places("a", 0)})) == set()

    def test_pipelined_flag_off(self):
        """With enableJobPipelined off an incomplete gang may hold reserves, but still starts nothing."""
        snapshot = snapshot_of(self.three, conf=with_gang(enableJobPipelined=False))
        assert broken(decide(snapshot, {"reserves": places("a", 0)})) == set()
        assert broken(decide(snapshot, {"binds": places("a", 0)})) == {"gang"}

    def test_model_may_insist(self):
        """The model can switch the rule on or off whatever the configuration says."""
        off = snapshot_of(self.three, rules={"gang": "off"})
        assert broken(decide(off, {"binds": places("a", 0)})) == set()
        on = snapshot_of(self.three, rules={"gang": "on"}, conf=with_gang(enableJobReady=False))
        assert broken(decide(on, {"binds": places("a", 0)})) == {"gang"}


def attacked(replicas, minimum, **fields):
    """A running low-priority gang on a full node and a high-priority job that wants one CPU."""
    old = job("old", running(replicas=replicas), priority=10, minMember=minimum)
    return cluster(old, job("a", pending(**fields), priority=100), nodes=replicas)


def attack(*victims):
    """The job takes the place of the gang's tasks of these numbers."""
    return {"reserves": {"a/task-0": "n1"}, "evicted": [f"old/task-{number}" for number in victims]}


class TestProtectGang:
    """A victim's job keeps its minimum, or with `whole` loses everything."""

    def test_surplus_may_go(self):
        """Three of a minimum of two: one may go."""
        assert broken(decide(snapshot_of(attacked(3, 2)), attack(0))) == set()

    def test_minimum_stays(self):
        """Two of a minimum of two: none may go."""
        found = findings(decide(snapshot_of(attacked(2, 2)), attack(0)))
        assert [(v.rule, v.subject, v.message) for v in found] == [
            ("protect.gang", "default/old", "1 tasks are left of a minimum of 2")
        ]

    def test_keep_forbids_the_whole_gang_too(self):
        """Upstream's rule knows no all or nothing."""
        assert broken(decide(snapshot_of(attacked(2, 2, cpu=2)), attack(0, 1))) == {"protect.gang"}

    @pytest.mark.parametrize(("victims", "expected"), [((0, 1), set()), ((0,), {"protect.gang"})])
    def test_whole(self, victims, expected):
        """With `whole` the gang is kept at its minimum or stopped altogether."""
        snapshot = snapshot_of(attacked(2, 2, cpu=len(victims)), rules={"protect.gang": "whole"})
        assert broken(decide(snapshot, attack(*victims))) == expected

    def test_whole_counts_every_task_at_work(self):
        """All running tasks, also those above the minimum."""
        snapshot = snapshot_of(attacked(3, 2, cpu=2), rules={"protect.gang": "whole"})
        assert broken(decide(snapshot, attack(0, 1))) == {"protect.gang"}

    @pytest.mark.parametrize("over", [{"phase": "Succeeded"}, {"phase": "Failed"}, LEAVING])
    def test_whole_leaves_out_who_is_done_or_going(self, over):
        """A task that has ended or is being deleted cannot be lost, and what is left can."""
        old = job("old", running(replicas=2), running(role="over", **over), priority=10, minMember=3)
        source = cluster(old, job("a", pending(3), priority=100), nodes=3)
        snapshot = snapshot_of(source, rules={"protect.gang": "whole"})
        assert "protect.gang" not in broken(decide(snapshot, attack(0, 1)))
        assert "protect.gang" in broken(decide(snapshot, attack(0)))
        found = optimum(snapshot.instance, snapshot.policy, SolveParams(workers=1))
        assert found.evicted == {"old/task-0", "old/task-1"}

    def test_off(self):
        """With `off`, or with the plugin's flag off, gangs may be broken."""
        assert broken(decide(snapshot_of(attacked(2, 2), rules={"protect.gang": "off"}), attack(0))) == set()
        settings = with_gang(enablePreemptable=False)
        assert broken(decide(snapshot_of(attacked(2, 2), conf=settings), attack(0))) == set()

    def test_flag_of_the_other_action_does_not_matter(self):
        """enableReclaimable says nothing about preempt."""
        settings = with_gang(enableReclaimable=False)
        assert broken(decide(snapshot_of(attacked(2, 2), conf=settings), attack(0))) == {"protect.gang"}

    @pytest.mark.parametrize(("flags", "expected"), [({}, {"protect.gang"}), ({"enableReclaimable": False}, set())])
    def test_reclaim(self, flags, expected):
        """Against reclaim the flag enableReclaimable decides."""
        old = job("old", running(replicas=2), minMember=2, queue="rich")
        source = cluster(old, job("a", pending(), queue="poor"), nodes=2, queues=[{"name": "rich"}, {"name": "poor"}])
        assert broken(decide(snapshot_of(source, conf=with_gang(**flags)), attack(0))) == expected

    def test_new_tasks_make_up_for_victims(self):
        """What the gang starts again counts for its minimum."""
        old = job("old", running(replicas=2), pending(role="new"), priority=10, minMember=2)
        source = cluster(old, job("a", pending(), priority=100), nodes={"n1": 2, "n2": 1})
        decision = attack(0) | {"binds": {"old/new-0": "n2"}}
        assert broken(decide(snapshot_of(source), decision)) == set()
