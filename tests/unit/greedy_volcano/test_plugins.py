"""Plugins with a clock, scores, and what is left to chance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cpsched import engines, options, timestamps
from cpsched.greedy.outcomes import Scripted, explore
from cpsched.greedy.volcano import Options, decide, outcomes, replay
from cpsched.greedy.volcano.plugins.tdm import _closed
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, pod, queue, run


@pytest.mark.parametrize(
    ("clock", "window", "is_open"),
    [
        ("12:00", "10:00-21:00", True),
        ("21:00", "10:00-21:00", True),
        ("09:59", "10:00-21:00", False),
        ("23:00", "22:00-06:00", True),
        # Upstream moves only the end to the next day.
        ("05:00", "22:00-06:00", False),
        ("05:00", "05:00-05:00", True),
        ("05:00", "5 to 6", False),
    ],
)
def test_revocable_windows(clock: str, window: str, is_open: bool) -> None:
    now = timestamps.parse(f"2026-05-05T{clock}:00Z")
    assert (_closed("z", {"z": window}, now) is None) is is_open


def test_revocable_nodes_take_only_work_that_allows_it() -> None:
    zone = {"volcano.sh/revocable-zone": "z"}
    allowed = {"annotations": {"volcano.sh/revocable-zone": "*"}}
    objects = [
        node("n0", labels=zone),
        node("n1"),
        queue(),
        group("a"),
        group("b"),
        pod("a-0", "a"),
        pod("b-0", "b", metadata=allowed),
    ]
    tdm = {"name": "tdm", "arguments": {"tdm.revocable-zone.z": "10:00-12:00"}}
    policy = policy_for(load_model("volcano"), conf("allocate", ("gang", "predicates", tdm)))
    instance = load(objects, lenient=True)
    for clock, expected in (("11:00", "n0"), ("13:00", "n1")):
        moment = replace(instance, now=timestamps.parse(f"2026-01-01T{clock}:00Z"))
        assert decide(moment, policy).binds == {"ns/a-0": "n1", "ns/b-0": expected}


def test_a_job_that_has_waited_long_enough_enters() -> None:
    objects = [
        node("n0", cpu="1"),
        queue(),
        group("a", phase="Pending", minResources={"cpu": "9"}, annotations={"volcano.sh/sla-waiting-time": "1h"}),
        pod("a-0", "a", cpu="9"),
    ]
    policy = policy_for(load_model("volcano"), conf("enqueue", ("sla",), ("overcommit",)))
    instance = load(objects, lenient=True)
    for clock, phase in (("00:59:59", "Pending"), ("01:00:00", "Inqueue")):
        moment = replace(instance, now=timestamps.parse(f"2026-01-01T{clock}Z"))
        assert decide(moment, policy).phases == {"ns/a": phase}


def equal_nodes() -> list[Object]:
    return [node("n0"), node("n1"), node("n2"), queue(), group("a"), pod("a-0", "a")]


def test_equal_scores_are_a_choice() -> None:
    tier = conf("allocate", ("gang", "predicates", "nodeorder"))
    assert run(equal_nodes(), tier).solution.binds == {"ns/a-0": "n0"}
    found = outcomes(load(equal_nodes(), lenient=True), policy_for(load_model("volcano"), tier))
    assert (found.is_complete, found.samples) == (True, 0)
    assert sorted(outcome.binds["ns/a-0"] for outcome in found.solutions) == ["n0", "n1", "n2"]
    seeded = {run(equal_nodes(), tier, Options(seed=seed)).solution.binds["ns/a-0"] for seed in range(30)}
    assert seeded == {"n0", "n1", "n2"}


def test_too_many_outcomes_are_sampled() -> None:
    objects = [*equal_nodes(), *(pod(f"a-{i}", "a") for i in range(1, 5))]
    instance = load(objects, lenient=True)
    policy = policy_for(load_model("volcano"), conf("allocate", ("gang", "predicates")))
    found = outcomes(instance, policy, most_runs=9, samples=30)
    assert (found.is_complete, found.runs, found.samples) == (False, 39, 30)
    assert found.solutions[0].binds == run(objects, policy.conf).solution.binds
    sampled = [one for one in found.solutions if one.seed is not None]
    assert len(sampled) > 9
    for one in sampled:
        assert replay(instance, policy, Options(seed=one.seed)).solution.binds == one.binds
    binds = [tuple(sorted(one.binds.items())) for one in found.solutions]
    assert len(set(binds)) == len(binds)


def test_exploring_sees_every_combination_once() -> None:
    def combination(choices: Scripted) -> tuple[int, tuple[str, ...]]:
        return choices.pick(2), tuple(choices.order("abc"))

    seen = list(explore(combination, 100))  # type: ignore[arg-type]
    assert len(seen) == len(set(seen)) == 12


def test_the_usual_seed_of_common_options_is_the_mirrors_own_choice() -> None:
    policy = policy_for(load_model("volcano"), conf("allocate", ("gang", "predicates")))
    instance = load(equal_nodes(), lenient=True)
    decided = [engines.run("volcano", instance, policy, options.Options(seed=seed)).binds for seed in range(30)]
    assert decided[1] == engines.run("volcano", instance, policy, options.Options()).binds == {"ns/a-0": "n0"}
    assert {binds["ns/a-0"] for binds in decided} == {"n0", "n1", "n2"}


def test_the_trace_is_stated_only_on_demand() -> None:
    policy = policy_for(load_model("volcano"), conf("allocate", ("gang", "predicates")))
    instance = load(equal_nodes(), lenient=True)
    assert replay(instance, policy).trace == ()
    assert replay(instance, policy, Options(trace=True)).trace == (
        "allocate: queue q: job ns/a",
        "  ns/a-0 takes room on n0",
    )


def anti(app: str) -> dict[str, object]:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def test_anti_affinity_of_pods_placed_in_the_session_keeps_no_task_away() -> None:
    """a-0 hates b, but it came to a node that held no such pod when the session opened."""
    objects = [
        node("n0"),
        queue(),
        group("a", second=1),
        group("b", second=2),
        pod("a-0", "a", metadata={"labels": {"app": "a"}}, **anti("b")),
        pod("b-0", "b", metadata={"labels": {"app": "b"}}),
    ]
    tier = conf("allocate", ("gang", "predicates"))
    assert len(run(objects, tier).solution.binds) == 2
    held = [
        *objects,
        group("x", phase="Running"),
        pod("x-0", "x", on="n0", metadata={"labels": {"app": "x"}}, **anti("y")),
    ]
    assert run(held, tier).solution.binds == {"ns/a-0": "n0"}


@pytest.mark.parametrize(("zone", "expected"), [("required", "n0"), ("preferred", "n1")])
def test_required_affinity_of_others_scores_nothing(zone: str, expected: str) -> None:
    """x-0 on n1 wants app a near: as a preference it pulls a-0 over, as a requirement it does not."""
    term = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
    stated = {
        "required": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
        "preferred": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]},
    }[zone]
    objects = [
        node("n0"),
        node("n1"),
        queue(),
        group("a"),
        group("x", phase="Running"),
        pod("x-0", "x", cpu="100m", on="n1", affinity={"podAffinity": stated}),
        pod("a-0", "a", metadata={"labels": {"app": "a"}}),
    ]
    weights = {"leastrequested.weight": 0, "balancedresource.weight": 0}
    nodeorder = {"name": "nodeorder", "arguments": weights}
    assert run(objects, conf("allocate", ("gang", "predicates", nodeorder))).solution.binds == {"ns/a-0": expected}


def test_shares_count_gangs_whatever_model_checks() -> None:
    objects = [node("n", cpu="4")]
    for name in ("one", "two"):
        objects += [queue(name), group(name, queue=name), pod(f"{name}-0", name)]
    decided = decide(load(objects), policy_for(load_model("kube"), None), Options())
    assert sorted(decided.binds) == ["ns/one-0", "ns/two-0"]
