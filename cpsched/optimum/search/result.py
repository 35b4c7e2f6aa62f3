"""Results of the levels: value, bound, prover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from cpsched.objectives import value_of
from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.provers import IDEAL, Prover
from cpsched.optimum.relax.stage_bounds import StageBound
from cpsched.policy.levels import LevelRef
from cpsched.rules import Decision


@dataclass
class LevelResult:
    """One level; `given_open_levels`: it is closed, but one before it is not."""

    name: str
    priority: int | None
    value: int | None
    bound: int | None = None
    proved: bool = False
    prover: Prover | None = None
    seconds: float = 0.0
    given_open_levels: bool = False


class LevelResults:
    """The levels of a plan, as far as they were reached, in order."""

    def __init__(self, plan: Sequence[LevelRef]):
        self._plan = plan
        self.levels: list[LevelResult] = []
        self._evaluated: Decision | None = None
        """The decision that all values are of; None if they are of several."""

    @property
    def are_proved(self) -> bool:
        """Whether all that were reached are."""
        return all(level.proved for level in self.levels)

    @property
    def proved(self) -> list[LevelResult]:
        """Those before the first one that is open."""
        return list(takewhile(lambda level: level.proved, self.levels))

    def record(
        self,
        best: Decision,
        provers: Sequence[Prover | None],
        seconds: float,
        open_stage: tuple[Stage, int] | None = None,
    ) -> None:
        """The next level: who proved the bounds of its stages, and the stage that is open, with its bound."""
        are_proved = self.are_proved
        found = self._next(best)
        found.seconds = seconds
        if open_stage is None:
            named = max((one for one in provers if one is not None), key=_order, default=IDEAL)
            found.bound, found.prover = found.value, named
            found.proved, found.given_open_levels = are_proved, not are_proved
        else:
            stage, bound = open_stage
            found.bound, found.prover = stage.level_bound(bound), provers[-1]

    def record_closed(self, best: Decision, pairs: Sequence[tuple[Stage, StageBound]]) -> list[int]:
        """The next level, whose stages' bounds the decision meets: they are its values, which are returned."""
        provers = [IDEAL if stage.ideal == bound.value else bound.prover for stage, bound in pairs]
        self.record(best, provers, sum(bound.seconds for _, bound in pairs))
        return [bound.value for _, bound in pairs]

    def record_unbounded(self, best: Decision) -> None:
        """The next level, open, without any bound."""
        self._next(best)

    def _next(self, best: Decision) -> LevelResult:
        """The next level of the plan, with the value of the decision and nothing known about bounds."""
        ref = self._plan[len(self.levels)]
        self._evaluated = best if best is self._evaluated or not self.levels else None
        self.levels.append(LevelResult(*ref, value_of(best, *ref)))
        return self.levels[-1]

    def evaluate_again(self, best: Decision) -> Iterator[str]:
        """Take the values of the decision found in the end; yields what contradicts a proof.

        A decision found for a later level may be better on one that stayed open. Bounds hold on where an earlier level
        got better, which only excludes decisions, and no longer where one got worse; so a level whose value meets its
        bound now is closed, and one whose value does so no longer is open.
        """
        if best is self._evaluated and self.are_proved:
            return
        are_proved, hold = True, True
        for level in self.levels:
            value = value_of(best, level.name, level.priority)
            if level.proved and value != level.value:
                yield f"{level.name} was proved to be {level.value}, but the decision has {value}"
            if not hold and level.prover is not IDEAL:
                level.bound, level.prover = None, None
            ref = LevelRef(level.name, level.priority)
            hold = hold and ref.rank(value) <= ref.rank(level.value)
            level.value = value
            if (is_closed := value == level.bound) and level.prover is None:
                level.prover = IDEAL
            level.proved, level.given_open_levels = is_closed and are_proved, is_closed and not are_proved
            are_proved = level.proved

    def leave_open(self, best: Decision) -> None:
        """Believe no solver: only what is the best possible without any search stays proved."""
        for name, priority in self._plan[len(self.levels) :]:
            self.levels.append(LevelResult(name, priority, None))
        is_open = False
        for level in self.levels:
            level.value = value_of(best, level.name, level.priority)
            is_sure = level.prover is IDEAL or (level.prover is not None and not level.prover.solver and not is_open)
            if is_sure and level.value == level.bound:
                level.proved, level.given_open_levels = not is_open, is_open
            else:
                level.bound, level.prover, level.proved, level.given_open_levels = None, None, False, False
                is_open = True


def _order(prover: Prover) -> int:
    """Who is named of several: a solver, then what looked at the session."""
    return 2 * prover.solver + (prover is not IDEAL)
