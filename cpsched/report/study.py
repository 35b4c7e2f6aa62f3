"""The report about a study: how the heuristics fare against the optimum, and how long proofs take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any

from cpsched.report import charts
from cpsched.report.document import Block, Cell, Picture, Report, Section, Text, Tone, table
from cpsched.report.study_numbers import Gap, Row, Spread, Study, Time, ranges
from cpsched.report.words import LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST_POINTS = 4000
"""More points than this are thinned out evenly."""
MOST_PANELS = 6
MOST_WORST = 40
LEAST_SECONDS = 0.001
NOT_PAIRED = {"victim_start_time"}
"""Dates say nothing on an axis; how far they are apart is told above."""


@dataclass(frozen=True)
class Charts:
    """Drawn charts and what they show in a sentence."""

    svgs: tuple[str, ...]
    told: str


def study_report(
    name: str,
    rows: Iterable[tuple[Row, list[Row]]],
    embed: Callable[[str, Row, str | None], list[Section]],
    *,
    drawn: bool,
    most_embedded: int = 5,
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
    worst = study.worst(MOST_WORST)
    embedded: dict[int, list[Section]] = {}
    for number in _telling([cell for cell, _ in worst])[:most_embedded]:
        cell = worst[number - 1][0]
        best = study.optimum_by_cell.get((cell["instance_sha256"], cell["model"]))
        embedded[number] = embed(f"worst-{number}", cell, best)
    sections = [
        Section("engines", "How the engines fare", tuple(_engines(study, drawn))),
        Section("where", "Where they fall behind", tuple(_where(study))),
        Section("gaps", "How far behind, level by level", tuple(_gaps(study, drawn))),
        Section("pairs", "Heuristic against optimum", tuple(_pairs(study, drawn))),
        Section("times", "Time to proof", tuple(_times(study.times, drawn))),
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
    for (engine, model), counts in study.outcomes.items():
        told = ", ".join(f"{outcome} in {counts[outcome]:,}" for outcome in charts.OUTCOMES if counts[outcome])
        total = sum(counts.values())
        tone: Tone = "worse" if counts["behind"] + counts["breaks rules"] else "better"
        yield Cell(f"{engine} under {model}, {total:,} decisions against the optimum: {told}.", tone)
    if study.times:
        proved = sum(one.proved for one in study.times)
        yield Cell(f"The optimum is proved on every level in {proved:,} of {len(study.times):,} searches.", "quiet")


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
        told = (
            "Decisions per engine and model: as good as the optimum, ahead of an unproved one, behind, breaking rules."
        )
        yield Picture("charts", Charts((charts.outcome_chart(values),), told))
    columns = ("engine", "model", "#decisions", *(f"#{outcome}" for outcome in charts.OUTCOMES))
    rows = [
        (engine, model, f"{sum(counts.values()):,}", *(f"{counts[outcome]:,}" for outcome in charts.OUTCOMES))
        for (engine, model), counts in study.outcomes.items()
    ]
    yield table("Decisions against the optimum", columns, rows)


def _where(study: Study) -> Iterator[Block]:
    if not study.first:
        yield Text("Nobody falls behind.")
        return
    yield Text("The first difference decides; each decision counts once, at the most important level that differs.")
    rows = [
        (study.who(*who), level, LEVELS.get(level.partition("[")[0], "rules broken"), f"{n:,}")
        for who, counts in study.first.items()
        for level, n in counts.most_common()
    ]
    yield table("First difference", ("engine", "level", "counts", "#decisions behind"), rows)
    broken = [(study.who(*who), rule, f"{n:,}") for who, one in study.rules.items() for rule, n in one.most_common()]
    if broken:
        yield table("Rules broken", ("engine", "rule", "#findings"), broken)


def _by_level(study: Study) -> dict[str, dict[str, list[Gap]]]:
    """Level → who → gaps, in the order of importance; levels without a difference are left out."""
    by_level: dict[str, dict[str, list[Gap]]] = {}
    for gap in study.gaps:
        by_level.setdefault(gap.level, {}).setdefault(study.who(gap.engine, gap.model), []).append(gap)
    return {
        level: found for level, found in by_level.items() if any(gap.behind for own in found.values() for gap in own)
    }


def _gaps(study: Study, drawn: bool) -> Iterator[Block]:
    by_level = _by_level(study)
    if not by_level:
        yield Text("No level differs between two decisions that can be compared.")
        return
    yield Text(
        "Among decisions without findings that equal the optimum on all levels above. Start times differ by seconds, "
        "queue deficits by millionths; victims' priorities count 2³¹ more each."
    )
    rows, titles = [], []
    bars: list[dict[str, Any]] = []
    for level, found in by_level.items():
        compared = sum(len(own) for own in found.values())
        differ = {who: [gap.behind for gap in own if gap.behind] for who, own in found.items()}
        titles.append(f"{level}: {sum(map(len, differ.values())):,} of {compared:,} differ")
        for who, behind in differ.items():
            if behind:
                spread = Spread.of([float(number) for number in behind])
                numbers = (f"{n:,.0f}" for n in (spread.middle, spread.most_of_them, spread.largest))
                rows.append((level, who, f"{len(found[who]):,}", f"{len(behind):,}", *numbers))
        bars += _bars(titles[-1], differ)
    if drawn:
        told = "How far decisions are behind the optimum, level by level, where they differ."
        yield Picture("charts", Charts(charts.gap_charts(bars, titles[:MOST_PANELS]), told))
        if len(titles) > MOST_PANELS:
            yield Text(f"The first {MOST_PANELS} of {len(titles)} levels that differ are drawn.")
    columns = ("level", "engine", "#compared", "#different", "#median", "#nine of ten at most", "#largest")
    yield table("Behind the optimum by", columns, rows)


def _bars(title: str, differ: dict[str, list[int]]) -> Iterator[dict[str, Any]]:
    """One bar per range, the same ranges for every engine."""
    for low, high in ranges(number for behind in differ.values() for number in behind):
        label = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        for who, behind in differ.items():
            count = sum(low <= number <= high for number in behind)
            yield {"title": title, "who": who, "behind": label, "decisions": count}


def _pairs(study: Study, drawn: bool) -> Iterator[Block]:
    by_level = {level: found for level, found in _by_level(study).items() if level not in NOT_PAIRED}
    if not by_level:
        yield Text("Every pair of values is equal.")
        return
    counts = Counter(
        (level, who, gap.optimum, gap.value)
        for level, found in by_level.items()
        for who, own in found.items()
        for gap in own
    )
    if drawn:
        shown = list(by_level)[:MOST_PANELS]
        values = [
            {"level": level, "who": who, "optimum": optimum, "value": value, "decisions": n}
            for (level, who, optimum, value), n in counts.items()
            if level in shown
        ]
        told = (
            f"The heuristic's value against the optimum's for {', '.join(shown)}; on the line they are equal. "
            "A larger point stands for more decisions."
        )
        yield Picture("charts", Charts(charts.pair_charts(_thinned(values), shown), told))
    order = list(by_level)
    ranked = sorted(counts.items(), key=lambda one: (order.index(one[0][0]), -one[1], one[0]))
    rows = [(level, who, f"{opt:,}", f"{value:,}", f"{n:,}") for (level, who, opt, value), n in ranked if opt != value]
    columns = ("level", "engine", "#optimum", "#heuristic", "#decisions")
    yield table("Pairs of different values, most frequent first", columns, rows, of_picture=drawn)


def _times(times: Sequence[Time], drawn: bool) -> Iterator[Block]:
    if not times:
        yield Text("The engine optimal did not take part.")
        return
    if drawn:
        values: list[dict[str, Any]] = [
            {"tasks": max(1, one.tasks), "seconds": max(LEAST_SECONDS, one.seconds),
             "proof": "every level proved" if one.proved else "levels open"}
            for one in times
        ]  # fmt: skip
        told = "Seconds of one search, loading included, against the number of tasks; both scales are logarithmic."
        yield Picture("charts", Charts((charts.time_chart(_thinned(values)),), told))
        if len(times) > MOST_POINTS:
            yield Text(f"Every {len(times) // MOST_POINTS + 1}th of {len(times):,} searches is drawn.")
    by_size: dict[int, list[Time]] = {}
    for one in times:
        by_size.setdefault(floor(log10(max(1, one.tasks)) * 2), []).append(one)
    rows = []
    for _, found in sorted(by_size.items()):
        spread, tasks = Spread.of([one.seconds for one in found]), [one.tasks for one in found]
        proved = sum(one.proved for one in found)
        numbers = (f"{n:.2f}" for n in (spread.middle, spread.most_of_them, spread.largest))
        size = f"{min(tasks):,}–{max(tasks):,}" if min(tasks) < max(tasks) else f"{tasks[0]:,}"
        rows.append((size, f"{len(found):,}", f"{proved:,}", *numbers))
    columns = ("tasks", "#searches", "#proved on every level", "#median s", "#nine of ten at most s", "#longest s")
    yield table("Time to proof by size", columns, rows)


def _worst(worst: Sequence[tuple[Row, list[Row]]], linked: set[int]) -> Iterator[Block]:
    if not worst:
        yield Text("No decision is behind the optimum.")
        return
    yield Text("Broken rules first, then the most important level, then by how much. Links lead to comparisons below.")
    rows = []
    for number, (cell, _) in enumerate(worst, start=1):
        name = Cell(cell["instance"], section=f"worst-{number}" if number in linked else "")
        ours, best = (cell[side] or "none" for side in ("first_difference_value", "first_difference_optimal"))
        sizes = (str(cell["nodes"]), str((cell["tasks_pending"] or 0) + (cell["tasks_running"] or 0)))
        rows.append(
            (name, cell["model"], cell["engine"], str(cell["seed"]), *sizes, cell["first_difference"], ours, best)
        )
    columns = ("instance", "model", "engine", "#seed", "#nodes", "#tasks", "first difference", "#value", "#optimum")
    yield table("Furthest behind the optimum", columns, rows)


def _failed(failed: Sequence[Row]) -> Iterator[Block]:
    rows = [
        (row["instance"], row["model"], row["engine"], str(row["seed"]), row["status"], row["error"] or "")
        for row in failed
    ]
    yield table("Cells without a result", ("instance", "model", "engine", "#seed", "status", "what happened"), rows)


def _thinned(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return values[:: len(values) // MOST_POINTS + 1]
