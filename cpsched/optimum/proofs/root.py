"""Proofs without a search: limits alone, one line of multipliers, or rounded sums first and then such a line."""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.optimum.proofs.line import Reference, Step, combined, line
from cpsched.optimum.solvers.row_lp import LpAnswer, RowLp
from cpsched.proof.rows import ProofRow, ProofStatement, Terms, rounded

NEARLY = 1e-6
"""How far a float may be beside the whole number that it stands for."""


class Root:
    """A statement with its LP and the rows derived so far; the steps that derived them are kept."""

    def __init__(self, statement: ProofStatement):
        self.statement, self.variables = statement, statement.variables
        self.rows: list[tuple[Reference, ProofRow]] = list(statement.rows.items())
        self.steps: list[Step] = []
        self.derived = 0
        limits = {name: (one.low, one.high) for name, one in statement.variables.items()}
        self.lp = RowLp(limits, (row for _, row in self.rows))

    def solve(self, terms: Terms) -> LpAnswer | None:
        """The LP with all rows so far."""
        return self.lp.minimise(terms)

    def shown(self, goal: ProofRow, answer: LpAnswer) -> Step | None:
        """The step that shows the goal by the LP's multipliers; None if they do not."""
        if answer.feasible and answer.value <= goal.least - 1 + NEARLY:
            return None
        target = goal if answer.feasible else ProofRow({}, 1)
        parts = [(*self.rows[number], y) for number, y in answer.multipliers]
        return line(target, parts, self.variables)

    def add(self, step: Step, row: ProofRow) -> None:
        """A derived row, for the proof and for the LP."""
        self.steps.append(step)
        self.derived += 1
        self.rows.append((self.derived, row))
        self.lp.add(row.terms, row.least)

    def improve(self, terms: Terms) -> bool:
        """Derive what a whole sum is at least, if the LP's bound on it is no whole number, or new."""
        row = rounded(terms, 0)
        answer = self.solve(dict(row.terms))
        if answer is None or not answer.feasible:
            return False
        least = _ceil(answer.value)
        low = sum(c * (self.variables[x].low if c > 0 else self.variables[x].high) for x, c in row.terms.items())
        goal = ProofRow(row.terms, least)
        if least <= low or least <= answer.value + NEARLY:
            return False
        if (step := self.shown(goal, answer)) is None:
            return False
        self.add(step, goal)
        return True


def prove(statement: ProofStatement) -> list[Step] | None:
    """The steps that show the claim, if no search is needed."""
    claim = statement.claim
    if claim.is_trivial:
        return [["end"]]
    if (step := combined(claim, [], statement.variables, 1)) is not None:
        return [step, ["end"]]
    return prove_at(Root(statement))


def prove_at(root: Root) -> list[Step] | None:
    """The same with an LP that is there already."""
    claim = root.statement.claim
    answer = root.solve(dict(claim.terms))
    if answer is not None and (step := root.shown(claim, answer)) is not None:
        return [*root.steps, step, ["end"]]
    improved = [root.improve(terms) for terms in sums_of(root.statement)]
    if any(improved):
        answer = root.solve(dict(claim.terms))
        if answer is not None and (step := root.shown(claim, answer)) is not None:
            return [*root.steps, step, ["end"]]
    return None


def sums_of(statement: ProofStatement) -> Iterable[Terms]:
    """Whole sums whose LP bound is worth rounding: what queues gain, how many victims go, what each claim counts."""
    for name in statement.variables:
        if name.startswith("change["):
            yield {name: -1}
    if any(name.startswith("deficit[") for name in statement.claim.terms):
        for name in statement.claim.terms:
            yield {name: 1}
    victims = {name: 1 for name in statement.variables if name.startswith("evict[")}
    if victims:
        yield victims
        yield {name: 1 for name in statement.claim.terms if name in victims} or victims


def _ceil(value: float) -> int:
    nearest = round(value)
    return nearest if abs(value - nearest) <= NEARLY else int(-(-value // 1))
