"""Identical tasks: nothing but names tells them apart, so that an answer about one holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import count
from typing import TYPE_CHECKING

from cpsched.snapshot.enqueue import stated_minimum
from cpsched.snapshot.jobs import SessionJob

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot


def identities_of(snapshot: Snapshot) -> dict[str, int]:
    """A number per task of the session; equal numbers share all that can be read of a task but names and ages.

    Pods that say the same mostly share what says it, so that looking where it is will do: the instance keeps it there.
    A task with volumes or claims equals no other, for these are given by name.
    """
    numbers: dict[Hashable, int] = {}
    found: dict[str, int] = {}
    fresh = count()
    owning = snapshot.instance.claim_owners
    tasks, stated, owners_count = snapshot.instance.tasks, _reader(snapshot), snapshot.policy.is_kube
    for key, job in snapshot.job_by_task.items():
        task = tasks[key]
        spec, labels = task.spec, task.labels
        content = (
            stated(job),
            id(spec),
            id(task.pod_status),
            id(task.requests),
            task.status,
            task.namespace,
            task.priority,
            task.role,
            task.preemptable,
            frozenset(labels.items()) if labels else None,
            # kube-scheduler may spread pods together with those of the same owner.
            id(task.pod.metadata.owner_references) if owners_count else None,
            snapshot.mark(task),
        )
        number = numbers.get(content)
        if number is None:
            number = next(fresh)
            if not (spec.volumes or spec.resource_claims or (owning and task.uid in owning)):
                numbers[content] = number
        elif owning and task.uid in owning:
            number = next(fresh)
        found[key] = number
    return found


def _reader(snapshot: Snapshot) -> Callable[[SessionJob], Hashable]:
    """What tells jobs apart: all that one of a single task states, and the name of any other.

    So tasks of two jobs are identical only if there is nothing else in these. An explanation names jobs that no other
    may stand in for. A gang's mark is read only where a rule looks at it.
    """
    named, by_mark = snapshot.apart | snapshot.unrestricted, snapshot.starves_by_mark
    by_will = snapshot.gang_rights.exist

    def stated(job: SessionJob) -> Hashable:
        if len(job.tasks) > 1 or job.key in named or job.is_shaped:
            return job.key
        by_role, resources = job.min_by_role, job.min_resources
        marks = (by_mark and job.is_preemptable, by_will and job.is_willing)
        plain = (job.queue, job.priority, job.min_available, job.phase, marks)
        if not by_role and resources is None:
            return plain
        minimum = None if resources is None else frozenset(stated_minimum(job).items())
        return (*plain, frozenset(by_role.items()), minimum)

    return stated
