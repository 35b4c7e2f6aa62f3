"""Doctored proofs: whatever is changed in one is refused, unless what it says is still true."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from cpsched.optimum.proofs.root import prove
from cpsched.proof.forms import FORMS
from cpsched.proof.rows import ProofRow, ProofStatement
from cpsched.proof.steps import RefusedError, Replayer
from tests.oracle.brute_force import optimum
from tests.oracle.proofs import statements
from tests.oracle.sessions import contest

Steps = list[Any]
KINDS = ("multiplier", "divisor", "row", "missing row", "limit", "split", "no step", "twice", "bound", "swap")
PROOFS = 250
CHANGES = 40
"""Per proof: together 10,000 doctored ones."""


def proofs() -> list[tuple[ProofStatement, Steps, dict[str, int]]]:
    found = []
    for seed in range(1000):
        snapshot = contest(seed).snapshot()
        for _, statement, values in statements(snapshot, optimum(snapshot).decisions[0], FORMS["nodes-starts"]):
            steps = None if statement.claim.is_trivial else prove(statement)
            if steps is not None and len(steps[0][2]) > 1:
                found.append((statement, halved(statement, steps), values))
        if len(found) >= PROOFS:
            return found[:PROOFS]
    raise AssertionError("too few proofs")


def halved(statement: ProofStatement, steps: Steps) -> Steps:
    """The same proof in both cases of a split, so that there is a split to doctor."""
    name = sorted(statement.claim.terms)[0]
    body, again = steps[:-1], copy.deepcopy(steps[:-1])
    for step in (*body, *again):
        step[2] = [[ref + 1 if isinstance(ref, int) else ref, times] for ref, times in step[2]]
    low = statement.variables[name].low
    return [["split", [[name, 1]], low], *body, ["else"], *again, ["both"], ["end"]]


def doctored(r: random.Random, statement: ProofStatement, steps: Steps) -> tuple[ProofStatement, Steps]:
    """One thing changed: a multiplier, a divisor, a row, a limit, a split, a step, or the bound."""
    steps = copy.deepcopy(steps)
    sums = [step for step in steps if step[0] == "sum"]
    step = r.choice(sums)
    labels = list(statement.rows)
    match r.choice(
        ["multiplier", "divisor", "row", "missing row", "limit", "split", "no step", "twice", "bound", "swap"]
    ):
        case "multiplier":
            part = r.choice(step[2])
            part[1] = r.choice([0, -part[1], part[1] + 1, part[1] * 2, max(0, part[1] - 1)])
        case "divisor":
            step[1] = r.choice([0, -1, step[1] + 1, step[1] * 2])
        case "row":
            r.choice(step[2])[0] = r.choice([*labels, 1, 2, 99])
        case "missing row":
            step[2].remove(r.choice(step[2]))
        case "limit":
            part = r.choice(step[2])
            part[0] = r.choice("<>") + r.choice(list(statement.variables))
        case "split":
            steps[0] = ["split", [[r.choice(list(statement.variables)), r.choice([1, -1, 2])]], r.randint(-2, 3)]
        case "no step":
            steps.remove(r.choice(steps))
        case "twice":
            steps.insert(r.randrange(len(steps)), copy.deepcopy(r.choice(steps)))
        case "swap":
            r.shuffle(steps)
        case _:
            claim = statement.claim
            return ProofStatement(statement.variables, statement.rows, claim._replace(least=claim.least + 1)), steps
    return statement, steps


def is_true(statement: ProofStatement, values: dict[str, int]) -> bool:
    """What is claimed holds of the optimum, which attains it: anything beyond is false."""
    return sum(c * values[name] for name, c in statement.claim.terms.items()) >= statement.claim.least


def test_doctored_proofs_show_nothing_that_is_not_true() -> None:
    r = random.Random(1)
    refused = accepted = 0
    for statement, steps, values in proofs():
        Replayer(statement).replay(steps)
        for _ in range(CHANGES):
            other, changed = doctored(r, statement, steps)
            try:
                Replayer(other).replay(changed)
            except RefusedError:
                refused += 1
            else:
                accepted += 1
                assert is_true(other, values)
    assert refused + accepted == PROOFS * CHANGES
    assert refused > 0.8 * PROOFS * CHANGES


def test_of_a_statement_with_a_weaker_row_a_proof_is_refused() -> None:
    """As when the instance is another: rows are looked up by what they are about, and say something else there."""
    r = random.Random(2)
    tried = 0
    for statement, steps, _ in proofs():
        used = [ref for step in steps if step[0] == "sum" for ref, _ in step[2] if ref in statement.rows]
        if used:
            label = r.choice(used)
            row = statement.rows[label]
            weaker = {**statement.rows, label: ProofRow(row.terms, row.least - 10**15)}
            tried += 1
            with pytest.raises(RefusedError):
                Replayer(ProofStatement(statement.variables, weaker, statement.claim)).replay(steps)
    assert tried > 0.7 * PROOFS


@pytest.mark.parametrize("label", ["missing", "renamed"])
def test_rows_that_are_not_there_are_refused(label: str) -> None:
    statement, steps, _ = proofs()[0]
    used = next(ref for step in steps if step[0] == "sum" for ref, _ in step[2] if ref in statement.rows)
    rows = {name: row for name, row in statement.rows.items() if name != used}
    if label == "renamed":
        rows[f"{used} once more"] = statement.rows[used]
    with pytest.raises(RefusedError, match="not there"):
        Replayer(ProofStatement(statement.variables, rows, statement.claim)).replay(steps)
