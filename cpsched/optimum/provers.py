"""PROVERS: who can state a bound. A level's `prover` shows the name of the one whose bound its value meets."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from cpsched.options import Prover as Choice
from cpsched.solution import ProverName


class EvidenceKind(Enum):
    """What stands behind a bound."""

    DEFINITION = "holds of every session"
    COUNTING = "counted from jobs, queues and nodes; `verify` counts again"
    INTEGERS = "computed in integers from a relaxed model that a solver helped to choose"
    REPORT = "reported by a solver for the whole model"


@dataclass(frozen=True)
class Prover:
    """A source of bounds. Asked about a stage and the incumbent, it gives a bound, values if it finds any, and itself.

    It is found in `StageBound` (before any search) and `Answer` (of a search) beside the bound.
    """

    name: ProverName
    evidence: EvidenceKind
    solver: bool = field(init=False)
    """Whether a solver has to be believed; if not, the bound stands whatever solvers report."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "solver", self.evidence in (EvidenceKind.INTEGERS, EvidenceKind.REPORT))


IDEAL = Prover("bound", EvidenceKind.DEFINITION)
"""No decision is better, whatever the session looks like: 0 victims, all jobs admitted."""
LP = Prover("lp", EvidenceKind.INTEGERS)
"""The LP relaxation; its multipliers are added up in integers (`solvers/lp.py`)."""
CP_SAT = Prover("cp-sat", EvidenceKind.REPORT)
"""CP-SAT on the whole model (`solvers/cp_sat.py`)."""
HIGHS = Prover("highs", EvidenceKind.REPORT)
"""HiGHS on the same linear constraints in a child process (`solvers/highs.py`); its bounds are confirmed first."""

PACKING = Prover("packing", EvidenceKind.INTEGERS)
"""Cuts on the totals of a packing problem, closed by listing what nodes can hold (`packing/`)."""

COUNTING = Prover("counting", EvidenceKind.COUNTING)
"""What jobs, queues and nodes can take at most, counted as certificates do (`search/counting_pass.py`)."""

PROVERS: dict[ProverName, Prover] = {one.name: one for one in (IDEAL, COUNTING, LP, PACKING, CP_SAT, HIGHS)}
"""By the name that a Solution shows, in the order of cost."""

SELECTIONS: dict[Choice, frozenset[Prover]] = {
    "both": frozenset(PROVERS.values()),
    "cp-sat": frozenset({IDEAL, CP_SAT}),
    "highs": frozenset({IDEAL, HIGHS}),
}
"""What `--prover` takes, and the provers that it lets answer."""
