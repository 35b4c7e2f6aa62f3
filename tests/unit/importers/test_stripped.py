"""Objects without a kind are what their file is called, if they look like it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.importers.kubernetes import ReadReport
from cpsched.importers.load import load
from cpsched.importers.stripped import kind_of
from cpsched.objects.storage import PersistentVolumeClaim
from tests.dumps import node, pod

VOLCANO = "scheduling.volcano.sh"
GROUP = {"metadata": {"name": "g"}, "spec": {"minMember": 2, "queue": "q"}, "status": {"phase": "Inqueue"}}
WORKLOAD = {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
QUEUE = {"metadata": {"name": "q"}, "spec": {"weight": 3}}
EVENT = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod"}, "reason": "Failed"}
CLASS = {"metadata": {"name": "c"}, "value": 10}
SET = {"metadata": {"name": "d"}, "spec": {"replicas": 2, "selector": {}, "template": {}}}
CLAIM = {"metadata": {"name": "c", "namespace": "team"}, "spec": {"storageClassName": "s"}}
TYPED = {"apiVersion": "v1", "kind": "Node", **node("n")}


@pytest.mark.parametrize(
    ("file", "raw", "kind"),
    [
        ("pods.json", pod("p"), ("", "Pod")),
        ("dump/Pods.json", pod("p"), ("", "Pod")),
        ("x.tgz!resources/ns/default/core_v1_pods.json", pod("p"), ("", "Pod")),
        ("authentication_pods.yaml.gz", pod("p"), ("", "Pod")),
        ("cluster-resources/pods/default.json", pod("p"), ("", "Pod")),
        ("x.zip!config/pod/openshift-etcd/etcd-0.json", pod("p"), ("", "Pod")),
        ("config/pod/default/node.json", pod("node"), ("", "Pod")),
        ("config/pod/default/nodes.json", node("n"), ("", "Node")),
        ("po.yaml", pod("p"), ("", "Pod")),
        ("nodes.2026-11-18.json", node("n"), ("", "Node")),
        ("cluster-resources/pod-disruption-budgets/a.json", {**QUEUE, "spec": {"maxUnavailable": 1}},
         ("policy", "PodDisruptionBudget")),
        ("cluster-resources/pvcs/default.json", {**QUEUE, "spec": {"storageClassName": "s"}},
         ("", "PersistentVolumeClaim")),
        ("storage-classes.json", {**CLASS, "provisioner": "p"}, ("storage.k8s.io", "StorageClass")),
        ("scheduling.k8s.io_v1_priorityclasses.json", CLASS, ("scheduling.k8s.io", "PriorityClass")),
        ("podgroups.scheduling.volcano.sh.json", GROUP, (VOLCANO, "PodGroup")),
        ("podgroups.scheduling.incubator.k8s.io.json", GROUP, (VOLCANO, "PodGroup")),
        ("podgroups.scheduling.k8s.io.json", WORKLOAD, ("scheduling.k8s.io", "PodGroup")),
        ("podgroups.json", GROUP, (VOLCANO, "PodGroup")),
        ("podgroups.json", WORKLOAD, ("scheduling.k8s.io", "PodGroup")),
        ("custom-resources/queues.scheduling.volcano.sh/default.yaml", QUEUE, (VOLCANO, "Queue")),
        ("queues.scheduling.volcano.sh.json", {"metadata": {"name": "q"}}, (VOLCANO, "Queue")),
        ("cluster-resources/deployments/a.json", SET, ("apps", "Deployment")),
        ("jobs.jsonl", {"metadata": {"name": "j"}, "spec": {"parallelism": 2}}, ("batch", "Job")),
        ("jobs.json", {"metadata": {"name": "j"}, "spec": {"tasks": []}}, ("batch.volcano.sh", "Job")),
        ("pods.ndjson.gz", pod("p"), ("", "Pod")),
        ("queues.example.com.json", QUEUE, None),
        ("pods.json", {"spec": {"containers": []}}, None),
        ("pods.json", {"metadata": {"name": 1}}, None),
        ("pods/events.json", EVENT, ("", "Event")),
        ("events.json", EVENT, ("", "Event")),
        ("nodes/config.json", {"metadata": {"name": "c"}, "data": {}}, None),
        ("a/b/c/d/pods/w/x/y/z.json", EVENT, None),
        ("podData.json", pod("p"), ("", "Pod")),
        ("state.json", node("n"), ("", "Node")),
        ("state.json", {"metadata": {"name": "d"}, "spec": {"template": {}}}, None),
        ("values.yaml", {"replicas": 1}, None),
    ],
)  # fmt: skip
def test_what_a_file_says(file: str, raw: dict[str, Any], kind: tuple[str, str] | None) -> None:
    assert kind_of(raw, file) == kind


@pytest.mark.parametrize(
    "content",
    [
        [CLAIM],
        {"items": [CLAIM]},
        {"metadata": {"resourceVersion": "1"}, "items": [CLAIM]},
        {"kind": "", "apiVersion": "", "items": [{"kind": "", **CLAIM}]},
        {"kind": "List", "items": [CLAIM]},
        [{"items": [CLAIM]}, {"kind": "PodList", "apiVersion": "v1", "items": []}],
    ],
)
def test_lists_without_a_kind(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "pvcs.json"
    path.write_text(json.dumps(content))
    assert [claim.metadata.name for claim in load(path).of_kind(PersistentVolumeClaim)] == ["c"]
    with pytest.raises(InputError, match="without a kind"):
        load(path, strict=True)
    other = tmp_path / "things.json"
    other.write_text(json.dumps(content))
    if "PodList" not in str(content):
        with pytest.raises(InputError, match="without a kind"):
            load(other)


@pytest.mark.parametrize(
    "content",
    [
        {"nodes": [node("n")], "pods": [pod("p")]},
        {"Nodes": [node("n")], "Pods": [pod("p")], "taken": "today"},
        {"nodes": {"items": [node("n")]}, "pods": {"items": [pod("p")]}, "metrics": {"items": [1]}},
        {"cluster": {"nodes": [TYPED], "namespaces": {"default": {"po": [pod("p")]}}}},
        {"/v1/Node/n": TYPED, "/v1/default/Pod/p": {"apiVersion": "v1", "kind": "Pod", **pod("p")}},
        {"a": {"apiVersion": "v1", "kind": "NodeList", "metadata": {}, "items": [node("n")]}, "pods": [pod("p")]},
        [node("n"), {"type": "ADDED", "object": pod("p")}],
        {"type": "collection", "data": [TYPED, {"type": "pod", "kind": "Pod", "apiVersion": "v1", **pod("p")}]},
        {"changed": False, "resources": [TYPED, {"kind": "Pod", "apiVersion": "v1", **pod("p")}]},
        [{"cluster": "a", "nodes": [node("n")]}, {"cluster": "a", "pods": [pod("p")]}, 5],
        [{"result": {"resources": [TYPED, {"kind": "Pod", **pod("p")}]}}],
    ],
)
def test_objects_under_keys(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(content))
    instance = load(path)
    assert (list(instance.nodes), list(instance.tasks)) == (["n"], ["default/p"])
    with pytest.raises(InputError, match="without a kind"):
        load(path, strict=True)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"pods": [1]},
        [{"data": [{"kind": "x"}]}, 1],
        {"data": [{"metadata": {}}]},
        {"a": {"b": {"c": {"d": {"e": TYPED}}}}},
        {"nodes": [{"name": "n"}]},
    ],
)
def test_keys_without_objects(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="an object without a kind"):
        load(path)


def test_one_object_without_a_kind(tmp_path: Path) -> None:
    path = tmp_path / "node" / "worker-1.json"
    path.parent.mkdir()
    path.write_text(json.dumps(node("worker-1")))
    assert list(load(path).nodes) == ["worker-1"]
    with pytest.raises(InputError, match="an object without a kind"):
        load(path, strict=True)


def test_lists_in_lists(tmp_path: Path) -> None:
    typed = {"kind": "PodList", "apiVersion": "v1", "items": [pod("p")]}
    inner = {"kind": "List", "apiVersion": "v1", "items": [typed, {"kind": "Node", **node("n")}]}
    for content in ([inner], {"kind": "List", "items": [inner]}, [typed, {"kind": "Node", **node("n")}]):
        instance = load(content, strict=True)
        assert (list(instance.nodes), list(instance.tasks)) == (["n"], ["default/p"])
    with pytest.raises(InputError) as caught:
        load({"kind": "List", "items": [inner, {"kind": "NodeList", "items": [node("n"), {"spec": {}}]}]}, strict=True)
    assert str(caught.value).startswith("input: items[1].items[1] Node: metadata.name is missing")


def test_a_kind_that_only_ends_like_a_list() -> None:
    report = ReadReport()
    load(
        [{"kind": "Node", **node("n")}, {"kind": "AllowList", "apiVersion": "example.com/v1", "spec": {}}],
        report=report,
    )
    assert dict(report.other_kinds) == {"example.com/v1 AllowList": 1}


def test_an_array_of_anything_else_is_one_document(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text(json.dumps([node("n")]))
    (tmp_path / "rows.json").write_text(json.dumps([1, "two", {"three": 3}] * 100))
    (tmp_path / "events.json").write_text(json.dumps({"items": [EVENT] * 100}))
    output = f"{tmp_path}: set aside: 1 document that holds no objects (rows.json: [0])"
    assert load(tmp_path).warnings == (output,)
