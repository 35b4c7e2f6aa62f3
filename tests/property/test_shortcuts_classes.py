"""Who is counted with whom: classes read what is shared once, and distinguish exactly whom the plain question does."""

from __future__ import annotations

from collections.abc import Hashable

from hypothesis import given, settings

from cpsched.explanation.lifting import Lifted
from cpsched.optimum.model import features
from cpsched.optimum.model.classes import Classes
from cpsched.optimum.model.symmetry import build_classes
from cpsched.optimum.model.victims import may_lose_all_tasks, reads_of
from cpsched.snapshot import Snapshot
from cpsched.snapshot.enqueue import asked, decisive_limits, promise
from tests.contested import crowds, sessions
from tests.judge import cluster, job, pending, snapshot_of
from tests.strategies import kubernetes_objects


def written(spec, fields):
    """What the pod says in these fields, word for word."""
    return spec.model_dump_json(include=set(fields))


def ports(spec):
    """What containers and sidecars listen on, word for word."""
    running = [*filter(lambda one: one.is_sidecar, spec.init_containers), *spec.containers]
    return [port.model_dump_json() for container in running for port in container.ports]


def plain_task_key(snapshot: Snapshot, task) -> Hashable:
    """All that tells two pending tasks apart, each read for itself."""
    job, spec = snapshot.job_of(task), task.pod.spec
    stands_alone = job.key in snapshot.apart or job.holding > 0
    return repr(
        (
            sorted(task.requests.items()),
            (job.queue, job.priority, snapshot.is_starving(job), job.key if stands_alone else None),
            (task.priority, task.role if job.min_by_role else None, task.namespace, sorted(task.labels.items())),
            written(spec, features._PLACEMENT),
            ports(spec),
            task.pod.metadata.owner_references if spec.volumes else None,
            task.key if spec.volumes or spec.resource_claims else None,
        )
    )


def plain_victim_key(snapshot: Snapshot, task) -> Hashable:
    """All that tells two running tasks of one job apart."""
    disrupted = {name for budget in snapshot.instance.budgets for name in budget.status.disrupted_pods}
    spec = task.pod.spec
    return repr(
        (
            (task.namespace, sorted(task.requests.items()), task.pod_priority, task.pod.status.start_time),
            (task.priority, task.role, task.preemptable, sorted(task.labels.items()), spec.priority_class_name),
            (task.name in disrupted, written(spec, features._INTERACTION), ports(spec)),
        )
    )


def plain_job_key(snapshot: Snapshot, classes: Classes, job) -> Hashable:
    """All that tells two jobs apart that have tasks of one class only, and no others."""
    own = [one.index for one in classes.tasks for task in one.tasks if task in job.tasks]
    if len(set(own)) != 1 or len(job.tasks) != len(own) or job.roles_count:
        return job.key
    limits = (sorted(asked(job).items()), decisive_limits(snapshot, job)) if job.is_pending else ()
    rank = (job.queue, job.priority, job.min_available, job.phase, job.is_below_minimum, snapshot.is_starving(job))
    return repr((own, rank, sorted(promise(job).items()), limits))


def check(snapshot: Snapshot) -> None:
    """Same class, same key, and the other way round."""
    classes = build_classes(snapshot)
    keys = {one.index: {plain_task_key(snapshot, task) for task in one.tasks} for one in classes.tasks}
    assert all(len(found) == 1 for found in keys.values())
    assert len(set.union(set(), *keys.values())) == len(keys)
    for group in classes.victims:
        assert len({plain_victim_key(snapshot, task) for task in group.tasks}) == 1
        owners = {snapshot.job_key(task) for task in group.tasks}
        assert owners == {group.job} or all(
            may_lose_all_tasks(snapshot, snapshot.jobs[key], reads_of(snapshot)) for key in owners
        )
    kinds = {(group.shape, plain_victim_key(snapshot, group.representative)) for group in classes.victims}
    assert len(kinds) == len({kind for kind, _ in kinds})
    jobs = [{plain_job_key(snapshot, classes, snapshot.jobs[key]) for key in one.jobs} for one in classes.jobs]
    assert all(len(found) == 1 for found in jobs)
    assert len(set.union(set(), *jobs)) == len(jobs)


def test_sessions():
    """Jobs of every rank, tasks of every shape, and one job set apart."""
    merged = 0
    for snapshot in (*crowds(), *sessions()):
        check(snapshot)
        check(Lifted(snapshot, next(iter(snapshot.jobs))))
        merged += any(len(one.tasks) > 1 for one in build_classes(snapshot).tasks)
    assert merged


def test_minima():
    """Two gangs differ in nothing but their minimum, two in nothing at all."""
    jobs = [job(name, pending(1, 2), minMember=least) for name, least in (("a", 1), ("b", 2), ("c", 2))]
    snapshot = snapshot_of(cluster(*jobs))
    check(snapshot)
    assert [len(one) for one in build_classes(snapshot).jobs] == [1, 2]


@settings(max_examples=60)
@given(kubernetes_objects())
def test_any_pods(objects):
    """Wishes, ports, volumes and labels of every kind, under both schedulers."""
    for model in ("volcano", "kube"):
        check(snapshot_of(objects, model=model))


@settings(max_examples=40)
@given(kubernetes_objects())
def test_specs_that_are_equal_but_not_shared(objects):
    """What is stated counts, not which object says it."""
    instance = snapshot_of(objects, model="kube").instance
    numbers = features.FeatureIds()
    for task in instance.tasks.values():
        spec, copy = task.pod.spec, task.pod.spec.model_copy()
        assert numbers.placement(spec) == numbers.placement(copy)
        assert numbers.interaction(spec) == numbers.interaction(copy)
        assert numbers.requests(task.requests) == numbers.requests(dict(reversed(task.requests.items())))
