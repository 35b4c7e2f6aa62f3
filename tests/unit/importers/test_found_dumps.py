"""Look-alikes of dumps that people keep in repositories, one per kind of thing found there: what is read of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cpsched.contents import contents
from cpsched.importers.load import load
from tests.dumps import Raw, as_folder, list_of, node, pod, tarred, with_kind, zipped


def lone(kind: str, item: Raw, **status: Any) -> Raw:
    """An object with its kind, and more in its status."""
    made = with_kind(kind, item)
    return {**made, "status": {**made["status"], **status}}


def as_yaml(*items: Raw) -> str:
    """Documents."""
    return yaml.safe_dump_all(items)


def mirror(name: str, host: str) -> Raw:
    """A static pod, as its kubelet shows it."""
    made = with_kind("Pod", pod(f"{name}-{host}", host, "kube-system"))
    made["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "5f1c", "kubernetes.io/config.source": "file"}
    made["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Node", "name": host, "uid": f"uid-{host}"}]
    return made


NODES, WEB = [with_kind("Node", node(name)) for name in ("n1", "n2")], pod("web", "n1")
ODD = lone("Pod", pod("odd", "n1"), phase="CrashLoopBackOff")
NAMELESS = {**with_kind("Pod", pod("x")), "metadata": {"labels": {"app": "x"}}}
NUMBERED = {**with_kind("Pod", pod("x")), "metadata": {"generateName": "x-"}}
HIDDEN = "nodeID: n1\nreplicas:\n  a: ***HIDDEN***:10000\n"
FOUND: dict[str, tuple[dict[str, bytes | str], str, list[str]]] = {
    "kubectl get -o yaml of each kind": (
        {
            "dump/nodes.yaml": as_yaml({"apiVersion": "v1", "kind": "List", "items": NODES}),
            "dump/pods.yaml": as_yaml({"apiVersion": "v1", "kind": "List", "items": [with_kind("Pod", WEB)]}),
            "dump/limits.yaml": as_yaml({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}}),
        },
        "2 nodes, 1 pod running",
        [],
    ),
    "pods of a kubelet": ({"pods": list_of("Pod", WEB, pod("b", "n1"))}, "no nodes, 2 pods running", ["no nodes"]),
    "a support bundle": (
        {
            "b/cluster-resources/nodes.json": json.dumps([node("n1"), node("n2")]),
            "b/cluster-resources/pods/default.json": json.dumps({"kind": "PodList", "items": [WEB, pod("waits")]}),
            "b/cluster-resources/auth-cani-list/default.json": json.dumps([{"spec": {"namespace": "default"}}]),
            "b/cluster-resources/custom-resources/engines.example.io/default.yaml": HIDDEN,
            "b/cluster-resources/pods/logs/default/web/main.log": "{",
            "b/analysis.json": json.dumps([{"name": "cluster", "labels": {}, "insight": {}}]),
        },
        "2 nodes, 1 pod running, 1 pending",
        ["set aside: 1 unreadable file ", "set aside: 2 documents", "set aside: 1 file that is neither"],
    ),
    "a must-gather": (
        {
            "m/cluster-scoped-resources/core/nodes/n1.yaml": as_yaml(NODES[0]),
            "m/namespaces/default/core/pods.yaml": as_yaml(json.loads(list_of("Pod", WEB))),
            "m/namespaces/default/pods/web/web.yaml": as_yaml(with_kind("Pod", WEB)),
            "m/event-filter.html": "",
        },
        "1 node, 1 pod running",
        ["set aside: 1 object given twice", "set aside: 1 file that is neither"],
    ),
    "an Insights archive": (
        {
            "config/node/n1.json": json.dumps(node("n1")),
            "config/pod/default/web.json": json.dumps(WEB),
            "config/version.json": json.dumps({"metadata": {"name": "version"}, "spec": {"channel": "stable"}}),
        },
        "1 node, 1 pod running",
        ["set aside: 1 document that"],
    ),
    "results of Sonobuoy": (
        {
            "resources/cluster/core_v1_nodes.json": json.dumps({"items": [node("n1")]}),
            "resources/ns/default/core_v1_pods.json": json.dumps({"items": [WEB, pod("waits")]}),
            "serverversion.json": json.dumps({"major": "1", "minor": "36"}),
            "podlogs/default/web/logs/main.txt": "x",
        },
        "1 node, 1 pod running, 1 pending",
        ["set aside: 1 document that", "set aside: 1 file that is neither"],
    ),
    "static pods and their mirrors": (
        {"all.json": json.dumps([*NODES, mirror("etcd", "n1"), mirror("etcd", "n2")])},
        "2 nodes, 2 pods running",
        [],
    ),
    "pods of nodes that are gone": (
        {"all.json": json.dumps([NODES[0], *(with_kind("Pod", pod(f"p{n}", f"gone{n % 2}")) for n in range(6))])},
        "1 node, 6 pods running",
        ["6 pods on nodes that are not in the input (2: gone0, gone1)"],
    ),
    "finished, unknown and placeless pods": (
        {
            "all.json": json.dumps(
                [
                    NODES[0],
                    lone("Pod", pod("s", "gone"), phase="Succeeded"),
                    lone("Pod", pod("f", "gone"), phase="Failed"),
                    lone("Pod", pod("u", "n1"), phase="Unknown"),
                    lone("Pod", pod("r"), phase="Running"),
                ]
            )
        },
        "1 node, 1 pod running, 1 in phase Unknown, 2 finished",
        ["Pod default/r: is Running but has no spec.nodeName"],
    ),
    "examples of manifests": (
        {
            "one.yaml": as_yaml(NODES[0], ODD, NAMELESS, NUMBERED, NUMBERED),
            "chart/templates/d.yaml": "kind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n",
            "chart/values.yaml": "replicas: 3\n",
            "README.md": "#",
        },
        "1 node, 2 pods pending",
        ["set aside: 2 unreadable objects", "set aside: 1 unreadable file ", "1 document", "set aside: 1 file"],
    ),
    "documents with nothing between them": (
        {"glued.yaml": as_yaml(NODES[0]) + as_yaml(with_kind("Pod", pod("waits")))},
        "1 node, 1 pod pending",
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("pack", ["folder", "tar.gz", "zip"])
@pytest.mark.parametrize(("members", "read", "warned"), FOUND.values(), ids=FOUND.keys())
def test_it_is_read(tmp_path: Path, members: dict[str, bytes | str], read: str, warned: list[str], pack: str) -> None:
    path = tmp_path / "dump"
    if pack == "folder":
        members = {name if "." in name else f"{name}.json": content for name, content in members.items()}
        as_folder(path, members)
    else:
        path.write_bytes(tarred(members, "w:gz") if pack == "tar.gz" else zipped(members))
    instance = load(path)
    assert contents(instance) == read
    lines = [line.removeprefix(f"{path}: ").removeprefix(f"{path}") for line in instance.warnings]
    assert [any(start in line for line in lines) for start in warned] == [True] * len(warned)
    assert len(lines) == len(warned)
