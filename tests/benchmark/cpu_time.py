"""CPU seconds instead of wall seconds as the limit of a search, so that a busy machine favours no run.

`count_cpu` changes this process for good: the product's clock, and how CP-SAT is stopped. Only a process that measures
one run calls it.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from ortools.sat.python import cp_model

from cpsched.optimum.budget import Budget

POLL = 0.02


def count_cpu() -> None:
    """From now on limits mean CPU seconds of this process, all threads together."""
    solve = cp_model.CpSolver.solve

    def limited(solver: cp_model.CpSolver, model: cp_model.CpModel, *rest: Any) -> Any:
        parameters: Any = solver.parameters
        seconds = parameters.max_time_in_seconds
        if seconds == float("inf"):
            return solve(solver, model, *rest)
        end, done = time.process_time() + seconds, threading.Event()
        parameters.max_time_in_seconds = 60 + 20 * seconds

        def watch() -> None:
            while not done.wait(POLL):
                if time.process_time() >= end:
                    solver.stop_search()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            return solve(solver, model, *rest)
        finally:
            done.set()
            watcher.join()

    cp_model.CpSolver.solve = limited  # type: ignore[method-assign, assignment]
    Budget.clock = _clock  # type: ignore[method-assign, assignment]


def _clock(budget: Budget) -> float:
    return budget._effort if budget.params.deterministic else time.process_time()
