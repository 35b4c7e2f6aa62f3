"""What decisions are worth: every shortcut gives the answer of the plain question it stands for."""

from __future__ import annotations

from dataclasses import replace

from cpsched.instance import HOLDS_ROOM, Status
from cpsched.objectives import level_plan, value_of, vector
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.session_model import SessionModel
from cpsched.resources import add
from cpsched.rules import violations
from cpsched.snapshot.queues import held, queue_demands
from tests.contested import decisions, mixed, sessions
from tests.judge import cluster, job, pending, running, snapshot_of


class TestOnce:
    """A decision is checked once."""

    def test_measures(self):
        """A step that was asked about one decision measures the next again."""
        for seed in range(10):
            snapshot = mixed(seed)
            v = SessionModel(snapshot).variables
            for level in level_plan(snapshot):
                kept = stages_of(v, *level)
                for decision in decisions(snapshot, 4):
                    fresh = [step.value(decision) for step in stages_of(v, *level)]
                    assert [step.value(decision) for step in kept] == fresh

    def test_second_answers(self):
        """They are those of a decision that no task asked before, and no list is handed out twice."""
        for snapshot in sessions():
            for decision in decisions(snapshot, 2):
                first = violations(decision)
                first.append(None)
                again = replace(decision)
                assert violations(decision) == violations(again) == first[:-1]
                assert (
                    vector(decision) == vector(again) == [value_of(decision, *level) for level in level_plan(snapshot)]
                )


class TestSums:
    """What is summed up by vector is the sum of all."""

    def test_what_queues_hold_afterwards(self):
        """Task by task, the queue and all above it."""
        for snapshot in sessions():
            for decision in decisions(snapshot, 3):
                expected = {name: dict(share.allocated) for name, share in snapshot.shares.items()}
                tasks = snapshot.instance.tasks
                for sign, changed in ((1, [tasks[key] for key in decision.placed]), (-1, decision.victims)):
                    for task in changed:
                        queue = snapshot.queue_of(task)
                        if queue is not None and queue.name in snapshot.shares:
                            for name in (queue.name, *snapshot.shares[queue.name].ancestors):
                                for resource, amount in task.requests.items():
                                    expected[name][resource] = expected[name].get(resource, 0) + sign * amount
                assert decision.allocated_after == expected

    def test_what_queues_ask_for(self):
        """Job by job, task by task."""
        stated = [job("a", running(4), minResources={"cpu": 1}), job("b", running(2)), job("c", pending(1))]
        for snapshot in (*sessions(), snapshot_of(cluster(*stated))):
            for demand in queue_demands(snapshot.instance, snapshot.jobs):
                jobs = [job for job in snapshot.jobs.values() if job.queue == demand.name]
                tasks = [task for job in jobs for task in job.tasks]
                allocated = added(task.requests for task in tasks if task.status in HOLDS_ROOM)
                assert demand.allocated == allocated
                assert demand.request == add(allocated, added(t.requests for t in tasks if t.status is Status.PENDING))
                beyond = ({n: a - (job.min_resources or {}).get(n, 0) for n, a in held(job).items()} for job in jobs)
                assert demand.elastic == added({n: a for n, a in own.items() if a > 0} for own in beyond)

    def test_shapes(self):
        """Equal for tasks that ask for the same, whichever of them share a vector."""
        for snapshot in sessions():
            for task in snapshot.instance.tasks.values():
                assert snapshot.shape_of(task) == tuple(sorted(task.requests.items()))


def added(vectors):
    """The sum, one after another."""
    total = {}
    for one in vectors:
        total = add(total, one)
    return total


class TestGangs:
    """Whether gangs hold."""

    def test_own_tasks_only(self):
        """Every task's placements tell of a job what its own would."""
        for snapshot in sessions():
            for decision in decisions(snapshot, 3):
                for one in decision.jobs_served():
                    own = {task.key for task in decision.placed_by_job[one.key]}
                    started = {key for key in own if key in decision.binds}
                    assert one.is_ready(started, decision.evicted) == one.is_ready(decision.binds, decision.evicted)
                    assert one.is_pipelined(own, decision.evicted) == one.is_pipelined(
                        decision.placed, decision.evicted
                    )
