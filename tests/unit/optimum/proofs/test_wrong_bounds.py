"""Bounds that a solver stated and that are wrong: no proof of them is found, by whatever is tried."""

from __future__ import annotations

from cpsched.optimum.proofs.branching import Branching
from cpsched.optimum.proofs.deep import prove_deeply
from cpsched.optimum.proofs.places import prove_by_prices
from cpsched.optimum.proofs.root import Root, prove
from cpsched.policy.levels import LevelRef
from cpsched.proof.forms import FORMS
from cpsched.proof.rows import ProofRow, ProofStatement, Variable
from cpsched.proof.steps import Replayer
from tests.oracle.brute_force import optimum
from tests.oracle.proofs import statements
from tests.oracle.sessions import contest


def stated(least: int) -> ProofStatement:
    """HiGHS 1.14 says that x is at least 1, once 16 is taken out of a row; but y = 2 and x = 0 satisfy them all."""
    variables = {"x": (0, 10**6), "y": (0, 2), "z": (-2, 2)}
    rows = {
        "deficit": ProofRow({"x": 16, "y": 15_999_999}, 16_000_000),
        "between": ProofRow({"y": -1, "z": 1}, -2),
    }
    limits = {name: Variable(low, high, lambda _: 0) for name, (low, high) in variables.items()}
    return ProofStatement(limits, rows, ProofRow({"x": 1}, least))


def test_no_steps_show_the_bound_that_highs_states() -> None:
    wrong = stated(1)
    assert prove(wrong) is None
    assert prove_deeply(Root(wrong)) is None
    assert Branching(Root(wrong), wrong.claim, 10_000).prove() is None
    right = prove(stated(0))
    assert right is not None
    Replayer(stated(0)).replay(right)


def test_no_proof_of_more_than_the_optimum_in_sessions_where_highs_states_it() -> None:
    """Seeds in which its bound of a deficit was one too high."""
    for seed in (77000383, 77000961, 77001283):
        snapshot = contest(seed).snapshot()
        best, tried = optimum(snapshot).decisions[0], 0
        for level, statement, values in statements(snapshot, best, FORMS["nodes-starts"]):
            if level in (LevelRef("queue_deficit_max"), LevelRef("queue_deficit_total")):
                more = statement.claim._replace(least=statement.claim.least + 1)
                wrong = ProofStatement(statement.variables, statement.rows, more)
                assert prove(wrong) is None
                assert prove_by_prices(Root(wrong), values) is None
                assert prove_deeply(Root(wrong)) is None
                tried += 1
        assert tried
