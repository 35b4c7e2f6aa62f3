"""What the fast path knows of victims after some have gone, for good or without effect."""

from __future__ import annotations

from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder
from cpsched.greedy.volcano.statement import Statement
from tests.unit.greedy_volcano.cluster import conf, group, node, opened, pod, priority_class, queue

PLUGINS = ("gang", "conformance", "proportion", "predicates")


def test_a_bound_pod_evicted_without_effect_is_running_for_reclaim() -> None:
    objects = [
        node("n", cpu="4"),
        queue("rich"),
        queue("poor"),
        group("big", 0, "rich", "Running"),
        pod("big-x-0", "big", "4", on="n", metadata={"phase": "Pending"}),
        group("small", 1, "poor"),
        pod("small-x-0", "small", "2"),
    ]
    session = opened(objects, conf("reclaim", PLUGINS))
    finder = session.bulk_finder = BulkFinder.over(session)
    assert finder is not None
    task, nodes = session.tasks["ns/small-x-0"], finder.nodes(set())
    assert not finder.reclaiming(task, nodes)
    finder.leave_traces([session.tasks["ns/big-x-0"]])
    assert [one.name for one in finder.reclaiming(task, nodes)] == ["n"]


def test_a_gang_spares_one_less_after_one_is_gone() -> None:
    objects = [
        node("n", cpu="4"),
        queue("q"),
        group("big", 1, "q", "Running"),
        *(pod(f"big-x-{number}", "big", "1", on="n") for number in range(3)),
        group("small", 1, "q"),
        pod("small-x-0", "small", "1"),
    ]
    session = opened(objects, conf("preempt", PLUGINS))
    finder = session.bulk_finder = BulkFinder.over(session)
    assert finder is not None
    task, one = session.tasks["ns/small-x-0"], session.nodes["n"]

    def victims() -> list[str]:
        return [victim.key for victim in finder.victims(finder.preempting(task, within_job=False), one)]

    assert victims() == ["ns/big-x-0", "ns/big-x-1"]
    Statement(session).evict(session.tasks["ns/big-x-0"], "preempt", task.job)
    assert victims() == ["ns/big-x-1"]


def test_one_that_was_going_when_first_asked_may_be_restored() -> None:
    objects = [
        node("n", cpu="4"),
        queue("q"),
        group("big", 0, "q", "Running"),
        pod("big-x-0", "big", "4", on="n"),
        group("small", 1, "q"),
        pod("small-x-0", "small", "1"),
    ]
    session = opened(objects, conf("preempt", PLUGINS))
    finder = session.bulk_finder = BulkFinder.over(session)
    assert finder is not None
    task, statement = session.tasks["ns/small-x-0"], Statement(session)
    statement.evict(session.tasks["ns/big-x-0"], "preempt", task.job)
    assert not finder.victims(finder.preempting(task, within_job=False), session.nodes["n"])
    statement.discard()
    found = finder.victims(finder.preempting(task, within_job=False), session.nodes["n"])
    assert [victim.key for victim in found] == ["ns/big-x-0"]


def test_the_answer_for_one_class_of_tasks_is_not_given_to_another() -> None:
    objects = [
        node("n", cpu="4"),
        *(queue(name) for name in ("q", "other")),
        *(priority_class(name, value) for name, value in (("low", 1), ("mid", 2), ("high", 3))),
        group("big", 0, "q", "Running", priorityClassName="mid"),
        pod("big-x-0", "big", "4", on="n"),
    ]
    hunters = {
        "low": ("q", "low", "1"),
        "high": ("q", "high", "1"),
        "else": ("other", "high", "1"),
        "nil": ("q", "high", ""),
    }
    for name, (queue_name, importance, cpu) in hunters.items():
        objects += [group(name, 1, queue_name, priorityClassName=importance), pod(f"{name}-x-0", name, cpu)]
    session = opened(objects, conf("preempt", ("priority", *PLUGINS)))
    finder = session.bulk_finder = BulkFinder.over(session)
    assert finder is not None
    for within_job in (False, True):
        found = {
            name: len(finder.preempting(session.tasks[f"ns/{name}-x-0"], within_job=within_job).victims)
            for name in hunters
        }
        assert found == {"low": 0, "high": 0 if within_job else 1, "else": 0, "nil": 0}
