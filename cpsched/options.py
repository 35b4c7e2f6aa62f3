"""Options: what a run takes besides the instance and the policy; the same for every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from cpsched.errors import InputError

DOCUMENTED_CHOICE = 1
Prover = Literal["cp-sat", "highs", "both"]
"""Who may be selected; `cpsched.optimum.provers.SELECTIONS` has the provers that each lets answer."""
WITHOUT_DETERMINISTIC_LIMIT: dict[Prover, str] = {"highs": "HiGHS"}
"""Those whose work cannot be limited the same on every machine, by the solver's name."""


@dataclass(frozen=True)
class Options:
    """Limits and choices of one run; an engine reads the ones that mean something to it."""

    time_limit: float = 60.0
    """Seconds after which the best so far is the answer: of wall time, or of the solver's own measure of its work."""
    workers: int = 2
    """Threads of the solver."""
    seed: int = DOCUMENTED_CHOICE
    """Where upstream leaves a choice to chance: 1 takes the documented one, other numbers draw. Also the solver's."""
    only: str | None = None
    """Key of the one task to try; None tries all."""
    pod_groups: bool = False
    """kube-scheduler's gate GenericWorkload: PodGroups are scheduled and preempt as one."""
    deterministic: bool = False
    """One worker, one solver, and the time limit measures work done: the same decision on any machine."""
    prover: Prover = "both"
    """Solver to use."""
    log: Callable[[str], None] | None = None
    """Called with every line of the solver's log."""
    export: str | None = None
    """File for the CP-SAT model of the first level; text if its name ends in .txt or .textproto, else binary."""

    @property
    def chance(self) -> int | None:
        """The seed for a mirror that draws, None if it is to take the documented choices."""
        return None if self.seed == DOCUMENTED_CHOICE else self.seed

    def __post_init__(self) -> None:
        if not 0 < self.time_limit < float("inf"):
            raise InputError(f"the time limit is {self.time_limit}", right="give a number of seconds above zero")
        if not 1 <= self.workers <= 1024:
            raise InputError(f"the number of workers is {self.workers}", right="give 1 to 1024")
        if not 0 <= self.seed < 2**31:
            raise InputError(f"the seed is {self.seed}", right="give a number from 0 to 2147483647")
        if self.prover not in get_args(Prover):
            raise InputError(f"the prover is {self.prover}", right=f"give one of {', '.join(get_args(Prover))}")
        if self.deterministic and self.prover in WITHOUT_DETERMINISTIC_LIMIT:
            named = WITHOUT_DETERMINISTIC_LIMIT[self.prover]
            raise InputError(f"{named} has no deterministic limit", place="prover", right="give cp-sat, or both")
