"""What is kept of workloads: what makes pods that do not exist yet, and counts of pods that may be missing."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import cpsched
from cpsched.capture.fields import kept, without_images
from cpsched.capture.kinds import TAKEN, known_kind
from cpsched.capture.redaction import redacted
from cpsched.capture.templates import without_templates

Raw = dict[str, Any]
ROOT = Path(__file__).parents[3]
CONTAINER = {"name": "c", "image": "a:1", "env": [{"name": "A", "value": "hush"}], "args": ["hush"]}
TEMPLATE = {
    "metadata": {"labels": {"app": "x"}},
    "spec": {"containers": [{**CONTAINER, "resources": {"requests": {"cpu": "1"}}}]},
}
SELECTOR = {"matchLabels": {"app": "x"}}
NODES = [
    {
        **{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}", "uid": f"n{number}"}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    }
    for number in range(2)
]


def workload(api: str, kind: str, name: str, spec: Raw, status: Raw | None = None, of: str = "") -> Raw:
    owners = [{"kind": "Deployment", "name": "d", "uid": of, "controller": True}] if of else []
    metadata = {"name": name, "namespace": "a", "uid": f"u-{name}", "ownerReferences": owners}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec, "status": status or {}}


def pod(name: str, of: str) -> Raw:
    owner = {"kind": "ReplicaSet", "name": of, "uid": f"u-{of}", "controller": True}
    metadata = {"name": name, "namespace": "a", "uid": name, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": "n1"}, "status": {}}


def alike(replicas: int) -> Raw:
    return {"replicas": replicas, "selector": SELECTOR, "template": TEMPLATE}


PYTORCH = {"Master": {"replicas": 1, "template": TEMPLATE}, "Worker": {"replicas": 2, "template": TEMPLATE}}
INDEXED = {"parallelism": 2, "completions": 3, "completionMode": "Indexed", "template": TEMPLATE}
STARTING: dict[str, Raw] = {
    "Deployment": workload("apps/v1", "Deployment", "d", alike(2)),
    "ReplicaSet": workload("apps/v1", "ReplicaSet", "r", alike(2)),
    "ReplicationController": workload("v1", "ReplicationController", "c", {**alike(1), "selector": {"app": "x"}}),
    "StatefulSet": workload("apps/v1", "StatefulSet", "s", {**alike(2), "podManagementPolicy": "Parallel"}),
    "DaemonSet": workload("apps/v1", "DaemonSet", "e", {"selector": SELECTOR, "template": TEMPLATE}),
    "Job": workload("batch/v1", "Job", "j", INDEXED),
    "retried Job": workload("batch/v1", "Job", "j", INDEXED, {"succeeded": 1, "failed": 1}),
    "Volcano's Job": workload(
        "batch.volcano.sh/v1alpha1", "Job", "v", {"tasks": [{"name": "w", "replicas": 2, "template": TEMPLATE}]}
    ),
    "PyTorchJob": workload("kubeflow.org/v1", "PyTorchJob", "p", {"pytorchReplicaSpecs": PYTORCH}),
    "JobSet": workload(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "o",
        {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": INDEXED}}]},
    ),
}
"""Workloads of which no pod was made yet."""


def taken(*items: Raw) -> list[Raw]:
    """What a capture has of these objects."""
    found = []
    for item in copy.deepcopy(list(items)):
        kind = known_kind(item["apiVersion"], item["kind"])
        assert kind is not None
        found.append(kept(item, *TAKEN[kind]))
    return without_images(without_templates(found))


@pytest.mark.parametrize("name", STARTING)
def test_pods_that_are_still_to_be_made_are_the_same_from_a_capture(name: str) -> None:
    whole = cpsched.load([*NODES, STARTING[name]])
    items = taken(*NODES, STARTING[name])
    assert "hush" not in str(items)
    assert "a:1" not in str(items)
    found = cpsched.load(items)
    assert len(found.tasks) > 0
    assert [(key, task.requests) for key, task in found.tasks.items()] == [
        (key, task.requests) for key, task in whole.tasks.items()
    ]
    _, hidden, _ = redacted({"kind": "Capture", "configurations": [], "missing": []}, items)
    hidden_pods = cpsched.load(hidden).tasks.values()
    assert [task.requests for task in hidden_pods] == [task.requests for task in whole.tasks.values()]


def test_workloads_that_have_their_pods_are_left_out_but_for_what_schedulers_read() -> None:
    owned = workload("apps/v1", "ReplicaSet", "r", alike(1), {"replicas": 1}, of="u-d")
    former = workload("apps/v1", "ReplicaSet", "f", alike(0), of="u-d")
    items = taken(STARTING["Deployment"], owned, former, pod("p", "r"))
    assert [item["metadata"]["name"] for item in items] == ["r", "f", "p"]
    assert [item["spec"] for item in items[:2]] == [{"selector": SELECTOR}] * 2


def test_jobs_that_have_ended_are_left_out() -> None:
    ended = {"succeeded": 2, "conditions": [{"type": "Complete", "status": "True"}]}
    assert taken(workload("batch/v1", "Job", "j", INDEXED, ended)) == []


def test_a_workload_that_counts_pods_keeps_the_count_alone() -> None:
    counting = workload("apps/v1", "Deployment", "d", alike(2), {"replicas": 2, "availableReplicas": 2})
    (found,) = taken(counting)
    assert (found["spec"], found["status"]) == ({"replicas": 2}, {"replicas": 2})
    assert "2 pods that workloads count, missing in the input" in " ".join(cpsched.load([*NODES, found]).warnings)


def test_the_cluster_role_names_every_kind() -> None:
    page = (ROOT / "docs" / "capture.md").read_text()
    (role,) = [text for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "kind: ClusterRole" in text]
    allowed = {
        (group, resource)
        for rule in yaml.safe_load(role)["rules"]
        if rule["verbs"] == ["list"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert allowed == {(group, _plural(kind.lower())) for group, kind in TAKEN}


def _plural(kind: str) -> str:
    if kind.endswith("y"):
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith("s") else f"{kind}s"
