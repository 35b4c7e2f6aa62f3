"""PodTopologySpread: the rules that few recorded rows pin down."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.filters import Args, Code, Features, add_task, chosen, first_failure, prefilter, remove_task
from cpsched.objects.affinity import TopologySpreadConstraint
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of, verdicts
from tests.unit.filters.build_wishes import APP, constraint, passing, spread

NAME = "PodTopologySpread"
NODES = [node_json(f"{zone}{i}", {"host": f"{zone}{i}", "zone": zone}) for zone in "xy" for i in (1, 2)]


def on(*nodes: str, labels: dict[str, str] = APP, **extra: Any) -> list[dict[str, Any]]:
    return [pod_json(f"q{i}", node, labels, **extra) for i, node in enumerate(nodes)]


def test_the_fuller_domain_is_refused() -> None:
    found = verdicts(NAME, task_of(pod_json("p", "", APP, **spread(constraint()))), cluster_of(NODES, on("x1")))
    assert passing(found) == {"y1", "y2"}
    assert found["x1"].code is Code.UNSCHEDULABLE
    assert found["x1"].reasons == ("node(s) didn't match pod topology spread constraints",)


def test_only_a_task_that_matches_itself_adds_to_the_skew() -> None:
    stranger = task_of(pod_json("p", "", {"app": "b"}, **spread(constraint())))
    assert passing(verdicts(NAME, stranger, cluster_of(NODES, on("x1")))) == {"x1", "x2", "y1", "y2"}
    assert passing(verdicts(NAME, stranger, cluster_of(NODES, on("x1", "x2")))) == {"y1", "y2"}


def test_missing_key_cannot_be_helped() -> None:
    cluster = cluster_of([*NODES, node_json("bare")])
    found = verdicts(NAME, task_of(pod_json("p", "", APP, **spread(constraint()))), cluster)
    assert found["bare"].code is Code.UNRESOLVABLE
    assert found["bare"].reasons == ("node(s) didn't match pod topology spread constraints (missing required label)",)


def test_soft_constraints_do_not_filter() -> None:
    soft = constraint(whenUnsatisfiable="ScheduleAnyway")
    prefiltered = prefilter(task_of(pod_json("p", "", APP, **spread(soft))), cluster_of(NODES), [NAME], Args())
    assert prefiltered.skipped == {NAME}


def test_a_node_counts_only_with_all_keys_of_all_constraints() -> None:
    """y1 lacks `host`: its pods count for neither constraint, and zone y has no domain without another node."""
    nodes = [node_json("x1", {"host": "x1", "zone": "x"}), node_json("y1", {"zone": "y"})]
    cluster = cluster_of(nodes, on("x1"))
    alone = task_of(pod_json("p", "", APP, **spread(constraint())))
    both = task_of(pod_json("p", "", APP, **spread(constraint(), constraint("host", 5))))
    assert passing(verdicts(NAME, alone, cluster)) == {"y1"}
    assert passing(verdicts(NAME, both, cluster)) == {"x1"}


def test_min_domains_lowers_the_minimum_to_zero() -> None:
    cluster = cluster_of(NODES, on("x1", "y1"))
    for wanted, expected in ((2, {"x1", "x2", "y1", "y2"}), (3, set())):
        task = task_of(pod_json("p", "", APP, **spread(constraint(minDomains=wanted))))
        assert passing(verdicts(NAME, task, cluster)) == expected


def test_other_namespaces_do_not_count() -> None:
    cluster = cluster_of(NODES, on("x1", namespace="other"))
    assert len(passing(verdicts(NAME, task_of(pod_json("p", "", APP, **spread(constraint()))), cluster))) == 4


def going(node: str) -> dict[str, Any]:
    raw = pod_json("going", node, APP)
    raw["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return raw


def test_terminating_pods_do_not_count() -> None:
    cluster = cluster_of(NODES, [going("x1")])
    assert len(passing(verdicts(NAME, task_of(pod_json("p", "", APP, **spread(constraint()))), cluster))) == 4


def test_hooks_do_not_ask_whether_a_pod_terminates() -> None:
    cluster = cluster_of(NODES, [going("x1"), *on("y1")])
    task = task_of(pod_json("p", "", APP, **spread(constraint(skew=1))))
    filters = chosen([NAME])
    prefiltered = prefilter(task, cluster, [NAME], Args())
    remove_task(prefiltered, filters, task, cluster.nodes["x1"].tasks[0], cluster.nodes["x1"])
    assert prefiltered.states[NAME].counts == [{"x": -1, "y": 1}]
    assert not first_failure(task, cluster.nodes["y1"], cluster, prefiltered, filters).is_success


def test_empty_selector_counts_no_task_but_itself() -> None:
    everyone = constraint(labelSelector={})
    task = task_of(pod_json("p", "", APP, **spread(everyone)))
    cluster = cluster_of(NODES, on("x1", "x1", "x2"))
    assert len(passing(verdicts(NAME, task, cluster))) == 4
    prefiltered = prefilter(task, cluster, [NAME], Args())
    assert prefiltered.states[NAME].limit(0) == 0


def test_hooks_count_for_an_empty_selector() -> None:
    task = task_of(pod_json("p", "", APP, **spread(constraint(labelSelector={}))))
    cluster = cluster_of(NODES, on("x1"))
    filters = chosen([NAME])
    prefiltered = prefilter(task, cluster, [NAME], Args())
    add_task(prefiltered, filters, task, task_of(pod_json("q", "", {"app": "zzz"}), 1), cluster.nodes["x1"])
    assert prefiltered.states[NAME].counts == [{"x": 1, "y": 0}]


def test_hooks_leave_other_namespaces_and_copies_alone() -> None:
    task = task_of(pod_json("p", "", APP, **spread(constraint())))
    cluster = cluster_of(NODES)
    filters = chosen([NAME])
    prefiltered = prefilter(task, cluster, [NAME], Args())
    copy = prefiltered.clone(filters)
    add_task(copy, filters, task, task_of(pod_json("q", "", APP), 1), cluster.nodes["x1"])
    add_task(copy, filters, task, task_of(pod_json("r", "", APP, namespace="other"), 2), cluster.nodes["y1"])
    assert copy.states[NAME].counts == [{"x": 1, "y": 0}]
    assert prefiltered.states[NAME].counts == [{"x": 0, "y": 0}]


ALL_ZONES = {"x1", "y1", "z1"}


@pytest.mark.parametrize(("policy", "expected"), [("", ALL_ZONES), ("Honor", ALL_ZONES), ("Ignore", {"z1"})])
def test_node_affinity_policy(policy: str, expected: set[str]) -> None:
    """Zone z is empty, but the task may not go there: it is a domain only if node affinity is ignored."""
    nodes = [node_json(f"{zone}1", {"zone": zone, "ok": str(zone != "z")}) for zone in "xyz"]
    stated = {"nodeAffinityPolicy": policy} if policy else {}
    task = task_of(pod_json("p", "", APP, nodeSelector={"ok": "True"}, **spread(constraint(**stated))))
    assert passing(verdicts(NAME, task, cluster_of(nodes, on("x1", "y1")))) == expected


def test_a_domain_without_eligible_nodes_counts_as_empty() -> None:
    """Pods there do not count, and whether the task may go there is another filter's business."""
    nodes = [node_json(f"{zone}1", {"zone": zone, "ok": str(zone != "z")}) for zone in "xz"]
    task = task_of(pod_json("p", "", APP, nodeSelector={"ok": "True"}, **spread(constraint())))
    assert passing(verdicts(NAME, task, cluster_of(nodes, on("x1", "z1", "z1", "z1")))) == {"x1", "z1"}


@pytest.mark.parametrize(("policy", "expected"), [("", {"z1"}), ("Ignore", {"z1"}), ("Honor", {"x1", "y1", "z1"})])
def test_node_taints_policy(policy: str, expected: set[str]) -> None:
    """Zone z is tainted and empty: it is a domain unless taints are honoured."""
    taints = [{"key": "k", "effect": "NoSchedule"}]
    nodes = [node_json(f"{zone}1", {"zone": zone}, **({"taints": taints} if zone == "z" else {})) for zone in "xyz"]
    stated = {"nodeTaintsPolicy": policy} if policy else {}
    task = task_of(pod_json("p", "", APP, **spread(constraint(**stated))))
    cluster = cluster_of(nodes, on("x1", "y1"))
    assert passing(verdicts(NAME, task, cluster)) == expected
    tolerant = task_of(pod_json("p", "", APP, tolerations=[{"operator": "Exists"}], **spread(constraint(**stated))))
    assert passing(verdicts(NAME, tolerant, cluster)) == {"z1"}


def test_policies_without_their_gate_are_the_defaults() -> None:
    nodes = [node_json(f"{zone}1", {"zone": zone, "ok": str(zone != "z")}) for zone in "xyz"]
    ignoring = constraint(nodeAffinityPolicy="Ignore")
    task = task_of(pod_json("p", "", APP, nodeSelector={"ok": "True"}, **spread(ignoring)))
    off = Args(Features(node_inclusion_policy=False))
    assert passing(verdicts(NAME, task, cluster_of(nodes, on("x1", "y1")), off)) == {"x1", "y1", "z1"}


def test_hooks_obey_the_policies() -> None:
    nodes = [node_json(f"{zone}1", {"zone": zone, "ok": str(zone != "z")}) for zone in "xz"]
    task = task_of(pod_json("p", "", APP, nodeSelector={"ok": "True"}, **spread(constraint())))
    cluster = cluster_of(nodes)
    prefiltered = prefilter(task, cluster, [NAME], Args())
    add_task(prefiltered, chosen([NAME]), task, task_of(pod_json("q", "", APP), 1), cluster.nodes["z1"])
    assert prefiltered.states[NAME].counts == [{"x": 0}]


def test_match_label_keys_join_the_selector() -> None:
    keyed = constraint(matchLabelKeys=["version", "absent"])
    task = task_of(pod_json("p", "", {**APP, "version": "2"}, **spread(keyed)))
    cluster = cluster_of(NODES, on("x1", labels={**APP, "version": "1"}))
    assert len(passing(verdicts(NAME, task, cluster))) == 4
    off = Args(Features(match_label_keys=False))
    assert passing(verdicts(NAME, task, cluster, off)) == {"y1", "y2"}


def default(key: str = "zone", action: str = "DoNotSchedule") -> TopologySpreadConstraint:
    stated = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": action}
    return TopologySpreadConstraint.model_validate(stated)


SERVICE = {"metadata": {"name": "s"}, "spec": {"selector": APP}}


def test_default_constraints_take_their_selector_from_services() -> None:
    task = task_of(pod_json("p", "", APP))
    args = Args(default_constraints=(default(),))
    with_service = cluster_of(NODES, on("x1"), Service=[SERVICE])
    assert passing(verdicts(NAME, task, with_service, args)) == {"y1", "y2"}
    assert prefilter(task, cluster_of(NODES, on("x1")), [NAME], args).skipped == {NAME}
    soft = Args(default_constraints=(default(action="ScheduleAnyway"),))
    assert prefilter(task, with_service, [NAME], soft).skipped == {NAME}


def test_own_constraints_of_any_kind_switch_the_defaults_off() -> None:
    soft = constraint("host", whenUnsatisfiable="ScheduleAnyway")
    task = task_of(pod_json("p", "", APP, **spread(soft)))
    cluster = cluster_of(NODES, on("x1"), Service=[SERVICE])
    assert prefilter(task, cluster, [NAME], Args(default_constraints=(default(),))).skipped == {NAME}


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "ReplicationController", "Job"])
def test_default_selector_of_owners(kind: str) -> None:
    selector: dict[str, Any] = APP if kind == "ReplicationController" else {"matchLabels": APP}
    raw = pod_json("p", "", APP)
    raw["metadata"]["ownerReferences"] = [{"kind": kind, "name": "o", "controller": True}]
    owners = {} if kind == "Job" else {kind: [{"metadata": {"name": "o"}, "spec": {"selector": selector}}]}
    cluster = cluster_of(NODES, on("x1"), **owners)
    args = Args(default_constraints=(default(),))
    if kind == "Job":
        assert prefilter(task_of(raw), cluster, [NAME], args).skipped == {NAME}
    else:
        assert passing(verdicts(NAME, task_of(raw), cluster, args)) == {"y1", "y2"}


def test_a_selector_that_does_not_parse_is_an_error() -> None:
    broken = constraint(labelSelector={"matchExpressions": [{"key": "a", "operator": "In", "values": []}]})
    status = prefilter(task_of(pod_json("p", **spread(broken))), cluster_of(NODES), [NAME], Args()).status
    assert status.code is Code.ERROR
