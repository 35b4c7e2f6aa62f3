"""PROVERS: who can state a bound. A level's `prover` shows the name of the one whose bound its value meets."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.options import Prover as Choice
from cpsched.solution import ProverName


@dataclass(frozen=True)
class Prover:
    """A source of bounds."""

    name: ProverName
    solver: bool
    """Whether a solver has to be believed for it; if not, the bound stands whatever solvers report."""


IDEAL = Prover("bound", solver=False)
"""No decision is better, whatever the session looks like: 0 victims, all jobs admitted."""
LP = Prover("lp", solver=True)
"""The LP relaxation; its multipliers are added up in integers (`solvers/lp.py`)."""
CP_SAT = Prover("cp-sat", solver=True)
"""CP-SAT on the whole model (`solvers/cp_sat.py`)."""
HIGHS = Prover("highs", solver=True)
"""HiGHS on the same linear constraints in a child process (`solvers/highs.py`); its bounds are confirmed first."""

PACKING = Prover("packing", solver=True)
"""Cuts on the totals of a packing problem, closed by listing what nodes can hold (`packing/`)."""

COUNTING = Prover("counting", solver=False)
"""What jobs, queues and nodes can take at most, counted as certificates do (`search/counting_pass.py`)."""

PROVERS: dict[ProverName, Prover] = {one.name: one for one in (IDEAL, COUNTING, LP, PACKING, CP_SAT, HIGHS)}
"""By the name that a Solution shows, in the order of cost."""

SELECTIONS: dict[Choice, frozenset[Prover]] = {
    "both": frozenset(PROVERS.values()),
    "cp-sat": frozenset({IDEAL, CP_SAT}),
    "highs": frozenset({IDEAL, HIGHS}),
}
"""What `--prover` takes, and the provers that it lets answer."""
