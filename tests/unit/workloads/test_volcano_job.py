"""Volcano's Job: the PodGroup and the pods that its controller makes."""

from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.importers.load import load
from tests.unit.workloads.given import GROUP, cluster, names, priority_class, submitted, template, vcjob


def task(name, replicas, cpu, **fields):
    """A task; a priority class goes into its template."""
    spec = {"priorityClassName": fields.pop("class_")} if "class_" in fields else {}
    return {"name": name, "replicas": replicas, "template": template(cpu, **spec), **fields}


def test_pods_and_group():
    """Names, labels, annotations and the owner, as `createJobPod` writes them."""
    instance = load(cluster(vcjob(uid="u1", queue="default", metadata={"labels": {"a": "b"}})))
    assert names(instance) == ["train-worker-0", "train-worker-1"]
    job = instance.jobs["default/train-u1"]
    assert (job.min_available, job.min_by_role, job.min_resources) == (2, {"worker": 2}, {"cpu": 2000, "pods": 2})
    assert (job.phase, job.queue, job.group.metadata.labels) == ("Pending", "default", {"a": "b"})
    pod = instance.tasks["default/train-worker-1"].pod
    assert pod.metadata.annotations[GROUP] == "train-u1"
    assert pod.metadata.annotations["volcano.sh/template-uid"] == "train-worker"
    assert pod.metadata.labels["volcano.sh/task-index"] == "1"
    assert [(one.kind, one.name, one.uid) for one in pod.metadata.owner_references] == [("Job", "train", "u1")]
    assert (pod.spec.scheduler_name, pod.spec.priority) == ("volcano", 0)


def test_without_uid_the_group_is_called_like_the_job():
    """No uid is made up in a name that users ask for."""
    assert list(submitted(vcjob()).jobs) == ["default/train"]


def test_default_names_of_tasks():
    """default0, default1, ... as the webhook numbers them."""
    tasks = [{"replicas": 1, "template": template()}, {"replicas": 1, "template": template()}]
    assert names(submitted(vcjob(tasks=tasks))) == ["train-default0-0", "train-default1-0"]


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        # Below the sum of the tasks' minima (5): whole tasks, the most important first.
        (1, {"cpu": 2000, "pods": 1}),
        (4, {"cpu": 3 * 2000 + 1000, "pods": 4}),
        # From there on: every task's minimum, then further replicas, the most important first.
        (5, {"cpu": 2 * 2000 + 3 * 1000, "pods": 5}),
        (6, {"cpu": 3 * 2000 + 3 * 1000, "pods": 6}),
        (7, {"cpu": 3 * 2000 + 4 * 1000, "pods": 7}),
        # Not stated: the sum of the minima.
        (0, {"cpu": 2 * 2000 + 3 * 1000, "pods": 5}),
    ],
)
def test_min_resources(least, expected):
    """What the first pods ask for."""
    tasks = [task("low", 4, 1, minAvailable=3), task("high", 3, 2, minAvailable=2, class_="high")]
    instance = submitted(vcjob(tasks=tasks, minAvailable=least), to=cluster(priority_class("high", 100)))
    job = instance.jobs["default/train"]
    assert (job.min_resources, job.min_available) == (expected, least or 5)
    assert job.min_by_role == {"low": 3, "high": 2}


def test_priority_and_marks_of_the_job():
    """The job's class where a task has none; marks of the job on its pods."""
    marks = {"annotations": {"volcano.sh/preemptable": "true", "volcano.sh/jdb-min-available": "1", "other": "x"}}
    tasks = [task("a", 1, 1), task("b", 1, 1, class_="high")]
    classes = [priority_class("high", 100), priority_class("mid", 50)]
    instance = submitted(vcjob(tasks=tasks, priorityClassName="mid", metadata=marks), to=cluster(*classes))
    found = [instance.tasks[f"default/train-{name}-0"].pod for name in "ab"]
    assert [one.spec.priority for one in found] == [50, 100]
    assert instance.jobs["default/train"].priority == 50
    stated = found[0].metadata.annotations
    assert (stated["volcano.sh/preemptable"], stated["volcano.sh/jdb-min-available"]) == ("true", "1")
    assert "other" not in stated


def test_network_topology_and_partitions():
    """Both are passed on to the PodGroup; the pods carry the number of their part."""
    topology = {"mode": "hard", "highestTierAllowed": 2}
    policy = {"partitionSize": 2, "totalPartitions": 2, "minPartitions": 1}
    tasks = [task("w", 4, 1, partitionPolicy=policy)]
    instance = submitted(vcjob(tasks=tasks, networkTopology=topology))
    spec = instance.jobs["default/train"].group.spec
    assert (spec.network_topology.mode, spec.network_topology.highest_tier_allowed) == ("hard", 2)
    assert [(one.name, one.sub_group_size, one.min_sub_groups) for one in spec.sub_group_policy] == [("w", 2, 1)]
    assert spec.min_member == 2
    parts = [one.labels["volcano.sh/partition-id"] for one in instance.tasks.values()]
    assert parts == ["0", "0", "1", "1"]


def test_volumes():
    """Claims that the job makes, and claims that are there."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    volumes = [{"mountPath": "/a", "volumeClaim": claim}, {"mountPath": "/b", "volumeClaimName": "there"}]
    instance = submitted(vcjob(volumes=volumes))
    found = instance.tasks["default/train-worker-0"].spec.volumes
    claims = [one.persistent_volume_claim.claim_name for one in found if one.persistent_volume_claim]
    assert claims == ["train-volume-0", "there"]
    assert [one.key for one in instance.objects if type(one).__name__ == "PersistentVolumeClaim"] == [
        "default/train-volume-0"
    ]


@pytest.mark.parametrize(
    ("job", "wrong"),
    [
        (vcjob(tasks=[]), "a Job without tasks"),
        (vcjob(tasks=[task("a", 1, 1), task("a", 1, 1)]), "two tasks are called a"),
        (vcjob(minAvailable=3), "minAvailable 3 is more than the 2 replicas"),
        (vcjob(tasks=[task("a", 1, 1, minAvailable=2)]), "minAvailable 2 of task a is more than its 1 replicas"),
    ],
)
def test_what_the_webhook_denies(job, wrong):
    """One line, with the object."""
    with pytest.raises(InputError, match=wrong) as found:
        submitted(job)
    assert found.value.place == "Job default/train"


def test_dependent_tasks_are_noted():
    """They are made at once, which Volcano would not do."""
    tasks = [task("a", 1, 1), task("b", 1, 1, dependsOn={"name": ["a"]})]
    assert any("depend on each other" in line for line in submitted(vcjob(tasks=tasks)).warnings)
