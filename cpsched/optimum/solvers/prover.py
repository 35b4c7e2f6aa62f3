"""What a solver's call returns: assignments, a bound with its prover, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ortools.sat.python import cp_model

from cpsched.optimum.provers import Prover


@dataclass(frozen=True)
class Answer:
    """Assignments, best first, and the best lower bound with its prover; None is no bound."""

    solutions: list[list[int]]
    bound: int | None = None
    prover: Prover | None = None
    infeasible: bool = False
    """Whether a solver reports that there is no assignment; that is proved only if a prover is named."""
    was_wrong: bool = False
    """Whether a second solver reported something that turned out wrong, so that more can be found out without it."""

    @property
    def is_proved_infeasible(self) -> bool:
        """Whether there is no assignment, by a prover that counts in integers."""
        return self.infeasible and self.prover is not None

    def is_closed(self, cp: cp_model.CpModel) -> bool:
        """Whether an assignment attains the bound."""
        return any(objective_of(cp, solution) == self.bound for solution in self.solutions)


UNKNOWN = Answer([])
"""Nothing was found out."""


def better(one: Answer, other: Answer) -> Answer:
    """All assignments of both and the higher bound; without any, that there is none, rather if it is proved."""
    solutions = [*other.solutions, *one.solutions]
    infeasible = [found for found in (one, other) if found.infeasible]
    if infeasible and not solutions:
        return max(infeasible, key=lambda found: found.is_proved_infeasible)
    bounded = [found for found in (one, other) if found.bound is not None]
    best = max(bounded, key=lambda found: found.bound or 0, default=UNKNOWN)
    return Answer(solutions, best.bound, best.prover)


def objective_of(cp: cp_model.CpModel, values: list[int]) -> int:
    """The model's objective under an assignment."""
    objective: Any = cp.proto.objective
    total: int = round(objective.offset) + sum(
        c * values[v] for v, c in zip(objective.vars, objective.coeffs, strict=True)
    )
    return total
