"""The five ways in which answers of plugins become one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cpsched.greedy.volcano import tiers


def say(*answers: Any) -> list[Callable[..., Any]]:
    return [lambda *subjects, answer=answer: answer for answer in answers]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [([], 0), ([[]], 0), ([[0, 0], [0]], 0), ([[0, -1], [1]], -1), ([[0], [2, -1]], 2)],
)
def test_first_nonzero(answers: list[list[int]], expected: int) -> None:
    assert tiers.first_nonzero([say(*tier) for tier in answers], "l", "r") == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [([], None), ([[None, "a"], ["b"]], "a"), ([[None], [None]], None), ([[None], ["b"]], "b")],
)
def test_first_refusal(answers: list[list[str | None]], expected: str | None) -> None:
    assert tiers.first_refusal([say(*tier) for tier in answers], "x") == expected


@pytest.mark.parametrize(
    ("answers", "expected"), [([], True), ([[]], True), ([[True], [True]], True), ([[True], [False]], False)]
)
def test_all_agree(answers: list[list[bool]], expected: bool) -> None:
    assert tiers.all_agree([say(*tier) for tier in answers], "x") is expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([], True),
        ([[0, 0]], True),
        ([[1], [-1]], True),
        ([[0], [-1]], False),
        ([[1, -1]], False),
        ([[-1, 1]], False),
        ([[0, 1], [-1]], True),
    ],
)
def test_vote(answers: list[list[int]], expected: bool) -> None:
    assert tiers.vote([say(*tier) for tier in answers], "x") is expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([], False),
        ([[], []], False),
        ([[], [True]], True),
        ([[True, False], [True]], False),
        ([[True], [False]], True),
    ],
)
def test_first_tier_agrees(answers: list[list[bool]], expected: bool) -> None:
    assert tiers.first_tier_agrees([say(*tier) for tier in answers], "x") is expected


def test_scores_add_up_in_tier_order() -> None:
    assert tiers.total([say(1.0, 2.5), say(), say(4.0)], "task", "node") == 7.5


PERMIT, ABSTAIN, REJECT = 1, 0, -1


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([], []),
        ([[("ab", PERMIT)]], ["a", "b"]),
        # The order of the first list stays.
        ([[("cba", PERMIT), ("abc", PERMIT)]], ["c", "b", "a"]),
        ([[("ab", PERMIT), ("bc", PERMIT)]], ["b"]),
        # Who abstains is not there.
        ([[("ab", PERMIT), ("", ABSTAIN)]], ["a", "b"]),
        ([[("", ABSTAIN)], [("b", PERMIT)]], ["b"]),
        # A veto hands the decision to the next tier, whatever its own tier stated before or would say after.
        ([[("", PERMIT)], [("b", PERMIT)]], ["b"]),
        ([[("ab", PERMIT), ("", PERMIT), ("a", PERMIT)], [("b", PERMIT)]], ["b"]),
        ([[("ab", PERMIT), ("", REJECT)]], []),
        # An empty intersection is no verdict: the next plugin of the tier starts afresh.
        ([[("a", PERMIT), ("b", PERMIT), ("cd", PERMIT)]], ["c", "d"]),
        ([[("a", PERMIT), ("b", PERMIT)], [("c", PERMIT)]], ["c"]),
        # The first tier that names any task ends the search.
        ([[("a", PERMIT)], [("b", PERMIT)]], ["a"]),
    ],
)
def test_victims(answers: list[list[tuple[str, int]]], expected: list[str]) -> None:
    asked = [say(*((list(named), vote) for named, vote in tier)) for tier in answers]
    assert tiers.victims(asked, str) == expected
