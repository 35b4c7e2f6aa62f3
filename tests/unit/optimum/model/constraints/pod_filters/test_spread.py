"""Rows for topology spread: each agrees with the checker on a decision at its edge."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from cpsched.optimum.model.symmetry import build_classes
from tests.judge import cluster, conf, snapshot_of
from tests.unit.optimum.model.constraints.pod_filters.build_session import Raw, allowed, node, present, waiting

XY = [node("x1"), node("y1")]
XYZ = [*XY, node("z1")]
TAINT = {"taints": [{"key": "t", "effect": "NoSchedule"}]}


def over(key: str = "zone", skew: int = 1, app: str = "a", **fields: Any) -> Raw:
    """A constraint."""
    stated = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return stated | {"labelSelector": {"matchLabels": {"app": app}}} | fields


def spread(name: str, replicas: int = 1, *constraints: Raw, **wishes: Any) -> Raw:
    """A job whose tasks have the constraints."""
    return waiting(name, replicas, topologySpreadConstraints=list(constraints or [over()]), **wishes)


def at(job: str, *nodes: str) -> dict[str, str]:
    """The job's tasks on these nodes."""
    return {f"{job}/t-{number}": name for number, name in enumerate(nodes)}


@pytest.mark.parametrize(
    ("skew", "nodes", "fine"),
    [
        (1, ["x1"], True),
        (1, ["x1", "x1"], False),
        (1, ["x1", "y1"], True),
        (1, ["x1", "y1", "y1"], True),
        (1, ["x1", "y1", "y1", "y1"], False),
        (2, ["x1", "x1"], True),
        (2, ["x1", "x1", "x1"], False),
    ],
)
def test_no_domain_is_more_than_the_skew_above_the_emptiest(skew: int, nodes: list[str], fine: bool) -> None:
    assert allowed(XY, [spread("w", 4, over(skew=skew))], binds=at("w", *nodes)) is fine


def test_nodes_of_one_domain_count_together() -> None:
    nodes = [*XY, node("x2")]
    assert not allowed(nodes, [spread("w", 2)], binds=at("w", "x1", "x2"))
    assert allowed(nodes, [spread("w", 2, over("host"))], binds=at("w", "x1", "x2"))


def test_both_constraints_hold() -> None:
    both = spread("w", 2, over(skew=2), over("host"))
    nodes = [*XY, node("x2")]
    assert allowed(nodes, [both], binds=at("w", "x1", "x2"))
    assert not allowed(nodes, [both], binds=at("w", "x1", "x1"))


@pytest.mark.parametrize(("least", "nodes", "fine"), [(2, "xyy", True), (3, "xy", True), (3, "xyy", False)])
def test_too_few_domains_are_compared_with_an_empty_one(least: int, nodes: str, fine: bool) -> None:
    binds = at("w", *(f"{zone}1" for zone in nodes))
    assert allowed(XY, [spread("w", 3, over(minDomains=least))], binds=binds) is fine


def test_a_node_without_the_key_is_out_and_no_domain() -> None:
    nodes = [*XY, node("k1", "")]
    assert not allowed(nodes, [spread("w")], binds=at("w", "k1"))
    assert allowed(nodes, [spread("w", 3)], binds=at("w", "x1", "y1", "x1"))


@pytest.mark.parametrize(("where", "fine"), [("x1", False), ("y1", True)])
def test_those_who_are_there_count(where: str, fine: bool) -> None:
    assert allowed(XY, [present("r", "x1"), spread("w")], binds=at("w", where)) is fine


@pytest.mark.parametrize(
    "other",
    [
        present("r", "x1", "b", labels={"version": "1"}),
        present("r", "x1", labels={"version": "1"}) | {"namespace": "elsewhere"},
        present("r", "x1", labels={"version": "2"}),
    ],
)
def test_those_who_do_not_match_do_not_count(other: Raw) -> None:
    """Another app, another namespace, another value of a key that the constraint adds."""
    own = spread("w", 1, over(matchLabelKeys=["version"]), labels={"version": "1"})
    assert allowed(XY, [other, own], binds=at("w", "x1"))


def test_one_who_is_on_its_way_out_does_not_count() -> None:
    leaving = present("r", "x1", deletionTimestamp="2026-01-01T00:00:00Z")
    assert allowed(XY, [leaving, spread("w")], binds=at("w", "x1"))


def test_a_victim_counts_until_it_is_gone() -> None:
    """It makes room for a reservation, but what starts finds it there."""
    jobs = [present("r", "x1", priority=10, cpu=18), spread("w", 1, cpu=2)]
    assert not allowed(XY, jobs, reserves=at("w", "x1"))
    assert allowed(XY, jobs, reserves=at("w", "x1"), evicted=["r/t-0"])
    beside = [present("r", "x1", priority=10, cpu=1), spread("w")]
    assert not allowed(XY, beside, binds=at("w", "x1"), evicted=["r/t-0"])


def test_a_victim_leaves_an_empty_domain_behind() -> None:
    jobs = [present("r", "y1", priority=10, cpu=18), spread("w", 2), waiting("other", app="b", cpu=5)]
    assert allowed(XY, jobs, reserves=at("w", "x1", "x1"))
    reserves = {**at("w", "x1", "x1"), **at("other", "y1")}
    assert not allowed(XY, jobs, reserves=reserves, evicted=["r/t-0"])


@pytest.mark.parametrize(("helper", "fine"), [("y1", True), ("x1", False)])
def test_others_who_match_raise_the_emptiest_domain(helper: str, fine: bool) -> None:
    binds = {**at("w", "x1", "x1"), **at("helper", helper)}
    assert allowed(XY, [spread("w", 2), waiting("helper")], binds=binds) is fine


def test_others_who_match_may_come_last() -> None:
    binds = {**at("w", "x1"), **at("helper", "x1", "x1")}
    assert allowed(XY, [spread("w"), waiting("helper", 2)], binds=binds)


def test_classes_with_one_constraint_count_together() -> None:
    jobs = [spread("v"), spread("w", priority=50)]
    assert not allowed(XY, jobs, binds={**at("v", "x1"), **at("w", "x1")})
    assert allowed(XY, jobs, binds={**at("v", "x1"), **at("w", "y1")})


@pytest.mark.parametrize(("loose", "fine"), [(1, True), (2, False)])
def test_of_two_skews_the_larger_comes_last(loose: int, fine: bool) -> None:
    """One of skew 1 and one of skew 2 fit into a domain beside an empty one, a third does not."""
    jobs = [spread("strict"), spread("loose", loose, over(skew=2))]
    assert allowed(XY, jobs, binds={**at("strict", "x1"), **at("loose", *["x1"] * loose)}) is fine


@pytest.mark.parametrize(("there", "fine"), [(1, True), (2, False)])
def test_one_who_does_not_match_itself_still_minds_the_others(there: int, fine: bool) -> None:
    jobs = [*(present(f"r{i}", "x1", "b") for i in range(there)), spread("w", 3, over(app="b"))]
    assert allowed(XY, jobs, binds=at("w", "x1", "x1", "x1")) is fine


def test_only_nodes_that_it_may_use_are_domains() -> None:
    own = {"nodeSelector": {"zone": "x"}}
    assert allowed(XY, [spread("w", 2, **own)], binds=at("w", "x1", "x1"))
    assert not allowed(XY, [spread("w", 2, over(nodeAffinityPolicy="Ignore"), **own)], binds=at("w", "x1", "x1"))


def test_tainted_nodes_are_domains_unless_taints_are_honoured() -> None:
    nodes = [node("x1"), node("y1", **TAINT)]
    assert not allowed(nodes, [spread("w", 2)], binds=at("w", "x1", "x1"))
    assert allowed(nodes, [spread("w", 2, over(nodeTaintsPolicy="Honor"))], binds=at("w", "x1", "x1"))


def test_where_a_task_does_not_count_it_still_minds_the_others() -> None:
    """Volcano without its taint filter places on a tainted node, which the constraint leaves out."""
    nodes = [node("x1"), node("x2", **TAINT), node("y1")]
    switch = {"name": "predicates", "arguments": {"predicate.TaintTolerationEnable": "false"}}
    policy = conf("allocate, preempt", "priority", "gang", switch)
    own = spread("w", 3, over(nodeTaintsPolicy="Honor"))
    assert allowed(nodes, [own], "volcano", policy, binds=at("w", "x2", "x2", "x2"))
    assert not allowed(nodes, [present("r", "x1"), own], "volcano", policy, binds=at("w", "x2"))


@pytest.mark.parametrize(("evicted", "fine"), [([], True), (["r/t-0"], False)])
def test_what_starts_beside_victims_does_not_wait_for_reservations(evicted: list[str], fine: bool) -> None:
    jobs = [present("r", "y1", "b", priority=10, cpu=19), spread("w", 2), waiting("v", cpu=1)]
    binds, reserves = at("w", "x1", "x1"), at("v", "y1")
    assert allowed(XY, jobs, binds=binds, reserves=reserves, evicted=evicted) is fine


@pytest.mark.parametrize("selector", [{}, None])
def test_a_selector_without_requirements_counts_no_task(selector: Any) -> None:
    assert allowed(XY, [spread("w", 3, over(labelSelector=selector))], binds=at("w", "x1", "x1", "x1"))


def test_a_broken_selector_refuses_the_task() -> None:
    broken = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["a"]}]}
    assert not allowed(XY, [spread("w", 1, over(labelSelector=broken))], binds=at("w", "x1"))


class TestTheSchedulersOwnConstraints:
    """For pods that state none, with a selector from their owners."""

    own: ClassVar = {k: v for k, v in over().items() if k != "labelSelector"}
    conf: ClassVar = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "pluginConfig": [
                    {"name": "PodTopologySpread", "args": {"defaultConstraints": [own], "defaultingType": "List"}}
                ]
            }
        ],
    }

    @pytest.mark.parametrize(("nodes", "fine"), [(["x1", "y1"], True), (["x1", "x1"], False)])
    def test_they_hold_for_pods_of_a_service(self, nodes: list[str], fine: bool) -> None:
        service: Raw = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}}
        objects = [service | {"spec": {"selector": {"app": "a"}}}]
        assert allowed(XY, [waiting("w", 2)], conf=self.conf, objects=objects, binds=at("w", *nodes)) is fine

    def test_tasks_of_different_owners_are_of_different_classes(self) -> None:
        """Only one of the two counts any task, so both may be where only one of two alike would be."""
        sets: list[Raw] = [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": {"name": f"of-{app}", "namespace": "default"},
                "spec": {"selector": {"matchLabels": {"app": app}}},
            }
            for app in "ab"
        ]
        jobs = [
            waiting(
                name,
                ownerReferences=[
                    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"of-{app}", "uid": app, "controller": True}
                ],
            )
            for name, app in (("v", "a"), ("w", "b"))
        ]
        binds = {**at("v", "x1"), **at("w", "x1")}
        assert allowed(XY, jobs, conf=self.conf, objects=sets, binds=binds)
        snapshot = snapshot_of(cluster(*jobs, nodes=XY, objects=sets), model="kube", conf=self.conf)
        assert [one.jobs for one in build_classes(snapshot).tasks] == [("v/t-0",), ("w/t-0",)]
