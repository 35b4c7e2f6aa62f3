"""Kubernetes quantities as exact integers; mirrors apimachinery's `pkg/api/resource/quantity.go`."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache

NANO_PER_UNIT = 10**9
LARGEST = 2**63 - 1
"""The largest magnitude a quantity may have, in base units; Kubernetes caps there, we refuse."""
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
"""Suffixes of powers of two, with the power, in ascending order."""

_LONGEST_TEXT = 1000
_SHAPE = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?")
_NUMBER_AND_REST = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(|[^0-9.].*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NANO_BY_SUFFIX = {s: 10 ** (9 + e) for s, e in _DECIMAL.items()} | {s: NANO_PER_UNIT << e for s, e in BINARY.items()}
_MEANT_BY_LOWER: dict[str, tuple[str, ...]] = {"b": ("",)}
for _binary in BINARY:
    _decimal = _binary[0] if _binary != "Ki" else "k"
    _MEANT_BY_LOWER |= dict.fromkeys((_decimal.lower(), f"{_decimal}b".lower()), (_decimal, _binary))
    _MEANT_BY_LOWER |= dict.fromkeys((_binary.lower(), f"{_binary}b".lower()), (_binary,))


def nano(value: str | float) -> int:
    """The quantity in 10^-9 units, rounded away from zero; ValueError says what to write instead."""
    if isinstance(value, str):
        return _nano_of_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refusal(value, 'write a number or a string such as "500m"')
    if isinstance(value, int):
        return _within_limit(value * NANO_PER_UNIT, value)
    # The shortest decimal form is what the JSON or YAML has, and what Kubernetes would read.
    return _nano_of_text(repr(value))


def milli(value: str | float) -> int:
    """The quantity in thousandths, rounded away from zero (`Quantity.MilliValue`)."""
    return _divided_away_from_zero(nano(value), 10**6)


def whole(value: str | float) -> int:
    """The quantity in whole units, rounded away from zero (`Quantity.Value`)."""
    return _divided_away_from_zero(nano(value), NANO_PER_UNIT)


@lru_cache(maxsize=1 << 14)
def _nano_of_text(text: str) -> int:
    match = _SHAPE.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if match is None:
        raise _refusal(text, _advice(text))
    sign, digits, fraction, suffix = match.groups("")
    unit = _NANO_BY_SUFFIX.get(suffix)
    exponent = 0 if unit else int(suffix[1:])
    amount = _scaled(int(digits + fraction) * (unit or NANO_PER_UNIT), exponent - len(fraction))
    return _within_limit(-amount if sign == "-" else amount, text)


def _scaled(amount: int, exponent: int) -> int:
    """amount · 10^exponent, rounded up, with powers kept small: beyond the clamps the answer no longer changes."""
    if exponent >= 0:
        return amount * 10 ** min(exponent, 30) if exponent else amount
    power: int = 10 ** min(-exponent, _LONGEST_TEXT + 30)
    return -(-amount // power)


def _within_limit(amount: int, value: str | int) -> int:
    if -LARGEST * NANO_PER_UNIT <= amount <= LARGEST * NANO_PER_UNIT:
        return amount
    raise ValueError(f"{_shown(value)} overflows; a quantity is at most {LARGEST}")


def _divided_away_from_zero(amount: int, divisor: int) -> int:
    return -(-amount // divisor) if amount >= 0 else amount // divisor


def _refusal(value: object, advice: str) -> ValueError:
    return ValueError(f"{_shown(value)} is not a quantity; {advice}")


def _advice(text: str) -> str:
    """How the text was probably meant, or else what quantities look like."""
    cleaned = "".join(unicodedata.normalize("NFKC", text[:_LONGEST_TEXT]).split()).replace("_", "")
    match = _NUMBER_AND_REST.fullmatch(cleaned)
    if match is not None:
        number, rest = match.groups()
        suffixes = (rest,) if _SHAPE.fullmatch(f"1{rest}") else _MEANT_BY_LOWER.get(rest.lower(), ())
        meant = [f'"{number}{suffix}"' for suffix in suffixes]
        if meant and len(number) <= 30:
            return f"write {' or '.join(meant)}"
    return 'write a number with an optional unit, such as "500m", "4" or "32Gi"'


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=not str(value).isprintable(), default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."
