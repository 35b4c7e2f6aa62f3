"""Logs of other solvers: a VeriPB proof about a statement's formula, translated into steps where it is of their kinds.

A log speaks of bits. A variable of one bit is that bit; of others only whole sums of bits are limits of the variable.
`pol` lines become sums: VeriPB divides by rounding every coefficient up, which is a limit added for each that is not
divisible. Lines that find something by search (`rup`), or keep less of a row (saturation), are of no such kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cpsched.optimum.proofs.line import Reference, Step
from cpsched.proof.rows import ProofRow, ProofStatement
from cpsched.proof.steps import RefusedError, Replayer

MOST_LINES = 1_000_000
_LITERAL = re.compile(r"(~?)x([0-9]+)b([0-9]+)")
_IGNORED = ("pseudo-Boolean", "f", "*", "%", "output", "end")
Parts = dict[Reference, int]


class UntranslatedError(Exception):
    """The log has a line that is of no kind of step."""


def translated(statement: ProofStatement, log: str) -> list[Step] | None:
    """The steps that the log amounts to, replayed; None if it has others, or does not show the claim."""
    try:
        steps = _Translation(statement).steps(log)
        Replayer(statement).replay(steps)
    except (UntranslatedError, RefusedError):
        return None
    return steps


class _Translation:
    def __init__(self, statement: ProofStatement):
        self._statement, self._replayer = statement, Replayer(statement)
        self._names = list(statement.variables)
        self._rows: list[Reference] = [*statement.rows]
        for name, one in statement.variables.items():
            size = one.high - one.low
            if size & (size + 1):
                self._rows.append(f"<{name}")
        self._labels: dict[str, Reference] = {}
        self._steps: list[Step] = []

    def steps(self, log: str) -> list[Step]:
        """All lines, and the claim at the end."""
        for number, line in enumerate(log.splitlines()):
            words = line.strip().removesuffix(";").split()
            if number >= MOST_LINES:
                raise UntranslatedError
            if not words or words[0].startswith(_IGNORED):
                continue
            label = words.pop(0) if words[0].startswith("@") else None
            if words[:1] in (["pol"], ["p"]):
                self._derived(self._sum(iter(words[1:])), label)
            elif words[:2] == ["conclusion", "BOUNDS"]:
                return self._ended(words[2:])
            else:
                raise UntranslatedError
        raise UntranslatedError

    def _derived(self, step: Step, label: str | None) -> None:
        self._take(step)
        self._rows.append(len(self._steps))
        if label is not None:
            self._labels[label] = len(self._steps)

    def _take(self, step: Step) -> None:
        self._replayer.replay_one(step)
        self._steps.append(step)

    def _ended(self, words: list[str]) -> list[Step]:
        """conclusion BOUNDS least : row ...: that row is the last, times one."""
        if len(words) < 3 or words[1] != ":":
            raise UntranslatedError
        self._take(["sum", 1, [[self._of(words[2]), 1]]])
        return [*self._steps, ["end"]]

    def _of(self, word: str) -> Reference:
        if word in self._labels:
            return self._labels[word]
        if not re.fullmatch(r"-?[0-9]{1,9}", word):
            raise UntranslatedError
        number = int(word)
        if not 1 <= abs(number) <= len(self._rows):
            raise UntranslatedError
        return self._rows[number - 1] if number > 0 else self._rows[number]

    def _sum(self, words: Iterator[str]) -> Step:
        """Reverse Polish: operands, `+`, `n *`, `n d`."""
        stack: list[Parts | str] = []
        for word in words:
            if word == "+":
                other, one = self._parts(stack), self._parts(stack)
                stack.append({ref: one.get(ref, 0) + other.get(ref, 0) for ref in {**one, **other}})
            elif word == "*":
                times = _number(stack)
                stack.append({ref: times * y for ref, y in self._parts(stack).items()})
            elif word == "d":
                divisor = _number(stack)
                self._take(self._divided(self._parts(stack), divisor))
                stack.append({len(self._steps): 1})
            else:
                stack.append(word)
        if len(stack) != 1:
            raise UntranslatedError
        return ["sum", 1, [[ref, y] for ref, y in self._whole(self._parts(stack)).items()]]

    def _parts(self, stack: list[Parts | str]) -> Parts:
        """The topmost operand: what was computed, a bit, or a row."""
        if not stack:
            raise UntranslatedError
        top = stack.pop()
        if not isinstance(top, str):
            return top
        if literal := _LITERAL.fullmatch(top):
            return {f"{'<' if literal[1] else '>'}{literal[2]} {literal[3]}": 1}
        return {self._of(top): 1}

    def _divided(self, parts: Parts, divisor: int) -> Step:
        parts = self._whole(parts)
        terms: dict[str, int] = {}
        for reference, times in parts.items():
            for name, coefficient in self._row(reference).terms.items():
                terms[name] = terms.get(name, 0) + times * coefficient
        for name, coefficient in terms.items():
            if rest := -coefficient % divisor if coefficient > 0 else coefficient % divisor:
                one = self._statement.variables[name]
                if one.high - one.low != 1:
                    raise UntranslatedError
                limit = f"{'>' if coefficient > 0 else '<'}{name}"
                parts[limit] = parts.get(limit, 0) + rest
        return ["sum", divisor, [[ref, y] for ref, y in parts.items()]]

    def _row(self, reference: Reference) -> ProofRow:
        row = self._replayer.rows[reference - 1] if isinstance(reference, int) else self._statement.of(reference)
        if row is None:
            raise UntranslatedError
        return row

    def _whole(self, parts: Parts) -> Parts:
        """Bits put together to limits of their variables."""
        found: Parts = {}
        bits: dict[tuple[str, int], dict[int, int]] = {}
        for reference, times in parts.items():
            if isinstance(reference, str) and (apart := re.fullmatch(r"([<>])([0-9]+) ([0-9]+)", reference)):
                bits.setdefault((apart[1], int(apart[2])), {})[int(apart[3])] = times
            else:
                found[reference] = found.get(reference, 0) + times
        for (sign, number), by_bit in bits.items():
            if not 1 <= number <= len(self._names):
                raise UntranslatedError
            name = self._names[number - 1]
            one = self._statement.variables[name]
            many = (one.high - one.low).bit_length()
            least = by_bit.get(0, 0)
            full = one.high - one.low + 1 == 1 << many
            if not (full or sign == ">") or by_bit != {bit: least << bit for bit in range(many)}:
                raise UntranslatedError
            found[f"{sign}{name}"] = found.get(f"{sign}{name}", 0) + least
        return {reference: times for reference, times in found.items() if times}


def _number(stack: list[Parts | str]) -> int:
    """The topmost operand as a factor or divisor."""
    top = stack.pop() if stack else ""
    if not isinstance(top, str) or not re.fullmatch(r"[1-9][0-9]{0,3999}", top):
        raise UntranslatedError
    return int(top)
