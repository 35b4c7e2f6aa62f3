"""What is kept of an object, and what is not."""

from __future__ import annotations

from typing import Any

from cpsched.capture.fields import kept, normalized, without_images
from cpsched.capture.kinds import TAKEN
from cpsched.objects.node import Node
from cpsched.objects.pod import Pod

Raw = dict[str, Any]


def pod(name: str, image: str, **spec: Any) -> Raw:
    return {"kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"image": image}], **spec}}


def test_only_fields_of_the_shape_stay() -> None:
    raw: Raw = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "managedFields": [{}], "resourceVersion": "7", "labels": {"app": "x"}},
        "spec": {
            "nodeName": "n",
            "serviceAccountName": "s",
            "containers": [
                {"name": "c", "env": [{"name": "A", "value": "b"}], "args": ["x"], "ports": [{"hostPort": 1}]}
            ],
            "volumes": [{"name": "v", "secret": {"secretName": "s"}}],
        },
        "status": {"phase": "Running", "podIP": "10.0.0.1"},
    }
    assert kept(raw, Pod) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "resourceVersion": "7", "labels": {"app": "x"}},
        "spec": {
            "nodeName": "n",
            "containers": [{"name": "c", "ports": [{"hostPort": 1}]}],
            "volumes": [{"name": "v"}],
        },
        "status": {"phase": "Running"},
    }


def test_values_are_kept_as_they_are_written() -> None:
    raw = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1900m", "x.y/z": 3}}}
    assert kept(raw, Node) == raw


def test_annotations_that_no_scheduler_reads_go() -> None:
    annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "example.com/note": "x",
        "scheduling.k8s.io/group-name": "g",
        "volcano.sh/preemptable": "true",
        "sla-waiting-time": "1h",
    }
    found = kept({"kind": "Pod", "metadata": {"annotations": annotations}}, Pod)["metadata"]["annotations"]
    assert set(found) == {"scheduling.k8s.io/group-name", "volcano.sh/preemptable", "sla-waiting-time"}


def test_images_stay_where_they_bear_on_a_choice() -> None:
    images = [{"names": ["x:latest", "x@sha256:1"], "sizeBytes": 9}, {"names": ["y:1"], "sizeBytes": 8}]
    node = {"kind": "Node", "status": {"images": images}}
    waiting, running = pod("a", "x"), pod("b", "y:1", nodeName="n")
    ended = pod("c", "z") | {"status": {"phase": "Failed"}}
    without_images([node, waiting, running, ended])
    assert node["status"] == {"images": [{"names": ["x:latest"], "sizeBytes": 9}]}
    assert [item["spec"]["containers"] for item in (waiting, running, ended)] == [[{"image": "x"}], [{}], [{}]]


def test_templates_of_a_job_lose_images_and_commands() -> None:
    container = {"name": "c", "image": "a:1", "args": ["x"], "resources": {"requests": {"cpu": "1"}}}
    task = {"name": "worker", "replicas": 2, "template": {"spec": {"containers": [container]}}}
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {"tasks": [task]},
    }
    (found,) = without_images([kept(job, *TAKEN["batch.volcano.sh", "Job"])])
    assert found["spec"]["tasks"][0]["template"]["spec"]["containers"] == [
        {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    ]


def test_an_image_without_a_tag_is_the_latest() -> None:
    assert [normalized(name) for name in ("a", "a:1", "r:5000/a", "r:5000/a:2", "a@sha256:3")] == [
        "a:latest",
        "a:1",
        "r:5000/a:latest",
        "r:5000/a:2",
        "a@sha256:3",
    ]
