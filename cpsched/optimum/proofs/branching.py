"""Branch and bound that writes a proof: splits on counts, and at every leaf one line of multipliers."""

from __future__ import annotations

from typing import NamedTuple

from cpsched.optimum.proofs.line import ProofLimit, Step, line
from cpsched.optimum.proofs.root import NEARLY, Root
from cpsched.optimum.solvers.row_lp import LpAnswer
from cpsched.proof.rows import ProofRow

FIRST = (
    "first",
    "some",
    "emptiest",
    "serve",
    "worst",
    "used",
    "ready",
    "last",
    "claim",
    "broken",
    "touched",
    "loses",
    "asked",
)
"""What is split on first: jobs and flags, which decide most; then the variable that is farthest from whole."""


class _Frame(NamedTuple):
    name: str
    k: int
    first: int
    """The number of the assumption."""
    second: bool


class Branching:
    """A search below a root, at most so many leaves, for as long as the root may go on."""

    def __init__(self, root: Root, goal: ProofRow, most_leaves: int, *, by_worth: bool = False):
        self._root, self._goal, self._left, self._by_worth = root, goal, most_leaves, by_worth
        self._limits = dict(root.limits)
        self._steps: list[Step] = []
        self._count = root.derived
        self._frames: list[_Frame] = []
        self._saved: list[tuple[str, ProofLimit]] = []

    def prove(self) -> list[Step] | None:
        """The steps that show the goal, or None if there were too many leaves, or a point that no split excludes."""
        steps = self._prove()
        for name, limit in self._root.limits.items():
            if self._limits[name] != limit:
                self._root.lp.limit(name, limit.low, limit.high)
        return steps

    def _prove(self) -> list[Step] | None:
        while self._left > 0 and self._root.goes_on():
            answer = self._root.solve(dict(self._goal.terms))
            if answer is None:
                return None
            step = self._shown(answer)
            if step is not None:
                self._left -= 1
                self._add(step)
                if not self._next():
                    return self._steps
                continue
            name = self._fractional(answer.point) if answer.feasible else None
            if name is None:
                return None
            self._split(name, int(answer.point[name] // 1))
        return None

    def _shown(self, answer: LpAnswer) -> Step | None:
        if answer.feasible and answer.value <= self._goal.least - 1 + NEARLY:
            return None
        parts = [(*self._root.rows[number], y) for number, y in answer.multipliers]
        if answer.feasible:
            return line(self._goal, parts, self._limits)
        return line(ProofRow({}, 1), parts, self._limits)

    def _fractional(self, point: dict[str, float]) -> str | None:
        """The variable to split on; None where all are whole."""
        best: tuple[float, str] | None = None
        for name, value in point.items():
            beside = abs(value - round(value))
            if beside > 1e-5:
                first = abs(self._goal.terms.get(name, 0)) if self._by_worth else name.startswith(FIRST)
                score = beside + first
                if best is None or score > best[0]:
                    best = (score, name)
        return None if best is None else best[1]

    def _split(self, name: str, k: int) -> None:
        stated = [] if self._frames or self._goal == self._root.statement.claim else _stated(self._goal)
        self._steps.append(["split", [[name, 1]], k, *stated])
        self._count += 1
        self._frames.append(_Frame(name, k, self._count, False))
        self._saved.append((name, self._limits[name]))
        self._narrow(name, high=k)

    def _next(self) -> bool:
        """Close what is shown; False if that was all, else the second case of the innermost open split is next."""
        while self._frames and self._frames[-1].second:
            frame = self._frames.pop()
            self._restore()
            self._steps.append(["both"])
            self._count = frame.first
        if not self._frames:
            return False
        frame = self._frames.pop()
        self._frames.append(frame._replace(second=True))
        name, before = self._saved[-1]
        self._limits[name] = before
        self._steps.append(["else"])
        self._count = frame.first
        self._narrow(name, low=frame.k + 1)
        return True

    def _restore(self) -> None:
        name, before = self._saved.pop()
        self._limits[name] = before
        self._root.lp.limit(name, self._limits[name].low, self._limits[name].high)

    def _narrow(self, name: str, low: int | None = None, high: int | None = None) -> None:
        limit = self._limits[name]
        if low is not None:
            limit = limit._replace(low=low, low_by=self._count)
        if high is not None:
            limit = limit._replace(high=high, high_by=self._count)
        self._limits[name] = limit
        self._root.lp.limit(name, limit.low, limit.high)

    def _add(self, step: Step) -> None:
        self._steps.append(step)
        self._count += 1


def _stated(goal: ProofRow) -> list[object]:
    """A row as a split says what it shows."""
    return [[list(term) for term in goal.terms.items()], goal.least]
