"""nodegroup, resource-strategy-fit, resourcequota, usage: rules that no recorded row notices."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.completeness.registry import doubts
from cpsched.greedy.outcomes import First
from cpsched.greedy.volcano.plugins import PLUGINS
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.trace import SessionTrace
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, opened, pod, queue, run

GROUP = "volcano.sh/nodegroup-name"
A100 = "nvidia.com/a100"


def sized(name: str, **amounts: str) -> Object:
    """A node with amounts of its own; `gpu` stands for a card."""
    made = node(name)
    amounts = {A100 if key == "gpu" else key: amount for key, amount in amounts.items()}
    made["status"]["allocatable"] = {"cpu": "8", "memory": "64Gi", "pods": "20", **amounts}
    return made


def asking(name: str, job: str, on: str = "", **amounts: str) -> Object:
    amounts = {A100 if key == "gpu" else key: amount for key, amount in amounts.items()}
    return pod(name, job, on=on, containers=[{"name": "main", "resources": {"requests": amounts}}])


def fit(**arguments: Any) -> dict[str, Any]:
    return conf("allocate", ("gang", "predicates", {"name": "resource-strategy-fit", "arguments": arguments}))


def score(objects: list[Object], configuration: dict[str, Any], task: str, on: str) -> float:
    session = opened(objects, configuration)
    [[rate]] = session.point("node_order")
    return float(rate(session.tasks[task], session.nodes[on]))


class TestNodeGroups:
    AFFINITY = {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["g"]}}

    def placed(self, *queues: Object) -> bool:
        plugin = {"name": "nodegroup", "enableHierarchy": True}
        objects = [node("n0", labels={GROUP: "g"}), *queues, group("a"), pod("a-0", "a")]
        return bool(run(objects, conf("allocate", ("gang", "predicates", plugin))).solution.binds)

    def test_a_queue_inherits_from_the_one_above(self) -> None:
        assert self.placed(queue(parent="p"), queue("p"), queue("root", affinity=self.AFFINITY))

    def test_a_missing_parent_ends_the_chain(self) -> None:
        assert not self.placed(queue(parent="gone"), queue("root", affinity=self.AFFINITY))

    def test_a_cycle_ends(self) -> None:
        assert not self.placed(queue(parent="p"), queue("p", parent="q"), queue("root", affinity=self.AFFINITY))

    @pytest.mark.parametrize(
        "limits", ["[]", "1", '{"g": 1}', '{"g": {"cpu": "x"}}', '{"g": {"cpu": true}}', "{", "[" * 9999]
    )
    def test_limits_that_cannot_be_read_close_every_node(self, limits: str) -> None:
        limited = queue(affinity=self.AFFINITY, annotations={"volcano.sh/nodegroup-resource-limits": limits})
        assert not self.placed(limited)

    @pytest.mark.parametrize(
        ("limits", "enough"),
        [
            ("", True),
            ("null", True),
            ('{"g": {"cpu": "1"}}', True),
            ('{"g": {"cpu": "999m"}}', False),
            ('{"g": {"pods": 0}}', False),
            ('{"g": {"storage": "0"}}', True),
            ('{"h": {"cpu": "0"}}', True),
        ],
    )
    def test_limits(self, limits: str, *, enough: bool) -> None:
        limited = queue(affinity=self.AFFINITY, annotations={"volcano.sh/nodegroup-resource-limits": limits})
        assert self.placed(limited) is enough


class TestStrategyFit:
    def test_one_overfull_resource_takes_the_whole_score(self) -> None:
        objects = [sized("n0", memory="1Gi"), queue(), group("a"), asking("a-0", "a", cpu="1", memory="2Gi")]
        assert score(objects, fit(), "ns/a-0", "n0") == 0

    def test_a_resource_that_the_node_lacks_counts_in_the_weights(self) -> None:
        objects = [sized("n0"), queue(), group("a"), asking("a-0", "a", cpu="4", gpu="1")]
        resources = {"cpu": {"type": "MostAllocated", "weight": 1}, A100: {"type": "MostAllocated", "weight": 3}}
        assert score(objects, fit(resources=resources, resourceStrategyFitWeight=1), "ns/a-0", "n0") == 100 * 0.5 / 4

    def test_the_longest_prefix_decides(self) -> None:
        objects = [sized("n0", gpu="4"), queue(), group("a"), asking("a-0", "a", gpu="1")]
        resources = {"nv*": {"type": "LeastAllocated"}, "nvidia.com/*": {"type": "MostAllocated"}, "n*": {}}
        assert score(objects, fit(resources=resources, resourceStrategyFitWeight=1), "ns/a-0", "n0") == 25

    def test_a_node_that_lacks_what_is_asked_for_has_no_scarcity_score(self) -> None:
        objects = [sized("n0"), queue(), group("a"), asking("a-0", "a", cpu="1", gpu="1"), asking("a-1", "a", cpu="1")]
        arguments = {"resourceStrategyFitWeight": 0, "sra": {"enable": True, "resources": A100, "weight": 2}}
        assert score(objects, fit(**arguments), "ns/a-0", "n0") == 0
        assert score(objects, fit(**arguments), "ns/a-1", "n0") == 200

    @pytest.mark.parametrize(("memory", "fits"), [("63G", True), ("64G", True), ("65G", False)])
    def test_devices_keep_decimal_gigabytes(self, memory: str, *, fits: bool) -> None:
        proportional = {"enable": True, "resources": A100, "resourceProportion": {f"{A100}.cpu": 0}}
        objects = [sized("n0", memory="66G", gpu="2"), queue(), group("a"), asking("a-0", "a", memory=memory)]
        assert bool(run(objects, fit(proportional=proportional)).solution.binds) is fits

    def test_room_that_is_being_freed_does_not_count(self) -> None:
        proportional = {"enable": True, "resources": A100}
        going = asking("b-0", "b", on="n0", cpu="8")
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        objects = [sized("n0", gpu="2"), queue(), group("a"), asking("a-0", "a", cpu="1"), group("b"), going]
        assert run(objects, fit()).solution.pipelined == {"ns/a-0": "n0"}
        found = run(objects, fit(proportional=proportional)).solution
        assert (found.pipelined, found.binds) == ({}, {})


class TestQuota:
    def test_its_permit_ends_the_search_like_any_other(self) -> None:
        objects = [node("n0", cpu="1"), queue(), group("a", phase="Pending", minResources={"cpu": "9"})]
        objects.append(pod("a-0", "a"))
        assert run(objects, conf("enqueue", ("overcommit",))).solution.phases == {"ns/a": "Pending"}
        assert run(objects, conf("enqueue", ("resourcequota",), ("overcommit",))).solution.phases == {"ns/a": "Inqueue"}


class TestUsage:
    LOAD = {"n0": {"cpu": 90, "memory": 10, "age": 10}}

    def test_without_any_load_the_answer_says_so(self) -> None:
        policy = policy_for(load_model("volcano"), conf("allocate", ("gang", "usage")))
        objects = [node("n0"), queue(), group("a"), pod("a-0", "a")]
        (doubt,) = doubts(load(objects, lenient=True), policy)
        assert str(doubt) == "plugin usage (which nodes fit, node choice)"
        assert doubts(load(objects, lenient=True), policy, search=True) == (doubt,)
        measured = load(objects, lenient=True, node_usage=self.LOAD)
        assert doubts(measured, policy) == ()
        assert doubts(measured, policy, search=True) == ()

    def test_no_eviction_fixes_a_loaded_node(self) -> None:
        objects = [node("n0"), queue(), group("a"), pod("a-0", "a")]
        instance = load(objects, lenient=True, node_usage=self.LOAD)
        policy = policy_for(load_model("volcano"), conf("allocate", ("gang", "usage")))
        session = Session(instance, policy, First(), SessionTrace())
        session.open(PLUGINS)
        found = session.predicate(session.tasks["ns/a-0"], session.nodes["n0"])
        assert found is not None
        assert found.unresolvable

    @pytest.mark.parametrize(("limit", "guessed"), [("1", 1000), ("2", 1320)])
    def test_a_guess_does_not_exceed_the_limit(self, limit: str, guessed: float) -> None:
        estimator = {"request_ratio": 1, "burst_ratio": 0.1, "risk_threshold": 0, "risk_factor": 1.2}
        plugin = {"name": "usage", "arguments": {"estimator": estimator, "memory.weight": 0, "usage.weight": 1}}
        placed = sized("n0")
        placed["status"]["capacity"] = {"cpu": "10"}
        containers = [{"name": "main", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": limit}}}]
        going = pod("b-0", "b", containers=containers)
        going["spec"]["nodeName"] = "n0"
        objects = [placed, queue(), group("a"), pod("a-0", "a"), group("b"), going]
        instance = load(objects, lenient=True, node_usage={"n0": {"cpu": 0}})
        session = Session(
            instance, policy_for(load_model("volcano"), conf("allocate", ("gang", plugin))), First(), SessionTrace()
        )
        session.open(PLUGINS)
        [[rate]] = session.point("node_order")
        assert rate(session.tasks["ns/a-0"], session.nodes["n0"]) == pytest.approx(100 - guessed / 100)


class TestClose:
    """Volcano walks from the queue of all who hold room up to the root as it closes a session."""

    def notes(self, *objects: Object, task: Object | None = None) -> tuple[str, ...]:
        held = [group("a", phase="Running"), task or pod("a-0", "a", on="n0")]
        return run([node("n0"), *held, *objects], conf("allocate", ("gang",))).solution.notes

    def test_a_parent_that_does_not_exist_ends_the_scheduler(self) -> None:
        (note,) = self.notes(queue(parent="p"), queue("p", parent="gone"), queue("root"))
        assert note.endswith("queue p names the parent gone, which is not in the input")

    def test_a_cycle_above_is_never_left(self) -> None:
        (note,) = self.notes(queue(parent="a"), queue("a", parent="b"), queue("b", parent="a"), queue("root"))
        assert note.endswith("a -> b -> a")

    def test_without_a_root_no_queue_is_walked(self) -> None:
        assert self.notes(queue(parent="gone")) == ()

    def test_a_queue_that_holds_nothing_is_not_walked_from(self) -> None:
        waiting = pod("a-0", "a", cpu="99")
        assert self.notes(queue(parent="gone"), queue("root"), task=waiting) == ()
        placed = pod("a-0", "a")
        assert len(self.notes(queue(parent="gone"), queue("root"), task=placed)) == 1

    def test_a_queue_without_a_parent_is_below_the_root(self) -> None:
        assert self.notes(queue(parent="p"), queue("p"), queue("root")) == ()
