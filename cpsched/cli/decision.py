"""A decision as tables: jobs, where tasks go, victims, levels, findings, and why pods stay pending."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from cpsched.cli.in_doubt import above
from cpsched.cli.tables import MOST_ROWS, table
from cpsched.cli.tables import shown as blocks_shown
from cpsched.comparison.shortfall import gangs_short, too_little
from cpsched.report.jobs import keys_of, name_of, outcome, stay_rows, touched_jobs
from cpsched.report.levels import proof
from cpsched.report.standing import shown
from cpsched.report.status import status_text
from cpsched.report.words import BETTER
from cpsched.tables import Table

if TYPE_CHECKING:
    from cpsched.cli.output import Part
    from cpsched.snapshot import SessionJob, Snapshot
    from cpsched.solution import Level, Solution

Keys = AbstractSet[str]

JOB_COLUMNS = ("job", "queue", "#priority", "#running/min", "#started", "#reserved", "#evicted", "")
"""ready: how many of its minimum were at work; starts now, waits for room, lost to others."""
PREEMPTION_COLUMNS = ("task", "node", "victims", "#PDB violations by kube's count", "#truly")


def decision_tables(snapshot: Snapshot, solution: Solution) -> Iterator[Part]:
    """Everything a person wants to see first."""
    from cpsched.contents import contents, nothing_to_decide

    ended = ", interrupted" if solution.interrupted else ""
    nothing = nothing_to_decide(snapshot, solution)
    status = f"nothing to decide: {nothing}" if nothing else f"{status_text(solution)}{ended}"
    yield [
        contents(snapshot.instance, snapshot.policy),
        *(one.text for one in snapshot.instance.what_if),
        *above(solution.doubts),
        f"Engine {solution.engine}, model {solution.model}: {status}",
    ]
    if nothing:
        yield from _cut("Why pods stay pending", ["task", "reason stated by the engine"], stay_rows(solution.unplaced))
        return
    yield from _cut("Jobs", JOB_COLUMNS, _jobs(snapshot, solution))
    yield from _cut("Placed tasks", ["job", "task", "node", ""], _places(snapshot, solution))
    yield from _cut("Victims", ["task", "node", "#priority", "action", "for"], _victims(snapshot, solution))
    yield from _cut("Preemptions", PREEMPTION_COLUMNS, _preemptions(solution))
    yield from _cut("Why pods stay pending", ["task", "reason stated by the engine"], stay_rows(solution.unplaced))
    if solution.levels:
        yield _levels(snapshot, solution)
    findings = [(one.rule, one.subject, one.message) for one in solution.findings]
    yield table("Findings", ["rule", "subject", "message"], findings) if findings else "No rule is broken."


def _cut(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Part]:
    return blocks_shown([Table(title, columns, rows)] if rows else [], MOST_ROWS)


def _jobs(snapshot: Snapshot, solution: Solution) -> list[tuple[str, ...]]:
    """Jobs with pending, placed or evicted pods, the most important first."""
    starving = {job.key for job in snapshot.starving}
    parts = (solution.binds.keys(), solution.reserves.keys(), solution.evicted)
    return [_job(job, job.key in starving, *parts) for job in touched_jobs(snapshot, solution.evicted)]


def _places(snapshot: Snapshot, solution: Solution) -> list[tuple[str, ...]]:
    """Every task that starts or has capacity reserved, by job, the most important job first; a job is named once."""
    placed = [(key, node, "starts now") for key, node in solution.binds.items()]
    placed += [(key, node, "allocated, its gang is not ready") for key, node in solution.allocated.items()]
    placed += [(key, node, "reserved") for key, node in solution.pipelined.items()]
    by_job: dict[tuple[int, str], list[tuple[str, str, str]]] = {}
    for one in placed:
        job = snapshot.job_by_task.get(one[0])
        by_job.setdefault((0, "") if job is None else (-job.priority, job.name), []).append(one)
    return [
        ("" if number else name, *one)
        for (_, name), tasks in sorted(by_job.items())
        for number, one in enumerate(tasks)
    ]


def _preemptions(solution: Solution) -> list[tuple[str, ...]]:
    return [
        (one.task, one.node, ", ".join(one.victims), str(one.pdb_violations), str(one.true_pdb_violations))
        for one in solution.preemptions
    ]


def _job(job: SessionJob, starving: bool, binds: Keys, reserves: Keys, evicted: Keys) -> tuple[str, ...]:
    keys = keys_of(job)
    starts, waits, lost = keys & binds, keys & reserves, keys & evicted
    ready, counts = f"{job.ready}/{job.min_available}", [str(len(part)) for part in (starts, waits, lost)]
    result = outcome(job, starving, starts | waits, lost)
    return (job.name, job.queue or "", str(job.priority), ready, *counts, result)


def _victims(snapshot: Snapshot, solution: Solution) -> list[tuple[str, ...]]:
    tasks = snapshot.instance.tasks
    priorities = {key: str(tasks[key].pod_priority) if key in tasks else "?" for key in solution.evicted}
    return [
        (one.task, one.node, priorities[one.task], one.action, name_of(snapshot, one.for_job))
        for one in solution.evictions
    ]


def _levels(snapshot: Snapshot, solution: Solution) -> Part:
    levels, short = solution.levels, gangs_short(snapshot, solution)
    columns, rows = ["level", "better", "#value"], [_level(level, levels, short) for level in levels]
    if any(level.proved or level.bound is not None for level in levels):
        proofs = [proof(level) or "open" for level in levels]
        columns, rows = [*columns, "proof"], [(*row, text) for row, text in zip(rows, proofs, strict=True)]
    return table("Levels, most important first", columns, rows)


def _level(level: Level, levels: Sequence[Level], short: Mapping[str, int]) -> tuple[str, ...]:
    return (level.label, BETTER[level.sense], shown(level, levels) + too_little(short.get(level.label, 0)))
