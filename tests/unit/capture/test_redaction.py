"""What gets a pseudonym, and what has to stay for the decision to be the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cpsched.capture.amounts import plain, texts
from cpsched.capture.redaction import _PLAIN, redacted

Raw = dict[str, Any]
DOCUMENT: Raw = {"kind": "Capture", "configurations": [], "missing": []}


def hidden(*items: Raw, **document: Any) -> tuple[Raw, list[Raw], dict[str, str]]:
    return redacted({**DOCUMENT, **document}, list(items))


def node(name: str, **labels: str) -> Raw:
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"x.org/fpga": "1"}},
    }


def test_a_name_is_the_same_wherever_it_stands() -> None:
    pod = {"kind": "Pod", "metadata": {"name": "p", "namespace": "team"}, "spec": {"nodeName": "big"}}
    pod["spec"] |= {"nodeSelector": {"kubernetes.io/hostname": "big", "rack": "r7"}}
    _, (one, two), names = hidden(node("big", **{"kubernetes.io/hostname": "big", "rack": "r7"}), pod)
    new = one["metadata"]["name"]
    assert names[new] == "big"
    assert one["metadata"]["labels"]["kubernetes.io/hostname"] == new == two["spec"]["nodeName"]
    assert two["spec"]["nodeSelector"] == one["metadata"]["labels"]
    assert "rack" not in json.dumps([one, two])


def test_names_of_resources_stay_also_as_keys_of_labels_and_taints() -> None:
    taint = {"key": "x.org/fpga", "value": "yes", "effect": "NoSchedule"}
    item = node("n", **{"x.org/fpga": "present"}) | {"spec": {"taints": [taint]}}
    _, [found], _ = hidden(item)
    assert found["status"]["allocatable"] == {"x.org/fpga": "1"}
    assert set(found["metadata"]["labels"]) == {"x.org/fpga"}
    assert found["spec"]["taints"][0]["key"] == "x.org/fpga"
    assert found["spec"]["taints"][0]["value"] != "yes"


def test_numbers_that_are_compared_stay() -> None:
    terms = {"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["5"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [terms]}}}
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"affinity": affinity}}
    _, (one, two), _ = hidden(node("n", size="7", rank="7"), pod)
    values = list(one["metadata"]["labels"].values())
    assert values[0] == "7" != values[1]
    required = two["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] == ["5"]


def test_texts_of_conditions_go() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "volume secret-disk"}
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Pending", "conditions": [condition]}}
    _, [found], _ = hidden(pod)
    del condition["message"]
    assert found["status"] == {"phase": "Pending", "conditions": [condition]}


def test_the_claim_of_an_ephemeral_volume_is_found_again() -> None:
    pod = {"kind": "Pod", "metadata": {"name": "db-0", "namespace": "a"}, "spec": {}}
    pod["spec"] = {"volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "db-0-scratch", "namespace": "a"}}
    _, (one, two), _ = hidden(pod, claim)
    assert two["metadata"]["name"] == f"{one['metadata']['name']}-{one['spec']['volumes'][0]['name']}"


def test_annotations_that_are_numbers_or_times_stay() -> None:
    stated = {"volcano.sh/task-priority": "5", "sla-waiting-time": "1h30m", "scheduling.k8s.io/group-name": "5"}
    _, [found], _ = hidden({"kind": "Pod", "metadata": {"name": "p", "annotations": stated}})
    annotations = found["metadata"]["annotations"]
    assert annotations["volcano.sh/task-priority"] == "5"
    assert annotations["sla-waiting-time"] == "1h30m"
    # The name of a group that looks like a number is a name.
    assert annotations["scheduling.k8s.io/group-name"] != "5"


@pytest.mark.parametrize(
    ("key", "text", "form"),
    [
        ("volcano.sh/task-topology-affinity", "ps,worker;chief,worker", "B,C;A,C"),
        ("volcano.sh/gpu-unhealthy-ids", "0,x", "0,A"),
        ("volcano.sh/vgpu-use-gpuuuid", "GPU-1, GPU-2", "A, B"),
        (
            "volcano.sh/node-vgpu-register",
            "GPU-1,10,32768,100,NVIDIA-V100,true:GPU-2,1,8,9,X,false:",
            "A,10,32768,100,NVIDIA-V100,true:B,1,8,9,X,false:",
        ),
        ("volcano.sh/vgpu-ids-new", "GPU-1,NVIDIA,3000,30:;", "A,NVIDIA,3000,30:;"),
        ("volcano.sh/nodegroup-resource-limits", '{"east": {"cpu": "5"}}', '{"A": {"cpu": "5"}}'),
        ("volcano.sh/nodegroup-resource-limits", "{x", "A"),
        ("volcano.sh/numa-topology-policy", "single-numa-node", "single-numa-node"),
        ("volcano.sh/resource-strategy-weight", '{"cpu": 3}', '{"cpu": 3}'),
        ("volcano.sh/of-tomorrow", "secret", "A"),
    ],
)
def test_the_form_of_annotations_stays(key: str, text: str, form: str) -> None:
    _, [found], names = hidden({"kind": "Pod", "metadata": {"name": "p", "annotations": {key: text}}})
    shown = found["metadata"]["annotations"][key]
    order = sorted(name for name in names if name in shown)
    for letter, name in zip("ABC", order, strict=False):
        shown = shown.replace(name, letter)
    assert shown == form


def test_labels_that_are_read_as_times_and_numbers_stay_so() -> None:
    policy = {"name": "w", "matchLabelKeys": ["part"], "subGroupSize": 2}
    group = {"kind": "PodGroup", "metadata": {"name": "g"}, "spec": {"subGroupPolicy": [policy]}}
    labels = {"volcano.sh/cooldown-time": "600s", "part": "10", "team": "10"}
    _, (one, two), _ = hidden({"kind": "Pod", "metadata": {"name": "p", "labels": labels}}, group)
    (part,) = two["spec"]["subGroupPolicy"][0]["matchLabelKeys"]
    found = one["metadata"]["labels"]
    assert (found["volcano.sh/cooldown-time"], found[part]) == ("600s", "10")
    assert "team" not in json.dumps(one)
    assert list(found.values()).count("10") == 1


def test_labels_that_keep_pods_off_each_others_cards_are_those_of_the_pods() -> None:
    arguments = {"deviceshare.GPUExclusiveRules": [{"tier": "gold"}]}
    conf = {"tiers": [{"plugins": [{"name": "deviceshare", "arguments": arguments}]}]}
    pod = {"kind": "Pod", "metadata": {"name": "p", "labels": {"tier": "gold"}}}
    document, [found], _ = hidden(pod, configurations=[{"scheduler": "volcano", "from": "a/b", "conf": conf}])
    stated = document["configurations"][0]["conf"]["tiers"][0]["plugins"][0]["arguments"]
    assert stated == {"deviceshare.GPUExclusiveRules": [found["metadata"]["labels"]]}
    assert "gold" not in json.dumps([document, found])


def test_a_configuration_keeps_plugins_and_loses_addresses() -> None:
    kube = {
        "profiles": [{"plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}}}],
        "extenders": [{"urlPrefix": "http://inner.example.com", "weight": 1}],
    }
    volcano = {"tiers": [{"plugins": [{"name": "tdm", "arguments": {"tdm.revocable-zone.night": "22:00-06:00"}}]}]}
    stated = [
        {"scheduler": "kube", "from": "a/b", "conf": kube},
        {"scheduler": "volcano", "from": "a/c", "conf": volcano},
    ]
    document, [found], _ = hidden(node("n", **{"volcano.sh/revocable-zone": "night"}), configurations=stated)
    one, two = (entry["conf"] for entry in document["configurations"])
    assert one["profiles"] == kube["profiles"]
    assert "inner.example.com" not in json.dumps(document)
    zone = found["metadata"]["labels"]["volcano.sh/revocable-zone"]
    assert two["tiers"][0]["plugins"][0]["arguments"] == {f"tdm.revocable-zone.{zone}": "22:00-06:00"}
    assert document["configurations"][0]["from"] != "a/b"


def test_patterns_of_hypernodes_become_names() -> None:
    members = [
        {"type": "Node", "selector": {"regexMatch": {"pattern": "^gpu-"}}},
        {"type": "Node", "selector": {"regexMatch": {"pattern": "("}}},
        {"type": "Node", "selector": {"labelMatch": {"matchLabels": {"rack": "r1"}}}},
    ]
    rack = {"kind": "HyperNode", "metadata": {"name": "rack"}, "spec": {"tier": 1, "members": members}}
    _, (one, two, _other, found), _ = hidden(node("gpu-1"), node("gpu-2", rack="r1"), node("cpu"), rack)
    selectors = [member["selector"] for member in found["spec"]["members"]]
    assert selectors == [
        {"exactMatch": {"name": one["metadata"]["name"]}},
        {"exactMatch": {"name": two["metadata"]["name"]}},
        {"exactMatch": {"name": ""}},
        {"labelMatch": {"matchLabels": two["metadata"]["labels"]}},
    ]


PSEUDONYMS = {
    *("annotations", "labels", "matchLabels", "matchLabelKeys", "mismatchLabelKeys", "nodeSelector", "selector"),
    *("key", "topologyKey", "topologyKeys", "value", "values", "image", "names"),
    *("claimName", "device", "highestTierName", "hostIP", "message", "name", "namespace", "namespaces", "nodeID"),
    *("nodeName", "nominatedNodeName", "parent", "parentGroupName", "pattern", "persistentVolumeName"),
    *("preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution"),
    "volumeClaimName",
    *(
        "groupName",
        "podGroupName",
        "pool",
        "priorityClass",
        "priorityClassName",
        "queue",
        "request",
        "requests",
        "resourceClaimName",
    ),
    *("resourceClaimTemplateName", "shareID", "storageClassName", "tierName", "uid", "volumeAttributesClassName"),
    *("diskName", "diskURI", "iqn", "monitors", "pdName", "targetPortal", "volumeHandle", "volumeID", "volumeName"),
}
"""Fields of texts that get pseudonyms, or are left out; whatever is read further has to be thought about."""


def test_every_field_with_a_text_was_thought_about() -> None:
    assert texts() - plain() - _PLAIN == PSEUDONYMS


def test_amounts_are_known_by_the_shapes() -> None:
    queue = {"kind": "Queue", "metadata": {"name": "q"}, "status": {"allocated": {"cpu": "3", "x.org/fpga": "1"}}}
    _, [found], _ = hidden(queue)
    assert found["status"] == queue["status"]


def test_a_field_that_is_not_listed_gets_a_pseudonym() -> None:
    _, [found], _ = hidden({"kind": "Pod", "metadata": {"name": "p"}, "spec": {"fieldOfTomorrow": "hush", "count": 3}})
    assert "hush" not in json.dumps(found)
    assert found["spec"]["count"] == 3
