"""Vectors that change in place; mirrors `Add`, `sub` and `LessEqual` of `pkg/scheduler/api/resource_info.go`."""

from __future__ import annotations

from collections.abc import Mapping

from cpsched.resources import THRESHOLD

Amounts = dict[str, float]


def request_of(stated: Mapping[str, float]) -> Amounts:
    """A request with cpu and memory named, which count even where they are zero."""
    return {"cpu": 0, "memory": 0, **stated}


def give(into: Amounts, what: Mapping[str, float]) -> None:
    """Add, naming what was not named before."""
    for name, amount in what.items():
        into[name] = into.get(name, 0) + amount


def take(from_: Amounts, what: Mapping[str, float]) -> None:
    """Subtract, below zero if need be; a vector without scalars never gets any."""
    scalars = len(from_) > ("cpu" in from_) + ("memory" in from_)
    for name, amount in what.items():
        if scalars or name in ("cpu", "memory"):
            from_[name] = from_.get(name, 0) - amount


def fits(request: Mapping[str, float], room: Mapping[str, float]) -> bool:
    """Whether no amount of a request (see `request_of`) exceeds the room."""
    for name, amount in request.items():  # noqa: SIM110 - asked some hundred thousand times
        if amount - room.get(name, 0) >= THRESHOLD:
            return False
    return True
