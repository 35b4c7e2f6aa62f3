"""Class counts: a decision in numbers, before tasks are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from ortools.sat.python import cp_model

from cpsched.optimum.model.variables import Variables
from cpsched.snapshot.rights import Action

Key = TypeVar("Key")


class ClassCounts(NamedTuple):
    """Tasks of each class per node and per job class, and victims of each class per action; what is missing is 0."""

    bind: Mapping[tuple[int, str], int]
    reserve: Mapping[tuple[int, str], int]
    evict: Mapping[tuple[int, Action], int]
    bind_by_job: Mapping[tuple[int, int], int]
    reserve_by_job: Mapping[tuple[int, int], int]
    ready: Sequence[int]
    pipelined: Sequence[int]


def counts_in(v: Variables, values: Sequence[int]) -> ClassCounts:
    """The counts in an assignment of the variables."""

    def some(of: Mapping[Key, cp_model.IntVar]) -> dict[Key, int]:
        return {key: count for key, x in of.items() if (count := values[x.index])}

    served = ([values[x.index] for x in jobs] for jobs in (v.ready, v.pipelined))
    return ClassCounts(
        some(v.bind), some(v.reserve), some(v.evict), some(v.bind_by_job), some(v.reserve_by_job), *served
    )


def values_of(v: Variables, counts: ClassCounts) -> dict[cp_model.IntVar, int]:
    """The assignment of counts to variables; auxiliary variables are left out."""

    def all_of(of: Mapping[Key, cp_model.IntVar], counts: Mapping[Key, int]) -> dict[cp_model.IntVar, int]:
        return {x: counts.get(key, 0) for key, x in of.items()}

    return {
        **all_of(v.bind, counts.bind),
        **all_of(v.reserve, counts.reserve),
        **all_of(v.evict, counts.evict),
        **all_of(v.bind_by_job, counts.bind_by_job),
        **all_of(v.reserve_by_job, counts.reserve_by_job),
        **dict(zip([*v.ready, *v.pipelined], [*counts.ready, *counts.pipelined], strict=True)),
    }
