"""A repair that others would use up, made large enough for them too: then the optimum itself places the job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cpsched.explanation.changes import Change, added, cloned, raised
from cpsched.explanation.levers import described, unit_of
from cpsched.explanation.trial import Changes, Lever, Trial

SCALED = ("queue", "capacity", "nodes")


def enough_for_all(trial: Trial, changes: Sequence[Change]) -> Changes | None:
    """The same changes, as small as can be such that the optimum of the changed cluster reaches the goal."""
    if not any(change.kind in SCALED for change in changes):
        return None
    thorough = replace(trial, thorough=True)
    levers = [_larger(trial, change) for change in changes]
    if not thorough.reached([lever.largest for lever in levers]):
        return None
    return thorough.smallest(levers)


def _larger(trial: Trial, change: Change) -> Lever:
    """The change in steps, up to what all who come first ask for together."""
    job = trial.snapshot.jobs[trial.goal.job]
    first = [one for one in trial.snapshot.starving if one.priority >= job.priority and one is not job]
    tasks = [task for one in (job, *first) for task in one.pending]
    if change.kind == "nodes":
        what = described(trial.snapshot, change.subject)
        return Lever(lambda n: cloned(change.subject, n, what), len(tasks))
    if change.kind not in SCALED:
        return Lever(lambda _: change, 1)
    unit = unit_of(trial.snapshot, change.resource)
    most = -(-sum(task.requests.get(change.resource, 0) for task in tasks) // unit)
    if change.kind == "capacity":
        what = described(trial.snapshot, change.subject)
        largest = max(most, change.amount // unit)
        return Lever(lambda n: added(change.subject, 1, change.resource, n * unit, what), largest)
    stated = getattr(trial.snapshot.instance.queues[change.subject], change.part)
    before = None if stated is None else stated.get(change.resource)
    start = int(before or 0) // unit
    return Lever(
        lambda n: raised(change.subject, change.part, change.resource, before, (start + n) * unit),
        max(most, change.amount // unit - start),
    )
