"""Where the rules and levels write their variables and rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cpsched.proof.counted import CountedSession
from cpsched.proof.counts import Counts
from cpsched.proof.rows import ProofRow, Terms, Variable, rounded
from cpsched.snapshot import Snapshot


class Draft:
    """A statement as it is written; `starts` says whether starts are distinguished from reservations."""

    def __init__(self, counted: CountedSession):
        self.counted, self.starts = counted, counted.form.starts
        self.snapshot: Snapshot = counted.snapshot
        self.variables: dict[str, Variable] = {}
        self.rows: dict[str, ProofRow] = {}
        self._made: dict[tuple[object, ...], Terms] = {}

    def variable(
        self, name: str, low: int, high: int, value: Callable[[Counts], int], place: int | None = None
    ) -> Terms:
        """A new variable, as a sum of its own."""
        name = _unused(name, self.variables)
        self.variables[name] = Variable(low, high, value, place)
        return {name: 1}

    def once(self, key: tuple[object, ...], make: Callable[[], Terms]) -> Terms:
        """What several rows speak of, made when the first of them does."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def at_least(self, label: str, terms: Mapping[str, int], least: int) -> None:
        """The sum is at least so much; what the variables' limits say anyway is no row."""
        row = rounded(terms, least)
        if self.lowest(row.terms) < row.least:
            self.rows[_unused(label, self.rows)] = row

    def at_most(self, label: str, terms: Mapping[str, int], most: int) -> None:
        """The sum is at most so much."""
        self.at_least(label, {name: -coefficient for name, coefficient in terms.items()}, -most)

    def equal(self, label: str, terms: Mapping[str, int], value: int) -> None:
        """The sum is so much: two rows."""
        self.at_least(f"{label} or more", terms, value)
        self.at_most(f"{label} or less", terms, value)

    def at_least_if(self, label: str, flag: Mapping[str, int], terms: Mapping[str, int], least: int) -> None:
        """The sum is at least so much if the flag, which is 0 or 1, is 1; else it is what it is by its limits."""
        missing = least - self.lowest(terms)
        if missing > 0:
            self.at_least(label, {**terms, **{name: -missing * c for name, c in flag.items()}}, least - missing)

    def at_most_if(self, label: str, flag: Mapping[str, int], terms: Mapping[str, int], most: int) -> None:
        """The sum is at most so much if the flag, which is 0 or 1, is 1."""
        self.at_least_if(label, flag, {name: -coefficient for name, coefficient in terms.items()}, -most)

    def lowest(self, terms: Mapping[str, int]) -> int:
        """What the sum is at least by the variables' limits."""
        limits = self.variables
        return sum(c * (limits[name].low if c > 0 else limits[name].high) for name, c in terms.items())

    def highest(self, terms: Mapping[str, int]) -> int:
        """What the sum is at most by the variables' limits."""
        limits = self.variables
        return sum(c * (limits[name].high if c > 0 else limits[name].low) for name, c in terms.items())


def _unused(name: str, names: Mapping[str, object]) -> str:
    """The name, with a number behind it if it is taken: names of objects may hold brackets and commas."""
    found, number = name, 2
    while found in names:
        found, number = f"{name}#{number}", number + 1
    return found
