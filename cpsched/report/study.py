"""The report about a study: how the heuristics fare against the optimum, and how long proofs take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from cpsched.importers.chosen import grouped
from cpsched.report import charts
from cpsched.report.distributions import Charts, gap_blocks, pair_blocks, time_blocks
from cpsched.report.document import Block, Cell, Picture, Report, Section, Text, Tone, table
from cpsched.report.points import points_section, shown_value
from cpsched.report.study_numbers import Row, Study, outcome
from cpsched.report.words import LEVELS

MOST_WORST = 200
MOST_OF_A_KIND = 10


def study_report(
    name: str,
    rows: Iterable[tuple[Row, list[Row]]],
    embed: Callable[[str, Row, str | None], list[Section]],
    *,
    drawn: bool,
    most_embedded: int = 30,
) -> Report:
    """Everything there is to see about a study.

    Args:
        name: what the study is called.
        rows: every cell with its levels, as the study's results give them.
        embed: (key of the section, cell, key of the optimum's cell) → the comparison as sections.
        drawn: whether charts are wanted; tables hold the same numbers.
        most_embedded: so many of the worst instances come with their comparison.
    """
    study = Study.of(rows)
    worst = study.worst(MOST_WORST, MOST_OF_A_KIND)
    embedded: dict[int, list[Section]] = {}
    for number in _telling([cell for cell, _ in worst])[:most_embedded]:
        cell = worst[number - 1][0]
        best = study.optimum_by_cell.get((cell["instance_sha256"], cell["model"]))
        embedded[number] = embed(f"worst-{number}", cell, best)
    shown = {worst[number - 1][0]["key"]: f"worst-{number}" for number, one in embedded.items() if one}
    sections = [
        Section("engines", "Results by engine", tuple(_engines(study, drawn))),
        Section("where", "Where they are worse", tuple(_where(study))),
        Section("gaps", "How much worse, level by level", tuple(gap_blocks(study, drawn))),
        Section("pairs", "Heuristic against optimum", tuple(pair_blocks(study, drawn))),
        *([points_section(_worst_first(study.decided), shown)] if drawn and study.decided else []),
        Section("times", "Time to proof", tuple(time_blocks(study.times, drawn))),
        Section("worst", "Worst instances", tuple(_worst(worst, {n for n, one in embedded.items() if one}))),
        *(section for _, one in sorted(embedded.items()) for section in one),
        *([Section("failed", "Cells that failed", tuple(_failed(study.failed)))] if study.failed else []),
    ]
    facts = {"cells": study.cells, "instances": len(study.instances), "models": len(study.models)}
    facts |= {"engines": len({engine for engine, _ in study.outcomes} | ({"optimal"} if study.times else set()))}
    facts |= {"failed cells": len(study.failed)}
    return Report(
        title=name,
        about="A study: every instance under every model, decided by every engine",
        verdict=tuple(_verdict(study)),
        facts=tuple((name, f"{count:,}") for name, count in facts.items()),
        sections=tuple(sections),
    )


def _worst_first(cells: Sequence[Row]) -> list[Row]:
    """Those that are worse than the optimum before the others, in the study's order."""
    return sorted(cells, key=lambda cell: outcome(cell) not in ("worse", "breaks rules"))


def _telling(worst: Sequence[Row]) -> list[int]:
    """The numbers of the worst cells, the first of each kind of difference before the second of any."""
    seen: Counter[tuple[str, ...]] = Counter()
    turns = []
    for number, cell in enumerate(worst, start=1):
        kind = (cell["engine"], cell["model"], cell["first_difference"])
        turns.append((seen[kind], number))
        seen[kind] += 1
    return [number for _, number in sorted(turns)]


def _verdict(study: Study) -> Iterator[Cell]:
    if chosen := grouped(study.choices.values(), "instance", "instances"):
        yield Cell(f"{chosen}.", "quiet")
    for text, count in study.doubts.items():
        yield Cell(f"Doubt, in {count:,} cell{'s' * (count != 1)}: {text}", "worse")
    for (engine, model), counts in study.outcomes.items():
        caption = ", ".join(f"{outcome} in {counts[outcome]:,}" for outcome in charts.OUTCOMES if counts[outcome])
        total = sum(counts.values())
        tone: Tone = "worse" if counts["worse"] + counts["breaks rules"] else "better"
        yield Cell(
            f"{engine} under {model}, {total:,} decision{'s' * (total != 1)} against the optimum: {caption}.", tone
        )
    if study.times:
        proved = sum(one.proved for one in study.times)
        rest = ", apart from what is in doubt" if study.doubts else ""
        searches = f"{proved:,} of {len(study.times):,} searches"
        yield Cell(f"The optimum is proved on every level in {searches}{rest}.", "quiet")


def _engines(study: Study, drawn: bool) -> Iterator[Block]:
    if not study.outcomes:
        yield Text("No engine but optimal took part, so there is nothing to compare.")
        return
    if drawn:
        values = [
            {"who": f"{engine} / {model}", "outcome": outcome, "decisions": counts[outcome]}
            for (engine, model), counts in study.outcomes.items()
            for outcome in charts.OUTCOMES
            if counts[outcome]
        ]
        caption = (
            "Decisions per engine and model: equal to the optimum, better than an unproved one, worse, breaking rules."
        )
        yield Picture("charts", Charts((charts.outcome_chart(values),), caption))
    columns = ("engine", "model", "#decisions", *(f"#{outcome}" for outcome in charts.OUTCOMES))
    rows = [
        (engine, model, f"{sum(counts.values()):,}", *(f"{counts[outcome]:,}" for outcome in charts.OUTCOMES))
        for (engine, model), counts in study.outcomes.items()
    ]
    yield table("Decisions against the optimum", columns, rows)
    names = ("model", "engine", "cells", "failed", "findings", "proved", "same", "behind", "ahead")
    counts = [tuple(str(row[name]) for name in names) for row in study.summary.rows()]
    columns = ("model", "engine", *(f"#{name}" for name in names[2:]))
    yield table("Counts as cpsched study prints them: a decision may break rules and be behind", columns, counts)


def _where(study: Study) -> Iterator[Block]:
    if not study.first:
        yield Text("No decision is worse than the optimum.")
        return
    yield Text("The first difference decides; each decision counts once, at the most important level that differs.")
    rows = [
        (study.who(*who), level, LEVELS.get(level.partition("[")[0], "rules broken"), f"{n:,}")
        for who, counts in study.first.items()
        for level, n in counts.most_common()
    ]
    yield table("First difference", ("engine", "level", "counts", "#worse decisions"), rows)
    broken = [(study.who(*who), rule, f"{n:,}") for who, one in study.rules.items() for rule, n in one.most_common()]
    if broken:
        yield table("Rules broken", ("engine", "rule", "#findings"), broken)


def _worst(worst: Sequence[tuple[Row, list[Row]]], linked: set[int]) -> Iterator[Block]:
    if not worst:
        yield Text("No decision is worse than the optimum.")
        return
    yield Text(
        f"At most {MOST_OF_A_KIND} of each engine, model and first difference: broken rules first, then the "
        "most important level, then by how much. Links lead to comparisons below."
    )
    rows = []
    for number, (cell, _) in enumerate(worst, start=1):
        name = Cell(cell["instance"], section=f"worst-{number}" if number in linked else "")
        label = cell["first_difference"]
        ours, best = (shown_value(label, cell[f"first_difference_{side}"]) for side in ("value", "optimal"))
        sizes = (str(cell["nodes"]), str((cell["tasks_pending"] or 0) + (cell["tasks_running"] or 0)))
        rows.append((name, cell["model"], cell["engine"], str(cell["seed"]), *sizes, label, ours, best))
    columns = ("instance", "model", "engine", "#seed", "#nodes", "#tasks", "first difference", "#value", "#optimum")
    yield table("Worst decisions", columns, rows)


def _failed(failed: Sequence[Row]) -> Iterator[Block]:
    rows = [
        (row["instance"], row["model"], row["engine"], str(row["seed"]), row["status"], row["error"] or "")
        for row in failed
    ]
    yield table("Cells without a result", ("instance", "model", "engine", "#seed", "status", "what happened"), rows)
