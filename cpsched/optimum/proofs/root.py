"""Proofs without a search: limits alone, one line of multipliers, or cuts and rounded sums before such a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cpsched.optimum.params import PROOF_CUTS, PROOF_ROUNDS
from cpsched.optimum.proofs.cuts import cut_of
from cpsched.optimum.proofs.line import Reference, Step, combined, limits_of, line
from cpsched.optimum.solvers.row_lp import LpAnswer, RowLp
from cpsched.proof.rows import ProofRow, ProofStatement, Terms, rounded

NEARLY = 1e-6
"""How far a float may be beside the whole number that it stands for."""


class Root:
    """A statement with its LP and the rows derived so far; the steps that derived them are kept."""

    def __init__(self, statement: ProofStatement, goes_on: Callable[[], bool] = lambda: True):
        self.statement, self.variables, self.goes_on = statement, statement.variables, goes_on
        self.rows: list[tuple[Reference, ProofRow]] = list(statement.rows.items())
        self.steps: list[Step] = []
        self.derived = 0
        self.limits = limits_of(statement.variables)
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
        return line(target, parts, self.limits)

    def add(self, row: ProofRow, *steps: Step) -> None:
        """A derived row, for the proof and for the LP."""
        self.steps += steps
        self.derived += 1
        self.rows.append((self.derived, row))
        self.lp.add(row.terms, row.least)

    def improve(self, terms: Terms) -> bool:
        """Derive what a whole sum is at least, if the LP's bound on it is no whole number."""
        row = rounded(terms, 0)
        answer = self.solve(dict(row.terms))
        if answer is None or not answer.feasible:
            return False
        goal = ProofRow(row.terms, whole(answer.value))
        low = sum(c * (self.variables[x].low if c > 0 else self.variables[x].high) for x, c in row.terms.items())
        if goal.least <= low or goal.least <= answer.value + NEARLY:
            return False
        if (step := self.shown(goal, answer)) is None:
            return False
        self.add(goal, step)
        return True

    def cut(self, answer: LpAnswer) -> int:
        """Add the cuts of single rows that the point misses most, at most so many; how many there were."""
        found = []
        for reference, row in self.rows:
            if any(abs(answer.point[name] - round(answer.point[name])) > NEARLY for name in row.terms):
                cut = cut_of(reference, row, answer.point, self.limits)
                if cut is not None:
                    found.append(cut)
        found.sort(key=lambda cut: cut.violation, reverse=True)
        for cut in found[:PROOF_CUTS]:
            self.add(cut.row, cut.step)
        return len(found)

    def derive(self, goal: ProofRow) -> Step | None:
        """The step that shows the goal, after as many rounds of cuts as help."""
        for _ in range(PROOF_ROUNDS):
            answer = self.solve(dict(goal.terms))
            if answer is None:
                return None
            if (step := self.shown(goal, answer)) is not None:
                return step
            if not answer.feasible or not self.goes_on() or not self.cut(answer):
                return None
        return None


def at_once(statement: ProofStatement) -> list[Step] | None:
    """The steps, if the limits of variables alone show the claim."""
    claim = statement.claim
    if claim.is_trivial:
        return [["end"]]
    step = combined(claim, [], limits_of(statement.variables), 1)
    return None if step is None else [step, ["end"]]


def prove(statement: ProofStatement) -> list[Step] | None:
    """The steps that show the claim, if no search is needed."""
    return at_once(statement) or prove_at(Root(statement))


def prove_at(root: Root) -> list[Step] | None:
    """The same by an LP that is there already."""
    claim = root.statement.claim
    if (step := root.derive(claim)) is not None:
        return _ended(root, step)
    improved = [root.goes_on() and root.improve(terms) for terms in sums_of(root.statement)]
    if any(improved):
        step = root.derive(claim)
    return None if step is None else _ended(root, step)


def _ended(root: Root, step: Step) -> list[Step]:
    return [*used_only([*root.steps, step]), ["end"]]


def used_only(steps: list[Step]) -> list[Step]:
    """Sums without those that no later one refers to, but for the last; numbers are changed accordingly."""
    used = {len(steps)}
    for number in range(len(steps), 0, -1):
        if number in used:
            used.update(ref for ref, _ in steps[number - 1][2] if isinstance(ref, int))
    place = {number: position for position, number in enumerate(sorted(used), start=1)}
    return [
        [kind, divisor, [[place[ref] if isinstance(ref, int) else ref, times] for ref, times in parts]]
        for number, (kind, divisor, parts) in enumerate(steps, start=1)
        if number in used
    ]


def sums_of(statement: ProofStatement) -> Iterable[Terms]:
    """Whole sums whose LP bound is worth rounding: what queues gain, their deficits, how many victims go."""
    for name in statement.variables:
        if name.startswith("change["):
            yield {name: -1}
    if any(name.startswith("deficit[") for name in statement.claim.terms):
        for name in statement.claim.terms:
            yield {name: 1}
    victims = {name: 1 for name in statement.variables if name.startswith("evict[")}
    if victims:
        yield victims


def whole(value: float) -> int:
    """The least whole number that is no less, but for what floats are off by."""
    nearest = round(value)
    return nearest if abs(value - nearest) <= NEARLY else int(-(-value // 1))
