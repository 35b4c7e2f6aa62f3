"""The levels of all decisions side by side, with their proofs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cpsched.comparison.shortfall import gangs_short, too_little
from cpsched.objectives import level_text
from cpsched.report.document import Block, Cell, Section, Text, table
from cpsched.report.scene import View
from cpsched.report.standing import Against, difference, shown
from cpsched.report.words import BETTER, level_words
from cpsched.solution import Level


def level_section(views: Sequence[View], standings: Sequence[Against]) -> Section:
    """What every decision is worth; the first difference decides."""
    best = standings[0].best if standings else views[0]
    columns = ["level", "counts", "better"]
    for view in views:
        columns.append(f"#{view.name}")
        if view is not best:
            columns.append(f"against {best.name}")
        if _is_proving(view):
            columns.append("proof" if len(views) == 1 else f"proof of {view.name}")
    decisive = {one.view.name: one.gap.level for one in standings if one.gap is not None}
    rows = [tuple(_row(views, best, level, decisive)) for level in best.solution.levels]
    blocks: list[Block] = [Text(_intro(views)), table("Levels, most important first", columns, rows)]
    return Section("levels", "Levels and proofs", tuple(blocks))


def _intro(views: Sequence[View]) -> str:
    if len(views) == 1:
        return "Most important first."
    if len({len(view.solution.findings) for view in views}) > 1:
        return "A decision that breaks a rule ranks below all that break nothing, whatever its levels; they come next."
    return "Compared from the top; the first difference decides."


def proof(level: Level) -> str:
    """What is proved of the level, and by whom; nothing of one that no engine tried to prove."""
    if level.proved:
        return f"proved ({level.prover}, {level.seconds:.2f} s)"
    if level.prover and level.value == level.bound:
        return f"closed ({level.prover}{', given open levels' if level.given_open_levels else ''})"
    by = f" ({level.prover})" if level.prover else ""
    return "" if level.bound is None else f"open, bound {level_text(level.label, level.bound)}{by}"


def _is_proving(view: View) -> bool:
    return any(level.proved or level.bound is not None for level in view.solution.levels)


def _row(views: Sequence[View], best: View, level: Level, decisive: Mapping[str, str]) -> Iterator[Cell]:
    yield Cell(level.label)
    yield Cell(level_words(level.name, level.priority), "quiet")
    yield Cell(BETTER[level.sense], "quiet")
    for view in views:
        mine = next((one for one in view.solution.levels if one.label == level.label), None)
        short = too_little(gangs_short(view.decision.snapshot, view.solution)[level.label])
        yield Cell("–" if mine is None else shown(mine, view.solution.levels) + short)
        if view is not best:
            yield _against(mine, level, decisive.get(view.name))
        if _is_proving(view):
            yield Cell("" if mine is None else proof(mine) or "open", "quiet")


def _against(mine: Level | None, best: Level, first: str | None) -> Cell:
    """Only the first difference is loud: what comes after it no longer counts."""
    if mine is None:
        return Cell("not stated", "worse")
    text = difference(mine, best)
    return Cell(f"{text}, decides", "worse") if first == mine.label else Cell(text, "quiet")
