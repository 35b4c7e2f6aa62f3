"""Further searches over the levels that one search left open, as long as there is time."""

from __future__ import annotations

from dataclasses import replace

from cpsched.optimum.params import CONTINUATION_SECONDS
from cpsched.optimum.search.lexicographic import LexicographicSearch
from cpsched.optimum.search.result import LevelResult
from cpsched.policy.levels import LevelRef


def continued(search: LexicographicSearch) -> LexicographicSearch:
    """Spend what is left of the time limit on the first open level, then on the next; a note says if that is no use.

    A first search divides its time among the levels, so that each has some; later levels often need less than theirs.
    """
    while len(search.proved_levels) < len(search.levels) and (left := search.seconds_left) > CONTINUATION_SECONDS:
        more = LexicographicSearch(search.snapshot, replace(search.params, time_limit=left), after=search)
        more.run()
        more.budget.notes = list(dict.fromkeys([*search.budget.notes, *more.budget.notes]))
        if not _is_progress(search, more):
            return _with_last_bound(search, more)
        _keep_bounds(search.levels, more.levels)
        search = more
    return search


def _is_progress(search: LexicographicSearch, more: LexicographicSearch) -> bool:
    if len(more.proved_levels) > len(search.proved_levels):
        return True
    return [level.value for level in more.levels] != [level.value for level in search.levels]


def _with_last_bound(search: LexicographicSearch, more: LexicographicSearch) -> LexicographicSearch:
    """The levels of the first search, which had time for all of them, but what the second found out of the open one."""
    position = len(search.proved_levels)
    before, after = search.levels[position], more.levels[position]
    if after.prover and _excluded(after) >= _excluded(before):
        search.levels[position] = replace(after, seconds=before.seconds + after.seconds)
    search.budget.notes, search.budget.interrupted = more.budget.notes, more.budget.interrupted
    if (left := more.seconds_left) > CONTINUATION_SECONDS:
        search.budget.note(f"the search ended {left:.0f} s before its time limit, with {before.name} open")
    return search


def _keep_bounds(before: list[LevelResult], after: list[LevelResult]) -> None:
    """Bounds of open levels hold on as long as no level before them got worse, which excludes no decision by itself."""
    for old, new in zip(before, after, strict=False):
        is_open = not new.proved and not new.given_open_levels
        if is_open and old.prover is not None and _excluded(old) > _excluded(new):
            new.bound, new.prover = old.bound, old.prover
        ref = LevelRef(old.name, old.priority)
        if ref.rank(new.value) > ref.rank(old.value):
            return


def _excluded(level: LevelResult) -> tuple[int, int]:
    """Sorts a bound that excludes more values last."""
    return LevelRef(level.name, level.priority).rank(level.bound)
