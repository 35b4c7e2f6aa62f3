"""Plans: rows that take over more or less of a sketch, for the search of a decision that is as good."""

from __future__ import annotations

from typing import Any

from cpsched.optimum.model.variables import Expr, Variables, sum_of
from cpsched.optimum.relax.bounding import Foresight
from cpsched.optimum.search.primal.own_capacity import own_room


def plans(v: Variables, sight: Foresight) -> list[list[Any]]:
    """The closest to the sketch first."""
    return [_same_places(v, sight), [*own_room(v), *_same_served(v, sight)]]


def _same_places(v: Variables, sight: Foresight) -> list[Any]:
    """As many of each kind on each node as in the sketch; what is in a pool is spread evenly over its nodes."""
    sketch, values = sight.sketch, sight.values or []
    theirs = sketch.variables
    rows: list[Any] = []
    for mine, drawn in ((v.bind, theirs.bind), (v.reserve, theirs.reserve)):
        together: dict[tuple[int, str], list[Expr]] = {}
        for (index, node), count in mine.items():
            together.setdefault((theirs.room.kind_of[index], node), []).append(count)
        for (kind, pool), variable in drawn.items():
            nodes = sketch.nodes_by_pool[pool]
            each, rest = divmod(values[variable.index], len(nodes))
            rows += [sum_of(together[kind, node]) == each + (n < rest) for n, node in enumerate(nodes)]
    return rows


def _same_served(v: Variables, sight: Foresight) -> list[Any]:
    """As many jobs of each class served."""
    theirs, values = sight.sketch.variables, sight.values or []
    return [
        v.served(jobs) == sum(values[x[jobs.index].index] for x in (theirs.ready, theirs.pipelined))
        for jobs in v.classes.jobs
    ]
