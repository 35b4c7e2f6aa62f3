"""Connected components: which of many things hang together, by groups of things that do."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

Thing = TypeVar("Thing", bound=Hashable)


def components(things: Iterable[Thing], groups: Iterable[Iterable[Thing]]) -> list[list[Thing]]:
    """The things, those together that a chain of groups connects; in the order given, each by its first thing."""
    parent: dict[Thing, Thing] = {thing: thing for thing in things}

    def root(thing: Thing) -> Thing:
        while parent[thing] != thing:
            # Halving the path keeps later walks short.
            parent[thing] = thing = parent[parent[thing]]
        return thing

    for group in groups:
        members = iter(group)
        for first in members:
            for other in members:
                parent[root(other)] = root(first)
    found: dict[Thing, list[Thing]] = {}
    for thing in parent:
        found.setdefault(root(thing), []).append(thing)
    return list(found.values())
