"""Options: what a run is told besides the instance and the policy; the same for every engine."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.errors import InputError

DOCUMENTED_CHOICE = 1


@dataclass(frozen=True)
class Options:
    """Limits and choices of one run; an engine reads the ones that mean something to it."""

    time_limit: float = 60.0
    """Seconds of wall time after which the best so far is the answer."""
    workers: int = 2
    """Threads of the solver."""
    seed: int = DOCUMENTED_CHOICE
    """Where upstream leaves a choice to chance: 1 takes the documented one, other numbers draw. Also the solver's."""
    only: str | None = None
    """Key of the one task to try; None tries all."""
    pod_groups: bool = False
    """kube-scheduler's gate GenericWorkload: PodGroups are scheduled and preempt as one."""

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
