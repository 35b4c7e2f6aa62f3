"""Kubernetes quantities: every spelling, every refusal, and agreement with the official client where it is right."""

from __future__ import annotations

import math
from decimal import ROUND_UP, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from cpsched.quantity import LARGEST, milli, nano, whole

UNIT = 10**9
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


@pytest.mark.parametrize(
    ("text", "in_nano"),
    [
        ("0", 0),
        ("-0", 0),
        ("00012", 12 * UNIT),
        ("4", 4 * UNIT),
        ("+1", UNIT),
        ("-1", -UNIT),
        ("500m", UNIT // 2),
        ("1n", 1),
        ("1u", 1000),
        (".5", UNIT // 2),
        ("5.", 5 * UNIT),
        ("1.G", 10**9 * UNIT),
        ("32Gi", 32 * 2**30 * UNIT),
        ("0.5Ki", 512 * UNIT),
        ("0.1Ki", 102_400_000_000),
        ("1e3", 1000 * UNIT),
        ("1E3", 1000 * UNIT),
        ("1E", 10**18 * UNIT),
        ("1Ei", 2**60 * UNIT),
        ("1E+2", 100 * UNIT),
        ("1e-3", 10**6),
        ("1e003", 1000 * UNIT),
        ("100e-2", UNIT),
        ("0e99999", 0),
        ("9223372036854775807", LARGEST * UNIT),
        ("-9223372036854775807", -LARGEST * UNIT),
    ],
)
def test_spellings(text: str, in_nano: int) -> None:
    assert nano(text) == in_nano


@pytest.mark.parametrize(
    ("text", "in_nano"),
    [("0.1n", 1), ("-0.1n", -1), ("1.5n", 2), ("1e-20", 1), ("1e-999999999999", 1), ("0.0000000001Ki", 103)],
)
def test_finer_than_nano_is_rounded_away_from_zero(text: str, in_nano: int) -> None:
    assert nano(text) == in_nano


@pytest.mark.parametrize(
    ("text", "in_milli", "in_whole"),
    [
        ("1500m", 1500, 2),
        ("1", 1000, 1),
        ("100u", 1, 1),
        ("1001u", 2, 1),
        ("1Ki", 1_024_000, 1024),
        ("-1500m", -1500, -2),
        ("-1u", -1, -1),
        ("0", 0, 0),
    ],
)
def test_milli_and_whole_are_rounded_away_from_zero(text: str, in_milli: int, in_whole: int) -> None:
    assert (milli(text), whole(text)) == (in_milli, in_whole)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("1 Gi", 'write "1Gi"'),
        (" 4", 'write "4"'),
        ("4\n", 'write "4"'),
        ("1K", 'write "1k" or "1Ki"'),
        ("1kB", 'write "1k" or "1Ki"'),
        ("1gb", 'write "1G" or "1Gi"'),
        ("1MB", 'write "1M" or "1Mi"'),
        ("1GiB", 'write "1Gi"'),
        ("1ki", 'write "1Ki"'),
        ("1B", 'write "1"'),
        ("1_000", 'write "1000"'),
        ("１", 'write "1"'),
        *((text, 'such as "500m", "4" or "32Gi"') for text in ("", "abc", "0x10", "1,5", "1i", "1e1.5", "1..5", "--1")),
        *((text, 'such as "500m", "4" or "32Gi"') for text in ("1e+", "1+3", "1m3", "1K5", "nan", "inf", "٣")),
        ("1" * 2000, "is not a quantity"),
    ],
)
def test_what_is_no_quantity_is_stated_what_to_write(text: str, advice: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity; write") as refusal:
        nano(text)
    assert advice in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("text", ["m", "Ki", "+", "-", ".", "-.", "e3"])
def test_a_quantity_needs_a_digit(text: str) -> None:
    """Kubernetes' grammar and schemas ask for a digit; only its parser, by accident, reads these as 0."""
    with pytest.raises(ValueError, match="is not a quantity"):
        nano(text)


@pytest.mark.parametrize(
    "value", ["9223372036854775808", "8Ei", "9.3E", "1e19", "-8Ei", "1e999999999", 2**63 + 1, 1e19]
)
def test_beyond_int64_is_refused_where_kubernetes_caps(value: str | float) -> None:
    with pytest.raises(ValueError, match=r"overflows; a quantity is at most 9223372036854775807$"):
        nano(value)


@pytest.mark.parametrize(
    ("value", "in_nano"), [(4, 4 * UNIT), (0.5, UNIT // 2), (0.1, 10**8), (1e-7, 100), (1e16, 10**25), (-0.0, 0)]
)
def test_numbers_of_json_and_yaml(value: float, in_nano: int) -> None:
    assert nano(value) == in_nano


@pytest.mark.parametrize("value", [True, False, None, [], {}, math.nan, math.inf])
def test_other_values_are_refused(value: object) -> None:
    assert nano(1) == UNIT, "a cached 1 must not answer for true"
    with pytest.raises(ValueError, match="is not a quantity"):
        nano(value)  # type: ignore[arg-type]


def official(text: str) -> Decimal:
    value: Decimal = parse_quantity(text)  # type: ignore[no-untyped-call]
    return value


numbers = st.from_regex(r"[+-]?([0-9]{1,12}(\.[0-9]{0,12})?|\.[0-9]{1,12})", fullmatch=True)


@given(numbers, st.sampled_from([*DECIMAL, *BINARY]))
def test_agrees_with_decimal_arithmetic(number: str, suffix: str) -> None:
    with localcontext() as context:
        context.prec = 100
        factor = Decimal(1024) ** BINARY[suffix] if suffix in BINARY else Decimal(10) ** DECIMAL[suffix]
        value = Decimal(number) * factor
        if abs(value) > LARGEST:
            with pytest.raises(ValueError, match="overflows"):
                nano(number + suffix)
            return
        assert nano(number + suffix) == int((value * UNIT).to_integral_value(ROUND_UP))
        assert milli(number + suffix) == int((value * 1000).to_integral_value(ROUND_UP))
        assert whole(number + suffix) == int(value.to_integral_value(ROUND_UP))


@given(numbers, st.integers(-30, 18))
def test_exponents_agree_with_decimal_arithmetic(number: str, exponent: int) -> None:
    with localcontext() as context:
        context.prec = 100
        value = Decimal(number).scaleb(exponent)
        if abs(value) <= LARGEST:
            rounded = int((value * UNIT).to_integral_value(ROUND_UP))
            assert nano(f"{number}e{exponent}") == nano(f"{number}E{exponent:+d}") == rounded


plain_numbers = st.from_regex(r"[0-9]{1,9}(\.[0-9]{1,3})?", fullmatch=True)


@given(plain_numbers, st.sampled_from(["u", "m", "", "k", "M", "G", *BINARY]))
def test_agrees_with_the_official_client(number: str, suffix: str) -> None:
    value = official(number + suffix)
    if value <= LARGEST:
        assert nano(number + suffix) == value * UNIT


@pytest.mark.parametrize("text", ["1 ", " 1Gi", "1K", "1_000", "１", "inf", "NaN", "1 Gi"])
def test_the_official_client_takes_what_kubernetes_refuses(text: str) -> None:
    assert isinstance(official(text), Decimal)
    with pytest.raises(ValueError, match="is not a quantity"):
        nano(text)


def test_the_official_client_does_not_round() -> None:
    assert official("0.1n") * UNIT == Decimal("0.1")
    assert nano("0.1n") == 1


def refusal_of(text: str) -> str:
    try:
        nano(text)
    except ValueError as refusal:
        return str(refusal)
    return "none; accepted"


@given(st.text(max_size=8))
def test_any_text_is_a_quantity_or_a_one_line_refusal(text: str) -> None:
    refusal = refusal_of(text)
    assert "; " in refusal
    assert len(refusal.splitlines()) == 1
