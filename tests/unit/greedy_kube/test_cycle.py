"""Queue, nominated nodes, the rolling search and ties."""

from __future__ import annotations

import numpy as np
import pytest

from cpsched.greedy.kube import Options, decide
from cpsched.greedy.kube.choice import descending, winner
from cpsched.greedy.kube.cycle import nodes_to_find, visit
from cpsched.greedy.kube.engine import open_world
from cpsched.greedy.kube.filtering import CachedVerdicts
from cpsched.greedy.kube.snapshot import Snapshot, node_order
from tests.unit.greedy_kube.build import ZONE, anti, attempt, conf, instance, near, node, pod, policy, run, spread

NO_SPREAD = conf(args={"PodTopologySpread": {"defaultingType": "List", "defaultConstraints": []}})


def order(*objects: dict[str, object]) -> list[str]:
    return [one.pod.removeprefix("default/") for one in run(*objects).attempts]


def test_priority_then_creation_then_the_order_given() -> None:
    pods = [pod("late", created=2), pod("early", created=1), pod("high", priority=9, created=5), pod("same", created=1)]
    assert order(node("n"), *pods) == ["high", "early", "same", "late"]


def test_foreign_gated_and_ended_pods_are_not_tried() -> None:
    ended = pod("ended")
    ended["status"]["phase"] = "Succeeded"
    pods = [pod("foreign", schedulerName="other"), pod("gated", schedulingGates=[{"name": "g"}]), ended, pod("ours")]
    result = run(node("n"), *pods)
    assert [one.pod for one in result.attempts] == ["default/ours"]
    assert result.unplaced == ["default/foreign", "default/gated"]


def test_a_pod_that_waits_for_its_claim_is_not_tried() -> None:
    waiting = pod("waiting", resourceClaims=[{"name": "c", "resourceClaimName": "missing"}])
    assert order(node("n"), waiting) == []


def test_the_decision_says_why_pods_are_not_tried() -> None:
    pods = [
        pod("foreign", schedulerName="other"),
        pod("gated", schedulingGates=[{"name": "a/b"}, {"name": "c"}]),
        pod("waiting", resourceClaims=[{"name": "c", "resourceClaimName": "missing"}]),
        pod("going", going="deleted"),
        pod("large", "9"),
        pod("ours"),
    ]
    found = decide(instance(node("n"), *pods), policy())
    stated = {key.removeprefix("default/"): reasons for key, reasons in found.unplaced.items()}
    assert stated.pop("large")[0].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert stated == {
        "foreign": ["its scheduler is other, and no profile of the configuration has this name"],
        "gated": ["scheduling gates: a/b, c"],
        "waiting": ["a resource claim that it needs is not there"],
        "going": ["it is being deleted"],
    }


def test_nominations_of_pods_outside_the_queue_do_not_count() -> None:
    gated = pod("gated", "1", priority=9, nominated="n", schedulingGates=[{"name": "g"}])
    foreign = pod("foreign", "1", priority=9, nominated="n", schedulerName="other")
    result = run(node("n"), gated, foreign, pod("ours", "1"))
    assert result.binds == {"default/ours": "n"}
    assert result.nominations == {"default/gated": "n", "default/foreign": "n"}


def test_a_deleted_pod_is_dropped_and_its_nomination_turns_into_a_shadow() -> None:
    going = pod("going", "1", priority=9, nominated="n", going="deleted")
    result = run(node("n"), going, pod("ours", "1"))
    assert [one.result for one in result.attempts] == ["skipped", "bound"]
    assert result.nominations == {"default/going": "n"}


@pytest.mark.parametrize(("priority", "result"), [(0, "unschedulable"), (1, "bound")])
def test_the_shadow_counts_as_one_pod_of_priority_zero(priority: int, result: str) -> None:
    going = pod("going", "1", priority=9, nominated="n", going="deleted")
    assert attempt(node("n", pods=1), going, pod("ours", "1", priority=priority)).result == result


def test_before_its_turn_a_deleted_pod_still_holds_its_room() -> None:
    going = pod("going", "1", priority=5, nominated="n", going="deleted", created=9)
    first = pod("first", "1", priority=5)
    assert run(node("n"), going, first, only="default/first").binds == {}


@pytest.mark.parametrize(("priority", "bound"), [(4, True), (5, False), (6, False)])
def test_room_is_kept_for_nominated_pods_of_the_same_or_higher_priority(priority: int, bound: bool) -> None:
    other = pod("other", "1", priority=priority, nominated="n")
    result = run(node("n"), other, pod("ours", "1", priority=5), only="default/ours")
    assert bool(result.binds) is bound


def test_a_nominated_friend_alone_is_no_company() -> None:
    friend = pod("friend", priority=9, nominated="n", labels={"a": "1"})
    fond = pod("fond", affinity=near({"a": "1"}))
    assert run(node("n"), friend, fond, only="default/fond").binds == {}


def test_hooks_tell_the_filters_of_nominated_pods() -> None:
    foe = pod("foe", priority=9, nominated="n", labels={"a": "1"})
    shy = pod("shy", affinity=anti({"a": "1"}))
    assert run(node("n"), foe, shy, only="default/shy").binds == {}


def test_a_nominated_pods_own_anti_affinity_is_not_respected_where_no_task_else_has_any() -> None:
    shy = pod("shy", priority=9, nominated="n", affinity=anti({"a": "1"}))
    ours = pod("ours", labels={"a": "1"})
    assert run(node("n"), shy, ours, only="default/ours").binds == {"default/ours": "n"}
    running = pod("running", on="n2", affinity=anti({"a": "1"}))
    assert run(node("n"), node("n2"), shy, running, ours, only="default/ours").binds == {}


def test_the_nominated_node_wins_over_a_better_one() -> None:
    found = attempt(node("small", "1"), node("big", "64"), pod("p", nominated="small"))
    assert (found.node, found.via, found.best) == ("small", "nominated", ("big",))


def test_a_nominated_node_outside_the_node_set_is_checked_by_the_filter() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    wish = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    found = attempt(node("a", "100m"), node("b"), node("c"), pod("p", "200m", nominated="b", affinity=wish))
    assert found.failed["b"].plugin == "NodeAffinity"
    assert found.failed["c"].reasons == ("node(s) didn't satisfy plugin(s) [NodeAffinity]",)
    cordoned = node("b", unschedulable=True)
    found = attempt(node("a", "100m"), cordoned, node("c"), pod("p", "200m", nominated="b", affinity=wish))
    assert found.failed["c"].reasons == ("node(s) didn't satisfy plugin(s) [NodeAffinity NodeUnschedulable]",)


def test_zones_take_turns() -> None:
    zones = {"a1": "a", "a2": "a", "b1": "b", "c1": "c", "c2": "c", "a3": "a"}
    nodes = instance(*(node(name, labels={ZONE: zone}) for name, zone in zones.items())).nodes
    assert node_order(nodes.values()) == ["a1", "b1", "c1", "a2", "c2", "a3"]


def test_the_old_zone_label_is_asked_first() -> None:
    beta = "failure-domain.beta.kubernetes.io/zone"
    nodes = instance(
        node("x", labels={ZONE: "a", beta: "old"}), node("y", labels={ZONE: "a"}), node("z", labels={beta: "old"})
    ).nodes
    assert node_order(nodes.values()) == ["x", "y", "z"]


def test_running_pods_arrive_by_name_and_an_update_moves_one_to_the_end() -> None:
    snapshot = Snapshot(instance(node("n"), *(pod(name, on="n") for name in "cab")))
    tasks = snapshot.nodes[0].tasks
    assert [task.name for task in tasks] == ["a", "b", "c"]
    snapshot.update(tasks[0])
    assert [task.name for task in snapshot.nodes[0].tasks] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("nodes", "percentage", "wanted"),
    [(99, 0, 99), (100, 0, 100), (1000, 0, 420), (5000, 0, 500), (20000, 0, 1000), (1000, 70, 700), (150, 10, 100)],
)
def test_how_many_nodes_are_enough(nodes: int, percentage: int, wanted: int) -> None:
    given = policy(conf(percentageOfNodesToScore=percentage))
    world, frameworks = open_world(instance(node("n")), given, Options())
    assert nodes_to_find(world, frameworks["default-scheduler"], nodes) == wanted


def test_the_search_stops_before_one_too_many_and_the_next_begins_there() -> None:
    codes = np.array([0, 1, 0, 1, 1, 0, 0, 1])
    order, seen = visit(np.arange(8), CachedVerdicts(codes), start=2, wanted=2)
    assert order.tolist() == [2, 3, 4, 5]
    assert seen.tolist() == [0, 1, 1, 0]


def test_the_search_rolls_on_over_more_than_a_hundred_nodes() -> None:
    objects = [node(f"n{at:03}", "1") for at in range(250)]
    pods = [pod(f"p{at}", created=at) for at in range(4)]
    feasible = [one.feasible for one in run(*objects, *pods).attempts]
    assert [len(found) for found in feasible] == [120, 120, 120, 120]
    assert [found[0] for found in feasible] == ["n000", "n120", "n240", "n110"]


def test_equal_scores_come_out_of_gos_heap() -> None:
    assert winner(np.array([5, 9, 9])) == 1
    assert winner(np.array([1, 2, 9, 9])) == 3
    assert winner(np.array([7, 7, 7, 7])) == 0
    assert descending(np.array([3, 1, 2])) == [0, 2, 1]


def hinted(*pods: dict[str, object], given: dict[str, object] = NO_SPREAD) -> list[str]:
    nodes = [node(f"n{at}", "1") for at in range(3)]
    return [one.via for one in run(*nodes, *pods, given=given).attempts]


def test_identical_pods_that_fill_a_node_take_the_runner_up() -> None:
    pods = [pod(f"p{at}", "600m", created=at) for at in range(3)]
    assert hinted(*pods) == ["score", "hint", "hint"]


def test_no_hint_by_default_after_another_pod_or_while_the_node_has_room() -> None:
    pods = [pod(f"p{at}", "600m", created=at) for at in range(2)]
    assert hinted(*pods, given=conf()) == ["score", "score"]
    assert hinted(*(pod(f"p{at}", "100m", created=at) for at in range(2))) == ["score", "score"]
    other = pod("other", "601m", created=1)
    assert hinted(pod("p0", "600m"), other, pod("p2", "600m", created=2)) == ["score", "score", "only"]


def test_a_deleted_pod_between_two_breaks_the_batch() -> None:
    pods = [pod("a", "600m", created=0), pod("b", "600m", created=1, going="deleted"), pod("c", "600m", created=2)]
    assert hinted(*pods) == ["score", "", "score"]


def test_bound_pods_count_for_those_that_follow() -> None:
    pods = [pod(f"p{at}", "600m", created=at) for at in range(3)]
    result = run(node("a"), node("b"), *pods)
    assert sorted(result.binds.values()) == ["a", "b"]
    assert result.unplaced == ["default/p2"]


def test_first_of_its_kind_needs_no_task_else_of_its_kind_anywhere() -> None:
    fond = {"labels": {"a": "1"}, "affinity": near({"a": "1"})}
    assert attempt(node("n"), pod("p", **fond)).result == "bound"
    elsewhere = pod("friend", "1", on="other", priority=9, labels={"a": "1"})
    assert attempt(node("n"), node("other"), elsewhere, pod("p", **fond)).result == "unschedulable"


def test_no_execute_taints_keep_pods_away() -> None:
    assert (
        attempt(node("n", taints=[{"key": "k", "effect": "NoExecute"}]), pod("p")).failed["n"].plugin
        == "TaintToleration"
    )


def test_nodes_count_for_a_constraint_only_with_the_keys_of_all() -> None:
    labels = {"a": "1"}
    nodes = [
        node("n1", labels={"z": "1", "r": "1"}),
        node("n2", labels={"z": "2", "r": "1"}),
        node("n3", labels={"z": "3"}),
    ]
    running = [pod("a", on="n1", labels=labels), pod("b", on="n2", labels=labels)]
    wide = pod("p", labels=labels, topologySpreadConstraints=[spread("z", labels), spread("r", labels, 9)])
    assert attempt(*nodes, *running, wide).feasible == ("n1", "n2"), "the empty zone 3 lacks a key and sets no minimum"


def test_a_pods_own_nomination_is_not_in_its_way() -> None:
    greedy = pod("p", "600m", nominated="n", requests={"memory": "40Gi"})
    found = attempt(node("n"), pod("r", "500m", on="n"), greedy)
    assert found.failed["n"].reasons == ("Insufficient cpu",)
