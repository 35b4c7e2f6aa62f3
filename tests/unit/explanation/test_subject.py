"""Which job or task a name means."""

from __future__ import annotations

from typing import Any

import pytest

import cpsched
from cpsched.errors import InputError
from cpsched.explanation.subject import Subject, subject_of
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.snapshot import Snapshot
from tests.judge import cluster, job, pending

NODE = {
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "2", "pods": "9"}, "conditions": [{"type": "Ready", "status": "True"}]},
}


def pod(name: str, namespace: str = "batch", group: str | None = None, scheduler: str = "volcano") -> dict[str, Any]:
    annotations = {"scheduling.k8s.io/group-name": group} if group else {}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}-9", "annotations": annotations},
        "spec": {
            "schedulerName": scheduler,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}],
        },
        "status": {"phase": "Pending"},
    }


def group(name: str, namespace: str = "batch") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    state: dict[str, Any] = {"spec": {"minMember": 1}, "status": {"phase": "Inqueue"}}
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": metadata, **state}


def asked(*objects: dict[str, Any], model: str = "volcano", **names: str) -> Subject:
    instance = load([NODE, *objects])
    snapshot = Snapshot(instance, load_policy(model, instance=instance))
    return subject_of(snapshot, names.get("job"), names.get("task"), names.get("name"))


@pytest.mark.parametrize("name", ["batch/too-big", "too-big"])
def test_a_pod_on_its_own_goes_by_its_own_name(name: str) -> None:
    found = asked(pod("too-big"), name=name)
    assert (found.name, found.job and found.job.name) == ("Task batch/too-big", "batch/too-big")
    assert asked(pod("too-big"), job=name).name == "Job batch/too-big"


def test_the_podgroup_that_the_controller_made_for_it_is_known_too() -> None:
    made = group("podgroup-batch-x-9")
    own = pod("x", group="podgroup-batch-x-9")
    assert asked(own, made, name="batch/x").name == "Task batch/x"
    assert asked(own, made, job="batch/podgroup-batch-x-9").name == "Job batch/x"
    assert asked(own, made, name="podgroup-batch-x-9").name == "Job batch/x"


def test_under_kube_the_pod_is_meant() -> None:
    found = asked(pod("x", scheduler="default-scheduler"), model="kube", name="x")
    assert (found.name, found.job and found.job.key) == ("Task batch/x", "batch/x")


def test_a_job_and_a_task_without_an_option() -> None:
    objects = (group("gang"), pod("gang-0", group="gang"))
    assert asked(*objects, name="gang").name == "Job batch/gang"
    assert asked(*objects, name="batch/gang-0").name == "Task batch/gang-0"


def test_a_task_of_another_scheduler_is_found() -> None:
    assert asked(pod("x", scheduler="mine"), name="x") == asked(pod("x", scheduler="mine"), task="batch/x")


@pytest.mark.parametrize(
    ("objects", "name", "says"),
    [
        (
            (group("x"), pod("x", group="x"), pod("x-1", group="x")),
            "batch/x",
            "batch/x is both a job and a task; say which: --job batch/x, --task batch/x",
        ),
        (
            (group("x"), pod("x")),
            "x",
            "x is both a job and a task; say which: --job batch/x, --task batch/x",
        ),
        (
            (pod("x"), pod("x", "other")),
            "x",
            "x may be several jobs or tasks; say which: --task batch/x, --task other/x",
        ),
        ((pod("xylophone"),), "batch/xylofone", "no job or task batch/xylofone; did you mean batch/xylophone?"),
        ((pod("x"),), "quite-another", "no job or task quite-another; there are 1: batch/x"),
    ],
    ids=["job of a namesake", "PodGroup and lone pod", "two namespaces", "misspelt", "unknown"],
)
def test_a_name_that_is_not_clear_is_one_line(objects: tuple[dict[str, Any], ...], name: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        asked(*objects, name=name)
    assert str(refused.value).removeprefix("input: name: ") == says


def test_a_podgroup_under_kube_is_named_as_what_it_is() -> None:
    with pytest.raises(InputError, match="every pod is a job of its own, and batch/gang is a PodGroup"):
        asked(group("gang"), pod("gang-0", group="gang"), model="kube", name="batch/gang")


def test_rivals_are_called_by_name() -> None:
    first = {**pod("first"), "spec": {**pod("first")["spec"], "priority": 9}}
    for one in (first, last := pod("last")):
        one["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2"
    found = cpsched.explain(load([NODE, first, last]), job="last", workers=1)
    assert (found.job, [one.job for one in found.rivals if one.job]) == ("batch/last", ["batch/first"])
    assert "(batch/first) uses the capacity it needs" in found.summary
    assert "podgroup-" not in found.to_markdown()


def test_one_name_is_asked_for() -> None:
    snapshot = Snapshot(instance := load(cluster(job("new", pending(1)))), load_policy("volcano", instance=instance))
    with pytest.raises(InputError, match="name one job or one task"):
        subject_of(snapshot, "new", None, "new")
