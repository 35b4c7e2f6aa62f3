"""CP-SAT: the one place that makes its solver, sets its parameters and runs it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ortools.sat.python import cp_model

from cpsched.optimum.params import POLL_SECONDS

LP_STRATEGY, INTERLEAVED_STRATEGY = "max_lp", "default_lp"
"""Strategies of CP-SAT: one that leans on the LP, and one that takes turns with others by work done."""


class CpSat:
    """One solver for one question."""

    def __init__(
        self,
        *,
        seconds: float | None = None,
        effort: float | None = None,
        workers: int = 1,
        seed: int = 1,
        log: Callable[[str], None] | None = None,
    ):
        """`seconds` limit wall time, `effort` deterministic time; None is no limit."""
        self.solver = cp_model.CpSolver()
        self.parameters: Any = self.solver.parameters
        self._failures: list[BaseException] = []
        self._log = log
        self.parameters.num_workers = workers
        self.parameters.random_seed = seed
        self.parameters.catch_sigint_signal = False
        # Presolve may drop a constraint that it wrongly takes for one that another implies, and then certify a wrong
        # optimum (google/or-tools#5293, open in 9.15). This switches that step off.
        self.parameters.presolve_inclusion_work_limit = 0
        if seconds is not None:
            self.parameters.max_time_in_seconds = max(0.01, seconds)
        if effort is not None:
            self.parameters.max_deterministic_time = effort
        if log is not None:
            self.parameters.log_search_progress = True
            self.parameters.log_to_stdout = False
            self.solver.log_callback = self._tell

    def add_strategy(self, name: str) -> None:
        """Add a strategy to those of the portfolio inside CP-SAT; none for an empty name."""
        if name == INTERLEAVED_STRATEGY:
            # By batches of work instead of by time: the order in which strategies share what they found is fixed.
            self.parameters.interleave_search = True
            self.parameters.interleave_batch_size = 1
        if name:
            self.parameters.subsolvers.append(name)

    def run(self, cp: cp_model.CpModel, stop: Callable[[], bool] = lambda: False) -> Any:
        """The status. CP-SAT works in a thread; meanwhile `stop` is asked again and again whether it is to end.

        What is raised in the thread, or by the log, is raised here.
        """
        statuses: list[Any] = []

        def work() -> None:
            try:
                statuses.append(self.solver.solve(cp))
            except BaseException as error:
                self._failures.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(POLL_SECONDS)
                if self._failures or stop():
                    self.solver.stop_search()
        except BaseException:
            # A thread that outlives the interpreter's end would take the process down with it.
            self.solver.stop_search()
            thread.join()
            raise
        if self._failures:
            raise self._failures[0]
        return statuses[0]

    @property
    def values(self) -> list[int]:
        """The assignment found."""
        return list(self.solver.response_proto.solution)

    @property
    def effort(self) -> float:
        """The deterministic time that it took."""
        return float(self.solver.response_proto.deterministic_time)

    def _tell(self, line: str) -> None:
        """Pass a line on; an exception must not find its way through the solver's own code."""
        assert self._log is not None
        if not self._failures:
            try:
                self._log(line)
            except BaseException as error:
                self._failures.append(error)
