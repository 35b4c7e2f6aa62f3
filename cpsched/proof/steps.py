"""The replayer: whether steps prove what a statement claims, in whole numbers, one after another.

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

A reference is the label of a row, `>x` or `<x` for the limits of a variable, or the number of a derived row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cpsched.proof.rows import ProofRow, ProofStatement

LARGEST_BITS, DEEPEST, MOST_TERMS = 33_220, 100_000, 20_000_000
"""Refused: numbers of more than 10,000 digits, so many splits inside each other, rows with so many terms together."""


class RefusedError(Exception):
    """The steps prove nothing; the text says which of them is wrong, and why."""


@dataclass
class _Case:
    """One of the two cases of a split."""

    shows: ProofRow
    other: ProofRow  # what the second case may assume
    first: int  # the number of its assumption; all rows from there on go when it ends
    second: bool = False


@dataclass
class Replayer:
    """Takes steps one by one; `proved` once they have ended with the claim."""

    statement: ProofStatement
    values: Mapping[str, int] | None = None  # of all variables, in the decision that a step `solution` speaks of
    rows: list[ProofRow] = field(default_factory=list)
    cases: list[_Case] = field(default_factory=list)
    taken: int = 0
    terms: int = 0  # of all rows that stand
    proved: bool = False

    def replay(self, steps: Iterable[Any]) -> None:
        """All of them; RefusedError if they do not prove the claim."""
        for step in steps:
            self.replay_one(step)
        if not self.proved:
            raise RefusedError(f"the proof breaks off after {self.taken} steps: it has no end")

    def replay_one(self, step: Any) -> None:
        """The next step."""
        self.taken += 1
        if self.proved:
            raise self._refused("comes after the end")
        kind = step[0] if isinstance(step, list) and step and isinstance(step[0], str) else ""
        if kind not in _KINDS or len(step) not in _KINDS[kind][1]:
            raise self._refused("is no step, or has too few or too many parts")
        _KINDS[kind][0](self, *step[1:])

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
        for name, coefficient in terms.items():
            if coefficient % divisor:
                raise self._refused(f"divides by {divisor}, which does not divide the coefficient of {name}")
        left = {name: coefficient // divisor for name, coefficient in terms.items() if coefficient}
        self._add(ProofRow(left, -(-least // divisor)))

    def split(self, terms: Any, k: Any, shown: Any = None, least: Any = None) -> None:
        """Opens the first case: the sum is at most k."""
        k = self._number(k, "limit")
        above = ProofRow(self._terms(terms), k + 1)
        below = ProofRow({name: -coefficient for name, coefficient in above.terms.items()}, -k)
        goal = ProofRow(self._terms(shown), self._number(least, "right side")) if shown is not None else self.goal
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
        self._add(self._case(second=True).shows)
        self.cases.pop()

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
    def goal(self) -> ProofRow:
        """What the innermost case shows, or the claim."""
        return self.cases[-1].shows if self.cases else self.statement.claim

    def _case(self, *, second: bool) -> _Case:
        if not self.cases or self.cases[-1].second is not second:
            raise self._refused("closes a case that is not open")
        case = self.cases[-1]
        if not self._shows(case.shows, case.first):
            raise self._refused("closes a case whose last row is not the one to be shown")
        self.terms -= sum(1 + len(row.terms) for row in self.rows[case.first - 1 :])
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
        self.terms += 1 + len(row.terms)
        if self.terms > MOST_TERMS:
            raise self._refused("is one row too many: all together are too large")
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


_KINDS: dict[str, tuple[Callable[..., None], tuple[int, ...]]] = {
    "sum": (Replayer.sum, (3,)),
    "split": (Replayer.split, (3, 5)),
    "else": (Replayer.otherwise, (1,)),
    "both": (Replayer.both, (1,)),
    "solution": (Replayer.solution, (1,)),
    "end": (Replayer.end, (1,)),
}  # what each does, and how many parts it may have
