"""Logs of other solvers: `pol` lines become sums, and what is of no kind of step becomes none."""

from __future__ import annotations

import pytest

from cpsched.optimum.proofs.logs import translated
from cpsched.proof.export.veripb import formula, proof
from cpsched.proof.rows import ProofRow, ProofStatement, Variable
from cpsched.proof.steps import Replayer

HEAD = "pseudo-Boolean proof version 3.0\nf 3;\n"
TAIL = "output NONE;\nconclusion BOUNDS {} : {} INF;\nend pseudo-Boolean proof;\n"


def stated(least: int) -> ProofStatement:
    """2 x + 2 y ≥ 3 with bits, z from 0 to 3 with x + z ≥ 3; so x + y ≥ 2 and z ≥ 2."""
    limits = {"x": (0, 1), "y": (0, 1), "z": (0, 3)}
    rows = {"sum": ProofRow({"x": 2, "y": 2}, 3), "more": ProofRow({"x": 1, "z": 1}, 3)}
    variables = {name: Variable(low, high, lambda _: 0) for name, (low, high) in limits.items()}
    return ProofStatement(variables, rows, ProofRow({"x": 1, "y": 1}, least))


@pytest.mark.parametrize(
    "lines",
    [
        "@a pol 1 2 d;\n" + TAIL.format(2, "@a"),
        "p 1 2 d\n" + TAIL.format(2, "-1"),
        "pol 1 3 * 6 d;\n" + TAIL.format(2, "3"),
        "pol 1 2 * 1 + 6 d;\n" + TAIL.format(2, "3"),
        "pol 1 ~x1b0 + x1b0 + 2 d;\n" + TAIL.format(1, "3"),
    ],
)
def test_sums_and_divisions_become_sums(lines: str) -> None:
    goal = stated(1)
    steps = translated(goal, HEAD + lines)
    assert steps is not None
    assert {step[0] for step in steps} == {"sum", "end"}
    Replayer(goal).replay(steps)


def test_a_division_rounds_every_coefficient_up() -> None:
    """3 x + 2 y ≥ 3 by half is 2 x + y ≥ 2, as VeriPB has it."""
    goal = stated(0)
    rows = {**goal.rows, "sum": ProofRow({"x": 3, "y": 2}, 3)}
    other = ProofStatement(goal.variables, rows, ProofRow({"x": 2, "y": 1}, 2))
    steps = translated(other, HEAD + "pol 1 2 d;\n" + TAIL.format(2, "3"))
    assert steps is not None
    assert steps[0] == ["sum", 2, [["sum", 1], [">x", 1]]]


def test_bits_of_a_number_are_its_limit_only_together() -> None:
    goal = ProofStatement(stated(0).variables, stated(0).rows, ProofRow({"x": 1}, 0))
    whole = "pol 2 ~x3b0 + ~x3b1 2 * +;\n" + TAIL.format(0, "3")
    steps = translated(goal, HEAD + whole)
    assert steps is not None
    assert steps[0] == ["sum", 1, [["more", 1], ["<z", 1]]]
    assert translated(goal, HEAD + "pol 2 ~x3b0 +;\n" + TAIL.format(0, "3")) is None


@pytest.mark.parametrize(
    "lines",
    [
        "rup 1 x1b0 1 x2b0 >= 2;\n" + TAIL.format(2, "3"),
        "pol 1 s;\n" + TAIL.format(2, "3"),
        "pol 1 2 d;\n",
        "pol 1 2 d;\n" + TAIL.format(2, "9"),
        "pol 9;\n" + TAIL.format(2, "3"),
        "pol +;\n" + TAIL.format(2, "3"),
        "pol 1 0 d;\n" + TAIL.format(2, "3"),
        "pol 1 x9b0 +;\n" + TAIL.format(2, "3"),
        f"pol 1 {'9' * 5000} *;\n" + TAIL.format(2, "3"),
        "pol 1;\n" + TAIL.format(2, "3"),
        "conclusion BOUNDS\n",
        "",
        "\x00\x1b[31m",
    ],
)
def test_what_is_of_no_kind_or_shows_nothing_is_no_proof(lines: str) -> None:
    assert translated(stated(2), HEAD + lines) is None


def test_our_own_proofs_come_back() -> None:
    goal = stated(2)
    steps = [["sum", 2, [["sum", 1]]], ["end"]]
    assert "".join(formula(goal)).count(">=") == 2
    assert translated(goal, "".join(proof(goal, steps))) is not None
