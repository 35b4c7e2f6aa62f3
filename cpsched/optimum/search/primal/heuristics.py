"""The primal heuristics in order: from a relaxed solution to a decision that attains its bounds."""

from __future__ import annotations

from cpsched.collector import without_collector
from cpsched.optimum.disagreement import SolverDisagreementError
from cpsched.optimum.model.decode import decode
from cpsched.optimum.model.level_traits import LEVEL_TRAITS
from cpsched.optimum.params import HEURISTIC_SHARE, LATE, LATE_REPAIR_SHARE, PARTIAL_REPAIR_SHARE, REPAIR_SHARE
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.search.primal.disaggregate import disaggregate
from cpsched.optimum.search.primal.elastic_repair import ElasticRepair
from cpsched.optimum.search.primal.fix_and_solve import restrictions
from cpsched.optimum.search.state import SearchState


class PrimalHeuristics:
    """Looks for decisions that are as good as a relaxed solution; they replace or improve the incumbent."""

    def __init__(self, state: SearchState):
        self._state = state
        self._repair = ElasticRepair(state.session, state.portfolio)

    def run(self, begin: int, bounding: LexicographicBounds) -> bool:
        """Whether a decision attains the bounds of all levels, or no finer relaxation is of use.

        Cheap ones first: disaggregation takes no solver. If no decision attains all, the levels before the first that
        counts placements are tried by themselves, because those are where relaxations promise too much.
        """
        state = self._state
        end = begin + len(bounding.levels)
        if self._disaggregate(begin, end, bounding) or self._fix_and_solve(begin, end, bounding):
            return True
        counted = (p for p in range(begin, end) if LEVEL_TRAITS[state.levels[p].name].counts_placements)
        prefix = next(counted, end)
        if begin < prefix < end:
            self._fix_and_solve(begin, prefix, bounding)
        if bounding.relaxed.has_node_classes:
            return False
        if self._elastic_repair(end, bounding, REPAIR_SHARE):
            return True
        if state.budget.left < state.budget.params.time_limit * (1 - LATE):
            # The exact bounding pass that follows may take all the time that is left.
            self.repair_prefix(begin, bounding, LATE_REPAIR_SHARE)
        return False

    def repair_prefix(self, begin: int, bounding: LexicographicBounds, share: float = PARTIAL_REPAIR_SHARE) -> None:
        """Repair the relaxed solution for as many levels as possible but not all, by bisection."""
        state = self._state
        least, most = begin, begin + len(bounding.levels) - 1
        while least < most and state.levels[least].is_attained_by(state.best):
            least += 1
        while least < most and not state.budget.stopped:
            end = (least + most + 1) // 2
            if self._elastic_repair(end, bounding, share):
                least = end
            else:
                most = end - 1

    def _disaggregate(self, begin: int, end: int, bounding: LexicographicBounds) -> bool:
        """Spread the relaxed solution over nodes and owners and drop what breaks rules; whether all bounds are met."""
        state = self._state
        with without_collector():
            counts = disaggregate(state.session.classes, bounding)
            decision = decode(state.snapshot, state.session.classes, counts)
            state.incumbent.offer_without_violations(decision, state.budget.left)
        best = state.best
        return all(level.is_attained_by(best) for level in state.levels[begin:end])

    def _fix_and_solve(self, begin: int, end: int, bounding: LexicographicBounds) -> bool:
        """Whether a restriction of the session model has a decision that attains the bounds of these levels."""
        state = self._state
        targets = [
            (stage, bound.value)
            for position in range(begin, end)
            for stage, bound in zip(state.stages(position), state.levels[position].bounds or [], strict=True)
        ]
        rows = [row for stage, value in targets for row in stage.at_most(value)]
        rows += state.only_reserves(end)
        for restriction in restrictions(state.model.variables, bounding):
            until = state.budget.share(HEURISTIC_SHARE)
            if state.find([*rows, *restriction], until, alone=True).solutions:
                for stage, value in targets:
                    if stage.value(state.best) > value:
                        raise SolverDisagreementError(
                            f"a decision worth {stage.value(state.best)} is claimed to be worth {value}"
                        )
                return True
        return False

    def _elastic_repair(self, end: int, bounding: LexicographicBounds, share: float) -> bool:
        """Whether the relaxed solution could be repaired to a decision with its values on all levels before `end`."""
        state = self._state
        values = state.levels.fixed
        for level in state.levels[len(values) : end]:
            values.append([bound.value for bound in level.bounds or []])
        targets = list(zip(state.plan, values, strict=False))
        decision = self._repair.run(bounding, targets, state.budget.share(share))
        if decision is not None:
            state.incumbent.take(decision)
        return decision is not None
