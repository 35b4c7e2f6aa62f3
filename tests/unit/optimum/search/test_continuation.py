"""What one search leaves open is searched again while there is time, and a note says if that is no use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cpsched
from cpsched.importers.policy import load_policy
from cpsched.optimum.params import SolveParams
from cpsched.optimum.provers import LP
from cpsched.optimum.search import continuation
from cpsched.optimum.search.continuation import continued
from cpsched.optimum.search.lexicographic import LexicographicSearch
from cpsched.optimum.search.result import LevelResult
from cpsched.snapshot import Snapshot

TINY = Path(__file__).parents[4] / "instances" / "tiny" / "preempt-one-is-enough.json"
OPEN = 3


class GivesUp(LexicographicSearch):
    """Leaves one level open, and has a bound for it that excludes nothing."""

    def _run_level(self, position: int) -> None:
        if position != OPEN:
            super()._run_level(position)
            return
        stage = self._state.stages(position)[0]
        self._state.levels[position].values = [stage.value(self.best)]
        self._results.record(self.best, [LP], 1.0, (stage, stage.ideal))


def searched(kind: type[LexicographicSearch], seconds: float = 60.0) -> LexicographicSearch:
    """CP-SAT alone: counting would close the level in the end."""
    instance = cpsched.load(TINY)
    policy = load_policy("volcano", None, instance=instance)
    search = kind(
        Snapshot(instance, policy), SolveParams(workers=1, deterministic=True, time_limit=seconds, prover="cp-sat")
    )
    search.run()
    return search


def test_an_open_level_is_closed_by_a_second_search() -> None:
    first = searched(GivesUp)
    assert [level.proved for level in first.levels[: OPEN + 1]] == [True] * OPEN + [False]
    second = continued(first)
    assert all(level.proved for level in second.levels)
    assert not any(level.given_open_levels for level in second.levels)
    assert [level.value for level in second.levels] == [level.value for level in searched(LexicographicSearch).levels]


def test_the_proved_levels_are_not_searched_again() -> None:
    first = searched(GivesUp)
    second = continued(first)
    assert all(one is other for one, other in zip(second.levels[:OPEN], first.levels, strict=False))


def test_no_progress_is_noted_and_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = searched(GivesUp)
    monkeypatch.setattr(continuation, "LexicographicSearch", GivesUp)
    assert continued(first) is first
    [note] = first.budget.notes
    assert note.endswith(f" s before its time limit, with {first.levels[OPEN].name} open")
    assert not first.levels[OPEN].proved
    assert first.levels[OPEN].seconds == 2.0


def test_without_time_there_is_no_second_search() -> None:
    first = searched(GivesUp, seconds=0.5)
    assert continued(first) is first
    assert first.budget.notes == []


def test_a_weaker_bound_does_not_replace_a_tighter_one(monkeypatch: pytest.MonkeyPatch) -> None:
    first = searched(GivesUp)
    tight = first.levels[OPEN].bound = first.levels[OPEN].value
    monkeypatch.setattr(continuation, "LexicographicSearch", GivesUp)
    continued(first)
    assert first.levels[OPEN].bound == tight


def level(value: int, bound: int | None, **more: Any) -> LevelResult:
    return LevelResult("nodes_used", None, value, bound, prover=None if bound is None else LP, **more)


class TestBoundsOfTheSearchBefore:
    """They hold on up to the first level that got worse, where they exclude more than those of the search after it."""

    def kept(self, before: list[LevelResult], after: list[LevelResult]) -> list[int | None]:
        continuation._keep_bounds(before, after)
        return [one.bound for one in after]

    def test_the_tighter_one_is_kept(self) -> None:
        assert self.kept([level(9, 5), level(9, 6)], [level(9, None), level(9, 7)]) == [5, 7]

    def test_a_closed_level_keeps_its_own(self) -> None:
        assert self.kept([level(9, 5)], [level(4, 4, proved=True)]) == [4]

    def test_nothing_holds_behind_a_level_that_got_worse(self) -> None:
        assert self.kept([level(8, 5), level(9, 6)], [level(9, None), level(9, 1)]) == [5, 1]

    def test_it_does_behind_one_that_got_better(self) -> None:
        assert self.kept([level(8, 5), level(9, 6)], [level(7, 5), level(9, 1)]) == [5, 6]
