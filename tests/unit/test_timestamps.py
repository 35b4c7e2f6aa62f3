"""RFC 3339 times as nanoseconds since 1970."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpsched import timestamps

SECOND = 10**9
FIRST, LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01Z", SECOND),
        ("1969-12-31T23:59:59Z", -SECOND),
        ("1970-01-01T00:00:00.5Z", SECOND // 2),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T00:00:00.0000000019Z", 1),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T18:30:00-05:30", 0),
        ("2026-01-31T12:00:00Z", 1_769_860_800 * SECOND),
        ("2024-02-29T00:00:00Z", 1_709_164_800 * SECOND),
    ],
)
def test_parse(text, nanoseconds):
    """Zones, fractions and times before 1970; digits beyond the ninth are cut off."""
    assert timestamps.parse(text) == nanoseconds


@pytest.mark.parametrize(
    "value",
    [
        "",
        "now",
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-01-31 12:00:00Z",
        "2026-1-31T12:00:00Z",
        "２026-01-31T12:00:00Z",
        5,
        None,
    ],
)
def test_not_a_time(value):
    """A date, a time without its zone, a number: the message shows what to write."""
    with pytest.raises(ValueError, match=r'is not an RFC 3339 time; write "2026-01-31T12:00:00Z"'):
        timestamps.parse(value)


@pytest.mark.parametrize(
    "text", ["2025-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00+25:00"]
)
def test_no_such_time(text):
    """The thirtieth of February has the right form and does not exist."""
    with pytest.raises(ValueError, match="is not a time that exists"):
        timestamps.parse(text)


def test_long_values_are_cut_in_messages():
    """A message stays one readable line."""
    with pytest.raises(ValueError, match=r"^.{0,140}$"):
        timestamps.parse("x" * 1000)


@pytest.mark.parametrize("text", [FIRST, LAST, "0999-01-01T00:00:00Z", "2026-01-01T00:00:00.25Z"])
def test_text(text):
    """Written in UTC, with a fraction only where there is one, and always four digits of year."""
    assert timestamps.text(timestamps.parse(text)) == text


@given(st.integers(timestamps.parse(FIRST), timestamps.parse(LAST)))
def test_round_trip(nanoseconds):
    """Nothing is lost on the way to text and back."""
    assert timestamps.parse(timestamps.text(nanoseconds)) == nanoseconds


@given(st.integers(timestamps.parse(FIRST), timestamps.parse(LAST)), st.integers(1, SECOND))
def test_order(nanoseconds, later):
    """Later moments are larger numbers, to the nanosecond."""
    assert timestamps.parse(timestamps.text(nanoseconds)) < nanoseconds + later
