"""Proofs by prices: what one node holds at most is shown once, and again for every node that is alike."""

from __future__ import annotations

from collections.abc import Mapping

from cpsched.optimum.proofs.blocks import blocks_of
from cpsched.optimum.proofs.places import prove_by_prices
from cpsched.optimum.proofs.root import Root, prove
from cpsched.proof.rows import ProofRow, ProofStatement, Variable
from cpsched.proof.steps import Replayer

SIZES = {"a": 29, "b": 27, "c": 60, "d": 45, "e": 49}
NODES = 3
BEST = ("aab", "bc", "dd")


def packing(least: int, capacities: tuple[int, ...] = (100,) * NODES) -> ProofStatement:
    """Three nodes of 100 for two each of five sizes: seven fit, and no sum of rows shows it."""
    variables = {f"place[{kind},{node}]": _at(2, node) for kind in SIZES for node in range(NODES)}
    variables |= {f"take[{kind}]": _at(2, None) for kind in SIZES}
    rows = {
        f"capacity[{node}]": ProofRow({f"place[{kind},{node}]": -size for kind, size in SIZES.items()}, -capacity)
        for node, capacity in enumerate(capacities)
    }
    for kind in SIZES:
        there = {f"place[{kind},{node}]": 1 for node in range(NODES)}
        rows[f"assignment[{kind}]"] = ProofRow({**there, f"take[{kind}]": -1}, 0)
    return ProofStatement(variables, rows, ProofRow({f"take[{kind}]": -1 for kind in SIZES}, -least))


def _at(high: int, node: int | None) -> Variable:
    return Variable(0, high, lambda _: 0, node)


def point(statement: ProofStatement, *nodes: str) -> dict[str, int]:
    """Nodes by the kinds that are there."""
    found = dict.fromkeys(statement.variables, 0)
    for number, kinds in enumerate(nodes):
        for kind in kinds:
            found[f"place[{kind},{number}]"] += 1
            found[f"take[{kind}]"] += 1
    return found


def satisfies(statement: ProofStatement, values: Mapping[str, int]) -> bool:
    rows = [*statement.rows.values(), statement.claim]
    return all(sum(c * values[name] for name, c in row.terms.items()) >= row.least for row in rows)


def test_nodes_of_which_the_same_is_stated_are_one_block() -> None:
    blocks, between = blocks_of(packing(7))
    assert [len(block.variables) for block in blocks] == [NODES]
    assert between == [f"assignment[{kind}]" for kind in SIZES]
    variables, rows = blocks[0].renaming(2)
    assert variables["place[a,0]"] == "place[a,2]"
    assert rows == {"capacity[0]": "capacity[2]"}
    apart, _ = blocks_of(packing(7, (100, 90, 100)))
    assert sorted(len(block.variables) for block in apart) == [1, 2]


def test_a_claim_that_no_sum_of_rows_shows_is_shown_by_what_a_node_holds() -> None:
    goal = packing(7)
    best = point(goal, *BEST)
    assert satisfies(goal, best)
    assert prove(goal) is None
    steps = prove_by_prices(Root(goal), best)
    assert steps is not None
    Replayer(goal, best).replay([["solution"], *steps])
    split = [step for step in steps if step[0] == "split"]
    assert len(split) % NODES == 0
    assert split


def test_no_prices_show_what_is_not_true() -> None:
    beyond = packing(6)
    assert not satisfies(beyond, point(beyond, *BEST))
    assert prove_by_prices(Root(beyond), point(beyond, *BEST)) is None


def test_places_of_two_sizes_are_shown_each_by_itself() -> None:
    goal = packing(6, (100, 100, 55))
    best = point(goal, "aab", "bc", "d")
    assert satisfies(goal, best)
    assert prove(goal) is None
    steps = prove_by_prices(Root(goal), best)
    assert steps is not None
    Replayer(goal).replay(steps)
