"""For VeriPB: a formula over bits (OPB), and a proof of version 3.0 that its objective is at least the bound.

A variable is its lower limit and a sum of bits, each times its power of two. A split is two proofs by contradiction,
one inside the other: against the row to be shown, and in it against the second case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cpsched.proof.export.walk import Walked, walked
from cpsched.proof.rows import ProofRow, ProofStatement


class Bits:
    """The variables as bits, and the rows by their number in the formula."""

    def __init__(self, statement: ProofStatement):
        self.statement = statement
        self.number = {name: n for n, name in enumerate(statement.variables, start=1)}
        self.row = {label: n for n, label in enumerate(statement.rows, start=1)}
        self.capped: dict[str, int] = {}
        """Variables whose upper limit is a row, as it is no power of two less one."""
        for name, one in statement.variables.items():
            size = one.high - one.low
            if size & (size + 1):
                self.capped[name] = len(self.row) + len(self.capped) + 1

    def bits(self, name: str) -> list[str]:
        """The bits of a variable, the smallest first."""
        one = self.statement.variables[name]
        return [f"x{self.number[name]}b{bit}" for bit in range((one.high - one.low).bit_length())]

    def terms(self, terms: Mapping[str, int]) -> str:
        """A sum over bits."""
        return " ".join(f"{c << bit} {x}" for name, c in terms.items() for bit, x in enumerate(self.bits(name)))

    def least(self, row: ProofRow) -> int:
        """What the sum over bits is at least: the right side less what the lower limits add up to."""
        return row.least - sum(c * self.statement.variables[name].low for name, c in row.terms.items())

    def constraint(self, row: ProofRow) -> str:
        """The row over bits."""
        return f"{self.terms(row.terms)} >= {self.least(row)}".strip()


def formula(statement: ProofStatement, _: Iterable[Any] = ()) -> Iterator[str]:
    """The OPB file: objective, rows, upper limits; comments say what is what."""
    bits = Bits(statement)
    count = sum(len(bits.bits(name)) for name in statement.variables)
    yield f"* #variable= {count} #constraint= {len(bits.row) + len(bits.capped)}\n"
    for name, one in statement.variables.items():
        yield f"* x{bits.number[name]}, from {one.low} to {one.high}: {json.dumps(name)}\n"
    yield f"min: {bits.terms(statement.claim.terms)} ;\n"
    for label, row in statement.rows.items():
        yield f"* {json.dumps(label)}\n"
        yield f"{bits.constraint(row)} ;\n"
    for name in bits.capped:
        yield f"{bits.constraint(ProofRow({name: -1}, -statement.variables[name].high))} ;\n"


def proof(statement: ProofStatement, steps: Iterable[Any]) -> Iterator[str]:
    """The proof that the objective is at least the bound, or that there is no decision at all."""
    bits = Bits(statement)
    yield "pseudo-Boolean proof version 3.0\n"
    yield f"f {len(bits.row) + len(bits.capped)};\n"
    names: dict[int, str] = {}
    depth = 0
    last = ProofRow({}, 0)
    for one in walked(statement, steps):
        kind = one.step[0]
        if kind == "sum":
            names[one.number] = f"@d{one.number}_{depth}"
            yield f"{names[one.number]} {_sum(bits, one, names)};\n"
        elif kind == "split":
            depth += 1
            names[one.number] = f"@d{one.number}_{depth}"
            yield f"pbc {bits.constraint(one.goal)} : subproof\n@n{depth} pol -1;\n"
            yield f"pbc {bits.constraint(_above(one.step))} : subproof\n{names[one.number]} pol -1;\n"
        elif kind == "else":
            yield f"{_contradiction(one, names, depth, last)}qed : -1;\n"
            names[one.number] = f"@d{one.number}_{depth}"
            yield f"{names[one.number]} pol -1;\n"
        elif kind == "both":
            yield f"{_contradiction(one, names, depth, last)}qed : -1;\n"
            depth -= 1
            names[one.number] = f"@d{one.number}_{depth}"
            yield f"{names[one.number]} pol -1;\n"
        last = one.row or last
        end = one.last
    name = names[end]
    yield "output NONE;\n"
    if not last.terms and last.least > 0:
        yield f"conclusion BOUNDS INF : {name} INF;\n"
    else:
        yield f"conclusion BOUNDS {bits.least(statement.claim)} : {name} INF;\n"
    yield "end pseudo-Boolean proof;\n"


def _above(step: Any) -> ProofRow:
    return ProofRow(dict(map(tuple, step[1])), step[2] + 1)


def _contradiction(one: Walked, names: dict[int, str], depth: int, last: ProofRow) -> str:
    """The last row of the case against the negation of what is shown."""
    if not last.terms and last.least > 0:
        return f"pol {names[one.last]};\n"
    return f"pol {names[one.last]} @n{depth} +;\n"


def _sum(bits: Bits, one: Walked, names: dict[int, str]) -> str:
    parts = []
    for reference, times in one.step[2]:
        if isinstance(reference, int):
            parts.append(_times(names[reference], times))
        elif reference in bits.row:
            parts.append(_times(str(bits.row[reference]), times))
        else:
            parts += _limit(bits, reference[0], reference[1:], times)
    if not parts:
        return "rup >= 0"  # of variables that can only be one number
    output = " ".join(["pol", parts[0], *(f"{part} +" for part in parts[1:])])
    return output if one.step[1] == 1 else f"{output} {one.step[1]} d"


def _limit(bits: Bits, sign: str, name: str, times: int) -> list[str]:
    if sign == "<" and name in bits.capped:
        return [_times(str(bits.capped[name]), times)]
    literal = "~" if sign == "<" else ""
    return [_times(f"{literal}{x}", times << bit) for bit, x in enumerate(bits.bits(name))]


def _times(what: str, times: int) -> str:
    return what if times == 1 else f"{what} {times} *"
