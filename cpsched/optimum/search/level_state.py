"""What is known of each level of the plan while a search runs: one LevelState per level."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from cpsched.optimum.model.objective.stage import LevelStage, Stage
from cpsched.optimum.provers import IDEAL, PACKING
from cpsched.optimum.relax.bounding import LexicographicBounds, Plan
from cpsched.optimum.relax.stage_bounds import StageBound
from cpsched.rules import Decision

Pairs = list[tuple[Stage, StageBound]]
"""Stages, each with its bound."""


@dataclass
class LevelState:
    """One level: its bounds so far, and the values of its stages once they are fixed."""

    name: str
    priority: int | None
    bounds: list[StageBound] | None = None
    """Bounds of all its stages that a relaxed solution attains, given the same of all levels before it."""
    relaxed_stages: list[Stage] = field(default_factory=list)
    """Its stages on the model that `bounds` are of; they tell a decision's values without a solver."""
    open_bounds: list[StageBound] = field(default_factory=list)
    """Bounds of the first of its stages, where no relaxed solution was found that attains the last of them."""
    open_stages: list[Stage] = field(default_factory=list)
    """The stages that `open_bounds` are of."""
    stages: list[Stage] | None = None
    """Its stages in the session model, once they were made."""
    values: list[int] | None = None
    """The values of its stages that the session model is fixed to."""

    @property
    def known_bounds(self) -> list[StageBound]:
        """Bounds of its stages as far as they are known; the last of an open level is only a bound."""
        return self.bounds or self.open_bounds

    def is_attained_by(self, decision: Decision) -> bool:
        """Whether the decision meets the bounds of all stages."""
        return self.bounds is not None and all(stage.value(decision) == bound.value for stage, bound in self.pairs())

    def is_bounded_better(self, bounding: LexicographicBounds) -> bool:
        """Whether its only stage has a better bound already, by packing, than the pass found."""
        if not self.open_bounds or self.open_bounds[0].prover is not PACKING:
            return False
        if not isinstance(self.open_stages[0], LevelStage):
            return False  # stages of victims have other scales there
        return max([bound.value for bound in bounding.first_open], default=-sys.maxsize) < self.open_bounds[0].value

    def pairs(self) -> Pairs:
        """Stages with their bounds, of an open level as far as they are known."""
        if self.bounds is None:
            return list(zip(self.open_stages, self.open_bounds, strict=False))
        return list(zip(self.relaxed_stages, self.bounds, strict=True))

    def state(self, stage: Stage) -> None:
        """A level of one stage whose ideal value is known to be attained."""
        self.bounds, self.relaxed_stages = [StageBound(stage.ideal, IDEAL, 0.0)], [stage]


class Levels(list[LevelState]):
    """All levels of a plan in order."""

    def __init__(self, plan: Plan):
        super().__init__(LevelState(level.name, level.priority) for level in plan)

    @property
    def fixed(self) -> list[list[int]]:
        """The values of the levels fixed so far, which come before all others."""
        found: list[list[int]] = []
        for level in self:
            if level.values is None:
                break
            found.append(level.values)
        return found

    def learn(self, begin: int, bounding: LexicographicBounds) -> None:
        """Take over what a bounding pass proved.

        What an earlier pass proved of later levels holds on only as long as the values up to there are the same.
        """
        for position, (bounds, stages) in enumerate(zip(bounding.levels, bounding.stages, strict=True), begin):
            level = self[position]
            if level.bounds is not None and [one.value for one in level.bounds] != [one.value for one in bounds]:
                self._forget_from(position)
            level.bounds, level.relaxed_stages = bounds, stages
        first_open = begin + len(bounding.levels)
        for position, level in enumerate(self):
            if position != first_open:
                level.open_bounds = []
            elif not level.is_bounded_better(bounding):
                level.open_bounds, level.open_stages = bounding.first_open, bounding.first_open_stages

    def forget_after(self, position: int) -> None:
        """The level got another value than its bounds: those of later levels were given that it would not."""
        self._forget_from(position + 1)
        for level in self:
            level.open_bounds = []

    def _forget_from(self, position: int) -> None:
        for level in self[position:]:
            level.bounds = None

    def names(self, end: int) -> Iterator[str]:
        """The names of the levels before this position."""
        return (level.name for level in self[:end])
