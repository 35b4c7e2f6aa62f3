"""Which nodes are candidates, how many, and which is chosen."""

from __future__ import annotations

import pytest

from cpsched.greedy.kube.candidates import candidates_wanted, pick_one
from cpsched.greedy.kube.victims import Victims
from cpsched.policy.kube_args import DefaultPreemptionArgs
from tests.unit.greedy_kube.build import anti, attempt, both_ways, budget, conf, near, node, pod, run, spread, tasks

PREEMPTOR = pod("p", "1", priority=1000)


def chosen(*objects: dict[str, object], **options: object) -> str:
    return both_ways(*objects, **options).nominated


def two(left: list[dict[str, object]], right: list[dict[str, object]], *more: dict[str, object]) -> str:
    return chosen(node("n1"), node("n2"), *left, *right, *more, PREEMPTOR)


def test_fewest_broken_budgets_beat_lower_priorities() -> None:
    low, high = pod("low", "1", on="n1", labels={"a": "1"}), pod("high", "1", on="n2", priority=900)
    assert two([low], [high], budget("none", 0, {"a": "1"})) == "n2"


def test_the_lowest_top_priority_beats_fewer_victims() -> None:
    left = [pod("l", "1", on="n1", priority=10)]
    right = [pod(f"r{n}", "500m", on="n2", priority=9) for n in range(2)]
    assert two(left, right) == "n2"


def test_fewer_victims_beat_a_smaller_sum_of_priorities() -> None:
    left = [pod("l0", "500m", on="n1", priority=9), pod("l1", "500m", on="n1", priority=-900)]
    right = [pod("r", "1", on="n2", priority=9)]
    assert two(left, right) == "n2"


def test_the_smaller_sum_decides_between_as_many() -> None:
    left = [pod("l0", "500m", on="n1", priority=9), pod("l1", "500m", on="n1", priority=8)]
    right = [pod("r0", "500m", on="n2", priority=9), pod("r1", "500m", on="n2", priority=7)]
    assert two(left, right) == "n2"


def test_the_later_start_decides_and_only_of_the_top_victims() -> None:
    left = [pod("l0", "500m", on="n1", priority=9, start=5), pod("l1", "500m", on="n1", priority=8, start=30)]
    right = [pod("r0", "500m", on="n2", priority=9, start=6), pod("r1", "500m", on="n2", priority=8, start=1)]
    assert two(left, right) == "n2"


def test_the_first_name_breaks_the_last_tie() -> None:
    victims = {name: Victims((task,), 0) for name, task in tasks(pod("b", on="n"), pod("a", on="n")).items()}
    assert pick_one(victims) == "a"


@pytest.mark.parametrize(
    ("nodes", "percentage", "absolute", "wanted"),
    [(1000, 10, 100, 100), (5000, 10, 100, 500), (50, 10, 100, 50), (5, 40, 1, 2), (7, 10, 0, 0)],
)
def test_how_many_candidates_are_enough(nodes: int, percentage: int, absolute: int, wanted: int) -> None:
    args = DefaultPreemptionArgs(minCandidateNodesPercentage=percentage, minCandidateNodesAbsolute=absolute)
    assert candidates_wanted(nodes, args) == wanted


def limited(absolute: int) -> dict[str, object]:
    args = {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": absolute}
    return conf(args={"DefaultPreemption": args})


def test_sampling_stops_at_the_first_candidate_without_a_broken_budget() -> None:
    objects = [node(f"n{at}") for at in range(3)]
    objects += [pod(f"v{at}", "1", on=f"n{at}", priority=9 - at) for at in range(3)]
    assert chosen(*objects, PREEMPTOR, given=limited(1)) == "n0"
    assert chosen(*objects, PREEMPTOR, given=limited(3)) == "n2"


def test_sampling_goes_on_until_a_candidate_breaks_no_budget() -> None:
    objects = [node(f"n{at}") for at in range(4)]
    objects += [pod(f"v{at}", "1", on=f"n{at}", labels={"a": "1"} if at < 2 else {}) for at in range(4)]
    assert chosen(*objects, budget("none", 0, {"a": "1"}), PREEMPTOR, given=limited(1)) == "n2"


def test_a_seed_draws_where_the_dry_runs_begin() -> None:
    objects = [node(f"n{at}") for at in range(4)]
    objects += [pod(f"v{at}", "1", on=f"n{at}") for at in range(4)]
    given = limited(1)
    drawn = {run(*objects, PREEMPTOR, given=given, seed=seed).attempts[-1].nominated for seed in range(20)}
    assert drawn == {"n0", "n1", "n2", "n3"}
    again = [run(*objects, PREEMPTOR, given=given, seed=3).attempts[-1].nominated for _ in range(2)]
    assert again[0] == again[1]


def test_affinity_to_a_victim_defeats_preemption() -> None:
    friend = pod("friend", "500m", on="n", labels={"a": "1"})
    filler = pod("filler", "500m", on="n")
    fond = pod("p", "500m", priority=1000, affinity=near({"a": "1"}))
    assert attempt(node("n"), friend, filler, fond).nominating == "clear"


def test_anti_affinity_is_fixed_by_evicting_and_hooks_follow() -> None:
    foe, other = pod("foe", on="n", labels={"a": "1"}, start=0), pod("other", on="n", start=1)
    shy = pod("p", "100m", priority=1000, affinity=anti({"a": "1"}))
    found = attempt(node("n"), foe, other, shy)
    assert found.victims == ("default/foe",)


def test_spread_hooks_take_off_a_terminating_pod_that_was_never_counted() -> None:
    labels = {"a": "1"}
    nodes = [node("n1", "1", labels={"z": "1"}), node("n2", "1", labels={"z": "2"})]
    staying = [pod(f"s{at}", "300m", on="n1", labels=labels, priority=5, start=at) for at in range(2)]
    going = pod("going", "300m", on="n1", labels=labels, going="deleted", start=9)
    blocker = pod("blocker", "1", on="n2", priority=2000)
    wide = pod("p", "100m", priority=1000, labels=labels, topologySpreadConstraints=[spread("z", labels)])
    found = attempt(*nodes, *staying, going, blocker, wide)
    assert found.failed["n1"].plugin == "PodTopologySpread"
    # Two count, three are taken off: -1, and after one is back 0, after another 1, which is one too many beside itself.
    assert found.victims == ("default/s1",)


def test_preemption_looks_at_unschedulable_nodes_only() -> None:
    small, tainted = node("small", "500m"), node("tainted", taints=[{"key": "k", "effect": "NoExecute"}])
    full = [pod("a", "500m", on="small"), pod("b", "1", on="tainted")]
    found = attempt(small, tainted, *full, PREEMPTOR)
    assert found.post_filter_message.endswith("0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
    assert {status.code.value for status in found.failed.values()} == {"UnschedulableAndUnresolvable"}


def test_a_full_list_takes_no_more_candidates() -> None:
    objects = [node(f"n{at}") for at in range(3)]
    objects += [pod(f"v{at}", "1", on=f"n{at}", priority=9 - at, labels={"a": "1"}) for at in range(3)]
    assert chosen(*objects, budget("none", 0, {"a": "1"}), PREEMPTOR, given=limited(1)) == "n0"
    assert chosen(*objects, budget("none", 0, {"a": "1"}), PREEMPTOR) == "n2"


def fit_first() -> dict[str, object]:
    """A profile whose static filters come after NodeResourcesFit, so that their refusal shows only in the dry run."""
    names = (
        "PrioritySort",
        "NodeResourcesFit",
        "TaintToleration",
        "NodeAffinity",
        "DefaultPreemption",
        "DefaultBinder",
    )
    enabled = [{"name": name} for name in names]
    return conf(plugins={"multiPoint": {"disabled": [{"name": "*"}], "enabled": enabled}})


def test_a_refusal_hidden_behind_room_shows_in_the_dry_run() -> None:
    tainted = node("n", taints=[{"key": "k", "effect": "NoSchedule"}])
    found = both_ways(tainted, pod("v", "1", on="n"), PREEMPTOR, given=fit_first())
    assert found.failed["n"].plugin == "NodeResourcesFit"
    assert found.dry_run_failed["n"].plugin == "TaintToleration"
    assert found.nominated == ""


def test_a_pod_that_wants_other_nodes_is_of_another_kind() -> None:
    objects = [node("n1"), node("n2"), pod("v1", "1", on="n1"), pod("v2", "1", on="n2", priority=9)]
    picky = pod("picky", "1", priority=1000, created=9, nodeSelector={"disk": "ssd"})
    found = attempt(*objects, PREEMPTOR, picky, given=fit_first())
    assert found.pod == "default/picky"
    assert found.nominated == ""
