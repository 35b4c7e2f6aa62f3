"""The benchmarks that are run by hand still run: what they call may change. How long it takes is not looked at."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.benchmark import proved
from tests.benchmark.__main__ import BENCHMARKS


@pytest.mark.parametrize("name", BENCHMARKS)
def test_each_has_its_function(name: str) -> None:
    assert callable(import_module(f"tests.benchmark.{name}").main)


@pytest.mark.parametrize("profile", ["plain", "kube"])
def test_a_fresh_session_is_solved(profile: str) -> None:
    tally = proved.Tally()
    proved._measure(profile, 1, tally)
    assert len(tally.seconds) == 1
    assert not [stated for stated in tally.open if not stated.endswith("is open")]
