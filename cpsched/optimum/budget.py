"""Budget: the clock of a search, its interruption, its log and its notes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from cpsched.optimum.params import SolveParams
from cpsched.policy.levels import LevelRef


class Budget:
    """What a search may still spend; everything that takes long asks it.

    The clock is wall time, or, where a run is to be reproducible, the deterministic time that CP-SAT has reported.
    """

    def __init__(self, params: SolveParams):
        self.params = params
        self.interrupted = False
        self.exhausted = False
        """Whether nothing can go on for another reason: the only solver that was wanted is gone."""
        self.is_logged = params.log is not None
        self.notes: list[str] = []
        """What the user reads besides the result."""
        self._effort = 0.0
        self.end = self.clock() + params.time_limit

    def clock(self) -> float:
        """Seconds that count against the time limit."""
        return self._effort if self.params.deterministic else time.monotonic()

    def charge(self, effort: float) -> None:
        """Count the deterministic time of a solver's call."""
        self._effort += effort

    @property
    def left(self) -> float:
        """Seconds until the time limit; negative beyond it."""
        return self.end - self.clock()

    @property
    def stopped(self) -> bool:
        """Whether everything is to end at once, whatever time is left."""
        return self.interrupted or self.exhausted

    @property
    def is_used_up(self) -> bool:
        """Whether nothing new is begun."""
        return self.stopped or self.left <= 0

    def is_over(self, moment: float) -> bool:
        """Whether the moment has passed, or everything is to end."""
        return self.stopped or self.clock() > moment

    def share(self, part: float) -> float:
        """The moment at which this part of the time left is over."""
        return self.clock() + self.left * part

    @contextmanager
    def less(self, part: float) -> Iterator[None]:
        """A context in which this part of the time left is kept for what follows."""
        kept = max(0.0, self.left * part)
        self.end -= kept
        try:
            yield
        finally:
            self.end += kept

    def interrupt(self) -> None:
        """End the solver's call under way, and all that follow at once."""
        self.interrupted = True

    def log(self, line: str) -> None:
        """Write a line to the log."""
        if self.params.log is not None:
            self.params.log(line)

    def log_level(self, what: str, level: LevelRef) -> None:
        """Write that a level is begun to the log."""
        self.log(f"{what} {level.label}")

    def note(self, text: str) -> None:
        """Tell the user, once, and the log."""
        self.log(text)
        if text not in self.notes:
            self.notes.append(text)
