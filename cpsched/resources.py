"""Resource vectors and Volcano's comparison rules; mirrors `pkg/scheduler/api/resource_info.go` and `api/helpers`.

A vector maps names to amounts: cpu in milli-cores, memory in bytes, pods whole, every other name (a *scalar*) in
thousandths. cpu and memory always count as present; whether a scalar is present matters as described per function.
No scalar at all stands for upstream's nil map. Every function returns something new and changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from enum import Enum

from cpsched.quantity import milli, whole

Vector = Mapping[str, float]

THRESHOLD = 0.1
"""Amounts closer than this are equal, amounts below it are nothing (`minResource`)."""


class Missing(Enum):
    """What a scalar absent from one side of a comparison counts as (`DimensionDefaultValue`)."""

    ZERO = "zero"
    INFINITY = "infinity"


ZERO, INFINITY = Missing.ZERO, Missing.INFINITY

_ALWAYS = {"cpu": 0, "memory": 0}
_QUALIFIED = re.compile(
    r"(?=[^/]{1,253}/)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
    r"/(?=.{1,63}\Z)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
)


def is_scalar(name: str) -> bool:
    """Whether Kubernetes counts the name as extended, native, huge-page or volume resource (`IsScalarResourceName`)."""
    if "kubernetes.io/" in name or name.startswith(("hugepages-", "attachable-volumes-")):
        return True
    # Upstream asks that the name be valid in its quota form too, which leaves less room for the domain.
    return not name.startswith("requests.") and _QUALIFIED.fullmatch(f"requests.{name}") is not None


def from_quantities(quantities: Mapping[str, str | float], *, ignored: Container[str] = ()) -> dict[str, int]:
    """The vector of a Kubernetes resource list (`NewResource`): unknown and `ignored` names are dropped."""
    vector: dict[str, int] = {}
    for name, quantity in quantities.items():
        if name.startswith("count/"):
            continue
        if name in ("memory", "pods"):
            vector[name] = whole(quantity)
        elif name in ("cpu", "ephemeral-storage") or (is_scalar(name) and name not in ignored):
            vector[name] = milli(quantity)
    return vector


def less_equal(left: Vector, right: Vector, *, missing: Missing = ZERO) -> bool:
    """No amount of left exceeds right (`LessEqual`); with INFINITY left must also name every scalar of right."""
    if missing is INFINITY and any(name not in left for name in _scalars(right)):
        return False
    for name, amount in {**_ALWAYS, **left}.items():
        if missing is INFINITY and name not in right and name not in _ALWAYS:
            continue
        if amount - right.get(name, 0) >= THRESHOLD:
            return False
    return True


def less_equal_names(left: Vector, right: Vector, *, missing: Missing = ZERO) -> list[str]:
    """The names in which left exceeds right, none if it fits (`LessEqualWithResourcesName`)."""
    return [
        name
        for name in _ordered(left)
        if (name in right or missing is ZERO or name in _ALWAYS) and left.get(name, 0) - right.get(name, 0) >= THRESHOLD
    ]


def insufficient_for(left: Vector | None, right: Vector | None, request: Vector | None) -> list[str]:
    """The requested names in which left exceeds right (the list `LessEqualWithDimensionAndResourcesName` returns)."""
    if left is None:
        return []
    if right is None:
        return names(left)
    if request is None:
        return less_equal_names(left, right)
    without_scalars = next(_scalars(left), None) is None
    return [
        name
        for name in _requested(request)
        if left.get(name, 0) > right.get(name, 0) and not (without_scalars and name not in _ALWAYS)
    ]


def less_equal_partly_for_zero_filtered(left: Vector, right: Vector, request: Vector | None) -> bool:
    """Some requested amount of left is not above right, leaving out what neither side has any of.

    Mirrors `LessEqualPartlyWithDimensionZeroFiltered`.
    """
    return any(
        not left.get(name, 0) - right.get(name, 0) >= THRESHOLD
        for name in _requested(request)
        if left.get(name, 0) >= THRESHOLD or right.get(name, 0) >= THRESHOLD
    )


def greater_partly_relevant(left: Vector, right: Vector | None, request: Vector | None) -> bool:
    """Some requested amount of left is strictly above right, only in what right knows: cpu and memory it has any of,
    scalars it names (`GreaterPartlyWithRelevantDimensions`).
    """
    limits = right or {}
    return any(
        left.get(name, 0) > limits.get(name, 0)
        for name in _requested(request)
        if (limits.get(name, 0) >= THRESHOLD if name in _ALWAYS else name in limits)
    )


def is_empty(vector: Vector) -> bool:
    """Nothing but pods is in it (`IsEmpty`)."""
    return not [name for name, amount in vector.items() if amount >= THRESHOLD and name != "pods"]


def names(vector: Vector) -> list[str]:
    """The names it has any of, pods included (`ResourceNames`): cpu, memory, then the others by name."""
    return [name for name in _ordered(vector) if vector.get(name, 0) >= THRESHOLD]


def shared_names(left: Vector, right: Vector) -> list[str]:
    """The names both have any of, pods included (`Intersection`)."""
    return [name for name in names(left) if right.get(name, 0) >= THRESHOLD]


def same(left: Vector, right: Vector) -> bool:
    """Equal to the last bit and with the same scalars present (`equality.Semantic.DeepEqual`)."""
    return {**_ALWAYS, **left} == {**_ALWAYS, **right}


def min_dimension(left: Vector, right: Vector, *, missing: Missing = ZERO) -> dict[str, float]:
    """Left lowered to right (`MinDimensionResource`); a scalar absent from right becomes 0 or, with INFINITY, stays."""
    lowered = {name: min(left.get(name, 0), right.get(name, 0)) for name in _ALWAYS}
    for name in _scalars(left):
        absent = 0 if missing is ZERO else left[name]
        lowered[name] = min(left[name], right[name]) if name in right else absent
    return lowered


def diff(left: Vector, right: Vector) -> tuple[dict[str, float], dict[str, float]]:
    """What left has more and what it has less than right (`Diff` with Zero); a scalar stands on one side only."""
    more: dict[str, float] = {**_ALWAYS}
    less: dict[str, float] = {**_ALWAYS}
    for name in {**left, **right}:
        amount, other = left.get(name, 0), right.get(name, 0)
        if amount > other:
            more[name] = amount - other
        else:
            less[name] = other - amount
    return more, less


def exceeded_part(left: Vector | None, right: Vector | None) -> dict[str, float]:
    """What left has more than right; scalars only where there is more (`ExceededPart`)."""
    if right is None or left is None:
        return dict(left or {})
    return diff(left, right)[0]


def add(left: Vector, right: Vector) -> dict[str, float]:
    """The sum over all names of both (`Add`)."""
    total = dict(left)
    for name, amount in right.items():
        total[name] = total.get(name, 0) + amount
    return total


def total_of(vectors: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """The sum of vectors of whole amounts; one that is there many times is taken so many times."""
    every = list(vectors)
    one_of = {id(vector): vector for vector in every}
    total: dict[str, float] = {}
    for key, count in Counter(map(id, every)).items():
        for name, amount in one_of[key].items():
            total[name] = total.get(name, 0) + amount * count
    return total


def sub(left: Vector, right: Vector) -> dict[str, float]:
    """Left less right, below zero if need be (`SubWithoutAssert`); a left without scalars never gets any."""
    rest = dict(left)
    without_scalars = next(_scalars(left), None) is None
    for name, amount in right.items():
        if name in _ALWAYS or not without_scalars:
            rest[name] = rest.get(name, 0) - amount
    return rest


def scaled(vector: Vector, ratio: float) -> dict[str, float]:
    """Every amount times the ratio (`Multi`)."""
    return {name: amount * ratio for name, amount in vector.items()}


def maximum(left: Vector, right: Vector) -> dict[str, float]:
    """The larger of both in every name; negative scalars are dropped (`helpers.Max`)."""
    larger: dict[str, float] = {name: max(left.get(name, 0), right.get(name, 0)) for name in _ALWAYS}
    for vector in (left, right):
        for name in _scalars(vector):
            if vector[name] >= 0:
                larger[name] = max(vector[name], larger.get(name, 0))
    return larger


def share(part: float, of: float) -> float:
    """The fraction, with 0/0 = 0 and anything else over 0 = 1 (`helpers.Share`)."""
    if of == 0:
        return 0.0 if part == 0 else 1.0
    return part / of


def _scalars(vector: Vector) -> Iterator[str]:
    return (name for name in vector if name not in _ALWAYS)


def _ordered(vector: Vector) -> list[str]:
    return [*_ALWAYS, *sorted(_scalars(vector))]


def _requested(request: Vector | None) -> list[str]:
    """The names asked for, in which pods never count: every task asks for one."""
    asked = request or {}
    return [name for name in _ordered(asked) if name != "pods" and asked.get(name, 0) > 0]
