"""How CP-SAT is asked."""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.optimum.solvers.cp_sat import CpSat


def test_the_presolve_step_that_loses_constraints_is_switched_off() -> None:
    """google/or-tools#5293: it certifies a wrong optimum of an all-linear model."""
    assert cp_model.CpSolver().parameters.presolve_inclusion_work_limit > 0
    for one in (CpSat(), CpSat(seconds=1, effort=1, workers=2, log=print)):
        assert one.parameters.presolve_inclusion_work_limit == 0
