"""Every rule is stated, or it is named why not; what is not stated in full stands on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from cpsched.policy.model import RULE_KEYS
from cpsched.proof.rules import ELSEWHERE, IN_PART, LEFT_OUT, ROWS

ROOT = Path(__file__).parents[3]


def test_every_rule_has_rows_or_a_reason() -> None:
    scope = {"eviction.scope"}  # where victims may stand, a part of the rule eviction
    assert {*ROWS, *ELSEWHERE, *LEFT_OUT} == {*RULE_KEYS} - scope
    assert not ROWS.keys() & ELSEWHERE.keys()
    assert not LEFT_OUT.keys() & (ROWS.keys() | ELSEWHERE.keys())


@pytest.mark.parametrize("key", [*IN_PART, *LEFT_OUT])
def test_the_page_names_what_is_left_out(key: str) -> None:
    page = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
    assert f"| `{key}` |" in page


@pytest.mark.parametrize("key", ROWS)
def test_every_function_is_beside_the_rule_that_it_states(key: str) -> None:
    """Its docstring is the sentence; the rule has a heading in docs/model.md."""
    assert ROWS[key].__doc__
    assert f"### {key}" in (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
