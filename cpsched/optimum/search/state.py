"""SearchState: what all parts of a search share, from the snapshot to the incumbent."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from cpsched.objectives import level_plan
from cpsched.optimum.budget import Budget
from cpsched.optimum.model.lazy import accept_or_cut
from cpsched.optimum.model.level_traits import LEVEL_TRAITS
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.model.variables import sum_of
from cpsched.optimum.params import BUILD_SECONDS_PER_VARIABLE, FIND_EFFORT, ROUNDS, SolveParams
from cpsched.optimum.search.incumbent import Incumbent
from cpsched.optimum.search.level_state import Levels
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.optimum.solvers.prover import UNKNOWN, Answer
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot


class SearchState:
    """The session model, the levels, the incumbent, the solvers and what may still be spent."""

    def __init__(self, snapshot: Snapshot, params: SolveParams, warm_start: Callable[[], Decision] | None):
        self.snapshot = snapshot
        self.budget = Budget(params)
        self.portfolio = Portfolio(self.budget)
        self.session = SessionModel(snapshot, presolve=params.presolve)
        self.incumbent = Incumbent(snapshot, self.portfolio, warm_start)
        self.plan = level_plan(snapshot)
        self.levels = Levels(self.plan)

    @cached_property
    def model(self) -> SessionModel:
        """The session model with the levels fixed so far; it is not built where relaxations close all levels."""
        for level in self.levels:
            if level.values is not None:
                level.stages = stages_of(self.session.variables, level.name, level.priority)
                for stage, value in zip(level.stages, level.values, strict=False):
                    for row in stage.at_most(value):
                        self.session.cp.add(row)
        return self.session

    @property
    def has_model(self) -> bool:
        """Whether the session model was needed."""
        return "model" in self.__dict__

    @property
    def has_time_for_model(self) -> bool:
        """Whether the session model is there, or can be built and read in the time left."""
        if self.has_model or self.budget.params.deterministic:
            return True
        variables = len(self.session.capacity.bind_limit) + len(self.session.capacity.reserve_limit)
        return not self.budget.stopped and variables * BUILD_SECONDS_PER_VARIABLE < self.budget.left

    @property
    def best(self) -> Decision:
        """The best decision so far."""
        return self.incumbent.decision

    def stages(self, position: int) -> list[Stage]:
        """The level's stages in the session model, made when they are first asked for."""
        model, level = self.model, self.levels[position]
        if level.stages is None:
            level.stages = stages_of(model.variables, level.name, level.priority)
        return level.stages

    def find(self, rows: list[Any], until: float, *, alone: bool = False) -> Answer:
        """Look for a decision that satisfies the rows; if there is one, it is the incumbent from now on."""
        for _ in range(ROUNDS):
            model: Any = self.model.cp.clone()
            model.clear_objective()
            model.clear_hints()
            for row in rows:
                model.add(row)
            answer = self.portfolio.find_feasible(model, until - self.budget.clock(), FIND_EFFORT, alone=alone)
            if not answer.solutions:
                return answer
            decision = accept_or_cut(self.model, answer.solutions[0])
            if decision is not None:
                self.incumbent.take(decision, answer.solutions[0])
                return answer
        return UNKNOWN

    def only_reserves(self, end: int) -> list[Any]:
        """A row by which nothing starts, if that loses no optimum of the levels before `end`: dominance.

        A start can be turned into a reservation, and no level before `end` tells them apart.
        """
        if any(LEVEL_TRAITS[name].counts_binds for name in self.levels.names(end)):
            return []
        return self._only_reserves

    @cached_property
    def _only_reserves(self) -> list[Any]:
        v = self.model.variables
        return [sum_of(list(v.bind.values())) == 0] if v.reserve_dominates_bind and v.bind else []
