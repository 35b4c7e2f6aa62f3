"""Outline: a decision in numbers, before anybody is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from ortools.sat.python import cp_model

from cpsched.optimum.model.variables import Variables
from cpsched.snapshot.rights import Action

Key = TypeVar("Key")


class Outline(NamedTuple):
    """How many of each class are placed where and taken by which jobs, and how many of each group go; else none."""

    bind: Mapping[tuple[int, str], int]
    reserve: Mapping[tuple[int, str], int]
    evict: Mapping[tuple[int, Action], int]
    bound_of: Mapping[tuple[int, int], int]
    reserved_of: Mapping[tuple[int, int], int]
    ready: Sequence[int]
    pipelined: Sequence[int]


def outlined(v: Variables, values: Sequence[int]) -> Outline:
    """What an assignment of the variables says."""

    def some(of: Mapping[Key, cp_model.IntVar]) -> dict[Key, int]:
        return {key: count for key, x in of.items() if (count := values[x.index])}

    served = ([values[x.index] for x in jobs] for jobs in (v.ready, v.pipelined))
    return Outline(some(v.bind), some(v.reserve), some(v.evict), some(v.bound_of), some(v.reserved_of), *served)


def assigned(v: Variables, outline: Outline) -> dict[cp_model.IntVar, int]:
    """The other way round; what helps to state rules and levels is left open."""

    def all_of(of: Mapping[Key, cp_model.IntVar], counts: Mapping[Key, int]) -> dict[cp_model.IntVar, int]:
        return {x: counts.get(key, 0) for key, x in of.items()}

    return {
        **all_of(v.bind, outline.bind),
        **all_of(v.reserve, outline.reserve),
        **all_of(v.evict, outline.evict),
        **all_of(v.bound_of, outline.bound_of),
        **all_of(v.reserved_of, outline.reserved_of),
        **dict(zip([*v.ready, *v.pipelined], [*outline.ready, *outline.pipelined], strict=True)),
    }
