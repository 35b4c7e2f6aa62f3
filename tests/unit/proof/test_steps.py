"""The replayer takes true steps and refuses all others, each in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cpsched.proof import steps
from cpsched.proof.rows import ProofRow, ProofStatement, Variable
from cpsched.proof.steps import LARGEST_BITS, RefusedError, Replayer

ONE = ProofRow({"x": 1}, 1)


def statement(claim: ProofRow) -> ProofStatement:
    """x + y ≥ 3, 2 x − 2 y ≥ −2, 0 ≤ x, y ≤ 5: so x ≥ 1 by a sum that is divided."""
    limits = {name: Variable(0, 5, lambda _: 0) for name in "xy"}
    rows = {"sum": ProofRow({"x": 1, "y": 1}, 3), "less": ProofRow({"x": 2, "y": -2}, -2)}
    return ProofStatement(limits, rows, claim)


def replay(*steps: Any, claim: ProofRow = ONE, values: dict[str, int] | None = None) -> None:
    Replayer(statement(claim), values).replay(steps)


HALF = ["sum", 4, [["sum", 2], ["less", 1]]]
CASES: list[Any] = [
    ["split", [["y", 1]], 1],
    ["sum", 1, [["sum", 1], [1, 1]]],
    ["else"],
    ["sum", 2, [["less", 1], [1, 2]]],
    ["both"],
]


def test_a_sum_is_divided_and_rounded_up() -> None:
    replay(HALF, ["end"])


def test_what_two_cases_show_stands() -> None:
    replay(*CASES[:3], ["sum", 2, [["less", 1], [1, 2]]], ["both"], ["end"])


def test_a_split_can_show_a_row_of_its_own() -> None:
    inner = [["split", [["y", 1]], 1, [["x", 2]], 2], ["sum", 1, [["sum", 2], [1, 2]]], ["else"]]
    inner += [["sum", 1, [["less", 1], [1, 2]]], ["both"], ["sum", 2, [[1, 1]]], ["end"]]
    replay(*inner)


def test_limits_are_rows() -> None:
    replay(["sum", 1, [[">x", 1]]], ["end"], claim=ProofRow({"x": 1}, 0))
    replay(["sum", 1, [["<x", 1]]], ["end"], claim=ProofRow({"x": -1}, -5))


def test_nothing_is_shown_without_a_step() -> None:
    replay(["end"], claim=ProofRow({}, 0))
    with pytest.raises(RefusedError, match="the last row is not the claim"):
        replay(["end"])


def test_a_contradiction_shows_everything() -> None:
    found = statement(ProofRow({"x": 7}, 30))
    rows = {**found.rows, "never": ProofRow({"x": -1}, 1)}
    Replayer(ProofStatement(found.variables, rows, found.claim)).replay(
        [["sum", 1, [["never", 1], [">x", 1]]], ["end"]]
    )


def test_a_decision_satisfies_every_row() -> None:
    replay(["solution"], HALF, ["end"], values={"x": 2, "y": 1})
    with pytest.raises(RefusedError, match="does not satisfy sum"):
        replay(["solution"], HALF, ["end"], values={"x": 1, "y": 1})
    with pytest.raises(RefusedError, match="beyond the limits of x"):
        replay(["solution"], HALF, ["end"], values={"x": 6, "y": 1})
    with pytest.raises(RefusedError, match="none is given"):
        replay(["solution"], HALF, ["end"])


DEEP = [["split", [["y", 1]], 1]] * 100_001
BAD: dict[str, tuple[list[Any], str]] = {
    "no list": (["end"], "is no step"),
    "a mapping": ([{"sum": 1}], "is no step"),
    "unknown kind": ([["product", 1, []]], "is no step"),
    "a kind that is a list": ([[["sum"], 1, []]], "is no step"),
    "too few parts": ([["sum", 1]], "too few or too many parts"),
    "later row": ([["sum", 1, [[1, 1]]]], "not there yet"),
    "row 0": ([["sum", 1, [[0, 1]]]], "not there yet"),
    "row -1": ([HALF, ["sum", 1, [[-1, 1]]]], "not there yet"),
    "true for a number": ([HALF, ["sum", 1, [[True, 1]]]], "not there"),
    "unknown label": ([["sum", 1, [["product", 1]]]], "not there"),
    "a limit of nothing": ([["sum", 1, [[">z", 1]]]], "not there"),
    "negative multiplier": ([["sum", 1, [["sum", -1]]]], "multiplier below 1"),
    "a float": ([["sum", 1, [["sum", 1.0]]]], "no whole number"),
    "a text": ([["sum", 1, [["sum", "1"]]]], "no whole number"),
    "divisor 0": ([["sum", 0, [["sum", 1]]]], "divisor below 1"),
    "divisor that leaves a rest": ([["sum", 3, [["sum", 2]]]], "does not divide"),
    "no pairs": ([["sum", 1, 7]], "no pair"),
    "a triple": ([["sum", 1, [["sum", 1, 1]]]], "no pair"),
    "long multiplier": ([["sum", 1, [["sum", 1 << LARGEST_BITS]]]], "more than 10,000 digits"),
    "long result": ([["sum", 1, [["sum", 1 << (LARGEST_BITS - 2)]]], ["sum", 1, [[1, 9]]]], "more than 10,000 digits"),
    "split on nothing known": ([["split", [["z", 1]], 1]], "not there"),
    "split twice on one": ([["split", [["y", 1], ["y", 1]], 1]], "twice"),
    "split at a float": ([["split", [["y", 1]], 1.5]], "no whole number"),
    "else without a split": ([["else"]], "not open"),
    "both in the first case": ([["split", [["y", 1]], 1], ["both"]], "not open"),
    "else twice": ([*CASES[:3], CASES[1], ["else"]], "not open"),
    "first case shows nothing": ([["split", [["y", 1]], 1], ["else"]], "not the one to be shown"),
    "second case shows nothing": ([*CASES[:3], ["both"]], "not the one to be shown"),
    "a case by a row from outside": ([HALF, ["split", [["y", 1]], 1], ["else"]], "not the one to be shown"),
    "a row of a closed case": ([*CASES[:3], ["sum", 1, [[2, 1]]]], "not there yet"),
    "end inside a split": ([["split", [["y", 1]], 1], CASES[1], ["end"]], "inside a split"),
    "end too early": ([["sum", 1, [["less", 1]]], ["end"]], "not the claim"),
    "after the end": ([HALF, ["end"], ["end"]], "after the end"),
    "no end": ([HALF], "it has no end"),
    "nothing": ([], "it has no end"),
    "too deep": (DEEP, "inside too many others"),
}


@pytest.mark.parametrize(("steps", "why"), BAD.values(), ids=BAD.keys())
def test_bad_steps_are_refused_in_one_line(steps: list[Any], why: str) -> None:
    with pytest.raises(RefusedError, match=why) as found:
        replay(*steps)
    assert "\n" not in str(found.value)


def test_many_splits_need_no_recursion() -> None:
    splits = [["split", [["y", 1]], k, [["x", 1]], 1] for k in range(5_000)]
    ends = [part for _ in splits for part in (["else"], HALF, ["both"])]
    replay(*splits, HALF, *ends, ["end"])


def test_rows_that_are_too_large_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpsched.proof.steps.MOST_TERMS", 8)
    replay(HALF, HALF, HALF, HALF, ["end"])
    with pytest.raises(RefusedError, match="step 5 is one row too many"):
        replay(HALF, HALF, HALF, HALF, HALF, ["end"])
    replay(*CASES, HALF, HALF, HALF, ["end"])


def test_a_replayer_is_two_hundred_lines_at_most() -> None:
    assert len(Path(steps.__file__).read_text().splitlines()) <= 200
