"""The changes that a user asks for, and what they come to, in one order whatever the order of the options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from cpsched.alterations import Alteration
from cpsched.errors import InputError
from cpsched.importers.kubernetes import Found
from cpsched.objects.node import Node
from cpsched.objects.pod import Pod

_SECOND = 10**9


@dataclass(frozen=True)
class Changes:
    """Options of the command line and keywords of `cpsched.load`."""

    submit: tuple[Any, ...] = ()
    """files, folders or objects whose objects are created"""
    cordon: tuple[str, ...] = ()
    """nodes that take no new pods"""
    drain: tuple[str, ...] = ()
    """nodes that are cordoned and whose pods are evicted"""
    add_nodes: tuple[tuple[int, str], ...] = ()
    """how many nodes are added, and like which node"""
    without: tuple[str, ...] = ()
    """pods that are gone"""
    evict: tuple[str, ...] = ()
    """pods that lose their node; those of controllers are pending again"""
    assume_nodes: bool = False
    """whether nodes that only pods name are made"""
    node_usage: Any = None
    """the measured load of nodes, or a file with it; it changes nothing of the cluster, so no answer names it"""

    def __bool__(self) -> bool:
        return any((self.assume_nodes, self.submit, self.cordon, self.drain, self.add_nodes, self.without, self.evict))


@dataclass
class Cluster:
    """The objects of the input while they are changed."""

    found: list[Found]
    file: str
    created: int | None
    """when new objects are created: after everything that the input mentions"""
    what_if: list[Alteration] = field(default_factory=list)

    def index_of(self, shape: type[Node] | type[Pod], name: str, option: str) -> int:
        """Where the node or pod of that name stands; one line with near names if there is none."""
        places = {item.object.key: place for place, item in enumerate(self.found) if isinstance(item.object, shape)}
        if name not in places and shape is Pod and f"default/{name}" in places:
            name = f"default/{name}"
        if name not in places:
            kind = shape.__name__.lower()
            near = get_close_matches(name, places, n=3)
            right = f"did you mean {' or '.join(near)}?" if near else _those(kind, [*places])
            raise InputError(f"no {kind} {name}", file=self.file, place=option, right=right)
        return places[name]

    def state(self, option: str, effect: str) -> None:
        """What a change comes to, for the top of every answer."""
        self.what_if.append(Alteration(option=option, effect=effect))


def last_moment(found: Iterable[Found], now: int | None) -> int | None:
    """A second after everything that the input mentions, or its own clock; None if it mentions no time."""
    if now is not None:
        return now
    stated = [item.object.metadata.creation_timestamp for item in found]
    stated += [item.object.status.start_time for item in found if isinstance(item.object, Pod)]
    known = [moment for moment in stated if moment is not None]
    return max(known) + _SECOND if known else None


def some(names: list[str], most: int = 3) -> str:
    """A few names, and how many there are besides."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def counted(number: int, one: str) -> str:
    """A number with its noun."""
    return f"{number} {one}{'' if number == 1 else 's'}"


def _those(kind: str, names: list[str]) -> str:
    return f"there are {counted(len(names), kind)}{': ' if names else ''}{some(sorted(names), 5)}"
