"""Amounts of resources for people; the only module that writes an amount as text.

An amount is in the units of `cpsched.resources`: cpu in millicores, memory in bytes, pods whole, every other resource
in thousandths. Its text is in the units of a manifest and exact: two different amounts never have the same text. A
float64 (the Volcano mirror computes with them, as Go does) stands for its shortest decimal form, as in JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import inf

from cpsched.quantity import BINARY

UNLIMITED = "unlimited"

_MANY = 100_000
"""A number of bytes, Ki, Mi ... from here on has too many digits to be read at a glance."""
_MOST_DECIMALS = 30
"""A number that needs more is a fraction."""


def shown(resource: str, amount: Fraction | float) -> str:
    """The exact text, with about how much it is behind many digits of bytes: 32867428Ki (about 31.34Gi)."""
    return _shown(resource, amount)


@lru_cache(maxsize=1 << 14, typed=True)
def _shown(resource: str, amount: Fraction | float) -> str:
    text = exact(resource, amount)
    if text == UNLIMITED or not _is_bytes(resource):
        return text
    value = _in_whole_units(resource, amount)
    number, _ = _with_suffix(value)
    if abs(number) < _MANY:
        return text
    suffix, power = next((s, p) for s, p in reversed(BINARY.items()) if abs(value) >= 2**p)
    return f"{text} (about {float(value / 2**power):.2f}{suffix})"


def exact(resource: str, amount: Fraction | float) -> str:
    """The amount as a manifest states it: 1500m, 2, 30Gi, 0.5; where no decimal number is exact, 333 1/3m."""
    if amount == inf:
        return UNLIMITED
    value = _in_whole_units(resource, amount)
    if resource == "cpu" and value.denominator > 1:
        return f"{_number(value * 1000)}m"
    number, suffix = _with_suffix(value) if _is_bytes(resource) else (value, "")
    return f"{_number(number)}{suffix}"


def listed(vector: Mapping[str, Fraction | float]) -> str:
    """All that is not nothing, in order: 2 cpu, 4Gi memory."""
    return ", ".join(f"{shown(name, amount)} {short(name)}" for name, amount in vector.items() if amount > 0)


def short(resource: str) -> str:
    """A resource's name without its domain: nvidia.com/gpu is gpu."""
    return resource.rpartition("/")[2] or resource


def _is_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


def _in_whole_units(resource: str, amount: Fraction | float) -> Fraction:
    """Cores, bytes, pieces."""
    value = Fraction(repr(float(amount))) if isinstance(amount, float) else Fraction(amount)
    return value if resource in ("memory", "pods") else value / 1000


def _with_suffix(value: Fraction) -> tuple[Fraction, str]:
    """The number before the largest binary suffix that leaves it whole."""
    number = value.numerator
    if number and value.denominator == 1:
        for suffix, power in reversed(BINARY.items()):
            if number % 2**power == 0:
                return Fraction(number >> power), suffix
    return value, ""


def _number(value: Fraction) -> str:
    """A whole or decimal number, or a whole number and a fraction: 3, 0.25, 3 1/3."""
    whole, rest = divmod(abs(value), 1)
    sign = "-" if value < 0 else ""
    if not rest:
        return f"{sign}{whole}"
    decimals = next((n for n in range(1, _MOST_DECIMALS + 1) if 10**n % rest.denominator == 0), None)
    if decimals is None:
        return f"{sign}{whole} {rest}" if whole else f"{sign}{rest}"
    return f"{sign}{whole}.{int(rest * 10**decimals):0{decimals}}"
