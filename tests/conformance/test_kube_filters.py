"""Upstream's own tables for its filters (kube.json) and decisions of the running kube-scheduler 1.36.3."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cpsched.filters import FILTERS, SUCCESS, Args, ClusterState, Code, Features, Status
from cpsched.instance import Task
from cpsched.objects.affinity import NodeAffinity, NodeSelector, Toleration
from cpsched.objects.node import Taint
from cpsched.selectors import node_selector, tolerates
from tests.conformance.kube_attempts import differences
from tests.unit.filters.build import cluster_of, node_of, task_of

DATA = Path(__file__).parent / "data"
ROWS = json.loads(gzip.decompress((DATA / "kube-filters.json.gz").read_bytes()))

ATTEMPTS = [
    json.loads(line) for line in gzip.decompress((DATA / "kube-filter-attempts.jsonl.gz").read_bytes()).splitlines()
]

UNSUPPORTED: dict[str, str] = {}
"""Row source or id → why it is not run."""


def rows(*kinds: str) -> list[Any]:
    return [
        pytest.param(row, id=f"{number}-{row['source'].partition(':')[2]}")
        for number, row in enumerate(ROWS)
        if row["kind"] in kinds
    ]


def features_of(row: dict[str, Any]) -> Features:
    stated = row["input"].get("features") or {}
    return Features(
        taint_comparison=stated.get("TaintTolerationComparisonOperators", False),
        node_inclusion_policy=stated.get("NodeInclusionPolicyInPodTopologySpread", True),
        match_label_keys=stated.get("MatchLabelKeysInPodTopologySpread", True),
    )


def args_of(row: dict[str, Any]) -> Args:
    stated = {key.lower(): value for key, value in (row["input"].get("args") or {}).items()}
    added = stated.get("addedaffinity")
    return Args(
        features=features_of(row),
        added_affinity=None if added is None else NodeAffinity.model_validate(added),
        ignored_resources=frozenset(stated.get("ignoredresources", ())),
        ignored_resource_groups=frozenset(stated.get("ignoredresourcegroups", ())),
    )


def cluster_for(row: dict[str, Any]) -> ClusterState:
    """The row's cluster; where it has one node and pods on it, the pods need not say so."""
    given = row["input"]
    if "nodes" in given:
        nodes, pods = given["nodes"], given["pods"]
    else:
        node = given.get("node") or {}
        name = node.get("metadata", {}).get("name", "")
        nodes = [node]
        pods = [{**pod, "spec": {**pod.get("spec", {}), "nodeName": name}} for pod in given.get("existingPods", ())]
    return cluster_of(
        nodes,
        pods,
        Namespace=given.get("namespaces", ()),
        PersistentVolume=given.get("pvs", ()),
        PersistentVolumeClaim=given.get("pvcs", ()),
        StorageClass=given.get("storageClasses", ()),
    )


def expected(stated: dict[str, Any]) -> tuple[Code, tuple[str, ...]]:
    return Code(stated["code"]), tuple(stated["reasons"])


def output(status: Status) -> tuple[Code, tuple[str, ...]]:
    return status.code, status.reasons


def on_one_node(row: dict[str, Any]) -> None:
    name = row["kind"].removeprefix("filter:")
    cluster, task = cluster_for(row), task_of(row["input"]["pod"])
    one, expect = FILTERS[name], row["expect"]
    before = one.prefilter(task, cluster, args_of(row))
    if "preFilterStatus" in expect:
        assert output(before.status) == expected(expect["preFilterStatus"])
    if expect.get("preFilterNodeNames") is not None:
        assert before.nodes == set(expect["preFilterNodeNames"])
    node = cluster.node_list[0]
    if before.status.is_skip:
        status = SUCCESS
    elif before.status.is_success or before.state is not None:
        status = one.filter(before.state, task, node, cluster)
    else:
        status = before.status
    if "fits" in expect:
        assert status.is_success == expect["fits"]
    else:
        code, reasons = expected(expect["status"])
        assert (status.code, sorted(status.reasons)) == (code, sorted(reasons))


@pytest.mark.parametrize("row", rows("filter:NodeName", "filter:NodeUnschedulable", "filter:TaintToleration"))
def test_node_and_taints(row: dict[str, Any]) -> None:
    on_one_node(row)


@pytest.mark.parametrize("row", rows("filter:NodeAffinity"))
def test_node_affinity(row: dict[str, Any]) -> None:
    on_one_node(row)


@pytest.mark.parametrize("row", rows("filter:NodePorts"))
def test_node_ports(row: dict[str, Any]) -> None:
    on_one_node(row)


@pytest.mark.parametrize("row", rows("filter:NodeResourcesFit"))
def test_node_resources_fit(row: dict[str, Any]) -> None:
    on_one_node(row)


@pytest.mark.parametrize("row", rows("filter:VolumeZone"))
def test_volume_zone(row: dict[str, Any]) -> None:
    on_one_node(row)


@pytest.mark.parametrize("row", rows("filter:InterPodAffinity"))
def test_inter_pod_affinity(row: dict[str, Any]) -> None:
    cluster, task, one = cluster_for(row), task_of(row["input"]["pod"]), FILTERS["InterPodAffinity"]
    before, expect = one.prefilter(task, cluster, args_of(row)), row["expect"]
    if "preFilterStatus" in expect:
        assert output(before.status) == expected(expect["preFilterStatus"])
    if before.status.is_rejected:
        return
    for name, node in cluster.nodes.items():
        status = SUCCESS if before.status.is_skip else one.filter(before.state, task, node, cluster)
        if "fitsPerNode" in expect:
            assert status.is_success == expect["fitsPerNode"].get(name, status.is_success)
        else:
            assert output(status) == expected(expect["statusPerNode"][name])


@pytest.mark.parametrize("row", rows("filter:PodTopologySpread"))
def test_pod_topology_spread(row: dict[str, Any]) -> None:
    cluster, task, one = cluster_for(row), task_of(row["input"]["pod"]), FILTERS["PodTopologySpread"]
    before = one.prefilter(task, cluster, args_of(row))
    for name, code in row["expect"]["codePerNode"].items():
        skipped = before.status.is_skip
        status = SUCCESS if skipped else one.filter(before.state, task, cluster.nodes[name], cluster)
        assert status.code == Code(code)


@pytest.mark.parametrize("row", rows("spread_counts"))
def test_spread_counts(row: dict[str, Any]) -> None:
    cluster, task, one = cluster_for(row), task_of(row["input"]["pod"]), FILTERS["PodTopologySpread"]
    state = one.prefilter(task, cluster, args_of(row)).state
    given = row["input"]
    for key, hook in (("addPod", one.add_task), ("removePod", one.remove_task)):
        if key in given:
            assert hook is not None
            hook(state, task, other_task(given[key]), cluster.nodes[given["onNode"]])
    assert state.counts == row["expect"]["matchCountsPerConstraint"]


def other_task(raw: dict[str, Any]) -> Task:
    return task_of(raw, number=1)


@pytest.mark.parametrize("row", rows("node_selector"))
def test_node_selector(row: dict[str, Any]) -> None:
    given = row["input"]
    if given["nodeSelector"] is None or given["node"] is None:
        assert not row["expect"]["matches"]
        return
    selector = node_selector(NodeSelector.model_validate(given["nodeSelector"]))
    node = node_of(given["node"])
    assert selector.matches(node.labels, node.name) == row["expect"]["matches"]


@pytest.mark.parametrize("row", rows("tolerates"))
def test_tolerates(row: dict[str, Any]) -> None:
    given = row["input"]
    toleration, taint = Toleration.model_validate(given["toleration"]), Taint.model_validate(given["taint"])
    answer = tolerates(toleration, taint, comparison=features_of(row).taint_comparison)
    assert answer == row["expect"]["tolerates"]


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in ATTEMPTS])
def test_recorded_attempts(row: dict[str, Any]) -> None:
    """Before every attempt each node gets the scheduler's own answer: code, plugin and reasons."""
    assert list(differences(row)) == []


def test_recorded_attempts_ask_every_filter_that_can_be_recorded() -> None:
    answers = [failed for row in ATTEMPTS for one in row["outcomes"] for a in one["attempts"] for failed in _failed(a)]
    never_recorded = {"NodeName", "DynamicResources"} | {name for name in FILTERS if "Volume" in name}
    assert {failed.get("plugin", "") for failed in answers} - {""} == set(FILTERS) - never_recorded


def _failed(attempt: dict[str, Any]) -> list[dict[str, Any]]:
    return list(attempt.get("failed", {}).values())


def test_every_row_has_a_test() -> None:
    """No row is left out without a reason."""
    kinds = {row["kind"] for row in ROWS}
    tested = {f"filter:{name}" for name in FILTERS} | {"spread_counts", "node_selector", "tolerates"}
    assert kinds <= tested
    assert not UNSUPPORTED
