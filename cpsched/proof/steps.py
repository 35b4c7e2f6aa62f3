"""The replayer: whether steps prove what a statement claims, in whole numbers, one step after another.

A step is a list, one of four kinds (docs/proofs.md):

["sum", divisor, [[reference, multiplier], ...]]
    The rows times their multipliers, added up. Every coefficient is a multiple of the divisor; the right side is
    divided too and rounded up, as the left is whole.
["split", [[variable, coefficient], ...], k], or with a row to be shown: [..., [[variable, coefficient], ...], least]
    Either the sum is at most k, or it is at least k + 1. Steps up to ["else"] show the row in the first case, steps
    up to ["both"] in the second; without a row of its own it is the claim that is shown.
["solution"]
    The certificate's decision satisfies every row, so the rows contradict each other nowhere.
["end"]
    The last row is the claim.

A reference is the label of a row, `>x` or `<x` for the limits of a variable, or the number of a derived row: the
first is 1, and each sum, each case of a split and each split that is closed adds one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cpsched.proof.rows import ProofRow, ProofStatement

LARGEST_BITS = 33_220
"""Numbers of more than 10,000 digits are refused."""
DEEPEST = 100_000
"""Splits inside each other beyond this are refused."""


class RefusedError(Exception):
    """The steps prove nothing; the text says which of them is wrong, and why."""


@dataclass
class _Case:
    """One of the two cases of a split."""

    shows: ProofRow
    other: ProofRow
    """What the second case may assume."""
    first: int
    """The number of its assumption; all rows from there on go when it ends."""
    second: bool = False


@dataclass
class Replayer:
    """Takes steps one by one; `proved` once they have ended with the claim."""

    statement: ProofStatement
    values: Mapping[str, int] | None = None
    """What every variable is in the decision that a step `solution` speaks of."""
    rows: list[ProofRow] = field(default_factory=list)
    cases: list[_Case] = field(default_factory=list)
    taken: int = 0
    proved: bool = False

    def replay(self, steps: Iterable[Any]) -> None:
        """All of them; RefusedError if they do not prove the claim."""
        for step in steps:
            self.taken += 1
            if self.proved:
                raise self._refused("comes after the end")
            kind = step[0] if isinstance(step, list) and step else None
            if not isinstance(kind, str) or len(step) not in _LENGTHS.get(kind, ()):
                raise self._refused("is no step, or has too few or too many parts")
            _KINDS[kind](self, *step[1:])
        if not self.proved:
            raise RefusedError(f"the proof breaks off after {self.taken} steps: it has no end")

    def sum(self, divisor: Any, parts: Any) -> None:
        """Rows times multipliers, divided."""
        divisor = self._number(divisor, "divisor", least=1)
        terms: dict[str, int] = {}
        least = 0
        for reference, multiplier in self._pairs(parts):
            times, row = self._number(multiplier, "multiplier", least=1), self._row(reference)
            least += times * row.least
            for name, coefficient in row.terms.items():
                terms[name] = terms.get(name, 0) + times * coefficient
        left = {}
        for name, coefficient in terms.items():
            if coefficient:
                left[name], rest = divmod(coefficient, divisor)
                if rest:
                    raise self._refused(f"divides by {divisor}, which does not divide the coefficient of {name}")
        self._add(ProofRow(left, -(-least // divisor)))

    def split(self, terms: Any, k: Any, shown: Any = None, least: Any = None) -> None:
        """Opens the first case: the sum is at most k."""
        k = self._number(k, "limit")
        above = ProofRow(self._terms(terms), k + 1)
        below = ProofRow({name: -coefficient for name, coefficient in above.terms.items()}, -k)
        goal = ProofRow(self._terms(shown), self._number(least, "right side")) if shown is not None else self._goal
        if len(self.cases) >= DEEPEST:
            raise self._refused("is a split inside too many others")
        self.cases.append(_Case(goal, above, len(self.rows) + 1))
        self._add(below)

    def otherwise(self) -> None:
        """Closes the first case and opens the second."""
        case = self._case(second=False)
        case.second = True
        self._add(case.other)

    def both(self) -> None:
        """Closes the second case; the row that both show stands."""
        case = self._case(second=True)
        self.cases.pop()
        self._add(case.shows)

    def solution(self) -> None:
        """The decision satisfies every row."""
        if self.values is None:
            raise self._refused("speaks of a decision, and none is given")
        for name, variable in self.statement.variables.items():
            if not variable.low <= self.values[name] <= variable.high:
                raise self._refused(f"the decision is beyond the limits of {name}")
        for label, row in self.statement.rows.items():
            if sum(c * self.values[name] for name, c in row.terms.items()) < row.least:
                raise self._refused(f"the decision does not satisfy {label}")

    def end(self) -> None:
        """The last row is the claim."""
        if self.cases:
            raise self._refused("is inside a split")
        if not self._shows(self.statement.claim, 0):
            raise self._refused("the last row is not the claim")
        self.proved = True

    @property
    def _goal(self) -> ProofRow:
        return self.cases[-1].shows if self.cases else self.statement.claim

    def _case(self, *, second: bool) -> _Case:
        if not self.cases or self.cases[-1].second is not second:
            raise self._refused("closes a case that is not open")
        case = self.cases[-1]
        if not self._shows(case.shows, case.first):
            raise self._refused("closes a case whose last row is not the one to be shown")
        del self.rows[case.first - 1 :]
        return case

    def _shows(self, goal: ProofRow, first: int) -> bool:
        """Whether the last row, if it is of this case, is the goal; what says nothing needs no row."""
        return goal.is_trivial or (len(self.rows) >= max(first, 1) and self.rows[-1].implies(goal))

    def _row(self, reference: Any) -> ProofRow:
        if isinstance(reference, str) and (row := self.statement.of(reference)) is not None:
            return row
        if isinstance(reference, int) and not isinstance(reference, bool) and 1 <= reference <= len(self.rows):
            return self.rows[reference - 1]
        raise self._refused("refers to a row that is not there" + (" yet" if isinstance(reference, int) else ""))

    def _add(self, row: ProofRow) -> None:
        for number in (row.least, *row.terms.values()):
            self._number(number, "number")
        self.rows.append(row)

    def _terms(self, pairs: Any) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, coefficient in self._pairs(pairs):
            if not isinstance(name, str) or name not in self.statement.variables or name in found:
                raise self._refused("speaks of a variable that is not there, or twice of one")
            found[name] = self._number(coefficient, "coefficient")
        return {name: coefficient for name, coefficient in found.items() if coefficient}

    def _pairs(self, pairs: Any) -> Iterator[tuple[Any, Any]]:
        for pair in pairs if isinstance(pairs, (list, tuple)) else [None]:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise self._refused("has something that is no pair")
            yield pair[0], pair[1]

    def _number(self, given: Any, what: str, least: int | None = None) -> int:
        if not isinstance(given, int) or isinstance(given, bool):
            raise self._refused(f"has a {what} that is no whole number")
        if given.bit_length() > LARGEST_BITS:
            raise self._refused(f"has a {what} of more than 10,000 digits")
        if least is not None and given < least:
            raise self._refused(f"has a {what} below {least}")
        return given

    def _refused(self, why: str) -> RefusedError:
        return RefusedError(f"step {self.taken} {why}")


_KINDS: dict[str, Callable[..., None]] = {
    "sum": Replayer.sum,
    "split": Replayer.split,
    "else": Replayer.otherwise,
    "both": Replayer.both,
    "solution": Replayer.solution,
    "end": Replayer.end,
}
_LENGTHS = {"sum": (3,), "split": (3, 5), "else": (1,), "both": (1,), "solution": (1,), "end": (1,)}
