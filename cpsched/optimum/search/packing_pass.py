"""The packing pass: levels that a placement closes before any model of the session is built."""

from __future__ import annotations

from cpsched.optimum.model.objective.known import KnownLevel, NoVictims
from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.problem import Counts
from cpsched.optimum.packing.search import Packing
from cpsched.optimum.params import PACKING_ALONE_SHARE, PACKING_SHARE
from cpsched.optimum.provers import PACKING
from cpsched.optimum.relax.packing_model import PackingModel, packing_model
from cpsched.optimum.relax.stage_bounds import StageBound
from cpsched.optimum.search.state import SearchState
from cpsched.rules import Decision

NO_VICTIMS = frozenset(
    {
        "victim_max_priority",
        "victim_priority_sum",
        "victim_count",
        "victim_start_time",
        "pdb_violations",
        "gangs_broken",
    }
)
"""Levels on which nothing is better than a decision without victims."""
PLACED = frozenset({"tasks_bound", "tasks_placed"})


class PackingPass:
    """Packs the pending tasks, and states the levels that the packing proves."""

    def __init__(self, state: SearchState):
        self._state = state

    def run(self) -> None:
        """Bound and attain the admission levels by packing, as far as that goes in a part of the time."""
        state = self._state
        if PACKING not in state.budget.params.provers or any(level.values is not None for level in state.levels):
            return
        model = packing_model(state.session)
        if model is None:
            return
        state.budget.log("packing")
        started = state.budget.clock()
        search = Packing(model.problem, self._allowance(), state.budget.params.seed)
        result = search.run()
        decision = self._decision(model, result.placement)
        state.incumbent.offer_without_violations(decision, state.budget.left)
        self._close(model, result.closed, search.values, state.budget.clock() - started)

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

    def _decision(self, model: PackingModel, placement: Counts) -> Decision:
        """Tasks are started where that is possible and reserved where capacity is still to be freed."""
        snapshot = self._state.snapshot
        places = model.placements(placement)
        waiting = {node for node, room in snapshot.future_idle.items() if room != snapshot.idle[node]}
        binds = {task: node for task, node in places.items() if node not in waiting}
        reserves = {task: node for task, node in places.items() if node in waiting}
        return Decision(snapshot, binds, reserves)

    def _close(self, model: PackingModel, closed: int, values: tuple[int, ...], seconds: float) -> None:
        """State the levels that the incumbent attains, in order, up to the first that packing says nothing of."""
        state, best = self._state, self._state.best
        proved = dict(zip(model.priorities[:closed], values, strict=False))
        for level in state.levels:
            stage: KnownLevel
            if level.name == "jobs_admitted" and level.priority in proved:
                stage, bound = (
                    KnownLevel(level.name, level.priority, -model.demand(level.priority)),
                    -proved[level.priority],
                )
            elif level.name in NO_VICTIMS:
                stage, bound = NoVictims(level.name, level.priority), 0
            elif level.name in PLACED and closed == model.problem.tiers:
                stage, bound = KnownLevel(level.name, None, -sum(map(len, model.tasks))), -sum(values)
            else:
                return
            if stage.value(best) != bound:
                return
            level.bounds, level.relaxed_stages = [StageBound(bound, PACKING, seconds)], [stage]
            seconds = 0.0
