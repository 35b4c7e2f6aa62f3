"""A cluster or a case: of a cluster, what cannot be read is set aside; in a case every fault is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.importers.kubernetes import ReadReport
from cpsched.importers.load import load
from tests.dumps import node, pod, with_kind

NODE, POD = with_kind("Node", node("n1")), with_kind("Pod", pod("p", "n1"))
BAD = {
    "a phase": with_kind("Pod", {**pod("b"), "status": {"phase": "CrashLoopBackOff"}}),
    "no name": with_kind("Pod", {**pod("b"), "metadata": {"labels": {"app": "b"}}}),
    "a type": with_kind("Pod", {**pod("b"), "spec": {"priority": "high"}}),
    "a quantity": with_kind("Node", {**node("b"), "status": {"allocatable": {"cpu": "1 Gi"}}}),
    "no metadata": {"kind": "Pod", "apiVersion": "v1"},
    "metadata of another type": {"kind": "Pod", "metadata": ["b"]},
    "no kind": {"metadata": {"name": "b"}},
    "a version": {**POD, "apiVersion": 1},
    "a number": 5,
    "nothing": None,
    "a list": [POD],
    "a list that is none": {"kind": "PodList", "items": {"a": 1}},
    "an old claim": {"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1alpha2", "metadata": {"name": "c"}},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_one_bad_object_among_others(bad: Any) -> None:
    report = ReadReport()
    instance = load({"kind": "List", "items": [NODE, bad, POD]}, report=report)
    assert (list(instance.nodes), list(instance.tasks)) == (["n1"], ["default/p"])
    [line] = instance.warnings
    assert line.startswith("input: set aside: 1 ")
    with pytest.raises(InputError):
        load([NODE, bad, POD], strict=True)
    with pytest.raises(InputError):
        load([bad])


def test_many_bad_objects_are_one_line_and_every_reason_is_in_the_report() -> None:
    report = ReadReport()
    bad = [with_kind("Pod", {**pod(f"b{number}"), "status": {"phase": "Odd"}}) for number in range(500)]
    instance = load([NODE, *bad, *(BAD["a type"],) * 2], report=report)
    [line] = instance.warnings
    assert line.startswith('input: set aside: 502 unreadable objects (Pod default/b0: status.phase: "Odd" should be')
    assert len(line) < 700
    (_, why, count, places), (_, _, other, _) = report.aside.rows("input")
    assert (count, other) == (500, 2)
    assert why.startswith('"Odd" should be')
    assert places == "; ".join([*(f"Pod default/b{number}: status.phase" for number in range(3)), "..."])


def test_the_same_error_as_ever_where_there_is_nothing_else() -> None:
    output = 'input: Pod default/b: spec.priority: "high" should be a whole number'
    for strict in (False, True):
        with pytest.raises(InputError) as caught:
            load(BAD["a type"], strict=strict)
        assert str(caught.value) == output


def test_an_instance_is_a_case(tmp_path: Path) -> None:
    case = {"apiVersion": "cpsched/v1", "kind": "Instance", "objects": [NODE, BAD["a phase"]]}
    with pytest.raises(InputError, match="CrashLoopBackOff"):
        load(case)
    with pytest.raises(InputError, match="given twice"):
        load({**case, "objects": [NODE, NODE]})
    (tmp_path / "case.json").write_text(json.dumps({**case, "objects": [NODE]}))
    assert list(load(tmp_path).nodes) == ["n1"]
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    with pytest.raises(InputError, match="an object without a kind"):
        load(tmp_path)
    (tmp_path / "values.yaml").write_text("{{ x }}")
    with pytest.raises(InputError, match="not valid YAML"):
        load(tmp_path)


def test_another_programs_kind_of_that_name_is_none(tmp_path: Path) -> None:
    report = ReadReport()
    other = {"apiVersion": "ec2.aws.example.com/v1", "kind": "Instance", "metadata": {"name": "i"}}
    assert list(load([NODE, other], report=report).nodes) == ["n1"]
    path = tmp_path / "objects.json"
    path.write_text(json.dumps(other) + json.dumps(NODE))
    assert list(load(path, report=report).nodes) == ["n1"]
    assert dict(report.other_kinds) == {"ec2.aws.example.com/v1 Instance": 2}


def test_another_programs_snapshot_is_a_cluster(tmp_path: Path) -> None:
    export = {"pods": [pod("p"), {**pod("b"), "status": {"phase": "Odd"}}], "nodes": [node("n1")], "pvs": []}
    (tmp_path / "export.json").write_text(json.dumps(export))
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    report = ReadReport()
    instance = load(tmp_path, report=report)
    assert (report.format, list(instance.tasks)) == ("simulator", ["default/p"])
    assert len(instance.warnings) == 2
    with pytest.raises(InputError):
        load(tmp_path, strict=True)
    with pytest.raises(InputError, match="Odd"):
        load(tmp_path / "export.json", strict=True)


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2", "v1beta1", "v1", "v9"])
@pytest.mark.parametrize("group", ["scheduling.volcano.sh", "scheduling.incubator.k8s.io"])
def test_queues_and_groups_of_every_version(group: str, version: str) -> None:
    api = {"apiVersion": f"{group}/{version}"}
    queue = {**api, "kind": "Queue", "metadata": {"name": "q"}, "spec": {"weight": 3}}
    members = {"metadata": {"name": "g", "namespace": "default"}, "spec": {"minMember": 2, "queue": "q"}}
    annotated = with_kind("Pod", pod("p"))
    annotated["metadata"] = {**annotated["metadata"], "annotations": {"scheduling.k8s.io/group-name": "g"}}
    instance = load([NODE, queue, {**api, "kind": "PodGroup", **members}, annotated], strict=True)
    assert instance.queues["q"].weight == 3
    assert instance.jobs["default/g"].min_available == 2
    assert instance.to_dict()["objects"][1]["apiVersion"].startswith("scheduling.volcano.sh/")


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("policy/v1beta1", "PodDisruptionBudget"),
        ("scheduling.k8s.io/v1beta1", "PriorityClass"),
        ("storage.k8s.io/v1beta1", "CSINode"),
        ("storage.k8s.io/v1alpha1", "VolumeAttachment"),
        ("resource.k8s.io/v1alpha3", "ResourceClaim"),
        ("resource.k8s.io/v1beta1", "ResourceSlice"),
        ("resource.k8s.io/v1beta2", "DeviceClass"),
        ("extensions/v1beta1", "ReplicaSet"),
        ("apps/v1beta2", "StatefulSet"),
    ],
)
def test_older_versions_are_read(version: str, kind: str) -> None:
    report = ReadReport()
    load([{"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}], report=report)
    assert dict(report.read) == {kind: 1}


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_versions_that_mean_something_else_are_not(version: str) -> None:
    claim = {"apiVersion": f"resource.k8s.io/{version}", "kind": "ResourceClaim", "metadata": {"name": "c"}}
    with pytest.raises(InputError, match=f"resource.k8s.io/{version} has other fields than newer versions"):
        load([claim])
    assert "1 unreadable object" in load([NODE, claim]).warnings[0]


def test_what_is_given_beside_the_source_does_not_make_up_for_it() -> None:
    for source in ({"a": 1}, [BAD["a type"]]):
        with pytest.raises(InputError):
            load(source, queues=[NODE])
    assert list(load([POD], queues=[NODE]).nodes) == ["n1"]
