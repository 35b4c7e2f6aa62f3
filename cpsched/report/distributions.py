"""A study's distributions: how far behind level by level, heuristic against optimum, time to proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from cpsched.objectives import IN_MILLIONTHS, MILLIONTHS
from cpsched.report import charts
from cpsched.report.document import Block, Picture, Text, table
from cpsched.report.standing import PRIORITY_SUM, difference_text
from cpsched.report.study_numbers import LevelGap, Spread, Study, Time, ranges

MOST_POINTS = 4000
"""More points than this are thinned out evenly."""
MOST_PANELS = 6
LEAST_SECONDS = 0.001
NOT_PAIRED = {"victim_start_time"}
"""Dates say nothing on an axis; how far they are apart is stated above."""


@dataclass(frozen=True)
class Charts:
    """Drawn charts and what they show in a sentence."""

    svgs: tuple[str, ...]
    caption: str


def _by_level(study: Study) -> dict[str, dict[str, list[LevelGap]]]:
    """Level → who → gaps, in the order of importance; levels without a difference are left out."""
    by_level: dict[str, dict[str, list[LevelGap]]] = {}
    for gap in study.gaps:
        by_level.setdefault(gap.level, {}).setdefault(study.who(gap.engine, gap.model), []).append(gap)
    return {
        level: found for level, found in by_level.items() if any(gap.behind for own in found.values() for gap in own)
    }


def gap_blocks(study: Study, drawn: bool) -> Iterator[Block]:
    """How far behind, level by level."""
    by_level = _by_level(study)
    if not by_level:
        yield Text("No level differs between two decisions that can be compared.")
        return
    yield Text(
        "Among decisions without findings that equal the optimum on all levels above. Start times differ by seconds, "
        "queue deficits by percent of what queues deserve, priority sums by victims and the sum of their priorities."
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
                numbers = (_number(level, round(n)) for n in (spread.middle, spread.most_of_them, spread.largest))
                rows.append((level, who, f"{len(found[who]):,}", f"{len(behind):,}", *numbers))
        bars += _bars(titles[-1], level, differ)
    if drawn:
        caption = "How far decisions are behind the optimum, level by level, where they differ."
        yield Picture("charts", Charts(charts.gap_charts(bars, titles[:MOST_PANELS]), caption))
        if len(titles) > MOST_PANELS:
            yield Text(f"The first {MOST_PANELS} of {len(titles)} levels that differ are drawn.")
    columns = ("level", "engine", "#compared", "#different", "#median", "#nine of ten at most", "#largest")
    yield table("Behind the optimum by", columns, rows)


def _number(level: str, number: int) -> str:
    return difference_text(level.partition("[")[0], number)


def _on_axis(level: str, number: int) -> float:
    return number * 100 / MILLIONTHS if level in IN_MILLIONTHS else number


def _bars(title: str, level: str, differ: dict[str, list[int]]) -> Iterator[dict[str, Any]]:
    """One bar per range, the same ranges for every engine."""
    for low, high in ranges(number for behind in differ.values() for number in behind):
        label = "–".join(dict.fromkeys(_number(level, end) for end in (low, high)))
        for who, behind in differ.items():
            count = sum(low <= number <= high for number in behind)
            yield {"title": title, "who": who, "behind": label, "decisions": count}


def pair_blocks(study: Study, drawn: bool) -> Iterator[Block]:
    """The heuristic's values against the optimum's."""
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
    shown = [level for level in by_level if level.partition("[")[0] != PRIORITY_SUM][:MOST_PANELS] if drawn else []
    if shown:
        values = [
            {"level": level, "who": who, "decisions": n}
            | {"optimum": _on_axis(level, optimum), "value": _on_axis(level, value)}
            for (level, who, optimum, value), n in counts.items()
            if level in shown
        ]
        caption = (
            f"The heuristic's value against the optimum's for {', '.join(shown)}; on the line they are equal. "
            "A larger point stands for more decisions."
        )
        units = {level: " in percent" for level in shown if level in IN_MILLIONTHS}
        yield Picture("charts", Charts(charts.pair_charts(_thinned(values), shown, units), caption))
    order = list(by_level)
    ranked = sorted(counts.items(), key=lambda one: (order.index(one[0][0]), -one[1], one[0]))
    rows = [
        (level, who, _number(level, opt), _number(level, value), f"{n:,}")
        for (level, who, opt, value), n in ranked
        if opt != value
    ]
    columns = ("level", "engine", "#optimum", "#heuristic", "#decisions")
    yield table("Pairs of different values, most frequent first", columns, rows, of_picture=bool(shown))


def time_blocks(times: Sequence[Time], drawn: bool) -> Iterator[Block]:
    """Seconds against size."""
    if not times:
        yield Text("The engine optimal did not take part.")
        return
    if drawn:
        values: list[dict[str, Any]] = [
            {"tasks": max(1, one.tasks), "seconds": max(LEAST_SECONDS, one.seconds),
             "proof": "every level proved" if one.proved else "levels open"}
            for one in times
        ]  # fmt: skip
        caption = "Seconds of one search, loading included, against the number of tasks; both scales are logarithmic."
        yield Picture("charts", Charts((charts.time_chart(_thinned(values)),), caption))
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


def _thinned(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return values[:: len(values) // MOST_POINTS + 1]
