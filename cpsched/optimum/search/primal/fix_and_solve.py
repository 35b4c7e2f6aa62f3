"""Fix and solve: restrictions that fix part of a relaxed solution; the rest is left to a solver.

They may cut off every decision, so nothing follows where they are infeasible.
"""

from __future__ import annotations

from typing import Any

from cpsched.optimum.model.variables import Expr, Variables, sum_of
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.search.primal.own_capacity import own_capacity_only


def restrictions(v: Variables, bounding: LexicographicBounds) -> list[list[Any]]:
    """Rows of each restriction, the closest to the relaxed solution first."""
    return [_same_placement(v, bounding), [*own_capacity_only(v), *_same_jobs_served(v, bounding)]]


def _same_placement(v: Variables, bounding: LexicographicBounds) -> list[Any]:
    """As many of each request class on each node; what is in a node class is spread evenly over its nodes."""
    relaxed, values = bounding.relaxed, bounding.values or []
    theirs = relaxed.variables
    rows: list[Any] = []
    for mine, drawn in ((v.bind, theirs.bind), (v.reserve, theirs.reserve)):
        together: dict[tuple[int, str], list[Expr]] = {}
        for (index, node), count in mine.items():
            together.setdefault((theirs.capacity.request_class_of[index], node), []).append(count)
        for (index, node_class), variable in drawn.items():
            nodes = relaxed.nodes_by_class[node_class]
            each, rest = divmod(values[variable.index], len(nodes))
            rows += [sum_of(together[index, node]) == each + (n < rest) for n, node in enumerate(nodes)]
    return rows


def _same_jobs_served(v: Variables, bounding: LexicographicBounds) -> list[Any]:
    """As many jobs of each class served."""
    theirs, values = bounding.relaxed.variables, bounding.values or []
    return [
        v.served(jobs) == sum(values[x[jobs.index].index] for x in (theirs.ready, theirs.pipelined))
        for jobs in v.classes.jobs
    ]
