"""For viprchk: variables, rows and derivations in one file (VIPR 1.0); splits are assumptions that are discharged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from cpsched.proof.export.walk import Walked, walked
from cpsched.proof.rows import ProofRow, ProofStatement


class ViprNumbers:
    """Variables and rows by number: limits first, two per variable, then the rows, then what is derived."""

    def __init__(self, statement: ProofStatement):
        self.variable = {name: n for n, name in enumerate(statement.variables)}
        limits = 2 * len(self.variable)
        self.row = {label: limits + n for n, label in enumerate(statement.rows)}
        self.first = limits + len(self.row)

    def of(self, reference: str) -> int:
        """The number of a row or limit."""
        if reference in self.row:
            return self.row[reference]
        return 2 * self.variable[reference[1:]] + (reference[0] == "<")

    def terms(self, terms: Mapping[str, int]) -> str:
        """How many, then number and coefficient of each."""
        return " ".join([str(len(terms)), *(f"{self.variable[name]} {c}" for name, c in terms.items())])


def certificate(statement: ProofStatement, steps: Iterable[Any]) -> Iterator[str]:
    """The whole file."""
    numbers, derived = ViprNumbers(statement), list(_derived(statement, steps))
    for name, number in numbers.variable.items():
        yield f"% x{number}: {json.dumps(name)}\n"
    for label, number in numbers.row.items():
        yield f"% C{number}: {json.dumps(label)}\n"
    yield f"VER 1.0\nVAR {len(numbers.variable)}\n"
    yield " ".join(f"x{n}" for n in numbers.variable.values()) + "\n"
    yield f"INT {len(numbers.variable)}\n" + " ".join(map(str, numbers.variable.values())) + "\n"
    yield f"OBJ min\n{numbers.terms(statement.claim.terms)}\n"
    yield f"CON {numbers.first} {2 * len(numbers.variable)}\n"
    for name, one in statement.variables.items():
        number = numbers.variable[name]
        yield f"C{2 * number} G {one.low} 1 {number} 1\nC{2 * number + 1} L {one.high} 1 {number} 1\n"
    for label, row in statement.rows.items():
        yield f"C{numbers.row[label]} G {row.least} {numbers.terms(row.terms)}\n"
    infeasible = not derived[-1][2].terms and derived[-1][2].least > 0
    # With an objective the bound is what is verified, and a contradiction shows any bound.
    yield "RTP infeas\n" if infeasible else f"RTP range {statement.claim.least} inf\n"
    yield f"SOL 0\nDER {len(derived)}\n"
    for number, (reason, sense, row) in enumerate(derived, start=numbers.first):
        yield f"C{number} {sense} {row.least} {numbers.terms(row.terms)} {{ {reason} }} -1\n"


Derived = tuple[str, str, ProofRow]
"""Why, the sense, and the row."""


def _derived(statement: ProofStatement, steps: Iterable[Any]) -> Iterator[Derived]:
    numbers = ViprNumbers(statement)
    place: dict[int, int] = {}
    upper: set[int] = set()
    """Rows that are written as at most, and so count negatively."""
    open_: list[tuple[int, int, int]] = []
    count = numbers.first
    for one in walked(statement, steps):
        kind = one.step[0]
        if kind == "end":
            return
        assert one.row is not None
        if kind == "sum":
            yield _sum(one, numbers, place, upper), "G", one.row
        elif kind == "split":
            open_.append((count, -1, -1))
            upper.add(count)
            yield "asm", "L", _negated(one.row)
        elif kind == "else":
            open_[-1] = (open_[-1][0], place[one.last], count)
            yield "asm", "G", one.row
        else:
            below, shown, above = open_.pop()
            yield f"uns {shown} {below} {place[one.last]} {above}", "G", one.row
        place[one.number] = count
        count += 1


def _negated(row: ProofRow) -> ProofRow:
    return ProofRow({name: -c for name, c in row.terms.items()}, -row.least)


def _sum(one: Walked, numbers: ViprNumbers, place: dict[int, int], upper: set[int]) -> str:
    divisor, weights = one.step[1], dict[int, Fraction]()
    for reference, times in one.step[2]:
        number = place[reference] if isinstance(reference, int) else numbers.of(reference)
        is_upper = number in upper or (
            isinstance(reference, str) and reference[0] == "<" and reference not in numbers.row
        )
        weights[number] = weights.get(number, Fraction(0)) + Fraction(-times if is_upper else times, divisor)
    parts = " ".join(f"{number} {weight}" for number, weight in weights.items())
    return f"rnd {len(weights)} {parts}"
