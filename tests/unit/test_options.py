"""The seed that takes the documented choices, and what is out of range."""

from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.options import Options


def test_one_takes_the_documented_choices_and_others_draw() -> None:
    assert Options().chance is None
    assert Options(seed=1).chance is None
    assert (Options(seed=0).chance, Options(seed=7).chance) == (0, 7)


@pytest.mark.parametrize(
    "wrong", [{"time_limit": 0}, {"time_limit": float("inf")}, {"workers": 0}, {"workers": 1025}, {"seed": 2**31}]
)
def test_out_of_range_is_an_input_error(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Options(**wrong)
