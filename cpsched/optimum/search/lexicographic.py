"""The lexicographic search: for each level, bound it, look for a decision that attains the bound, close or solve it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from cpsched.optimum import disagreement
from cpsched.optimum.params import RAISING_SHARE, SolveParams
from cpsched.optimum.provers import Prover
from cpsched.optimum.search.bounding_passes import BoundingPasses
from cpsched.optimum.search.counting_pass import CountingPass
from cpsched.optimum.search.exact import ExactLevels
from cpsched.optimum.search.packing_pass import PackingPass
from cpsched.optimum.search.result import LevelResult, LevelResults
from cpsched.optimum.search.starts import Starts
from cpsched.optimum.search.state import SearchState
from cpsched.optimum.solvers.interrupt import on_interrupt
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot


class LexicographicSearch:
    """A search over the levels of a session; `best` is always a decision without findings."""

    def __init__(
        self,
        snapshot: Snapshot,
        params: SolveParams,
        warm_start: Callable[[], Decision] | None = None,
        after: LexicographicSearch | None = None,
    ):
        """`after` is a search that left levels open: this one goes on from there and gives each level all its time."""
        self.snapshot, self.params = snapshot, params
        self._state = SearchState(snapshot, params, warm_start)
        self.budget = self._state.budget
        self._results = LevelResults(self._state.plan)
        self._bounding = BoundingPasses(self._state)
        self._exact = ExactLevels(self._state, self._results, all_time=after is not None)
        self._starts, self._counting = Starts(self._state), CountingPass(self._state)
        self._is_continued = after is not None
        self._has_failed = False
        if after is not None:
            self._results.levels = after.proved_levels
            for level, known in zip(self._state.levels, after._state.levels[: len(self._results.levels)], strict=False):
                level.values = known.values
            self._state.incumbent.replace(after.best)

    @property
    def best(self) -> Decision:
        """The best decision so far."""
        return self._state.best

    @property
    def levels(self) -> list[LevelResult]:
        """The results of the levels so far."""
        return self._results.levels

    @property
    def proved_levels(self) -> list[LevelResult]:
        """Those before the first one that is open."""
        return self._results.proved

    @property
    def seconds_left(self) -> float:
        """How much of the time limit is left; none after an interruption or a disagreement."""
        return 0.0 if self.budget.stopped or self._has_failed else max(0.0, self.budget.left)

    def run(self) -> None:
        """Close or solve every level in order; after Ctrl-C or the time limit the rest is as the incumbent has it.

        So it is after a disagreement between solver, model and checker that nothing can go on from; then no solver is
        believed.
        """
        try:
            with on_interrupt(self.budget.interrupt), closing(self._state.portfolio):
                with self.budget.less(0.0 if self._is_continued or not self._starts.are_wanted else RAISING_SHARE):
                    self._run_levels()
                if not self._results.are_proved and not self._is_continued and not self.budget.is_used_up:
                    self._bounding.raise_bounds(self._results.levels)
            if not self._results.are_proved:
                self._state.incumbent.start_reserved()
            for wrong in self._results.evaluate_again(self.best):
                raise disagreement.SolverDisagreementError(wrong)
            if not self._results.are_proved and self._counting.is_wanted:
                self._counting.raise_bounds(self._results.levels)
                list(self._results.evaluate_again(self.best))
        except disagreement.SolverDisagreementError as error:
            if disagreement.LOUD:
                raise
            self._has_failed = True
            self.budget.note(f"internal error, please report it: {error}; what only a solver proved is left open")
            self._state.incumbent.start_reserved()
            self._results.leave_open(self.best)

    def _run_levels(self) -> None:
        levels = self._state.levels
        PackingPass(self._state).run()
        is_large = not self._is_continued and self._starts.are_wanted
        if is_large and any(not level.is_attained_by(self.best) for level in levels):
            self._starts.run()
        for position in range(len(levels.fixed), len(levels)):
            if levels[position].bounds is None and self._results.are_proved:
                if is_large and self._counting.is_wanted:
                    self._counting.state_level(position)
                if is_large and levels[position].bounds is None:
                    self._bounding.take_attained(position)
                if levels[position].bounds is None:
                    self._bounding.run(position)
            self._run_level(position)

    def _run_level(self, position: int) -> None:
        level = self._state.levels[position]
        if self.budget.is_logged:
            self.budget.log_level("level", self._state.plan[position])
        if level.is_attained_by(self._state.incumbent.decision) and not self._state.has_model:
            self._close(position)
        elif self._state.has_time_for_model:
            self._exact.solve(position)
        else:
            self._leave(position)

    def _leave(self, position: int) -> None:
        """There is no time to state the level: it is as the incumbent has it, with the bounds at hand."""
        if not self._starts.are_wanted:
            self._state.incumbent.take_warm_start(self.budget.left)
        level, best = self._state.levels[position], self._state.best
        provers: list[Prover | None] = []
        for stage, bound in level.pairs():
            provers.append(bound.prover)
            if stage.value(best) != bound.value:
                self._results.record(best, provers, 0.0, (stage, bound.value))
                break
        else:
            self._results.record_unbounded(best)
        self._state.levels.forget_after(position)

    def _close(self, position: int) -> None:
        """The incumbent attains the bounds of the level's stages: they are its values, and proved."""
        level = self._state.levels[position]
        level.values = self._results.record_closed(self._state.incumbent.decision, level.pairs())
