"""A decision as tables: jobs, victims, levels, findings, and why others stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from cpsched.cli.tables import table

if TYPE_CHECKING:
    from rich.table import Table

    from cpsched.snapshot import SessionJob, Snapshot
    from cpsched.solution import Level, Solution

Keys = AbstractSet[str]

STATUS = {
    "optimal": "optimal, every level proved",
    "feasible": "the best so far, not every level proved",
    "heuristic": "what the heuristic does, nothing proved",
    "infeasible": "no decision is feasible",
    "unknown": "no answer in time",
}
JOB_COLUMNS = ("job", "queue", "#priority", "#ready", "#starts", "#waits", "#lost", "")
"""ready: how many of its minimum were at work; starts now, waits for room, lost to others."""
PREEMPTION_COLUMNS = ("task", "node", "victims", "#PDB violations by kube's count", "#truly")
MOST_ROWS = 40
"""Longer tables say how many rows they leave out; JSON has them all."""


def decision_tables(snapshot: Snapshot, solution: Solution) -> Iterator[Table | str]:
    """Everything a person wants to see first."""
    ended = ", interrupted" if solution.interrupted else ""
    yield f"Engine {solution.engine}, model {solution.model}: {STATUS[solution.status]}{ended}"
    yield from _cut("Jobs", JOB_COLUMNS, _jobs(snapshot, solution))
    yield from _cut("Victims", ["task", "node", "#priority", "action", "for"], _victims(snapshot, solution))
    yield from _cut("Preemptions", PREEMPTION_COLUMNS, _preemptions(solution))
    yield from _cut("Why others stay", ["task", "reason"], _stay(solution.unplaced))
    if solution.levels:
        yield _levels(solution.levels)
    findings = [(one.rule, one.subject, one.message) for one in solution.findings]
    yield table("Findings", ["rule", "subject", "message"], findings) if findings else "No rule is broken."


def _cut(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Table | str]:
    if rows:
        yield table(title, columns, rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        yield f"... and {len(rows) - MOST_ROWS} more; --json shows all."


def _jobs(snapshot: Snapshot, solution: Solution) -> list[tuple[str, ...]]:
    """Jobs that want, get or lose something, the most important first."""
    starving = {job.key for job in snapshot.starving}
    parts = (solution.binds.keys(), solution.reserves.keys(), solution.evicted)
    touched = [job for job in snapshot.jobs.values() if job.pending or not parts[2].isdisjoint(_keys(job))]
    touched.sort(key=lambda job: -job.priority)
    return [_job(job, job.key in starving, *parts) for job in touched]


def _preemptions(solution: Solution) -> list[tuple[str, ...]]:
    return [
        (one.task, one.node, ", ".join(one.victims), str(one.pdb_violations), str(one.true_pdb_violations))
        for one in solution.preemptions
    ]


def _keys(job: SessionJob) -> set[str]:
    return {task.key for task in job.tasks}


def _job(job: SessionJob, starving: bool, binds: Keys, reserves: Keys, evicted: Keys) -> tuple[str, ...]:
    keys = _keys(job)
    starts, waits, lost = keys & binds, keys & reserves, keys & evicted
    ready, counts = f"{job.ready}/{job.min_available}", [str(len(part)) for part in (starts, waits, lost)]
    outcome = _outcome(job, starving, starts | waits, lost)
    return (job.key, job.queue or "", str(job.priority), ready, *counts, outcome)


def _outcome(job: SessionJob, starving: bool, placed: set[str], evicted: set[str]) -> str:
    reaches_minimum = job.is_pipelined(placed, evicted)
    if starving:
        return "not admitted" if not placed else "admitted" if reaches_minimum else "gets too little"
    if job.ready < job.min_available:
        return "takes no part"
    return "has its minimum" if reaches_minimum else "falls below its minimum"


def _victims(snapshot: Snapshot, solution: Solution) -> list[tuple[str, ...]]:
    tasks = snapshot.instance.tasks
    priorities = {key: str(tasks[key].pod_priority) if key in tasks else "?" for key in solution.evicted}
    return [(one.task, one.node, priorities[one.task], one.action, one.for_job) for one in solution.evictions]


def _stay(unplaced: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """One row for all tasks that stay for the same reasons."""
    tasks_by_reasons: dict[tuple[str, ...], list[str]] = {}
    for task, reasons in unplaced.items():
        tasks_by_reasons.setdefault(tuple(reasons), []).append(task)
    return [
        (tasks[0] if len(tasks) == 1 else f"{tasks[0]} and {len(tasks) - 1} more", "; ".join(reasons) or "not told")
        for reasons, tasks in tasks_by_reasons.items()
    ]


def _levels(levels: Sequence[Level]) -> Table:
    columns, rows = ["level", "better", "#value"], [_level(level) for level in levels]
    if any(level.proved or level.bound is not None for level in levels):
        columns, rows = [*columns, "proof"], [(*row, _proof(level)) for row, level in zip(rows, levels, strict=True)]
    return table("Levels, most important first", columns, rows)


def _level(level: Level) -> tuple[str, ...]:
    better = {"max": "more", "min": "less"}[level.sense]
    return (level.label, better, "none" if level.value is None else str(level.value))


def _proof(level: Level) -> str:
    if level.proved:
        return f"proved ({level.prover}, {level.seconds:.2f} s)"
    return "" if level.bound is None else f"open, bound {level.bound}"
