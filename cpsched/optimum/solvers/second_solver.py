"""Second solvers: MIP solvers in child processes, on the same linear model as CP-SAT.

Beside ortools some of their packages cannot be imported, so a solver is named by its module, which only the child
imports. The module has `solve(rows, seconds)`, which returns a MipAnswer, and `PACKAGE`, which the child
imports in advance.
"""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.optimum.budget import Budget
from cpsched.optimum.provers import HIGHS, Prover
from cpsched.optimum.solvers.linear_model import LinearModel
from cpsched.optimum.solvers.mip import MipAnswer
from cpsched.optimum.solvers.worker import SolverProcess


@dataclass(frozen=True)
class MipSolver:
    """A solver's name in messages, and the module that calls it."""

    label: str
    module: str


MIP_SOLVERS: dict[Prover, MipSolver] = {HIGHS: MipSolver("HiGHS", "cpsched.optimum.solvers.highs")}
"""Who can be asked beside CP-SAT, or instead of it; the first one to finish ends the others' work."""


class SecondSolver:
    """One of them during a search: a question at a time, until its child process is gone."""

    def __init__(self, prover: Prover, budget: Budget, *, instead: bool):
        """With `instead` it does what CP-SAT else does."""
        self.prover, self.label = prover, MIP_SOLVERS[prover].label
        self._budget, self._instead = budget, instead
        self.process = SolverProcess(MIP_SOLVERS[prover].module)
        self.is_lost = False

    def submit(self, rows: LinearModel, seconds: float) -> None:
        """Start solving a model; the one before is cancelled."""
        self.process.submit(rows, seconds)

    def poll(self, seconds: float = 0.0) -> MipAnswer | None:
        """The answer if there is one; a child that is gone is not waited for, nor asked again."""
        found = self.process.poll(seconds)
        if found is None and (how := self.process.lost()) is not None:
            self.is_lost = True
            self._budget.exhausted = self._instead
            rest = "the levels that are open stay so" if self._instead else "CP-SAT goes on alone"
            self._budget.note(f"the second solver ({self.label}) {how}: {rest}")
        if found is not None and found.failed:
            self._budget.note(f"the second solver ({self.label}) failed on a question: it has no answer to it")
        return found

    def wait(self, end: float) -> MipAnswer | None:
        """The answer to the last question; None after an interruption, or if the child does not keep to its time."""
        budget, late, found = self._budget, end + 1, None
        while found is None and budget.clock() < late and not budget.stopped:
            found = self.poll(0.02)
        if found is None:
            self.process.cancel()
        return found

    def log(self, found: MipAnswer) -> None:
        """Write what came of a question into the solver's log."""
        status = "optimal" if found.optimal else "infeasible" if found.infeasible else "open"
        self._budget.log(f"{self.prover.name}: {status}, bound {found.bound}")
