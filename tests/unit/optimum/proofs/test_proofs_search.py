"""What a search for a proof finds: rows that take cuts, splits, or a sum of priorities in two parts."""

from __future__ import annotations

from cpsched.optimum.proofs.branching import Branching
from cpsched.optimum.proofs.cuts import cut_of
from cpsched.optimum.proofs.deep import prove_deeply
from cpsched.optimum.proofs.line import limits_of, line
from cpsched.optimum.proofs.root import Root, prove, used_only
from cpsched.proof.rows import ProofRow, ProofStatement, Variable
from cpsched.proof.steps import Replayer


def statement(claim: ProofRow, high: int = 1, **rows: ProofRow) -> ProofStatement:
    names = sorted({name for row in [*rows.values(), claim] for name in row.terms})
    return ProofStatement({name: Variable(0, high, lambda _: 0) for name in names}, rows, claim)


def knapsack() -> ProofStatement:
    """7 a + 5 b + 5 c + 4 d ≤ 15 with three of them is possible, with 19 of worth it is not: 18 is the most."""
    worth = {"a": -9, "b": -6, "c": -6, "d": -4}
    return statement(ProofRow(worth, -16), room=ProofRow({"a": -7, "b": -5, "c": -5, "d": -4}, -15))


def test_a_knapsack_takes_splits() -> None:
    goal = knapsack()
    assert prove(goal) is None
    steps = Branching(Root(goal), goal.claim, 100).prove()
    assert steps is not None
    assert any(step[0] == "split" for step in steps)
    Replayer(goal).replay([*steps, ["end"]])


def test_no_search_shows_what_is_not_true() -> None:
    goal = knapsack()
    beyond = ProofStatement(goal.variables, goal.rows, ProofRow(goal.claim.terms, -14))
    assert Branching(Root(beyond), beyond.claim, 1000).prove() is None
    assert prove_deeply(Root(beyond)) is None


def test_a_search_ends_with_its_leaves() -> None:
    goal = knapsack()
    assert Branching(Root(goal), goal.claim, 1).prove() is None


def test_a_cut_divides_a_row_by_one_of_its_coefficients() -> None:
    goal = statement(ProofRow({"x": -1}, -8), high=20, room=ProofRow({"x": -2, "y": -1}, -17))
    cut = cut_of("room", goal.rows["room"], {"x": 8.5, "y": 0.0}, limits_of(goal.variables))
    assert cut is not None
    assert cut.row == ProofRow({"x": -1}, -8)
    Replayer(goal).replay([cut.step, ["end"]])
    assert cut_of("room", goal.rows["room"], {"x": 8.0, "y": 1.0}, limits_of(goal.variables)) is None


def test_priorities_are_summed_in_two_parts() -> None:
    large = 2**31
    claim = ProofRow({"a": large + 10, "b": large + 10, "c": large + 20}, 2 * large + 30)
    rows = {"two": ProofRow({"a": 1, "b": 1, "c": 1}, 2), "one": ProofRow({"a": -1, "b": -1}, -1)}
    goal = statement(claim, **rows)
    steps = prove_deeply(Root(goal))
    assert steps is not None
    assert [step[0] for step in steps].count("split") == 1
    Replayer(goal).replay(steps)


def test_multipliers_become_whole_numbers_the_smallest_that_do() -> None:
    goal = statement(ProofRow({"x": 1}, 1), high=9, a=ProofRow({"x": 3}, 1), b=ProofRow({"x": 1, "y": 3}, 1))
    limits = limits_of(goal.variables)
    assert line(goal.claim, [("a", goal.rows["a"], 1 / 3)], limits) == ["sum", 12, [["a", 4]]]
    assert line(goal.claim, [("a", goal.rows["a"], 0.0)], limits) is None


def test_sums_that_no_later_one_uses_are_left_out() -> None:
    steps = [["sum", 1, [["a", 1]]], ["sum", 1, [["b", 1]]], ["sum", 1, [[2, 1]]]]
    assert used_only(steps) == [["sum", 1, [["b", 1]]], ["sum", 1, [[1, 1]]]]
