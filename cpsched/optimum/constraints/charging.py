"""charge, exactly: which sets of victims one task can be charged, for nodes where the coarse rows let too much pass."""

from __future__ import annotations

from collections.abc import Iterator

from ortools.sat.python import cp_model

from cpsched.optimum.variables import Expr, Shape, Variables, sum_of, weighted
from cpsched.resources import Vector

MOST_PATTERNS = 400
"""Beyond this many sets of victims per class the rows are left coarse."""


def refine(cp: cp_model.CpModel, v: Variables, node: str) -> bool:
    """Hand the node's charged victims out to tasks, pattern by pattern; False if it is done already or too large."""
    charged = v.charged.pop(node, {})
    sizes: dict[Shape, int] = {}
    for (_, shape), (_, most) in charged.items():
        sizes[shape] = sizes.get(shape, 0) + most
    parts: dict[tuple[frozenset[int], Shape], list[Expr]] = {key: [] for key in charged}
    for index in sorted({index for entitled, _ in charged for index in entitled}):
        one = v.classes.tasks[index]
        mine = {shape: sizes[shape] for entitled, shape in charged if index in entitled}
        patterns = list(_patterns(one.sample.requests, sorted(mine.items())))
        if len(patterns) > MOST_PATTERNS:
            return False
        uses = [cp.new_int_var(0, len(one.tasks), f"pattern of {one.sample.key} on {node}") for _ in patterns]
        cp.add(sum_of(uses) <= v.placed(one, node))
        for shape in mine:
            shares = []
            for key, (_, most) in charged.items():
                if index in key[0] and key[1] == shape:
                    shares.append(cp.new_int_var(0, most, f"charged to {one.sample.key} on {node}"))
                    parts[key].append(shares[-1])
            carried = weighted((pattern.get(shape, 0), use) for pattern, use in zip(patterns, uses, strict=True))
            cp.add(sum_of(shares) <= carried)
    for key, part in parts.items():
        cp.add(charged[key][0] <= sum_of(part))
    return bool(charged)


def _patterns(request: Vector, left: list[tuple[Shape, int]]) -> Iterator[dict[Shape, int]]:
    """Largest sets of victims of which each is needed: without it the others would not cover the request."""
    found: list[dict[Shape, int]] = []
    for pattern in _grown(request, left, {}):
        if not any(all(other.get(shape, 0) >= count for shape, count in pattern.items()) for other in found):
            found.append(pattern)
            if len(found) > MOST_PATTERNS:
                break
    yield from found


def _grown(request: Vector, left: list[tuple[Shape, int]], pattern: dict[Shape, int]) -> Iterator[dict[Shape, int]]:
    """Every set that is needed, larger counts of the first shapes first."""
    if not left:
        yield pattern
        return
    (shape, most), rest = left[0], left[1:]
    for count in range(most, -1, -1):
        grown = {**pattern, shape: count} if count else pattern
        if _needed(request, grown):
            yield from _grown(request, rest, grown)


def _needed(request: Vector, pattern: dict[Shape, int]) -> bool:
    for left_out in pattern:
        others = {shape: count - (shape == left_out) for shape, count in pattern.items()}
        covers = all(
            sum(dict(shape).get(name, 0) * count for shape, count in others.items()) >= amount
            for name, amount in request.items()
        )
        if covers:
            return False
    return True
