"""Statements admit every legal decision, so what is proved from them is true; and proofs of optima are found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cpsched.optimum.proofs.root import prove
from cpsched.proof.counts import is_countable
from cpsched.proof.forms import FORMS
from cpsched.proof.rows import ProofStatement
from cpsched.proof.steps import Replayer
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from tests.oracle.brute_force import decisions, optimum
from tests.oracle.neighbours import neighbourly
from tests.oracle.plugin_sessions import KINDS, session
from tests.oracle.proofs import statements, unsatisfied
from tests.oracle.sessions import contest, entering, overcommitted
from tests.oracle.topology_sessions import topology_session

CHUNK = 100


@pytest.mark.parametrize("start", range(0, 1000, CHUNK))
def test_statements_admit_every_legal_decision(start: int) -> None:
    for seed in range(start, start + CHUNK):
        snapshot = contest(seed).snapshot()
        legal = (decision for decision in decisions(snapshot) if not violations(decision))
        assert not list(unsatisfied(snapshot, legal)), seed


@pytest.mark.parametrize("make", [overcommitted, entering, lambda seed: contest(seed, scope="cluster")])
def test_statements_of_other_sessions_do_too(make: object) -> None:
    for seed in range(100):
        snapshot = make(seed).snapshot()  # type: ignore[operator]
        legal = (decision for decision in decisions(snapshot) if not violations(decision))
        assert not list(unsatisfied(snapshot, legal)), seed


@pytest.mark.parametrize("family", ["affinity", "spread"])
@pytest.mark.parametrize("start", [0, 40])
def test_statements_of_sessions_with_neighbours_do_too(family: str, start: int) -> None:
    stated = 0
    for seed in range(start, start + 40):
        snapshot = neighbourly(seed, family).snapshot()
        legal = [decision for decision in decisions(snapshot) if not violations(decision)]
        assert not list(unsatisfied(snapshot, legal, [FORMS["nodes"], FORMS["nodes-starts"]])), seed
        stated += any("filters[" in label for label in rows_of(snapshot, legal[0]))
    assert stated > 20


def rows_of(snapshot: Snapshot, decision: Decision) -> Iterator[str]:
    """Labels of rows in the form that tells the most apart."""
    for _, statement, _ in statements(snapshot, decision, FORMS["nodes-starts"]):
        yield from statement.rows


@pytest.mark.parametrize("kind", KINDS)
def test_statements_of_sessions_with_rules_of_plugins_do_too(kind: str) -> None:
    for seed in range(40):
        snapshot = session(kind, seed)
        legal = (decision for decision in decisions(snapshot) if not violations(decision))
        assert not list(unsatisfied(snapshot, legal)), seed


@pytest.mark.parametrize("kind", ["near", "soft", "sub-groups"])
def test_statements_of_sessions_with_hyper_nodes_do_too(kind: str) -> None:
    """Where gang actions run no statement is made."""
    for seed in range(15):
        snapshot = topology_session(kind, seed)
        legal = [decision for decision in decisions(snapshot) if not violations(decision)]
        assert all(map(is_countable, legal))
        assert not list(unsatisfied(snapshot, legal)), seed


def test_most_levels_of_an_optimum_take_one_line() -> None:
    """At the optimum's values and with the form that tells the most apart; nothing beyond the optimum is proved."""
    proved = levels = 0
    for seed in range(60):
        snapshot = contest(seed).snapshot()
        best = optimum(snapshot).decisions[0]
        for level, statement, values in statements(snapshot, best, FORMS["nodes-starts"]):
            steps = prove(statement)
            levels += 1
            if steps is not None:
                proved += 1
                Replayer(statement, values).replay([["solution"], *steps])
            assert statement.claim.is_trivial or prove(beyond(statement)) is None, (seed, level)
    assert proved > 0.95 * levels


def beyond(statement: ProofStatement) -> ProofStatement:
    """The same with one more claimed than is true."""
    return replace(statement, claim=statement.claim._replace(least=statement.claim.least + 1))
