"""What foresight says of the levels ahead, as far as it still holds."""

from __future__ import annotations

from cpsched.check import Decision
from cpsched.optimum.model.objective.stage import Step
from cpsched.optimum.relax.bounding import Foresight
from cpsched.optimum.relax.stage_bounds import Foreseen


class ForeseenLevels(dict[int, list[Foreseen]]):
    """By position in the plan the best value of every step, on a sketch, and who proved that."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: dict[int, list[Step]] = {}
        self._open: dict[int, list[Foreseen]] = {}

    def remember(self, begin: int, sight: Foresight) -> None:
        """Keep what was foreseen; what was before it holds on only as long as the levels up to it are the same."""
        for position, steps in enumerate(sight.levels, begin):
            known = self.get(position)
            if known is not None and [step.value for step in known] != [step.value for step in steps]:
                self._forget_from(position)
            self[position] = steps
        self._steps |= dict(enumerate(sight.steps, begin))
        self._open = {begin + len(sight.levels): sight.open}

    def state(self, position: int, step: Step) -> None:
        """A level of one step is known without a sketch."""
        self[position], self._steps[position] = [Foreseen(step.least, "bound", 0.0)], [step]

    def forget_after(self, position: int) -> None:
        """The level came out otherwise: what is beyond it was only what would be best if it had not."""
        self._forget_from(position + 1)
        self._open = {}

    def pairs(self, position: int) -> list[tuple[Step, Foreseen]]:
        """The level's steps on the sketch with what was foreseen."""
        return list(zip(self._steps[position], self[position], strict=True))

    def at_least(self, position: int) -> list[Foreseen]:
        """What is known of the level's steps: their best values, the last of an open level only as a bound."""
        return self.get(position) or self._open.get(position, [])

    def are_reached(self, position: int, best: Decision) -> bool:
        """Whether a decision is as good on the level as foreseen."""
        return all(step.measure(best) == foreseen.value for step, foreseen in self.pairs(position))

    def _forget_from(self, position: int) -> None:
        for known in [known for known in self if known >= position]:
            del self[known]
