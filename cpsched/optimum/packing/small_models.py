"""CP-SAT for the small models of packing: one worker, a fixed seed, a limit on deterministic work and on time."""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.optimum.packing.allowance import Allowance


def solve(
    model: cp_model.CpModel, work: float, allowance: Allowance
) -> tuple[cp_model.CpSolver, cp_model.CpSolverStatus]:
    """(solver, status) after at most so much work; answers are the same in every run that time does not cut short."""
    allowance.spend()
    found = cp_model.CpSolver()
    found.parameters.num_workers = 1
    found.parameters.random_seed = 1
    # This presolve step proved a wrong optimum of an all-linear model in this release (google/or-tools#5293).
    found.parameters.presolve_inclusion_work_limit = 0
    if allowance.is_wall_time:
        found.parameters.max_time_in_seconds = allowance.left
    found.parameters.max_deterministic_time = min(work, allowance.left)
    status = found.solve(model)
    allowance.count(found.response_proto.deterministic_time)
    return found, status
