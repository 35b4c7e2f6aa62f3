"""Identical tasks: equal numbers share all that is read of a task but its names."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from hypothesis import given, settings

from cpsched.explanation.lifting import Lifted
from cpsched.optimum.model.symmetry import build_classes
from cpsched.snapshot import Snapshot
from cpsched.snapshot.identity import identities_of
from tests.contested import ALL, crowds, sessions
from tests.judge import cluster, conf, job, pending, running, snapshot_of
from tests.strategies import kubernetes_objects


def plain(snapshot: Snapshot, task) -> Hashable:
    """All that can be read of a task and its job but names and ages, word for word."""
    owner, pod = snapshot.job_of(task), task.pod
    alone = len(owner.tasks) == 1 and owner.key not in snapshot.apart | snapshot.unrestricted
    counts = (owner.ready, owner.holding, owner.is_valid, len(owner.pending), owner.is_pending)
    output = (owner.queue, owner.priority, owner.min_available, owner.min_by_role, owner.phase, owner.min_resources)
    return repr(
        (
            (counts, output, snapshot.is_starving(owner)) if alone else owner.key,
            (pod.spec, pod.status, sorted(task.requests.items()), task.status, task.best_effort, task.gated),
            (task.namespace, task.priority, task.role, task.preemptable, sorted(task.labels.items())),
            pod.metadata.owner_references if snapshot.policy.is_kube else None,
            task.key if pod.spec.volumes or pod.spec.resource_claims else None,
        )
    )


def check(snapshot: Snapshot) -> int:
    """Equal numbers, equal in all; how many numbers several jobs share."""
    output: dict[int, set[Hashable]] = {}
    owners: dict[int, set[str]] = {}
    for key, number in snapshot.identities.items():
        output.setdefault(number, set()).add(plain(snapshot, snapshot.instance.tasks[key]))
        owners.setdefault(number, set()).add(snapshot.job_by_task[key].key)
    assert all(len(found) == 1 for found in output.values())
    assert snapshot.identities.keys() == snapshot.job_by_task.keys()
    return sum(len(found) > 1 for found in owners.values())


def test_sessions():
    """Jobs of every rank, tasks of every shape, and one job set apart, all of it or one task."""
    shared = 0
    for snapshot in (*crowds(), *sessions()):
        shared += check(snapshot)
        first = next(iter(snapshot.jobs.values()))
        check(Lifted(snapshot, first.key))
        check(Lifted(snapshot, first.key, tasks=[task.key for task in first.pending[:1]]))
    assert shared


@settings(max_examples=60)
@given(kubernetes_objects())
def test_any_pods(objects):
    """Under both schedulers."""
    for model in ("volcano", "kube"):
        check(snapshot_of(objects, model=model))


@pytest.mark.parametrize(
    ("differently", "numbers"),
    [
        ({}, 1),
        ({"priority": 100}, 2),
        ({"queue": "other"}, 2),
        ({"minMember": 0}, 2),
        ({"phase": "Pending"}, 2),
        ({"minResources": {"cpu": 1}}, 2),
        ({"minTaskMember": {"task": 1}}, 2),
        ({"namespace": "other"}, 2),
    ],
)
def test_what_jobs_state(differently, numbers):
    """Each of it tells their tasks apart."""
    stated = {"priority": 10, "queue": "default", "minMember": 1, "phase": "Inqueue"}
    queues = [{"name": "default"}, {"name": "other"}]
    jobs = [job("a", pending(1), **stated), job("b", pending(1), **{**stated, **differently})]
    assert len(set(snapshot_of(cluster(*jobs, queues=queues)).identities.values())) == numbers


@pytest.mark.parametrize(
    ("differently", "numbers"),
    [
        ({}, 1),
        ({"requests": {"memory": "1Gi"}}, 2),
        ({"labels": {"app": "web"}}, 2),
        ({"annotations": {"volcano.sh/task-priority": "7"}}, 2),
        ({"annotations": {"volcano.sh/preemptable": "false"}}, 2),
        ({"nodeSelector": {"disk": "ssd"}}, 2),
        ({"deletionTimestamp": "2026-01-01T11:00:00Z"}, 2),
    ],
)
def test_what_pods_state(differently, numbers):
    """Each of it tells them apart, also in one gang."""
    tasks = [pending(1, role="w"), pending(1, **{"role": "w", **differently})]
    apart = [job("a", tasks[0]), job("b", tasks[1])]
    assert len(set(snapshot_of(cluster(*apart)).identities.values())) == numbers


def test_a_gang_has_its_own():
    """Replicas equal each other, and no other job's tasks."""
    snapshot = snapshot_of(cluster(job("a", pending(1, 3)), job("b", pending(1, 3))))
    assert sorted(map(list(snapshot.identities.values()).count, set(snapshot.identities.values()))) == [3, 3]


def test_volumes_are_a_pods_own():
    """Replicas that mount a claim share their spec, and yet are not the same where its volume is looked for."""
    claim = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    for wishes, numbers in (({}, 1), (claim, 3)):
        snapshot = snapshot_of(cluster(job("a", pending(1, 3, **wishes))))
        assert len({id(task.pod.spec) for task in snapshot.instance.tasks.values()}) == 1
        assert len(set(snapshot.identities.values())) == numbers


def test_marks_count_where_a_task_looks():
    """tdm asks who is marked preemptable."""
    jobs = [job("a", pending(1)), job("b", pending(1), annotations={"volcano.sh/preemptable": "true"})]
    for plugin, numbers in (("gang", 1), ("tdm", 2)):
        snapshot = snapshot_of(cluster(*jobs), conf=conf(ALL, plugin))
        assert len(set(identities_of(snapshot).values())) == numbers


def test_a_pod_that_is_being_disrupted():
    """A budget names it, so it is distinguished from its copy."""
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    budget |= {"spec": {"selector": {"matchLabels": {"app": "db"}}}}
    budget["status"] = {"disruptedPods": {"old-task-0": "2026-01-01T00:00:00Z"}}
    old = job("old", running(1, 2, labels={"app": "db"}), priority=10, minMember=0)
    snapshot = snapshot_of(cluster(old, job("new", pending(4), priority=100), objects=[budget]))
    assert len({snapshot.identities[task.key] for task in snapshot.jobs["default/old"].tasks}) == 1
    assert [len(group.tasks) for group in build_classes(snapshot).victims] == [1, 1]
