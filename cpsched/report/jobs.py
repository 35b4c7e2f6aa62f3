"""What becomes of jobs and tasks, as rows: who is admitted, who comes and goes, and why pods stay pending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from cpsched.amounts import listed
from cpsched.report.document import Cell, Table, Tone, table
from cpsched.report.scene import Fate, Scene, View
from cpsched.snapshot import SessionJob, Snapshot


def touched_jobs(snapshot: Snapshot, evicted: AbstractSet[str]) -> list[SessionJob]:
    """Jobs with pending, placed or evicted pods, the most important first."""
    touched = [job for job in snapshot.jobs.values() if job.pending or not evicted.isdisjoint(keys_of(job))]
    return sorted(touched, key=lambda job: -job.priority)


def keys_of(job: SessionJob) -> set[str]:
    """Keys of the job's tasks."""
    return {task.key for task in job.tasks}


def name_of(snapshot: Snapshot, key: str) -> str:
    """What users call the job of this key; the key itself if the session has none."""
    return snapshot.jobs[key].name if key in snapshot.jobs else key


def outcome(job: SessionJob, starving: bool, placed: AbstractSet[str], evicted: AbstractSet[str]) -> str:
    """What the decision means for the job."""
    reaches_minimum = job.is_pipelined(placed, evicted)
    if starving:
        return "not admitted" if not placed else "admitted" if reaches_minimum else "gets less than its minimum"
    if job.ready < job.min_available:
        return "is not eligible"
    return "has its minimum" if reaches_minimum else "falls below its minimum"


def stay_rows(unplaced: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """One row for all tasks that stay for the same reasons."""
    tasks_by_reasons: dict[tuple[str, ...], list[str]] = {}
    for task, reasons in unplaced.items():
        tasks_by_reasons.setdefault(tuple(reasons), []).append(task)
    return [
        (
            tasks[0] if len(tasks) == 1 else f"{tasks[0]} and {len(tasks) - 1} more",
            "; ".join(reasons) or "no reason stated",
        )
        for reasons, tasks in tasks_by_reasons.items()
    ]


def job_table(scene: Scene) -> Table:
    """Every job that wants, gets or loses something, with one column per decision."""
    evicted = {key for view in scene.views for key in view.evictions}
    starving = {job.key for job in scene.snapshot.starving}
    columns = ("job", "queue", "#priority", "#running/minimum", "#pending", *(view.name for view in scene.views))
    rows: list[tuple[str | Cell, ...]] = [
        (job.name, job.queue or "", str(job.priority), f"{job.ready}/{job.min_available}", str(len(job.pending)),
         *(_job_cell(view, job, job.key in starving) for view in scene.views))
        for job in touched_jobs(scene.snapshot, evicted)
    ]  # fmt: skip
    return table("Jobs with pending, placed or evicted pods", columns, rows)


def _job_cell(view: View, job: SessionJob, starving: bool) -> Cell:
    keys = keys_of(job)
    counts = {
        "started": len(keys & view.solution.binds.keys()),
        "reserved": len(keys & view.solution.reserves.keys()),
        "evicted": len(keys & view.evictions.keys()),
    }
    placed = keys & (view.solution.binds.keys() | view.solution.reserves.keys())
    result = outcome(job, starving, placed, keys & view.evictions.keys())
    parts = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    tones: dict[str, Tone] = {"admitted": "better", "not admitted": "worse", "falls below its minimum": "worse"}
    return Cell(f"{result} ({parts})" if parts else result, tones.get(result, ""))


def _first_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} alike"


def move_table(scene: Scene) -> Table:
    """Every task that some decision places or evicts, with one column per decision; those that are alike in one row."""
    columns = ("task", "#priority", "requests", "before", *(view.name for view in scene.views))
    alike: dict[tuple[str | Cell, ...], list[str]] = {}
    for task in scene.touched:
        asks = listed({name: value for name, value in task.requests.items() if name != "pods"})
        before = f"on {task.node}" if task.node else "pending"
        cells = [_move(scene.snapshot, view, *view.fate(task), task.key) for view in scene.views]
        job = scene.snapshot.job_by_task.get(task.key)
        key: tuple[str | Cell, ...] = (
            job.key if job else task.key,
            str(task.pod_priority),
            asks or "nothing",
            before,
            *cells,
        )
        alike.setdefault(key, []).append(task.key)
    rows = [(_first_of(names), *rest) for (_, *rest), names in alike.items()]
    return table("Placed and evicted pods", columns, rows)


def _move(snapshot: Snapshot, view: View, fate: Fate, node: str, key: str) -> Cell:
    if fate is Fate.VICTIM:
        eviction = view.evictions[key]
        serves = f" for {name_of(snapshot, eviction.for_job)}" if eviction.for_job else ""
        return Cell(f"evicted ({eviction.action or 'no reason stated'}{serves})", "worse")
    words = {
        Fate.STARTS: "starts on",
        Fate.WAITS: "capacity reserved on",
        Fate.HOLDS: "is allocated on",
        Fate.STAYS: "stays on",
    }
    if fate in words:
        return Cell(f"{words[fate]} {node}", "" if fate is Fate.STAYS else "better")
    return Cell("stays pending", "quiet") if fate is Fate.PENDING else Cell("ends", "quiet")
