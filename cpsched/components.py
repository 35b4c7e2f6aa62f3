"""Connected components: which of many things hang together, by groups of things that do."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

Thing = TypeVar("Thing", bound=Hashable)


def components(things: Iterable[Thing], groups: Iterable[Iterable[Thing]]) -> list[list[Thing]]:
    """The things, those together that a chain of groups connects; in the order given, each by its first thing."""
    place = {thing: number for number, thing in enumerate(dict.fromkeys(things))}
    together = [members for group in groups if len(members := list(group)) > 1]
    if not together:
        return [[thing] for thing in place]
    import networkx  # slow to import, and mostly not needed

    graph: Any = networkx.Graph()
    graph.add_nodes_from(place)
    for members in together:
        networkx.add_path(graph, members)
    return [sorted(one, key=place.__getitem__) for one in networkx.connected_components(graph)]
