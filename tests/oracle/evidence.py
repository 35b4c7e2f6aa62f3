"""Every decision of a tiny session against every bound that evidence shows, whatever the earlier levels' values are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from cpsched.certificate.case import Case, Session
from cpsched.certificate.certify import bounds_of, tightness
from cpsched.objectives import Value, comparable, level_plan, vector
from cpsched.rules import violations
from cpsched.snapshot import Snapshot
from tests.oracle.brute_force import decisions


@dataclass
class Tally:
    """Bounds that some decision beats, and how many levels of the optimum evidence closes, by level and kind."""

    beaten: list[str] = field(default_factory=list)
    levels: Counter[str] = field(default_factory=Counter)
    closed: Counter[tuple[str, str]] = field(default_factory=Counter)


def tally_of(snapshot: Snapshot, tally: Tally) -> None:
    """Hold every kind's bound at every reachable prefix of values against the best that follows it."""
    plan = level_plan(snapshot)
    vectors = {tuple(vector(decision)) for decision in decisions(snapshot) if not violations(decision)}
    best = min(vectors, key=lambda values: comparable(plan, list(values)))
    session = Session(snapshot)
    for prefix, top in _best_next(plan, vectors):
        name, priority = plan[len(prefix)]
        given = dict(zip(plan, prefix, strict=False))
        bounds = bounds_of(Case(session, given), name, priority)
        for kind, bound in bounds:
            if tightness(name, bound) > tightness(name, top):
                tally.beaten.append(f"{kind} says {bound} of {name}[{priority}], but {top} is reached given {given}")
        if prefix == best[: len(prefix)]:
            tally.levels[name] += 1
            if bounds[0][1] == top:
                tally.closed[name, bounds[0][0]] += 1


def _best_next(
    plan: list[tuple[str, int | None]], vectors: set[tuple[Value, ...]]
) -> Iterator[tuple[tuple[Value, ...], Value]]:
    found: dict[tuple[Value, ...], set[Value]] = defaultdict(set)
    for values in vectors:
        for position in range(len(plan)):
            found[values[:position]].add(values[position])
    for prefix, values_there in found.items():
        name = plan[len(prefix)][0]
        yield prefix, min(values_there, key=lambda value, name=name: tightness(name, value))  # type: ignore[misc]
