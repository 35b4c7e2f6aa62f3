"""The packing pass: levels that a placement closes before any model of the session is built."""

from __future__ import annotations

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.params import PACKING_ALONE_SHARE, PACKING_SHARE
from cpsched.optimum.provers import PACKING
from cpsched.optimum.relax.packing_model import packing_model
from cpsched.optimum.relax.stage_bounds import StageBound
from cpsched.optimum.search.packing_levels import PackingLevels
from cpsched.optimum.search.state import SearchState


class PackingPass:
    """Packs the pending tasks, and states the levels that the packing proves."""

    def __init__(self, state: SearchState):
        self._state = state

    def run(self) -> None:
        """Bound and attain levels by packing, as far as that goes in a part of the time."""
        state = self._state
        if PACKING not in state.budget.params.provers or any(level.values is not None for level in state.levels):
            return
        model = packing_model(state.session)
        if model is None:
            return
        state.budget.log("packing")
        begun = state.budget.clock()
        packing = PackingLevels(state, model, self._allowance())
        packing.pack_without_victims()
        for level in state.levels:
            closed = packing.close(level)
            if closed is None or any(stage.value(state.best) != value for stage, value in closed):
                if packing.open_bound is not None:
                    level.open_stages = [packing.open_bound[0]]
                    level.open_bounds = [StageBound(packing.open_bound[1], PACKING, state.budget.clock() - begun)]
                return
            seconds, begun = state.budget.clock() - begun, state.budget.clock()
            level.bounds = [StageBound(value, PACKING, 0.0 if i else seconds) for i, (_, value) in enumerate(closed)]
            level.relaxed_stages = [stage for stage, _ in closed]

    def _allowance(self) -> Allowance:
        """A part of the time, or of the work if runs are to be the same."""
        budget = self._state.budget
        deterministic = budget.params.deterministic
        return Allowance(
            budget.share(PACKING_SHARE if self._state.session.classes.victims else PACKING_ALONE_SHARE),
            budget.clock,
            budget.charge if deterministic else lambda _: None,
            lambda: budget.stopped,
            is_wall_time=not deterministic,
        )
