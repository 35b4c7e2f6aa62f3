"""Amounts of resources as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def amount(resource: str, exact: Fraction | float) -> str:
    """An amount in Volcano's units (cpu and scalars in thousandths, memory in bytes) as a short quantity."""
    value = float(exact)
    if resource == "memory":
        return _binary(value)
    if resource == "ephemeral-storage":
        return _binary(value / 1000)
    return _plain(value if resource == "pods" else value / 1000)


def amounts(vector: Mapping[str, float]) -> str:
    """All that is not nothing, in order: 2 cpu, 4Gi memory."""
    return ", ".join(f"{amount(name, value)} {short(name)}" for name, value in vector.items() if value > 0)


def short(resource: str) -> str:
    """A resource's name without its domain: nvidia.com/gpu is gpu."""
    return resource.rpartition("/")[2] or resource


def _binary(value: float) -> str:
    step = 0
    while abs(value) >= 1024 and step < len(_BINARY) - 1:
        value, step = value / 1024, step + 1
    return f"{_plain(value)}{_BINARY[step]}"


def _plain(value: float) -> str:
    text = f"{value:,.2f}" if abs(value) < 100 else f"{value:,.1f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
