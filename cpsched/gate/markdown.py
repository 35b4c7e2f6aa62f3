"""The report as Markdown, for a pull request or a step summary."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.gate.measure import Distance
from cpsched.gate.report import CheckedCases
from cpsched.tables import Table, cut, md
from cpsched.tables import markdown as tables_as_markdown

MOST_ROWS = 50
"""A comment on GitHub holds 65,536 characters."""
MOST_COMMANDS = 10


def markdown(report: CheckedCases) -> str:
    """Headline, what failed, what changed."""
    mark = "✅" if report.exit_code == 0 else "❌"
    models = ["", md(report.models) + "."] if report.models else []
    read = [line for one in report.read for line in ("", md(one))]
    lines = [f"### {mark} cpsched check", "", md(report.headline) + ".", *read, *models]
    return "\n\n".join(filter(None, ["\n".join(lines), tables_as_markdown(sections(report))])) + "\n"


def sections(report: CheckedCases) -> Iterator[Table]:
    """Tables of faults, rules, and news."""
    faults = [
        (one.case.id, fault.key or fault.kind, "; ".join(filter(None, [fault.message, fault.names])))
        for one in report.bad
        for fault in one.faults
    ]
    if faults:
        yield cut("Failed", ["case", "rule or level", ""], faults, MOST_ROWS)
    commands = [(one.case.id, command) for one in report.bad if (command := report.reproduce(one))]
    if commands:
        yield cut("Reproduce", ["case", "command"], commands, MOST_COMMANDS)
    if report.rules:
        rows = [(rule, str(count)) for rule, count in report.rules.most_common()]
        yield Table("Rules broken", ["rule", "#cases"], rows)
    notes = [(one.case.id, "; ".join(one.notes)) for one in report.verdicts if one.notes]
    better = "better than the baseline: accept it with --update"
    notes += [(one.case.id, better) for one in report.verdicts if one.better]
    notes += [(case, "removed: in the baseline, not in the corpus") for case in report.removed]
    if notes:
        yield cut("Worth knowing", ["case", ""], notes, MOST_ROWS)
    yield from _distances(report)


def _distances(report: CheckedCases) -> Iterator[Table]:
    """How many decisions reach the optimum, and where the others part from it."""
    counts: dict[str, int] = {}
    for one in report.verdicts:
        distance = one.case.distance
        if distance is not None:
            rest = " apart from what is in doubt" if one.case.doubts else ""
            where = f"none: optimal, proved{rest}" if distance.proved else f"none seen, {_open(distance)}"
            if distance.gap is not None:
                level = distance.gap.level
                where = level if distance.proved else f"{level}, perhaps earlier: {_open(distance)}"
            counts[where] = counts.get(where, 0) + 1
    if counts:
        rows = [(where, str(count)) for where, count in sorted(counts.items(), key=lambda item: -item[1])]
        yield Table("Distance to the optimum", ["first level behind", "#cases"], rows)


def _open(distance: Distance) -> str:
    return f"open from {distance.open_from} on" if distance.open_from else "not proved"
