"""Blocks: what a statement states of one place by itself, and of which places it states the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cpsched.proof.rows import ProofRow, ProofStatement, Terms

Column = tuple[tuple[str, int], ...]
"""The rows between places that a variable is in, with its coefficients."""


@dataclass(frozen=True)
class PlaceBlock:
    """Places of which the same is stated: variables and rows of each, in one order."""

    variables: tuple[tuple[str, ...], ...]
    """Per place; the first stands for all."""
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[Column, ...]
    """Per variable."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the first place."""
        return self.variables[0]

    def renaming(self, place: int) -> tuple[dict[str, str], dict[str, str]]:
        """Variables and rows of the first place → those of another."""
        variables = dict(zip(self.variables[0], self.variables[place], strict=True))
        return variables, dict(zip(self.rows[0], self.rows[place], strict=True))

    def statement(self, whole: ProofStatement, claim: ProofRow) -> ProofStatement:
        """What is stated of the first place alone, with a claim about it."""
        variables = {name: whole.variables[name] for name in self.names}
        return ProofStatement(variables, {label: whole.rows[label] for label in self.rows[0]}, claim)

    def summed(self, weights: Mapping[int, int]) -> Terms:
        """Σ weight · variable over all places."""
        return {names[number]: weight for names in self.variables for number, weight in weights.items()}


def blocks_of(statement: ProofStatement) -> tuple[list[PlaceBlock], list[str]]:
    """The blocks, and the rows that no block has: those between places."""
    place_of = {name: one.place for name, one in statement.variables.items() if one.place is not None}
    inside: dict[int, list[str]] = {}
    between: list[str] = []
    for label, row in statement.rows.items():
        places = {place_of.get(name) for name in row.terms}
        if len(places) == 1 and (place := next(iter(places))) is not None:
            inside.setdefault(place, []).append(label)
        else:
            between.append(label)
    columns: dict[str, list[tuple[str, int]]] = {name: [] for name in statement.variables}
    for label in between:
        for name, coefficient in statement.rows[label].terms.items():
            columns[name].append((label, coefficient))
    mine: dict[int, list[str]] = {}
    for name, place in place_of.items():
        mine.setdefault(place, []).append(name)
    alike: dict[object, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for place, names in mine.items():
        signature, variables, rows = _signature(statement, names, inside.get(place, []), columns)
        alike.setdefault(signature, []).append((variables, rows))
    found = []
    for members in alike.values():
        some = tuple(tuple(columns[name]) for name in members[0][0])
        found.append(PlaceBlock(tuple(v for v, _ in members), tuple(r for _, r in members), some))
    return found, between


def _signature(
    statement: ProofStatement, names: list[str], labels: list[str], columns: Mapping[str, list[tuple[str, int]]]
) -> tuple[object, tuple[str, ...], tuple[str, ...]]:
    """Equal for places of which the same is stated; with their variables and rows in an order that is the same."""
    claim = statement.claim.terms
    roles: dict[str, list[object]] = {name: [] for name in names}
    for label in labels:
        row = statement.rows[label]
        for name, coefficient in row.terms.items():
            roles[name].append((row.least, len(row.terms), coefficient))

    def key(name: str) -> tuple[object, ...]:
        one = statement.variables[name]
        return repr(columns[name]), claim.get(name, 0), one.low, one.high, repr(sorted(map(repr, roles[name])))

    ordered = sorted(names, key=lambda name: (key(name), name))
    number = {name: n for n, name in enumerate(ordered)}

    def shape(label: str) -> tuple[object, ...]:
        row = statement.rows[label]
        return row.least, tuple(sorted((number[name], c) for name, c in row.terms.items()))

    rows = sorted(labels, key=lambda label: (shape(label), label))
    signature = tuple(key(name) for name in ordered), tuple(shape(label) for label in rows)
    return signature, tuple(ordered), tuple(rows)
