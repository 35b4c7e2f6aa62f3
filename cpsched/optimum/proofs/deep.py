"""Proofs with a search: of the claim itself, of what queues gain before it, or of a sum of priorities in two parts."""

from __future__ import annotations

from cpsched.optimum.params import PROOF_LEAVES
from cpsched.optimum.proofs.branching import Branching
from cpsched.optimum.proofs.line import Step, combined
from cpsched.optimum.proofs.root import Root, used_only, whole
from cpsched.proof.rows import ProofRow, Terms

LARGE = 2**29
"""A claim whose coefficients are all beyond this is a sum of priorities; halved until they have nothing in common."""


def prove_deeply(root: Root) -> list[Step] | None:
    """The steps that show the claim, if so many leaves are enough."""
    claim = root.statement.claim
    if claim.terms and min(claim.terms.values()) > LARGE:
        return _in_two_parts(root)
    for terms in _gains(root):
        _raise(root, terms)
    shown = _shown(root, claim)
    return None if shown is None else _whole([*root.steps, *shown])


def _in_two_parts(root: Root) -> list[Step] | None:
    """At least so many victims; and if there are no more, their priorities sum to at least so much.

    With one more the sum is beyond the claim whatever the priorities are.
    """
    claim = root.statement.claim
    least, most = min(claim.terms.values()), max(claim.terms.values())
    count = -(-claim.least // most)
    some = dict.fromkeys(claim.terms, 1)
    if (shown := _shown(root, ProofRow(some, count))) is None:
        return None
    root.add(ProofRow(some, count), *shown)
    counted = root.derived
    over = {name: c - least for name, c in claim.terms.items() if c > least}
    rest = ProofRow(over, claim.least - count * least)
    number = ProofRow(some, count)
    if (step := combined(claim, [(counted, number, least)], root.limits, 1)) is not None:
        return _whole([*root.steps, step])
    more = ProofRow(some, count + 1)
    split: Step = ["split", [[name, 1] for name in some], count]
    root.add(ProofRow(dict.fromkeys(some, -1), -count), split)
    assumed = root.derived
    shown = _shown(root, rest)
    second = combined(claim, [(assumed, more, least)], root.limits, 1)
    if shown is None or second is None:
        return None
    root.add(rest, *shown)
    first = combined(claim, [(counted, number, least), (root.derived, rest, 1)], root.limits, 1)
    return None if first is None else [*root.steps, first, ["else"], second, ["both"], ["end"]]


def _gains(root: Root) -> list[Terms]:
    """What queues gain, one by one and together, where a claim is about their deficits."""
    if not any(name.startswith(("deficit[", "worst")) for name in root.statement.claim.terms):
        return []
    changes = [name for name in root.statement.variables if name.startswith("change[")]
    by_resource: dict[str, Terms] = {}
    for name in changes:
        by_resource.setdefault(name.rpartition(",")[2], {})[name] = -1
    placed = {name: -1 for name in root.statement.variables if name.startswith("take[")}
    return [*({name: -1} for name in changes), *by_resource.values(), placed]


def _raise(root: Root, terms: Terms) -> None:
    """Derive the best bound on the sum that cuts give."""
    answer = root.solve(dict(terms))
    for _ in range(6):
        if answer is None or not answer.feasible or not root.goes_on() or not root.cut(answer):
            break
        answer = root.solve(dict(terms))
    if answer is not None and answer.feasible:
        goal = ProofRow(terms, whole(answer.value))
        if (step := root.shown(goal, answer)) is not None:
            root.add(goal, step)


def _shown(root: Root, goal: ProofRow) -> list[Step] | None:
    """The steps that show a row."""
    before = len(root.steps)
    if (step := combined(goal, [], root.limits, 1)) is not None:
        return [step]
    if (step := root.derive(goal)) is not None:
        return [step]
    assert len(root.steps) >= before
    return Branching(root, goal, PROOF_LEAVES).prove()


def _whole(steps: list[Step]) -> list[Step]:
    """With an end; if there are only sums, without those that are not used."""
    return [*(used_only(steps) if all(step[0] == "sum" for step in steps) else steps), ["end"]]
