"""The report about a cluster and one or several decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from cpsched.contents import counted, nothing_to_decide
from cpsched.instance import ENDED, Status
from cpsched.report.cluster import MOST_NODES, cluster_section
from cpsched.report.document import Block, Cell, Report, Section, Text, table
from cpsched.report.explained import JobExplained, explained_section
from cpsched.report.explorer import explorer_section
from cpsched.report.jobs import job_table, move_table, stay_rows
from cpsched.report.levels import level_section
from cpsched.report.nodes import pictured_resources
from cpsched.report.queues import queue_section
from cpsched.report.scene import Scene, View
from cpsched.report.standing import ranking, standings
from cpsched.report.stated import DecisionFacts, doubt_cells
from cpsched.report.status import status_text
from cpsched.snapshot import Snapshot


def decision_report(
    scene: Scene,
    facts: DecisionFacts | None = None,
    left_pending: Sequence[JobExplained] = (),
    *,
    most_nodes: int = MOST_NODES,
) -> Report:
    """Everything there is to see about decisions on one cluster.

    A comparison adds its verdicts and reasons, explanations of jobs left pending what would have to change for them.
    """
    sections = decision_sections(scene, most_nodes=most_nodes)
    if changes := explained_section(left_pending):
        sections.insert(2, changes)
    if facts is not None and facts.differences:
        sections.insert(2, Section("differences", "What differs, and why", facts.differences))
    return Report(
        title=scene.title,
        about=_about(scene),
        verdict=tuple(verdict(scene, facts)),
        facts=_facts(scene),
        sections=(explorer_section(scene, {} if facts is None else facts.reasons, left_pending), *sections),
        made_from=tuple(_made_from(scene)),
    )


def decision_sections(scene: Scene, *, most_nodes: int = MOST_NODES) -> list[Section]:
    """The sections, most telling first."""
    resources = pictured_resources(scene)
    return [
        cluster_section(scene, resources, most_nodes),
        *([] if _is_idle(scene) else [level_section(scene.views, standings(scene.views))]),
        Section("moves", "Placed and evicted pods", _moves(scene)),
        Section("jobs", "Jobs", (job_table(scene),)),
        *filter(None, [queue_section(scene, resources)]),
        Section("stays", "Why pods stay pending", _stays(scene)),
        Section("findings", "Rules", _findings(scene)),
    ]


def _is_idle(scene: Scene) -> bool:
    return all(nothing_to_decide(scene.snapshot, view.solution) for view in scene.views)


def _about(scene: Scene) -> str:
    names = [view.name for view in scene.views]
    facts = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"Decisions of {facts}, checked under model {scene.snapshot.policy.name}"


def verdict(scene: Scene, facts: DecisionFacts | None = None) -> list[Cell]:
    """What is left out, then one line per decision: its verdict, and what it does."""
    cells = [Cell(one.text) for one in scene.snapshot.instance.what_if]
    cells += doubt_cells(view.solution for view in scene.views)
    ranked = [] if _is_idle(scene) else list(facts.verdict) if facts is not None else ranking(scene.views)
    return [*cells, *(_headline(scene.snapshot, view, one) for view, one in zip_longest(scene.views, ranked))]


def _headline(snapshot: Snapshot, view: View, ranked: Cell | None) -> Cell:
    """The verdict against the others, else how far the decision is proved; then what it does."""
    solution = view.solution
    if nothing := nothing_to_decide(snapshot, solution):
        return Cell(f"{view.name} has nothing to decide: {nothing}.", "quiet")
    first = ranked or Cell(f"{view.name}: {status_text(solution)}.", "better" if solution.proves else "")
    parts: dict[str, Mapping[str, object]] = {
        "starts": solution.binds,
        "reserves capacity for": solution.reserves,
        "evicts": view.evictions,
    }
    counts = [f"{verb} {counted(len(tasks), 'pod')}" for verb, tasks in parts.items() if tasks]
    does = f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else "".join(counts) or "changes nothing"
    claim = " It is stated to be optimal; the proofs are not checked here." if solution.called_optimal else ""
    return replace(first, text=f"{first.text} It {does}.{claim}")


def _facts(scene: Scene) -> tuple[tuple[str, str], ...]:
    instance = scene.instance
    counts = {status: sum(task.status is status for task in instance.tasks.values()) for status in Status}
    running = counts[Status.RUNNING] + counts[Status.BOUND]
    facts = [("nodes", len(instance.nodes)), ("jobs", len(scene.snapshot.jobs)), ("tasks running", running)]
    facts += [("tasks pending", counts[Status.PENDING]), ("tasks ending", counts[Status.RELEASING])]
    facts += [("queues", len(instance.queues)), ("starving jobs", len(scene.snapshot.starving))]
    facts.insert(5, ("tasks finished", sum(counts[status] for status in ENDED)))
    shown = [(name, f"{count:,}") for name, count in facts if count or name in ("nodes", "tasks pending")]
    return (*shown, ("scheduler", scene.snapshot.policy.model.scheduler))


def _moves(scene: Scene) -> tuple[Block, ...]:
    return (move_table(scene),) if scene.touched else (Text("No decision places or evicts a task."),)


def _stays(scene: Scene) -> tuple[Block, ...]:
    rows = [(view.name, *row) for view in scene.views for row in stay_rows(view.solution.unplaced)]
    if not rows:
        return (Text("Every pending pod is placed, or no engine states a reason."),)
    return (table("Pods that stay pending, and why", ("decision", "task", "reason stated by the engine"), rows),)


def _findings(scene: Scene) -> tuple[Block, ...]:
    blocks: list[Block] = []
    rows = [
        (view.name, Cell(one.rule, "worse"), one.subject, one.message)
        for view in scene.views
        for one in view.solution.findings
    ]
    clean = [view.name for view in scene.views if not view.solution.findings]
    if clean:
        blocks.append(Text(f"No rule is broken by {', '.join(clean)}."))
    if rows:
        blocks.append(table("Rules that are broken", ("decision", "rule", "subject", "message"), rows))
    return tuple(blocks)


def _made_from(scene: Scene) -> list[str]:
    choice = scene.snapshot.policy.choice
    lines = [f"Instance {scene.instance.sha256}", *([choice] if choice else [])]
    for view in scene.views:
        versions = ", ".join(f"{name} {version}" for name, version in view.solution.versions.items())
        lines.append(f"{view.name}: {versions}" + (f", seed {view.solution.seed}" if view.solution.seed else ""))
    return lines
