"""What kube-scheduler leaves to chance: seeds draw it, and all outcomes are listed."""

from __future__ import annotations

from cpsched.greedy.kube import Options, decide, outcomes
from cpsched.instance import Instance
from cpsched.policy import Policy
from tests.unit.greedy_kube.build import Object, instance, node, pod, policy

SEEDS = range(2, 40)


def cluster(*objects: Object) -> tuple[Instance, Policy]:
    return instance(*objects), policy()


def victims(instance: Instance, policy: Policy, seed: int | None = None) -> frozenset[str]:
    return decide(instance, policy, Options(seed=seed)).evicted


def test_victims_that_started_in_one_second_are_drawn() -> None:
    held = [pod(name, "1", on="n1") for name in ("a", "b", "c")]
    case = cluster(node("n1", cpu="3"), *held, pod("urgent", cpu="1", priority=9))
    assert victims(*case) == {"default/c"}
    assert {victims(*case, seed) for seed in SEEDS} == {frozenset({f"default/{name}"}) for name in "abc"}
    found = outcomes(*case)
    assert found.is_complete
    assert {one.evicted for one in found.solutions} == {frozenset({f"default/{name}"}) for name in "abc"}


def test_a_later_start_or_a_lower_priority_is_no_tie() -> None:
    for other in (pod("b", "1", on="n1", start=1), pod("b", "1", on="n1", priority=-1)):
        case = cluster(node("n1", cpu="2"), pod("a", "1", on="n1"), other, pod("urgent", cpu="1", priority=9))
        assert {victims(*case, seed) for seed in SEEDS} == {frozenset({"default/b"})}
        assert len(outcomes(*case).solutions) == 1


def test_nodes_whose_victims_are_equal_are_drawn() -> None:
    held = [pod(name, "1", on=f"n{place}") for place, name in enumerate("abc")]
    nodes = [node(f"n{place}", cpu="1") for place in range(3)]
    case = cluster(*nodes, *held, pod("urgent", cpu="1", priority=9))
    chosen = {decide(*case, Options(seed=seed)).nominations["default/urgent"] for seed in SEEDS}
    assert decide(*case).nominations == {"default/urgent": "n0"}
    assert chosen == {"n0", "n1", "n2"} == {one.nominations["default/urgent"] for one in outcomes(*case).solutions}


def test_nodes_of_one_score_are_drawn_and_no_other() -> None:
    nodes = [node("n0", cpu="4"), node("n1", cpu="4"), node("n2", cpu="2")]
    case = cluster(*nodes, pod("p", cpu="1"))
    assert {decide(*case, Options(seed=seed)).binds["default/p"] for seed in SEEDS} == {"n0", "n1"}
    assert sorted(one.binds["default/p"] for one in outcomes(*case).solutions) == ["n0", "n1"]


def test_pods_created_in_one_second_may_come_in_any_order() -> None:
    case = cluster(node("n1", cpu="1"), *(pod(name, "1", created=int(name == "c")) for name in "abc"))
    assert set(decide(*case).binds) == {"default/a"}
    assert {next(iter(decide(*case, Options(seed=seed)).binds)) for seed in SEEDS} == {"default/a", "default/b"}


def test_too_many_outcomes_are_sampled() -> None:
    nodes = [node(f"n{place}", cpu="8") for place in range(6)]
    case = cluster(*nodes, *(pod(f"p{number}", cpu="1") for number in range(4)))
    found = outcomes(*case, most_runs=50, samples=20)
    assert (found.is_complete, found.runs, found.samples) == (False, 70, 20)
    for one in found.solutions:
        assert decide(*case, Options(seed=one.seed)).binds == one.binds or one.seed is None


def test_far_too_many_combinations_are_not_tried_one_by_one() -> None:
    """Eight pods on eight equal nodes: the fixed choice and the samples are all that is run."""
    case = cluster(*(node(f"n{place}", cpu="8") for place in range(8)), *(pod(f"p{n}", "1") for n in range(8)))
    found = outcomes(*case, most_runs=50, samples=10)
    assert (found.is_complete, found.runs, found.samples) == (False, 11, 10)
    assert found.solutions[0].binds == decide(*case).binds
