"""Eligibility, acting on a choice, nominations and messages."""

from __future__ import annotations

import pytest

from cpsched.filters.status import Code, Status
from cpsched.greedy.kube import Attempt, decide
from cpsched.greedy.kube.statuses import NodeStatuses, fit_message
from tests.unit.greedy_kube.build import attempt, conf, instance, node, pod, policy, run

PREEMPTOR = pod("p", "1", priority=1000)
FULL = (node("n"), pod("v", "1", on="n"))


def off(*names: str) -> dict[str, object]:
    return conf(plugins={"postFilter": {"disabled": [{"name": name} for name in names]}})


def test_the_victim_stays_marked_in_place_and_the_preemptor_waits() -> None:
    later = pod("later", "1", priority=1000, created=9)
    result = run(*FULL, PREEMPTOR, later)
    assert result.binds == {}
    assert result.evictions == [("default/v", "n", "default/p")]
    assert result.nominations == {"default/p": "n"}
    assert result.attempts[1].post_filter_message.endswith("1 Insufficient cpu.")


def test_a_victim_that_is_going_is_chosen_again_but_not_deleted_again() -> None:
    found = attempt(node("n"), pod("v", "1", on="n", going="deleted"), PREEMPTOR)
    assert (found.nominated, found.victims) == ("n", ())
    assert found.chosen is not None
    assert found.chosen.victims == ("default/v",)


@pytest.mark.parametrize(("asynchronous", "kept"), [(True, True), (False, False)])
def test_nothing_is_cleared_if_all_victims_are_going_already(asynchronous: bool, kept: bool) -> None:
    low = pod("low", "1", priority=5, nominated="n")
    going = pod("v", "1", on="n", going="deleted")
    result = run(node("n"), going, low, PREEMPTOR, only="default/p", async_preemption=asynchronous)
    assert ("default/low" in result.nominations) is kept


@pytest.mark.parametrize(("priority", "kept"), [(999, False), (1000, True)])
def test_lower_nominations_to_the_node_are_cleared(priority: int, kept: bool) -> None:
    other = pod("other", "", priority=priority, nominated="n", created=1)
    result = run(*FULL, other, PREEMPTOR, only="default/p")
    assert ("default/other" in result.nominations) is kept
    assert result.attempts[0].cleared_nominations == (() if kept else ("default/other",))


def test_never_means_never() -> None:
    found = attempt(*FULL, pod("p", "1", priority=1000, preemptionPolicy="Never", nominated="n"))
    assert (found.eligible, found.nominating) == (False, "keep")
    assert found.post_filter_message == (
        "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never."
    )


@pytest.mark.parametrize(
    ("going", "priority", "eligible"),
    [("preempted", 0, False), ("deleted", 0, True), ("preempted", 1000, True), ("", 0, True)],
    ids=["its victim", "deleted by a task", "not lower", "not going"],
)
def test_a_preemptor_waits_for_its_victims(going: str, priority: int, eligible: bool) -> None:
    victim = pod("v", "1", on="n", priority=priority, going=going)
    found = attempt(node("n"), victim, pod("p", "1", priority=1000, nominated="n"))
    assert found.eligible is eligible
    assert (found.nominating == "keep") is not eligible


def test_a_preemptor_starts_over_if_its_node_will_never_do() -> None:
    victim = pod("v", "500m", on="n", going="preempted")
    found = attempt(node("n", "500m"), victim, pod("p", "1", priority=1000, nominated="n"))
    assert (found.eligible, found.nominating) == (True, "clear")
    gone = attempt(*FULL, pod("p", "1", priority=1000, nominated="gone"))
    assert gone.nominated == "n"


def test_without_preemption_the_nomination_stays_without_any_post_filter_it_goes() -> None:
    given = pod("p", "1", priority=1000, nominated="n")
    kept = attempt(*FULL, given, given=off("DefaultPreemption"))
    assert (kept.nominating, kept.post_filter_message, kept.eligible) == ("keep", "no new claims to deallocate", None)
    cleared = attempt(*FULL, given, given=off("DefaultPreemption", "DynamicResources"))
    assert (cleared.nominating, cleared.message) == ("clear", "0/1 nodes are available: 1 Insufficient cpu.")


def test_what_release_says_on_success() -> None:
    assert attempt(*FULL, PREEMPTOR).message == "0/1 nodes are available: 1 Insufficient cpu."
    stated = " preemption: found a potential placement for pod on node n, preempting 1 victims"
    assert attempt(*FULL, PREEMPTOR, version="head").message.endswith(stated)


def test_reasons_are_counted_and_sorted_as_texts() -> None:
    explicit = {f"a{n}": Status(Code.UNSCHEDULABLE, ("x",)) for n in range(10)}
    explicit |= {"b": Status(Code.UNSCHEDULABLE, ("y", "x"))}
    statuses = NodeStatuses(explicit, Status(Code.UNRESOLVABLE, ("z",)))
    assert fit_message(13, statuses, post_filter="post") == "0/13 nodes are available: 1 y, 11 x, 2 z. post"
    assert fit_message(13, statuses, "pre") == "0/13 nodes are available: pre."
    assert fit_message(11, statuses) == "0/11 nodes are available: 1 y, 11 x."


def test_a_pre_filter_that_refuses_speaks_for_all_nodes() -> None:
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}
    found = attempt(node("n1"), node("n2"), pod("p", volumes=[claim], nominated="n1"))
    assert found.pre_filter_message == 'persistentvolumeclaim "missing" not found'
    assert {status.code for status in found.failed.values()} == {Code.UNRESOLVABLE}
    # DynamicResources' own PreFilter never ran: its PostFilter misses its state, and preemption is not asked.
    assert found.message == '0/2 nodes are available: persistentvolumeclaim "missing" not found. not found'
    assert found.nominating == "keep"
    alone = attempt(node("n1"), pod("p", volumes=[claim], nominated="n1"), given=off("DynamicResources"))
    assert alone.post_filter_message.startswith("preemption: 0/1 nodes are available: 1 Preemption is not helpful")
    assert alone.nominating == "clear"


def test_no_nodes_at_all() -> None:
    found = attempt(pod("p", nominated="gone"))
    assert (found.message, found.nominating) == ("no nodes available to schedule pods", "clear")


def test_the_event_is_cut_the_condition_is_not() -> None:
    found = Attempt("p", message="x" * 2000)
    assert found.event == "x" * 1020 + " ..."
    assert Attempt("p", message="short").event == "short"


def test_what_wakes_the_pod_up() -> None:
    found = attempt(node("n1", "500m"), node("n2", unschedulable=True), pod("p", "1"))
    assert found.rejectors == ("NodeResourcesFit", "NodeUnschedulable")
    assert (found.reason, found.requeue) == ("Unschedulable", "unschedulable")


def test_the_solution_says_it_in_the_common_format() -> None:
    given = instance(*FULL, PREEMPTOR, pod("small", "", priority=2000), pod("stuck", "9", created=3))
    solution = decide(given, policy())
    assert solution.binds == {"default/small": "n"}
    assert solution.pipelined == solution.nominations == {"default/p": "n"}
    (eviction,) = solution.evictions
    assert (eviction.task, eviction.node, eviction.action, eviction.for_job) == (
        "default/v",
        "n",
        "preempt",
        "default/p",
    )
    assert list(solution.unplaced) == ["default/p", "default/stuck"]
    assert solution.unplaced["default/stuck"][0].startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_nomination_that_a_higher_preemptor_takes_is_not_pipelined() -> None:
    objects = [node("n"), pod("v", "500m", on="n"), pod("w", "500m", on="n", priority=50)]
    low, high = pod("low", "500m", priority=10, nominated="n"), pod("high", "1", priority=100)
    solution = decide(instance(*objects, low, high), policy())
    assert solution.pipelined == {"default/high": "n"}


def test_the_shadow_of_a_deleted_pod_cannot_be_cleared() -> None:
    going = pod("going", "", priority=2000, nominated="n", going="deleted")
    result = run(*FULL, going, PREEMPTOR)
    assert result.nominations == {"default/going": "n", "default/p": "n"}
    assert result.attempts[1].cleared_nominations == ()


def test_the_next_of_its_kind_sees_what_the_first_one_has_taken() -> None:
    running = [pod("old", "500m", on="n", start=1), pod("young", "500m", on="n", start=2)]
    pods = [pod(f"p{at}", "500m", priority=1000, created=at) for at in range(2)]
    result = run(node("n"), *running, *pods)
    assert [(victim, preemptor) for victim, _, preemptor in result.evictions] == [
        ("default/young", "default/p0"),
        ("default/old", "default/p1"),
    ]


def test_the_next_of_its_kind_sees_who_was_bound_meanwhile() -> None:
    nodes = [node("n1", "1100m"), node("n2", "1100m")]
    running = [pod("v1", "1", on="n1", priority=5), pod("v2", "1", on="n2", priority=9)]
    pods = [pod(f"p{at}", "1100m", priority=1000, created=2 * at) for at in range(2)]
    result = run(*nodes, *running, *pods, pod("small", "100m", priority=1000, created=1))
    assert result.binds == {"default/small": "n2"}
    assert result.nominations == {"default/p0": "n1"}
