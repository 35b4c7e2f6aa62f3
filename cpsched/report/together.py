"""Reports on the schedulers of one cluster as a single report: first the verdicts of all, then section by section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cpsched.report.document import Report

_SCHEDULER = "scheduler"


def together(reports: Mapping[str, Report]) -> Report:
    """One report for all of them; of one it is that one, of several each part says whose it is.

    Args:
        reports: by the scheduler's model, the input's own first.
    """
    first, *more = reports.values()
    if not more:
        return first
    shared = {fact: value for fact, value in first.facts if all((fact, value) in one.facts for one in more)}
    facts = shared | {_SCHEDULER: " and ".join(dict(one.facts)[_SCHEDULER] for one in (first, *more))}
    return Report(
        title=first.title,
        about="; ".join(one.about for one in (first, *more)),
        verdict=tuple(
            replace(cell, text=f"Model {model}: {cell.text}") for model, one in reports.items() for cell in one.verdict
        ),
        facts=tuple(facts.items()),
        sections=tuple(
            replace(section, key=f"{model}-{section.key}", title=f"{section.title}, model {model}")
            for model, one in reports.items()
            for section in one.sections
        ),
        made_from=tuple(dict.fromkeys(line for one in (first, *more) for line in one.made_from)),
    )
