"""Outline: a decision in numbers, before anybody is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from ortools.sat.python import cp_model

from cpsched.optimum.model.variables import Variables
from cpsched.snapshot.rights import Action

Key = TypeVar("Key")


class ClassCounts(NamedTuple):
    """How many of each class are placed where and taken by which jobs, and how many of each group go; else none."""

    bind: Mapping[tuple[int, str], int]
    reserve: Mapping[tuple[int, str], int]
    evict: Mapping[tuple[int, Action], int]
    bind_by_job: Mapping[tuple[int, int], int]
    reserve_by_job: Mapping[tuple[int, int], int]
    ready: Sequence[int]
    pipelined: Sequence[int]


def counts_in(v: Variables, values: Sequence[int]) -> ClassCounts:
    """What an assignment of the variables says."""

    def some(of: Mapping[Key, cp_model.IntVar]) -> dict[Key, int]:
        return {key: count for key, x in of.items() if (count := values[x.index])}

    served = ([values[x.index] for x in jobs] for jobs in (v.ready, v.pipelined))
    return ClassCounts(
        some(v.bind), some(v.reserve), some(v.evict), some(v.bind_by_job), some(v.reserve_by_job), *served
    )


def values_of(v: Variables, outline: ClassCounts) -> dict[cp_model.IntVar, int]:
    """The other way round; what helps to state rules and levels is left open."""

    def all_of(of: Mapping[Key, cp_model.IntVar], counts: Mapping[Key, int]) -> dict[cp_model.IntVar, int]:
        return {x: counts.get(key, 0) for key, x in of.items()}

    return {
        **all_of(v.bind, outline.bind),
        **all_of(v.reserve, outline.reserve),
        **all_of(v.evict, outline.evict),
        **all_of(v.bind_by_job, outline.bind_by_job),
        **all_of(v.reserve_by_job, outline.reserve_by_job),
        **dict(zip([*v.ready, *v.pipelined], [*outline.ready, *outline.pipelined], strict=True)),
    }
