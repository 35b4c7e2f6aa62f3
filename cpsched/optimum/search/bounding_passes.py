"""Bounding passes from coarse to fine, and after each the primal heuristics, until a decision attains all bounds."""

from __future__ import annotations

from cpsched.optimum.model.objective.nodes import FewestNodes
from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.params import EXACT_SHARE, NODE_CLASS_SHARE, NODE_SHARE
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.relax.relaxed_model import Granularity
from cpsched.optimum.relax.stage_bounds import StageBound
from cpsched.optimum.search.primal.heuristics import PrimalHeuristics
from cpsched.optimum.search.result import LevelResult
from cpsched.optimum.search.state import SearchState
from cpsched.policy.levels import LevelRef

SHARES = {
    Granularity.NODE_CLASSES: NODE_CLASS_SHARE,
    Granularity.NODES: NODE_SHARE,
    Granularity.EXACT: EXACT_SHARE,
}


class BoundingPasses:
    """Bounds the levels ahead and looks for a decision that attains the bounds."""

    def __init__(self, state: SearchState):
        self._state = state
        self._primal = PrimalHeuristics(state)

    def run(self, begin: int) -> None:
        """Bound the levels from this one on.

        Where a relaxation says more than can be attained, a finer one is asked, in the end the session model itself;
        where that does not get as far, the solution of the one before is repaired.
        """
        state, budget = self._state, self._state.budget
        if self._needs_no_model(begin):
            return
        coarser: LexicographicBounds | None = None
        for granularity in Granularity:
            if budget.is_used_up:
                return
            if granularity is Granularity.NODES and coarser is not None and not coarser.relaxed.has_node_classes:
                continue  # the first pass had all nodes already
            until = budget.share(SHARES[granularity])
            bounding = LexicographicBounds(state.session, state.portfolio, state.levels.fixed, granularity, coarser)
            before, coarser = coarser, bounding
            if state.levels[begin].name in bounding.relaxed.unbounded_levels:
                continue
            bounding.run(until)
            bounding.reproduce(budget.end)
            state.levels.learn(begin, bounding)
            state.incumbent.offer(bounding.decision)
            if bounding.is_incomplete and before is not None:
                self._primal.repair_prefix(begin, before)
            elif bounding.relaxed.is_exact or not bounding.levels or self._primal.run(begin, bounding):
                return

    def take_attained(self, begin: int) -> None:
        """Bounds of the levels from this one on, as far as the incumbent attains the LP's; where that asks no solver
        to find anything, it is done first.
        """
        state = self._state
        bounding = LexicographicBounds(state.session, state.portfolio, state.levels.fixed)
        if state.levels[begin].name not in bounding.relaxed.unbounded_levels:
            bounding.take_attained(state.best)
            state.levels.learn(begin, bounding)

    def raise_bounds(self, results: list[LevelResult]) -> None:
        """Replace bounds of open levels that exclude less than the LP does, given the values of the levels before."""
        state, open_levels = self._state, set()
        bounding = LexicographicBounds(state.session, state.portfolio, [])
        for pending, bound in bounding.bounds_given(state.best):
            if pending.position < len(results) and pending.position not in open_levels:
                _raise(results[pending.position], pending.stage, bound)
            if pending.stage.value(state.best) != bound.value:
                open_levels.add(pending.position)

    def _needs_no_model(self, position: int) -> bool:
        """Whether it takes no relaxation to see that the incumbent is as good on the level as any decision can be."""
        state, level = self._state, self._state.levels[position]
        if state.has_model:
            return all(stage.value(state.best) == stage.ideal for stage in state.stages(position))
        if level.name != "nodes_used":
            return False
        stage = FewestNodes(state.snapshot, state.session.classes)
        if stage.value(state.best) > stage.ideal:
            return False
        level.state(stage)
        return True


def _raise(result: LevelResult, stage: Stage, bound: StageBound) -> None:
    """The bound of a level that is open, if it excludes more than what is known."""
    level, value = LevelRef(result.name, result.priority), stage.level_bound(bound.value)
    is_closed = result.proved or (result.given_open_levels and result.value == result.bound)
    if is_closed or not bound.prover.solver:
        return
    is_known = result.prover is not None and result.bound is not None
    if not is_known or level.rank(value) > level.rank(result.bound):
        result.bound, result.prover = value, bound.prover
