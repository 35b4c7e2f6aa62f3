"""What one search leaves open is searched again while there is time, and a note says if that is no use."""

from __future__ import annotations

from pathlib import Path

import pytest

import cpsched
from cpsched.importers.policy import load_policy
from cpsched.optimum.params import SolveParams
from cpsched.optimum.provers import LP
from cpsched.optimum.search import continuation
from cpsched.optimum.search.continuation import continued
from cpsched.optimum.search.lexicographic import LexicographicSearch
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
