"""Which decisions the rows of a Program admit, beside what the checker says of them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from ortools.sat.python import cp_model

from cpsched.optimum.model.decode import encode
from cpsched.optimum.model.session_model import SessionModel
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from tests.oracle.brute_force import decisions


def admits(program: SessionModel, decision: Decision) -> bool:
    """Whether the rows hold for what the decision places and evicts, with some values of the helper variables."""
    model: Any = program.cp.clone()
    counts = encode(program.variables, decision)
    if sum(counts.values()) < len(decision.placed) + len(decision.evictions):
        return False
    for variable, count in counts.items():
        model.add(variable == count)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)


def sampled(snapshot: Snapshot, most: int, seed: int) -> dict[str, list[Decision]]:
    """Some decisions without findings, and some that break `filters` and nothing else."""
    found: dict[str, list[Decision]] = {"legal": [], "refused": []}
    everything = list(decisions(snapshot))
    random.Random(seed).shuffle(everything)
    for decision in everything[: 20 * most]:
        broken = {violation.rule for violation in violations(decision)}
        kind = "legal" if not broken else "refused" if broken == {"filters"} else ""
        if kind and len(found[kind]) < most:
            found[kind].append(decision)
    return found


def tally(snapshot: Snapshot, most: int, seed: int) -> Counter[tuple[str, bool]]:
    """How many legal and refused decisions the rows admit (True) or not."""
    program = SessionModel(snapshot)
    counts: Counter[tuple[str, bool]] = Counter()
    for kind, some in sampled(snapshot, most, seed).items():
        counts.update((kind, admits(program, decision)) for decision in some)
    return counts
