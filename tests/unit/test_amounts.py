"""Amounts as text: in a manifest's units, exact, and one text for one amount."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cpsched.amounts import exact, listed, short, shown
from cpsched.quantity import LARGEST, nano
from cpsched.resources import from_quantities

GPU = "nvidia.com/gpu"
GI = 2**30
RESOURCES = ("cpu", "memory", "pods", "ephemeral-storage", "hugepages-2Mi", GPU, "x.io/tokens")


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 0, "0"),
        ("cpu", 2000, "2"),
        ("cpu", 1500, "1500m"),
        ("cpu", -500, "-500m"),
        ("cpu", 1_234_000, "1234"),
        ("cpu", Fraction(25, 2), "12.5m"),
        ("cpu", Fraction(1000, 3), "333 1/3m"),
        ("cpu", Fraction(-1000, 3), "-333 1/3m"),
        ("cpu", Fraction(2, 7), "2/7m"),
        ("cpu", 2000.0, "2"),
        ("cpu", 1000 / 3, "333.3333333333333m"),  # upstream's float64, as JSON would write it
        ("memory", 0, "0"),
        ("memory", 1023, "1023"),
        ("memory", GI, "1Gi"),
        ("memory", GI + 1, "1073741825"),
        ("memory", -GI, "-1Gi"),
        ("memory", 3 * 2**29, "1536Mi"),
        ("memory", 300 * GI, "300Gi"),
        ("memory", 2**63, "8Ei"),
        ("memory", Fraction(GI, 3), "357913941 1/3"),
        ("memory", float(GI), "1Gi"),
        ("ephemeral-storage", 20_000 * GI, "20Gi"),
        ("ephemeral-storage", 1, "0.001"),
        ("hugepages-2Mi", 4_000 * 2**20, "4Mi"),
        (GPU, 3000, "3"),
        (GPU, 3000.0, "3"),
        (GPU, 250, "0.25"),
        (GPU, Fraction(10_000, 3), "3 1/3"),
        (GPU, 2_000_000, "2000"),
        ("pods", 110, "110"),
        ("pods", Fraction(5, 2), "2.5"),
        ("cpu", inf, "unlimited"),
        ("memory", inf, "unlimited"),
    ],
)
def test_exact(resource: str, amount: Fraction | float, text: str) -> None:
    assert exact(resource, amount) == text


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("memory", 99_999, "99999"),
        ("memory", 100_001, "100001 (about 97.66Ki)"),
        ("memory", GI + 1, "1073741825 (about 1.00Gi)"),
        ("memory", -GI - 1, "-1073741825 (about -1.00Gi)"),
        ("memory", 32_867_428 * 2**10, "32867428Ki (about 31.34Gi)"),
        ("memory", Fraction(40 * GI, 3), "14316557653 1/3 (about 13.33Gi)"),
        ("ephemeral-storage", 1000 * (GI + 1), "1073741825 (about 1.00Gi)"),
        ("memory", 64 * GI, "64Gi"),
        ("memory", inf, "unlimited"),
        (GPU, 2_000_000_000, "2000000"),
        ("cpu", 1_234_567, "1234567m"),
    ],
)
def test_many_digits_of_bytes_are_followed_by_about_how_much_they_are(
    resource: str, amount: Fraction | float, text: str
) -> None:
    assert shown(resource, amount) == text


integers = st.one_of(
    st.integers(-LARGEST, LARGEST),
    st.builds(lambda n, power, more: n * 2**power + more, st.integers(0, 4096), st.integers(0, 50), st.integers(-1, 1)),
    st.builds(lambda n, power, more: n * 10**power + more, st.integers(0, 99), st.integers(0, 15), st.integers(-1, 1)),
)
rationals = st.one_of(integers.map(Fraction), st.fractions(max_denominator=10**6), st.builds(Fraction, integers))
numbers = st.one_of(integers, rationals, st.floats(-1e18, 1e18))


@given(st.sampled_from(RESOURCES), integers)
def test_read_again_it_is_the_same_amount(resource: str, amount: int) -> None:
    unit = 1 if resource in ("memory", "pods") else 1000
    text = exact(resource, amount)
    assert Fraction(nano(text), 10**9) == Fraction(amount, unit)
    assert from_quantities({resource: text}) == {resource: amount}


@given(st.sampled_from(RESOURCES), numbers, numbers)
@example("memory", GI, GI + 1)
@example("memory", Fraction(GI, 3), Fraction(GI, 3) + Fraction(1, 10**9))
@example("cpu", Fraction(1000, 3), 1000 / 3)
@example("cpu", 1000 / 3, Fraction(3333, 10))
@example(GPU, 3000, 3001)
@example("cpu", 0.1, Fraction(0.1))
def test_two_amounts_never_have_one_text(resource: str, one: Fraction | float, other: Fraction | float) -> None:
    """A float64 stands for its shortest decimal form, as in JSON."""
    assume(stated(one) != stated(other))
    assert exact(resource, one) != exact(resource, other)
    assert shown(resource, one) != shown(resource, other)


def stated(amount: Fraction | float) -> Fraction:
    return Fraction(repr(amount)) if isinstance(amount, float) else Fraction(amount)


@given(st.sampled_from(RESOURCES), numbers)
def test_one_amount_has_one_text_whatever_its_type(resource: str, amount: Fraction | float) -> None:
    assert exact(resource, amount) == exact(resource, stated(amount))
    assert shown(resource, amount).startswith(exact(resource, amount))


def test_only_what_there_is_is_listed() -> None:
    assert listed({"cpu": 2500, "memory": 0, GPU: 1000, "ephemeral-storage": 4000 * GI}) == (
        "2500m cpu, 1 gpu, 4Gi ephemeral-storage"
    )
    assert short("hugepages-2Mi") == "hugepages-2Mi"
