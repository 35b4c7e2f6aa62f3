"""Amounts as people write them."""

from __future__ import annotations

from fractions import Fraction

_BINARY = ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))


def shown(resource: str, exact: Fraction | float) -> str:
    """An amount in the resource's own unit, as a Kubernetes quantity: 500m, 4, 1.5Gi."""
    amount = float(exact)
    if amount == float("inf"):
        return "unlimited"
    if resource == "pods":
        return f"{amount:g}"
    if resource == "memory":
        size, suffix = next(((size, text) for size, text in _BINARY if abs(amount) >= size), (1, ""))
        return f"{_short(amount / size)}{suffix}"
    whole = amount / 1000
    if resource == "cpu" and whole != int(whole):
        return f"{_short(amount)}m"
    return _short(whole)


def quantity(resource: str, amount: int) -> str:
    """The amount exactly, as a manifest would state it."""
    if resource in ("memory", "pods"):
        return str(amount)
    return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
