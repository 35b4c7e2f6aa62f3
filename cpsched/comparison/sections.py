"""A comparison as titled tables, for plain text, Markdown, HTML and the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.comparison.compare import Comparison, Judgement
from cpsched.comparison.shortfall import too_little
from cpsched.comparison.summary import CorpusSummary
from cpsched.objectives import level_text
from cpsched.policy.levels import LevelRef
from cpsched.tables import Table, cut

MOST_DIFFERENCES = 20
"""Per engine; JSON has all."""
MOST_CASES = 30


def headline(comparison: Comparison) -> list[str]:
    """What was read, why this model, what was changed or is left out, then a line per engine."""
    choice = [comparison.choice] if comparison.choice else []
    what_if, doubts = (one.text for one in comparison.what_if), (f"Doubt: {one.text}" for one in comparison.doubts)
    lines = [f"Nothing to decide: {comparison.nothing}."] if comparison.nothing else map(_line, comparison.judgements)
    return [comparison.read, *choice, *what_if, *doubts, *lines]


def sections(comparison: Comparison) -> Iterator[Table]:
    """Levels, findings, differences; nothing where there was nothing to decide."""
    if comparison.nothing:
        return
    yield _levels(comparison)
    findings = [
        (one.engine, finding.rule, finding.subject, finding.message)
        for one in comparison.judgements
        for finding in one.contender.solution.findings
    ]
    if findings:
        yield cut("Findings", ["engine", "rule", "subject", "message"], findings, MOST_DIFFERENCES)
    for one in comparison.judgements:
        if one.differences and one.gap is not None:
            title = f"What {one.engine} decides differently from {comparison.reference}, and why"
            rows = [(d.task, d.here, d.there, d.reason) for d in one.differences]
            yield cut(
                title, ["task", one.engine, comparison.reference, f"why {one.engine} does so"], rows, MOST_DIFFERENCES
            )
        elif one.differences:
            title = f"What {one.engine} decides differently from {comparison.reference}; no level distinguishes them"
            pairs = [(d.task, d.here, d.there) for d in one.differences]
            yield cut(title, ["task", one.engine, comparison.reference], pairs, MOST_DIFFERENCES)


def summary_sections(summary: CorpusSummary) -> Iterator[Table]:
    """Over many cases: how each engine fared, where it falls behind, which rules it breaks, the worst cases."""
    columns = [
        "engine",
        "#cases",
        "#optimal",
        "#equal to the best, unproved",
        "#worse",
        "#with violations",
        "#no answer",
    ]
    rows = [(name, *map(str, tally.counts)) for name, tally in summary.tallies.items()]
    yield Table(f"{summary.cases} cases", columns, rows)
    if summary.doubts:
        left_out = [(doubt, str(n)) for doubt, n in summary.doubts.most_common()]
        yield cut("Left out of the configuration", ["without", "#cases"], left_out, MOST_CASES)
    if summary.in_doubt:
        in_doubt = [(doubt, str(n)) for doubt, n in summary.in_doubt.most_common()]
        yield cut("Inputs in doubt", ["doubt", "#cases"], in_doubt, MOST_CASES)
    rules = [(name, rule, str(n)) for name, tally in summary.tallies.items() for rule, n in tally.rules.most_common()]
    if rules:
        yield Table("Rules broken", ["engine", "rule", "#cases"], rules)
    levels = [
        (name, level, str(n)) for name, tally in summary.tallies.items() for level, n in tally.levels.most_common()
    ]
    if levels:
        yield Table("First level that is worse", ["engine", "level", "#cases"], levels)
    worst = [(name, one.id, one.sentence) for name, tally in summary.tallies.items() for one in tally.worst]
    if worst:
        yield cut("Worst first", ["engine", "case", ""], worst, MOST_CASES)


def _line(one: Judgement) -> str:
    note = f" ({one.contender.note})" if one.contender.note else ""
    return f"{one.engine}{note}: {one.sentence}."


def _levels(comparison: Comparison) -> Table:
    rows = []
    by_engine = {one.engine: one.contender.standing.shown for one in comparison.judgements if one.contender.standing}
    short = {one.engine: one.short for one in comparison.judgements}
    parted = {one.gap.level for one in comparison.judgements if one.gap is not None}
    for label, values in comparison.levels.items():
        shown = [
            level_text(label, values[engine], by_engine[engine]) + too_little(short[engine].get(label, 0))
            if engine in values
            else ""
            for engine in comparison.engines
        ]
        mark = "first difference" if label in parted else "" if len(set(shown)) == 1 else "differs"
        rows.append((label, "more" if LevelRef.of_label(label).is_better_more else "less", *shown, mark))
    columns = ["level", "better", *(f"#{engine}" for engine in comparison.engines), ""]
    return Table("Levels, most important first", columns, rows)
