"""The headline of a decision: how far it is proved, and for which part of the configuration."""

from __future__ import annotations

from cpsched.doubts import for_this_dump, without
from cpsched.objectives import open_levels
from cpsched.solution import Solution, SolutionStatus

STATUS = {
    "optimal": "optimal, every level proved",
    "feasible": "best decision found; some levels are not proved optimal",
    "heuristic": "heuristic decision, no optimality proof",
    "infeasible": "no decision; the engine reports that none is feasible",
    "unknown": "no answer in time",
}


def status_text(solution: Solution) -> str:
    """The status in words; nothing is called proved without what it was proved without."""
    left_out, here = without(solution.doubts), for_this_dump(solution.doubts)
    if solution.status is not SolutionStatus.OPTIMAL:
        left_open = open_levels(solution.levels) if solution.status is SolutionStatus.FEASIBLE else ""
        text = STATUS[solution.status] + (left_open and f": {left_open}")
        return f"{text}{left_out and f'; decided{left_out}'}"
    if left_out:
        rest = f"{here} and" if here else " for"
        return f"optimal{left_out}: every level proved{rest} the rest of the configuration"
    return f"optimal: every level proved{here}" if here else STATUS[solution.status]
