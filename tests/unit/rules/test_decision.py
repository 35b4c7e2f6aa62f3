"""A decision read off a solution: who is placed, who has entered, what every node, job and queue gains and loses."""

from __future__ import annotations

from cpsched.policy import RULE_KEYS
from cpsched.rules import RULES, Decision
from cpsched.solution import Solution
from tests.judge import cluster, conf, decide, job, pending, running, snapshot_of

TREE = conf("allocate", "gang", {"name": "capacity", "enableHierarchy": True})


def test_rules_have_the_models_keys() -> None:
    """Every rule a model can switch is checked, under the same key; a scope is an option of its rule."""
    assert [key for key in RULE_KEYS if not key.endswith(".scope")] == list(RULES)


def test_allocated_tasks_are_reserves() -> None:
    """What holds room without starting counts as reserved."""
    snapshot = snapshot_of(cluster(job("a", pending(replicas=2))))
    solution = Solution(allocated={"a/task-0": "n1"}, pipelined={"a/task-1": "n1"})
    assert Decision.of(snapshot, solution).reserves == {"a/task-0": "n1", "a/task-1": "n1"}


def test_best_effort_task_of_an_incomplete_gang_is_no_part_of_the_decision() -> None:
    """Allocated by backfill while its gang waits, it neither starts nor awaits room."""
    snapshot = snapshot_of(cluster(job("a", pending(None), pending(role="big"), minMember=2)))
    alone = Solution(allocated={"a/task-0": "n1"})
    assert Decision.of(snapshot, alone).reserves == {}
    together = Solution(allocated={"a/task-0": "n1", "a/big-0": "n1"})
    assert Decision.of(snapshot, together).reserves == {"a/task-0": "n1", "a/big-0": "n1"}


def test_best_effort_task_waits_for_no_gang_that_stands_on_a_victim() -> None:
    """A sibling that is evicted no longer completes the gang."""
    snapshot = snapshot_of(cluster(job("a", pending(None), running(role="old"), minMember=2)))
    allocated = {"a/task-0": "n1"}
    assert Decision.of(snapshot, Solution(allocated=allocated)).reserves == allocated
    assert decide(snapshot, {"allocated": allocated, "evicted": ["a/old-0"]}).reserves == {}


def test_task_with_a_request_stays_even_if_its_gang_is_incomplete() -> None:
    """The rule gang is there to complain about it."""
    snapshot = snapshot_of(cluster(job("a", pending(replicas=2))))
    assert Decision.of(snapshot, Solution(allocated={"a/task-0": "n1"})).reserves == {"a/task-0": "n1"}


def test_jobs_enter_by_being_placed_or_by_their_phase() -> None:
    """Only Pending jobs of the session can enter."""
    jobs = [
        job(name, pending(), phase=phase) for name, phase in (("a", "Pending"), ("b", ""), ("c", "Inqueue"), ("d", ""))
    ]
    snapshot = snapshot_of(cluster(*jobs))
    decision = decide(
        snapshot,
        {
            "binds": {"a/task-0": "n1", "c/task-0": "n1"},
            "phases": {"default/b": "Inqueue", "default/d": "Pending", "x/y": "Inqueue"},
        },
    )
    assert decision.entered == {"default/a", "default/b"}


def test_reserved_job_enters() -> None:
    """A reservation is enough."""
    snapshot = snapshot_of(cluster(job("a", pending(), phase="Pending")))
    assert decide(snapshot, {"reserves": {"a/task-0": "n1"}}).entered == {"default/a"}


def test_victims_come_in_the_order_of_the_instance() -> None:
    """Unknown ones are left to the rule eviction."""
    snapshot = snapshot_of(cluster(job("old", running(replicas=3))))
    decision = decide(snapshot, {"evicted": ["old/task-2", "ghost", "old/task-0"]})
    assert [victim.key for victim in decision.victims] == ["old/task-0", "old/task-2"]
    assert decision.evicted == {"old/task-0", "old/task-2", "ghost"}


def test_by_node_and_by_job() -> None:
    """Placements and victims can be looked up either way."""
    old = job("old", running(), running(node="n2", role="far"))
    snapshot = snapshot_of(cluster(old, job("a", pending(replicas=2)), nodes={"n1": 2, "n2": 2}))
    decision = decide(
        snapshot,
        {"binds": {"a/task-0": "n2"}, "reserves": {"a/task-1": "n1"}, "evicted": ["old/task-0", "old/far-0"]},
    )

    def keys(groups):
        return {name: [task.key for task in tasks] for name, tasks in groups.items()}

    assert keys(decision.placed_by_node) == {"n2": ["a/task-0"], "n1": ["a/task-1"]}
    assert keys(decision.bound_by_node) == {"n2": ["a/task-0"]}
    assert keys(decision.victims_by_node) == {"n1": ["old/task-0"], "n2": ["old/far-0"]}
    assert keys(decision.placed_by_job) == {"default/a": ["a/task-0", "a/task-1"]}
    assert keys(decision.victims_by_job) == {"default/old": ["old/task-0", "old/far-0"]}
    assert [served.key for served in decision.jobs_served()] == ["default/a"]


def test_what_queues_hold_afterwards() -> None:
    """Placements add, victims subtract, reserves count, and ancestors feel it too."""
    queues = [{"name": "root"}, {"name": "dept", "parent": "root"}, {"name": "team", "parent": "dept"}]
    source = cluster(job("old", running(cpu=3), queue="team"), job("a", pending(cpu=2), queue="team"), queues=queues)
    decision = decide(snapshot_of(source, conf=TREE), {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]})
    assert {name: held["cpu"] for name, held in decision.allocated_after.items()} == dict.fromkeys(
        ("root", "dept", "team"), 2000
    )
    assert decision.allocated_after["team"]["pods"] == 1
