"""Whom a node gives up: importance, budgets, reprieve."""

from __future__ import annotations

import pytest

from cpsched.greedy.kube.pdb import Budgets
from cpsched.greedy.kube.victims import Victims, by_importance, single, terminating_by_preemption
from tests.unit.greedy_kube.build import attempt, both_ways, budget, instance, node, pod, tasks, victims

PREEMPTOR = pod("p", "300m", priority=1000)
COVERED = {"app": "db"}


def test_three_small_pods_go_where_the_one_old_pod_would_do() -> None:
    old = pod("d", "300m", on="n", start=0)
    small = [pod(name, "100m", on="n", start=1 + at) for at, name in enumerate("abc")]
    assert victims(node("n", "600m"), old, *small, PREEMPTOR) == ["a", "b", "c"]


def test_a_violation_is_counted_that_is_none() -> None:
    kept, evicted = pod("a", "100m", on="n", priority=100, labels=COVERED), pod("b", "400m", on="n", labels=COVERED)
    chosen = both_ways(node("n", "500m"), kept, evicted, PREEMPTOR, budget("one", 1, COVERED)).chosen
    assert chosen is not None
    assert chosen.victims == ("default/b",)
    assert (chosen.pdb_violations, chosen.true_violations) == (1, 0)


def test_a_protected_low_pod_is_spared_at_the_cost_of_a_higher_one() -> None:
    low = pod("low", "300m", on="n", labels=COVERED)
    high = pod("high", "300m", on="n", priority=100)
    assert victims(node("n", "600m"), low, high, PREEMPTOR, budget("none", 0, COVERED)) == ["high"]


def test_victims_of_both_classes_are_sorted_again() -> None:
    covered = pod("covered", "300m", on="n", labels=COVERED)
    free = pod("free", "300m", on="n", priority=100)
    big = pod("p", "600m", priority=1000)
    assert victims(node("n", "600m"), covered, free, big, budget("none", 0, COVERED)) == ["free", "covered"]


@pytest.mark.parametrize(("version", "order"), [("1.36", ["c", "b", "a"]), ("head", ["a", "b", "c"])])
def test_pods_that_have_not_started_change_their_order_up_to_136(version: str, order: list[str]) -> None:
    pods = [pod(name, "100m", on="n", start=None) for name in "abc"]
    assert victims(node("n", "300m"), *pods, PREEMPTOR, version=version) == order


@pytest.mark.parametrize(("version", "order"), [("1.36", ["free", "covered"]), ("head", ["covered", "free"])])
def test_a_second_sort_turns_pods_that_have_not_started_round_again(version: str, order: list[str]) -> None:
    covered = pod("covered", "150m", on="n", start=None, labels=COVERED)
    free = pod("free", "150m", on="n", start=None)
    objects = (node("n", "300m"), covered, free, PREEMPTOR, budget("none", 0, COVERED))
    assert victims(*objects, version=version) == order


def test_started_before_not_started_and_old_before_young() -> None:
    found = tasks(*(pod(name, on="n", start=start) for name, start in (("new", None), ("young", 9), ("old", 1))))
    ordered = by_importance([single(task) for task in found.values()], "1.36")
    assert [unit.tasks[0].name for unit in ordered] == ["old", "young", "new"]


def test_equal_priority_is_no_victim_and_terminating_pods_are() -> None:
    going = pod("going", "300m", on="n", priority=5, going="deleted")
    equal = pod("equal", "300m", on="n", priority=1000)
    assert victims(node("n", "600m"), going, equal, PREEMPTOR) == ["going"]
    assert victims(node("n", "300m"), equal, PREEMPTOR) == []


@pytest.mark.parametrize(("version", "counts"), [("1.36", [1, 1]), ("head", [1, 0])])
def test_after_a_violation_other_budgets_are_charged_up_to_136(version: str, counts: list[int]) -> None:
    budgets = instance(budget("b1", 0, {"a": "1"}), budget("b2", 1, {"b": "1"})).budgets
    both = tasks(pod("x", labels={"a": "1", "b": "1"}), pod("y", labels={"b": "1"}))
    assert Budgets(budgets).violations([(both["x"],), (both["y"],)], version) == counts


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (budget("b", 0, {"a": "1"}, namespace="other"), {"a": "1"}),
        (budget("b", 0, {}), {"a": "1"}),
        (budget("b", 0, None), {"a": "1"}),
        (budget("b", 0, {"a": "1"}, disrupted={"x": "2026-01-01T00:00:00Z"}), {"a": "1"}),
        (budget("b", 0, {"a": "2"}), {"a": "1"}),
    ],
    ids=["namespace", "empty selector", "no selector", "disrupted already", "labels"],
)
def test_budgets_that_do_not_cover_the_pod(given: dict[str, object], labels: dict[str, str]) -> None:
    budgets = Budgets(instance(given).budgets)
    (task,) = tasks(pod("x", labels=labels)).values()
    assert budgets.violations([(task,)], "1.36") == [0]
    assert budgets.true_violations([task]) == 0


def test_a_pod_without_labels_breaks_no_budget() -> None:
    selector = {"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}]}
    given = budget("b", 0, {})
    given["spec"]["selector"] = selector
    found = tasks(pod("bare"), pod("labelled", labels={"x": "y"}))
    assert Budgets(instance(given).budgets).violations([(found["bare"],), (found["labelled"],)], "1.36") == [0, 1]


def test_a_disrupted_pod_does_not_use_the_budget_up() -> None:
    given = budget("b", 1, {"a": "1"}, disrupted={"x": "2026-01-01T00:00:00Z"})
    found = tasks(pod("x", labels={"a": "1"}), pod("y", labels={"a": "1"}))
    assert Budgets(instance(given).budgets).violations([(found["x"],), (found["y"],)], "1.36") == [0, 0]


def test_only_the_first_disruption_condition_tells_who_is_evicting() -> None:
    given = pod("x", on="n", going="preempted")
    assert terminating_by_preemption(tasks(given)["x"])
    other = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    given["status"]["conditions"].insert(0, other)
    assert not terminating_by_preemption(tasks(given)["x"])
    assert not terminating_by_preemption(tasks(pod("y", on="n", going="deleted"))["y"])


def test_a_request_of_zero_is_not_checked_on_an_overcommitted_node() -> None:
    full, small = pod("full", "900m", on="n", priority=2000), pod("small", "", on="n")
    idle = pod("p", "", priority=1000, requests={})
    assert attempt(node("n", "500m", pods=9), full, small, idle).result == "bound"


def test_levels_compare_in_order() -> None:
    found = tasks(*(pod(name, on="n", priority=p) for name, p in (("a", 0), ("b", -(2**31)), ("c", 7))))
    alone, crowd = Victims((found["a"],), 0), Victims((found["a"], found["b"]), 0)
    assert alone.levels[:3] == crowd.levels[:3], "a victim of the lowest priority weighs nothing"
    assert alone.levels > crowd.levels, "so that the number of victims decides"
    assert Victims((found["c"],), 0).levels > Victims((found["a"],), 1).levels, "budgets come first"


def test_true_violations_leave_out_pods_that_are_going_and_debts_of_the_budget() -> None:
    going = pod("v", "300m", on="n", labels=COVERED, going="deleted")
    chosen = both_ways(node("n", "300m"), going, PREEMPTOR, budget("none", 0, COVERED)).chosen
    assert chosen is not None
    assert (chosen.pdb_violations, chosen.true_violations) == (1, 0)
    budgets = Budgets(instance(budget("debt", -3, COVERED)).budgets)
    assert budgets.true_violations([tasks(pod("x", labels=COVERED))["x"]]) == 1
