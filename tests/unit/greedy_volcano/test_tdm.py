"""tdm: votes of the plugin that no recorded row notices."""

from __future__ import annotations

import pytest

from cpsched.greedy.volcano.hooks import PERMIT, REJECT
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, opened, pod, queue

NEVER = {"annotations": {"volcano.sh/preemptable": "false"}}
LENT = {"volcano.sh/revocable-zone": "z"}
TDM = conf("allocate, preempt", ({"name": "tdm", "arguments": {"tdm.revocable-zone.z": "00:00-23:59"}},))


def cluster(annotations: dict[str, str] | None = None) -> list[Object]:
    """Two running pods on an own node, one on a node that is lent, and a pod that may not be evicted and waits."""
    nodes = [node("own"), node("lent", labels=LENT)]
    running = [pod("r-0", "r", on="own"), pod("r-1", "r", on="own"), pod("s-0", "s", on="lent")]
    groups = [group("r", annotations=annotations or {}), group("s"), group("w", annotations=NEVER["annotations"])]
    return [*nodes, queue(), *groups, *running, pod("w-0", "w", metadata=NEVER), pod("r-2", "r")]


def named(objects: list[Object], preemptor: str) -> tuple[list[str], int]:
    """Whom tdm names of all that run, and its vote."""
    session = opened(objects, TDM)
    [[vote]] = session.point("preemptable")
    candidates = [session.tasks[f"ns/{name}"] for name in ("r-0", "r-1", "s-0")]
    victims, answer = vote(session.tasks[preemptor], candidates)
    return [victim.task.name for victim in victims], answer


@pytest.mark.parametrize(
    ("annotations", "victims"),
    [
        ({}, ["r-0"]),
        ({"volcano.sh/jdb-max-unavailable": "100%"}, ["r-0", "r-1"]),
        ({"volcano.sh/jdb-min-available": "0"}, ["r-0", "r-1"]),
        ({"volcano.sh/jdb-min-available": "2"}, []),
    ],
)
def test_a_job_without_a_budget_loses_one_task(annotations: dict[str, str], victims: list[str]) -> None:
    assert named(cluster(annotations), "ns/w-0") == (victims, PERMIT)


def test_pods_on_nodes_that_are_lent_are_not_named() -> None:
    victims, _ = named(cluster(), "ns/w-0")
    assert "s-0" not in victims


def test_a_preemptor_that_may_be_evicted_itself_makes_the_tier_yield_nothing() -> None:
    assert named(cluster(), "ns/r-2") == ([], REJECT)


def test_a_gang_that_lacks_tasks_is_not_pipelined() -> None:
    session = opened([*cluster(), group("g", minimum=2), pod("g-0", "g")], TDM)
    [[vote]] = session.point("job_pipelined")
    assert vote(session.jobs["ns/g"]) == REJECT
    assert vote(session.jobs["ns/s"]) == PERMIT


def test_jobs_that_may_not_be_evicted_come_first() -> None:
    other = group("p", annotations={"volcano.sh/preemptable": "true"})
    session = opened([*cluster(), other, pod("p-0", "p")], TDM)
    [[order]] = session.point("job_order")
    assert order(session.jobs["ns/w"], session.jobs["ns/p"]) < 0 < order(session.jobs["ns/p"], session.jobs["ns/w"])
    assert order(session.jobs["ns/w"], session.jobs["ns/r"]) == 0
