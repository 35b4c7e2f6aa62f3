"""Rows: what follows from another at once, and how they are rounded."""

from __future__ import annotations

from cpsched.proof.rows import ProofRow, ProofStatement, Variable, rounded, summed


def test_common_divisors_are_taken_out_and_the_right_side_is_rounded() -> None:
    assert rounded({"x": 4, "y": -6, "z": 0}, 3) == ProofRow({"x": 2, "y": -3}, 2)
    assert rounded({"x": 4}, -3) == ProofRow({"x": 1}, 0)
    assert rounded({}, -3).is_trivial
    assert not rounded({}, 3).is_trivial


def test_a_sum_leaves_out_what_cancels() -> None:
    assert summed([(2, {"x": 1, "y": 1}), (-1, {"x": 2})]) == {"y": 2}


def test_a_row_implies_the_same_of_less_and_a_contradiction_everything() -> None:
    assert ProofRow({"x": 1}, 2).implies(ProofRow({"x": 1}, 1))
    assert not ProofRow({"x": 1}, 1).implies(ProofRow({"x": 1}, 2))
    assert not ProofRow({"x": 2}, 2).implies(ProofRow({"x": 1}, 1))
    assert ProofRow({}, 1).implies(ProofRow({"x": 1}, 99))
    assert not ProofRow({}, 0).implies(ProofRow({"x": 1}, 0))
    assert ProofRow({"x": 1}, 0).implies(ProofRow({}, 0))


def test_limits_go_by_the_name_of_the_variable() -> None:
    statement = ProofStatement({"x": Variable(1, 4, lambda _: 1)}, {"a": ProofRow({"x": 1}, 0)}, ProofRow({}, 0))
    assert statement.of(">x") == ProofRow({"x": 1}, 1)
    assert statement.of("<x") == ProofRow({"x": -1}, -4)
    assert statement.of("a") == ProofRow({"x": 1}, 0)
    assert statement.of(">a") is None
    assert statement.of("") is None
