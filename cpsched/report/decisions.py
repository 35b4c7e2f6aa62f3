"""The report about a cluster and one or several decisions."""

from __future__ import annotations

from collections.abc import Mapping

from cpsched.contents import nothing_to_decide
from cpsched.doubts import for_this_dump, without
from cpsched.instance import ENDED, Status
from cpsched.report.cluster import MOST_NODES, cluster_section
from cpsched.report.document import Block, Cell, Report, Section, Text, table
from cpsched.report.explorer import explorer_section
from cpsched.report.jobs import job_table, move_table, stay_rows
from cpsched.report.levels import level_section
from cpsched.report.nodes import pictured_resources
from cpsched.report.queues import queue_section
from cpsched.report.scene import Scene, View
from cpsched.report.standing import standings
from cpsched.report.stated import DecisionFacts, doubt_cells
from cpsched.report.status import status_text
from cpsched.snapshot import Snapshot
from cpsched.solution import SolutionStatus


def decision_report(scene: Scene, facts: DecisionFacts | None = None, *, most_nodes: int = MOST_NODES) -> Report:
    """Everything there is to see about decisions on one cluster; a comparison adds its verdicts and reasons."""
    sections = decision_sections(scene, most_nodes=most_nodes)
    if facts is not None and facts.differences:
        sections.insert(2, Section("differences", "What differs, and why", facts.differences))
    return Report(
        title=scene.title,
        about=_about(scene),
        verdict=tuple(verdict(scene, facts)),
        facts=_facts(scene),
        sections=(explorer_section(scene), *sections),
        made_from=tuple(_made_from(scene)),
    )


def decision_sections(scene: Scene, *, most_nodes: int = MOST_NODES) -> list[Section]:
    """The sections, most telling first."""
    resources = pictured_resources(scene)
    return [
        cluster_section(scene, resources, most_nodes),
        *([] if _is_idle(scene) else [level_section(scene.views, standings(scene.views))]),
        Section("moves", "Who comes and who goes", _moves(scene)),
        Section("jobs", "Jobs", (job_table(scene),)),
        *filter(None, [queue_section(scene, resources)]),
        Section("stays", "Why others stay", _stays(scene)),
        Section("findings", "Rules", _findings(scene)),
    ]


def _is_idle(scene: Scene) -> bool:
    return all(nothing_to_decide(scene.snapshot, view.solution) for view in scene.views)


def _about(scene: Scene) -> str:
    names = [view.name for view in scene.views]
    engines = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"What {engines} would do, checked by model {scene.snapshot.policy.name}"


def verdict(scene: Scene, facts: DecisionFacts | None = None) -> list[Cell]:
    """What is left out, who is better and where that shows, then what each decision does."""
    cells = [Cell(one.text) for one in scene.snapshot.instance.what_if]
    cells += doubt_cells(view.solution for view in scene.views)
    if _is_idle(scene):
        return [*cells, *_summaries(scene)]
    if facts is not None:
        cells += facts.verdict
    else:
        ranked = standings(scene.views) if len(scene.views) > 1 else []
        cells += [Cell(one.sentence, "worse" if one.is_behind else "better") for one in ranked]
    return [*cells, *_summaries(scene)]


def _summaries(scene: Scene) -> list[Cell]:
    """What each decision does; one without a proof of its own may be as good as one that has it."""
    equal = {
        one.view.name
        for one in (standings(scene.views) if len(scene.views) > 1 else [])
        if not one.is_behind and one.best.solution.proves and one.best.solution.status is SolutionStatus.OPTIMAL
    }
    return [_summary_cell(scene.snapshot, view, view.name in equal) for view in scene.views]


def _summary_cell(snapshot: Snapshot, view: View, equals_optimum: bool) -> Cell:
    """What the decision does, in one line."""
    solution = view.solution
    if nothing := nothing_to_decide(snapshot, solution):
        return Cell(f"{view.name} has nothing to decide: {nothing}.", "quiet")
    parts: dict[str, Mapping[str, object]] = {
        "starts": solution.binds,
        "holds room for": solution.reserves,
        "evicts": view.evictions,
    }
    counts = {verb: len(tasks) for verb, tasks in parts.items()}
    does = ", ".join(f"{verb} {count:,}" for verb, count in counts.items() if count) or "does nothing"
    status = status_text(solution)
    if solution.called_optimal:
        status = "stated to be optimal; the proofs are not checked here"
    elif equals_optimum and solution.status is SolutionStatus.HEURISTIC:
        scope = for_this_dump(solution.doubts) + without(solution.doubts)
        status = f"heuristic decision, as good as the proved optimum{scope}"
    return Cell(f"{view.name} {does} – {status}.", "quiet")


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
        return (Text("No task is reported as not placed: every pending task is placed, or no engine gave a reason."),)
    return (table("Tasks that stay, and why", ("decision", "task", "reason stated by the engine"), rows),)


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
