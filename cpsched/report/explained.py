"""What would have to change for jobs that the best decision leaves pending: reasons on nodes and smallest changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cpsched.checker import CheckedSolution
from cpsched.errors import InputError
from cpsched.explanation.blocks import repair_rows
from cpsched.explanation.goal import clock_of
from cpsched.explanation.inquiry import explain
from cpsched.explanation.requirements import named
from cpsched.explanation.result import Explanation
from cpsched.options import Options
from cpsched.report.document import Cell, Section, Text, table
from cpsched.report.jobs import keys_of
from cpsched.report.scene import Scene, View
from cpsched.snapshot import SessionJob

MOST_JOBS = 5
MOST_TASKS = 2000
"""In a larger cluster only `cpsched explain` answers."""
SHARE = 0.2
"""Of the time limit, for all of them together."""


@dataclass(frozen=True)
class JobExplained:
    """One job that stays pending."""

    key: str
    name: str
    explanation: Explanation

    @property
    def nodes(self) -> list[tuple[str, str]]:
        """Nodes, and what speaks against each of them."""
        return [(named(one.nodes), "; ".join(one.reasons) or "fits now") for one in self.explanation.nodes]

    @property
    def changes(self) -> list[tuple[str, str]]:
        """What would place it, and whether the optimum then does."""
        return repair_rows(self.explanation.repairs)


def explained(scene: Scene, options: Options) -> tuple[JobExplained, ...]:
    """The most important jobs that the search for the optimum leaves pending; nothing without such a search."""
    view = next((one for one in scene.views if one.solution.proves), None)
    if view is None or len(scene.instance.tasks) > MOST_TASKS:
        return ()
    jobs = sorted(_pending(scene, view), key=lambda job: (-job.priority, job.name))[:MOST_JOBS]
    limit = replace(options, time_limit=options.time_limit * SHARE / max(1, len(jobs)))
    return tuple(found for job in jobs if (found := _explained(scene, view, job, limit)))


def _pending(scene: Scene, view: View) -> list[SessionJob]:
    placed = view.solution.binds.keys() | view.solution.reserves.keys()
    return [job for job in scene.snapshot.starving if job.pending and placed.isdisjoint(keys_of(job))]


def _explained(scene: Scene, view: View, job: SessionJob, options: Options) -> JobExplained | None:
    known = CheckedSolution(view.solution, view.decision)
    try:
        found = explain(
            scene.instance, scene.snapshot.policy, options, job=job.key, clock=clock_of(options), decided=known
        )
    except InputError:
        return None
    return JobExplained(job.key, job.name, found)


def explained_section(found: Sequence[JobExplained]) -> Section | None:
    """The same as a table; None without any."""
    if not found:
        return None
    rows: list[tuple[str | Cell, ...]] = []
    for one in found:
        first, *more = one.changes or [
            ("no change found in time" if _is_open(one) else "no small change is enough", "")
        ]
        rows.append((one.name, one.explanation.summary, *first))
        rows += [(one.name, "", *each) for each in more]
    intro = "The most important jobs that the optimum leaves pending. `cpsched explain` answers about every job."
    columns = ("job", "why it is not placed", "smallest changes that would allow it", "then placed")
    return Section("changes", "What would have to change", (Text(intro), table("Jobs left pending", columns, rows)))


def _is_open(one: JobExplained) -> bool:
    return bool(one.explanation.repairs_not_tried or one.explanation.repairs_not_finished or one.explanation.is_open)
