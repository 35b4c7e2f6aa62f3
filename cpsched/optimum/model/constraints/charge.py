"""charge, exactly: which sets of victims one task can be charged, for nodes where the coarse rows let too much pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import TaskClass
from cpsched.optimum.model.constraints.reclaim_right import claims_of
from cpsched.optimum.model.variables import Charged, Counts, Expr, Shape, Variables, sum_of, weighted
from cpsched.resources import Vector

Payer = tuple[Shape, tuple[Charged, ...], int | None]
MOST_PATTERNS = 400
"""Beyond this many sets of victims per class the rows are left coarse."""


def state_exactly(cp: cp_model.CpModel, v: Variables, node: str) -> bool:
    """Hand the node's charged victims out to tasks, pattern by pattern; False if it is done already or too large."""
    charged = v.charged.pop(node, {})
    payers = _payer_classes(v, charged)
    patterns_of = {payer: _patterns(payer[0], _sizes(charged, payer[1])) for payer in payers}
    if any(len(patterns) > MOST_PATTERNS for patterns in patterns_of.values()):
        return False
    parts: dict[Charged, list[Expr]] = {key: [] for key in charged}
    claims = claims_of(v)
    for payer, alike in payers.items():
        keys, patterns, sample = payer[1], patterns_of[payer], alike[0].representative
        claim = claims.get(alike[0].index)
        most = sum(len(one.tasks) for one in alike)
        uses = [cp.new_int_var(0, most, f"pattern of {sample.key} on {node}") for _ in patterns]
        cp.add(sum_of(uses) <= sum_of([v.placed(one, node) for one in alike]))
        for shape in dict.fromkeys(shape for _, shape, _ in keys):
            shares = []
            for key in keys:
                if key[1] == shape:
                    shares.append(cp.new_int_var(0, charged[key][1], f"charged to {sample.key} on {node}"))
                    parts[key].append(shares[-1])
                    if v.snapshot.policy.asks_shares(key[2]) and claim is not None:
                        cp.add(shares[-1] <= charged[key][1] * claim)
            carried = weighted((pattern.get(shape, 0), use) for pattern, use in zip(patterns, uses, strict=True))
            cp.add(sum_of(shares) <= carried)
    for key, part in parts.items():
        count, most = charged[key]
        cp.add(count <= sum_of([*part, v.slack(most, f"charges on {node}")]))
    return bool(charged)


def _payer_classes(v: Variables, charged: Counts) -> dict[Payer, list[TaskClass]]:
    """Classes by what they ask for, whom they may evict and by which claim: no charge tells others apart."""
    payers: dict[Payer, list[TaskClass]] = {}
    claims = claims_of(v)
    for index in sorted({index for entitled, _, _ in charged for index in entitled}):
        one, claim = v.classes.tasks[index], claims.get(index)
        keys = tuple(key for key in charged if index in key[0])
        claim_number = None if claim is None else claim.index
        payers.setdefault((v.snapshot.shape_of(one.representative), keys, claim_number), []).append(one)
    return payers


def _sizes(charged: Counts, keys: tuple[Charged, ...]) -> tuple[tuple[Shape, int], ...]:
    """How many there are of each shape."""
    sizes: dict[Shape, int] = {}
    for key in keys:
        sizes[key[1]] = sizes.get(key[1], 0) + charged[key][1]
    return tuple(sorted(sizes.items()))


@lru_cache(maxsize=10_000)
def _patterns(request: Shape, left: tuple[tuple[Shape, int], ...]) -> list[dict[Shape, int]]:
    """Largest sets of victims of which each is needed: without it the others would not cover the request."""
    found: list[dict[Shape, int]] = []
    for pattern in _enumerate_patterns(dict(request), left, {}):
        if not any(all(other.get(shape, 0) >= count for shape, count in pattern.items()) for other in found):
            found.append(pattern)
            if len(found) > MOST_PATTERNS:
                break
    return found


def _enumerate_patterns(
    request: Vector, left: tuple[tuple[Shape, int], ...], pattern: dict[Shape, int]
) -> Iterator[dict[Shape, int]]:
    """Every set that is needed, larger counts of the first shapes first."""
    if not left:
        yield pattern
        return
    (shape, most), rest = left[0], left[1:]
    for count in range(most, -1, -1):
        grown = {**pattern, shape: count} if count else pattern
        if _is_minimal(request, grown):
            yield from _enumerate_patterns(request, rest, grown)


def _is_minimal(request: Vector, pattern: dict[Shape, int]) -> bool:
    for left_out in pattern:
        others = {shape: count - (shape == left_out) for shape, count in pattern.items()}
        covers = all(
            sum(dict(shape).get(name, 0) * count for shape, count in others.items()) >= amount
            for name, amount in request.items()
        )
        if covers:
            return False
    return True
