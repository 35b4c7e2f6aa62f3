from __future__ import annotations

import pytest

from cpsched.policy.durations import nanoseconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1ns", 1),
        ("1us", 1_000),
        ("1\u00b5s", 1_000),
        ("1\u03bcs", 1_000),
        ("1ms", 1_000_000),
        ("1s", 1_000_000_000),
        ("1m", 60_000_000_000),
        ("1h2m3s4ms5us6ns", 3_723_004_005_006),
        ("1.5h", 5_400_000_000_000),
        (".5s", 500_000_000),
        ("1.s", 1_000_000_000),
        ("-2m", -120_000_000_000),
        ("+2m", 120_000_000_000),
        ("0.3333333333333333333h", 1_200_000_000_000),
        ("100000h", 360_000_000_000_000_000),
    ],
)
def test_reads_what_go_reads(text: str, expected: int) -> None:
    assert nanoseconds(text) == expected


@pytest.mark.parametrize("text", ["", "-", "5", "3 m", "1d", ".s", "1h-2m", "h", 7, 1.5, None, True, "3000000h", "٣s"])
def test_refuses_what_go_refuses(text: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        nanoseconds(text)
