"""What a cluster says of itself against what was read: live dumps are whole, what is taken out of them is missed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cpsched.completeness.registry import CHECKS, doubts_of_input
from cpsched.importers.load import load
from cpsched.what_if.changes import Changes

DUMPS = Path(__file__).parents[2] / "snapshots"
PLAIN, VOLCANO = "plain.json.gz", "volcano-live.json.gz"
Raw = dict[str, Any]
Keep = Callable[[Raw], bool]


def items_of(name: str) -> list[Raw]:
    items: list[Raw] = json.loads(gzip.decompress((DUMPS / name).read_bytes()))["items"]
    return items


def found(items: list[Raw]) -> dict[str, str]:
    """check → its sentences."""
    output: dict[str, str] = {}
    for doubt in doubts_of_input(load({"kind": "List", "apiVersion": "v1", "items": items}, lenient=True)):
        assert doubt.is_of_input
        output[doubt.name] = f"{output[doubt.name]}\n{doubt.text}" if doubt.name in output else doubt.text
    return output


def without(name: str, keep: Keep) -> dict[str, str]:
    return found([item for item in items_of(name) if keep(item)])


def named(items: list[Raw], kind: str, name: str) -> Raw:
    return next(item for item in items if item["kind"] == kind and item["metadata"]["name"] == name)


def in_namespaces(*names: str) -> Keep:
    return lambda item: item["metadata"].get("namespace") in (None, *names)


def no_pods_outside(*names: str) -> Keep:
    return lambda item: item["kind"] != "Pod" or item["metadata"]["namespace"] in names


def of_no_kind(*kinds: str) -> Keep:
    return lambda item: item["kind"] not in kinds


@pytest.mark.parametrize("name", [PLAIN, VOLCANO])
def test_a_whole_dump_is_in_no_doubt(name: str) -> None:
    assert found(items_of(name)) == {}


def test_a_dump_of_one_namespace() -> None:
    output = without(PLAIN, in_namespaces("ml"))["one namespace"]
    assert output.startswith("everything in the input that has a namespace is in ml, nothing in kube-system: pods are")
    assert output.endswith("was the input made with -A?")


def test_a_cluster_may_have_one_namespace_in_use() -> None:
    """A service elsewhere shows that the input is not of one namespace; so does a node that no kubelet runs."""
    items = [item for item in items_of(PLAIN) if in_namespaces("ml")(item)]
    service = next(
        item for item in items_of(PLAIN) if item["kind"] == "Service" and item["metadata"]["name"] == "kubernetes"
    )
    assert "one namespace" not in found([*items, service])
    for item in items:
        if item["kind"] == "Node":
            item["metadata"].setdefault("annotations", {})["kwok.x-k8s.io/node"] = "fake"
    assert "one namespace" not in found(items)


def test_volumes_name_claims_of_namespaces_that_are_missing() -> None:
    """What kubectl cluster-info dump takes without -A, with the cluster-wide kinds."""
    output = without(PLAIN, in_namespaces("default", "kube-system"))["volumes bound"]
    assert "is bound to claim data/" in output
    assert "of namespace data the input has nothing" in output


def test_nodes_are_missing() -> None:
    few = {item["metadata"]["name"] for item in items_of(PLAIN) if item["kind"] == "Node"} - {"spot-1", "gpu-1"}
    output = without(PLAIN, lambda item: item["kind"] != "Node" or item["metadata"]["name"] in few)
    assert output["nodes counted"] == (
        "the scheduler counted 12 nodes when it last tried batch/too-big, the input has 10: nodes are missing"
    )
    output = without(VOLCANO, lambda item: item["kind"] != "Node" or item["metadata"]["name"] != "gpu-1")
    assert "counted 10 nodes when it last tried ml/train-b-worker-1, the input has 9" in output["nodes counted"]


def test_nodes_of_another_cluster() -> None:
    items = items_of(PLAIN)
    other = json.loads(json.dumps(named(items, "Node", "gpu-1")))
    other["metadata"] |= {"name": "other-1", "uid": "other"}
    assert "the input has 13 that are older than this pod" in found([*items, other])["nodes counted"]
    other["metadata"]["creationTimestamp"] = "2026-12-31T00:00:00Z"
    assert "nodes counted" not in found([*items, other])


def test_what_the_scheduler_found_full_is_free_here() -> None:
    """batch/too-big found too little cpu on six nodes, the others refuse it for other reasons."""
    items = items_of(PLAIN)
    pod = named(items, "Pod", "too-big")
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1m"
    output = found(items)
    assert (
        "found too little cpu for batch/too-big on 6 of 12 nodes, by the input that is so on 0"
        in (output["resources lacking"])
    )
    assert "refused by every node" not in output


def test_one_node_that_was_freed_since_is_no_doubt() -> None:
    items = items_of(PLAIN)
    pod, node = named(items, "Pod", "too-big"), named(items, "Node", "worker-2")
    node["status"]["allocatable"]["cpu"] = "200"
    assert found(items) == {}
    named(items, "Node", "worker-3")["status"]["allocatable"]["cpu"] = "200"
    assert "by the input worker-2 and 1 more would do" in found(items)["refused by every node"]
    pod["status"]["nominatedNodeName"] = "worker-2"
    assert found(items) == {}


def test_what_only_pods_without_a_node_refer_to_may_be_missing_in_the_cluster() -> None:
    claims = ("PersistentVolumeClaim", "PersistentVolume")
    pods = [item for item in items_of(PLAIN) if item["kind"] not in claims]
    pods = [item for item in pods if item["metadata"]["name"] in ("waits-for-volume",) or item["kind"] != "Pod"]
    kinds = [line for line in found(pods).get("missing kinds", "").splitlines() if "PersistentVolumeClaims" in line]
    assert kinds == []
    few = [item for item in pods if item["kind"] in ("Node", "Pod")]
    assert found(few)["missing kinds"].startswith("1 pod refers to PersistentVolumeClaims (data/waits-for-volume)")


def test_the_text_of_an_event_counts_where_there_is_no_condition() -> None:
    items = items_of(PLAIN)
    pod = named(items, "Pod", "too-big")
    message = pod["status"]["conditions"][0]["message"]
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1m"
    pod["status"]["conditions"] = []
    assert found(items) == {}
    about = {"kind": "Pod", "namespace": "batch", "name": "too-big", "uid": pod["metadata"]["uid"]}
    event = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "namespace": "batch"}}
    event |= {"reason": "FailedScheduling", "involvedObject": about, "message": message}
    assert "resources lacking" in found([*items, event])
    newer = {"kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": {"name": "f", "namespace": "batch"}}
    newer |= {"reason": "FailedScheduling", "regarding": about, "note": "0/12 nodes are available: not found."}
    assert "resources lacking" not in found([*items, event, newer | {"eventTime": "2027-01-01T00:00:00.5Z"}])
    assert found([*items, event | {"reason": "Scheduled"}]) == {}
    assert found([*items, event | {"involvedObject": about | {"uid": "of a former pod"}}]) == {}


def test_what_no_node_took_fits_here() -> None:
    items = items_of(PLAIN)
    pod = named(items, "Pod", "wants-b200")
    assert pod["spec"].pop("nodeSelector", None) or pod["spec"].pop("affinity")
    pod["spec"]["containers"][0]["resources"] = {}
    output = found(items)["refused by every node"]
    assert 'found no node for ml/wants-b200 ("0/12 nodes are available: ' in output
    assert output.endswith("something is missing in the input, or the cluster has changed since")
    pod["status"]["nominatedNodeName"] = "worker-1"
    assert found(items) == {}


def test_sets_and_budgets_count_pods_that_are_missing() -> None:
    output = without(PLAIN, no_pods_outside("ml"))
    assert "ReplicaSet batch/fill-854767c5d6 counts 12 pods, the input has 0 of it" in output["sets counted"]
    assert output["sets counted"].endswith("more sets like that: pods are missing; was the input made with -A?")
    assert "PodDisruptionBudget data/db counts 3 healthy pods, the input has 0 of them" in output["budgets counted"]


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_workloads_of_which_no_pod_is_there_count_too(kind: str) -> None:
    """Not every dump has ReplicaSets."""
    template = {"spec": {"containers": [{"name": "c"}]}}
    counts = {"replicas": 3, "currentNumberScheduled": 3}
    web: Raw = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", "namespace": "ml", "uid": "u"}}
    web |= {"spec": {"replicas": 3, "template": template}, "status": counts}
    items = [*(item for item in items_of(PLAIN) if of_no_kind("ReplicaSet", "StatefulSet")(item)), web]
    assert found(items)["sets counted"] == (
        f"{kind} ml/web counts 3 pods, the input has 0 of it: pods are missing; was the input made with -A?"
    )
    owner = {"kind": kind, "name": "web", "uid": "u", "controller": True}
    next(item for item in items if item["kind"] == "Pod" and item["metadata"]["namespace"] == "ml")["metadata"][
        "ownerReferences"
    ] = [owner]
    assert found(items) == {}


def test_pods_run_on_nodes_that_are_missing() -> None:
    few = {"spot-1", "gpu-1"}
    items = [item for item in items_of(PLAIN) if item["kind"] != "Node" or item["metadata"]["name"] not in few]
    output = found(items)["nodes of running pods"]
    assert output.endswith("run on 2 nodes that the input lacks (spot-1, gpu-1): nodes are missing") or output.endswith(
        "run on 2 nodes that the input lacks (gpu-1, spot-1): nodes are missing"
    )
    for item in items:
        if item["kind"] == "Pod" and item["spec"].get("nodeName") in few:
            item["metadata"]["deletionTimestamp"] = "2026-11-18T12:00:00Z"
    assert "nodes of running pods" not in found(items)


def test_one_pod_made_or_gone_while_the_objects_were_listed_is_no_doubt() -> None:
    lost = next(
        item["metadata"]["name"]
        for item in items_of(PLAIN)
        if item["kind"] == "Pod" and "front" in item["metadata"]["name"]
    )
    assert without(PLAIN, lambda item: item["kind"] != "Pod" or item["metadata"]["name"] != lost) == {}


def test_pod_groups_count_pods_that_are_missing() -> None:
    output = without(VOLCANO, no_pods_outside("ml", "kube-system"))["PodGroups counted"]
    assert output.startswith("PodGroup lab/notebooks counts 4 running pods, the input has 0 of it; ")


def test_queues_count_what_pods_hold() -> None:
    items = [item for item in items_of(VOLCANO) if in_namespaces("ml", "kube-system")(item)]
    for item in items:
        if item["kind"] == "PodGroup" and item["status"].get("phase") == "Pending":
            item["status"]["phase"] = "Inqueue"
    output = found(items)["queues counted"]
    assert output.startswith(
        "queue default counts 40 cpu, of which pods of the input hold 0; 96Gi memory, of which pods of"
    )
    assert "research" not in output
    # Volcano has not looked since this PodGroup was made: what it counted last may be old.
    next(item for item in items if item["kind"] == "PodGroup")["status"] = {"phase": "Pending"}
    assert "queues counted" not in found(items)


def test_more_on_a_node_than_it_has() -> None:
    items = items_of(PLAIN)
    named(items, "Node", "gpu-1")["status"]["allocatable"]["nvidia.com/gpu"] = "0"
    assert found(items) == {}
    named(items, "Node", "worker-1")["status"]["allocatable"]["cpu"] = "1"
    output = found(items)["nodes overcommitted"]
    assert output.startswith("running pods on worker-1 request ")
    assert "cpu of 1: the input holds objects of several moments, or of more than one cluster" in output


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        (PLAIN, "PersistentVolumeClaim", "pods refer to PersistentVolumeClaims (data/db-0, "),
        (PLAIN, "PersistentVolume", "claims refer to PersistentVolumes ("),
        (PLAIN, "StorageClass", "refers to StorageClasses (data/slow), of which the input has none: when and where"),
        (VOLCANO, "PodGroup", "pods refer to PodGroups (lab/notebooks-worker-0, "),
        (VOLCANO, "Queue", "PodGroups refer to Queues (lab/notebooks, "),
        (VOLCANO, "PriorityClass", "PodGroups refer to PriorityClasses ("),
    ],
)
def test_a_kind_that_is_referred_to_and_missing(name: str, kind: str, sentence: str) -> None:
    assert sentence in without(name, of_no_kind(kind))["missing kinds"]


def test_devices_and_namespaces_that_are_referred_to() -> None:
    items = [item for item in items_of(PLAIN) if item["kind"] != "Namespace"]
    spec = next(item for item in items if item.get("status", {}).get("phase") == "Running")["spec"]
    term = {"topologyKey": "zone", "namespaceSelector": {"matchLabels": {"team": "a"}}, "labelSelector": {}}
    spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    output = found(items)["missing kinds"].splitlines()
    assert [line.partition(" (")[0] for line in output] == [
        "1 pod refers to ResourceClaims",
        "1 pod refers to Namespaces by labels",
    ]
    term["namespaceSelector"] = {}
    assert "Namespaces" not in found(items)["missing kinds"]


def test_budgets_are_unknown_where_no_task_asked_for_such_kinds() -> None:
    """Every cluster has PriorityClasses, so an input without them says nothing of budgets either."""
    output = without(PLAIN, of_no_kind("PodDisruptionBudget", "PriorityClass"))
    assert output["unknown budgets"].startswith("the input has neither PodDisruptionBudgets nor PriorityClasses, which")
    assert without(PLAIN, of_no_kind("PodDisruptionBudget")) == {}


def test_what_no_cluster_wrote_is_in_no_doubt() -> None:
    items = [item for item in items_of(PLAIN) if item["kind"] in ("Node", "Pod")]
    assert found(items) != {}
    for item in items:
        if item["kind"] == "Node":
            del item["metadata"]["uid"]
    assert found(items) == {}


def test_every_check_has_been_seen_to_doubt() -> None:
    """The names here are those of the registry: a new check is tested above."""
    assert set(CHECKS) == {
        "one namespace",
        "namespaces dumped",
        "volumes bound",
        "nodes counted",
        "resources lacking",
        "refused by every node",
        "queues counted",
        "PodGroups counted",
        "sets counted",
        "budgets counted",
        "nodes of running pods",
        "nodes overcommitted",
        "nodes used",
        "missing kinds",
        "unknown budgets",
    }


def test_what_is_changed_on_request_is_no_contradiction() -> None:
    changes = Changes(drain=("worker-1",), add_nodes=((2, "worker-2"),))
    assert doubts_of_input(load(DUMPS / PLAIN, changes=changes)) == ()
    few = [item for item in items_of(PLAIN) if in_namespaces("ml")(item)]
    kept = load({"kind": "List", "apiVersion": "v1", "items": few}, changes=changes)
    assert "one namespace" in [doubt.name for doubt in doubts_of_input(kept)]
    again = load(load(DUMPS / PLAIN, changes=changes).to_dict())
    assert doubts_of_input(again) == ()


@pytest.mark.parametrize("name", ["uid", "creationTimestamp", "resourceVersion"])
def test_nodes_that_no_api_server_printed_count_nothing(name: str) -> None:
    """Objects made by hand or by a generator may have uids and times; no decision depends on a version."""
    items = [item for item in items_of(PLAIN) if in_namespaces("ml")(item)]
    assert "one namespace" in found(items)
    for item in items:
        if item["kind"] == "Node":
            del item["metadata"][name]
    assert found(items) == {}


def streamed(*namespaces: str) -> list[Raw]:
    """The lists that `kubectl cluster-info dump` prints of these namespaces."""
    items = items_of(PLAIN)
    lists = [{"kind": "NodeList", "apiVersion": "v1", "items": [item for item in items if item["kind"] == "Node"]}]
    for namespace in namespaces:
        here = [item for item in items if item["metadata"].get("namespace") == namespace]
        lists += [
            {"kind": f"{kind}List", "apiVersion": "v1", "items": [item for item in here if item["kind"] == kind]}
            for kind in ("Event", "ReplicationController", "Service", "DaemonSet", "Deployment", "ReplicaSet", "Pod")
        ]
    return lists


@pytest.mark.parametrize(
    ("namespaces", "is_partial"),
    [
        (("kube-system", "default"), True),
        (("ml",), True),
        (("default", "kube-node-lease", "kube-public", "kube-system"), False),
    ],
)
def test_cluster_info_dump_prints_lists_for_each_namespace(
    namespaces: tuple[str, ...], is_partial: bool, tmp_path: Path
) -> None:
    """Empty namespaces too: of a cluster in which only default and kube-system are used, there are four."""
    path = tmp_path / "dump.txt"
    path.write_text("".join(json.dumps(one, indent=4) + "\n" for one in streamed(*namespaces)))
    output = {doubt.name: doubt.text for doubt in doubts_of_input(load(path))}.get("namespaces dumped", "")
    assert output.startswith(f"kubectl cluster-info dump was made of {len(namespaces)} namespace") is is_partial


def test_lists_that_kubectl_get_prints_are_no_cluster_info_dump(tmp_path: Path) -> None:
    path = tmp_path / "dump.txt"
    lists = [one for one in streamed("kube-system") if one["kind"] in ("NodeList", "PodList")]
    path.write_text("".join(json.dumps(one, indent=4) + "\n" for one in lists))
    assert "namespaces dumped" not in {doubt.name for doubt in doubts_of_input(load(path))}


def test_what_volcano_counts_in_use_on_a_node(tmp_path: Path) -> None:
    """Its cache dump has what all pods on a node use, whichever of them are in the input."""
    node: Raw = {"name": "n3", "uid": "u", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z"}
    pod: Raw = {"metadata": {"name": "p", "namespace": "a"}, "status": {"phase": "Running"}}
    pod["spec"] = {"nodeName": "n3", "containers": [{"name": "c", "resources": {"requests": {"cpu": "12"}}}]}
    used = {"MilliCPU": 12000, "Memory": 0, "ScalarResources": {"pods": 1, "nvidia.com/gpu": 0}}
    info = {"Node": {"metadata": node}, "Tasks": {"a/p": {"Pod": pod, "Status": 32}}, "Idle": {}, "Used": used}
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"n3": info}))
    assert doubts_of_input(load(path)) == ()
    used |= {"MilliCPU": 41000, "ScalarResources": {"pods": 2, "nvidia.com/gpu": 8000}}
    path.write_text(json.dumps({"n3": info}))
    (doubt,) = doubts_of_input(load(path))
    assert (doubt.name, doubt.text) == (
        "nodes used",
        "Volcano counts 41 cpu, 2 pods, 8 gpu in use on n3, of which pods of the input hold 12 cpu, "
        "1 pods, 0 gpu: pods are missing; was the input made with -A?",
    )
