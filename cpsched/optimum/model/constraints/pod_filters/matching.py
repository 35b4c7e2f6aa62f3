"""Rows for things of which each goes to one taker only: devices for claims, volumes for claims."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cpsched.optimum.model.constraints.pod_filters.context import FilterModel
from cpsched.optimum.model.variables import Expr, weighted

Things = frozenset[object]


@dataclass(frozen=True)
class SetDemand:
    """If the expression is 1, so many of the things are taken."""

    amount: int
    things: Things
    taker: Expr


def enough_for_all(board: FilterModel, demands: Iterable[SetDemand]) -> None:
    """Tasks that can use only these things take no more of them than there are; necessary, as in Hall's theorem.

    Asked for every set that some task can use, and for all that overlap together.
    """
    by_things: dict[Things, list[SetDemand]] = {}
    for demand in demands:
        by_things.setdefault(demand.things, []).append(demand)
    for things in {**by_things, **dict.fromkeys(_unions(by_things))}:
        inside = [demand for theirs, many in by_things.items() if theirs <= things for demand in many]
        if sum(demand.amount for demand in inside) > len(things):
            board.cp.add(weighted((demand.amount, demand.taker) for demand in inside) <= len(things))


def _unions(sets: Iterable[Things]) -> list[Things]:
    """Sets that overlap, directly or through others, taken together."""
    unions: list[Things] = []
    for things in sets:
        apart = [union for union in unions if not union & things]
        unions = [*apart, things.union(*(union for union in unions if union & things))]
    return unions
