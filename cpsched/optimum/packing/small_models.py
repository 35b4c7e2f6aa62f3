"""CP-SAT for the small models of packing: one worker, a fixed seed, a limit on deterministic work."""

from __future__ import annotations

from ortools.sat.python import cp_model


def solver(effort: float) -> cp_model.CpSolver:
    """A solver whose answers are the same in every run."""
    found = cp_model.CpSolver()
    found.parameters.num_workers = 1
    found.parameters.random_seed = 1
    found.parameters.max_deterministic_time = effort
    # This presolve step proved a wrong optimum of an all-linear model in this release (google/or-tools#5293).
    found.parameters.presolve_inclusion_work_limit = 0
    return found
