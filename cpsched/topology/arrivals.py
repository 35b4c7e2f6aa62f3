"""The tree of HyperNodes as it grows from one arrival after the other; mirrors `api/hyper_node_info.go`.

A tree that is none is no error: what counts is how far the last rebuild came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from cpsched.objects.topology import HyperNode, HyperNodeSpec, Member
from cpsched.selectors import Labels
from cpsched.topology.members import members

ROUNDS = 3
"""So often HyperNodes that failed are tried again, behind the others."""

Pick = Callable[[int], int]


@dataclass
class Arrival:
    """A HyperNode that has arrived, or one that is only named by another so far."""

    name: str
    spec: HyperNodeSpec
    tier: int
    parent: str = ""
    children: set[str] = field(default_factory=set)


class _BrokenError(Exception):
    """A rebuild stops: a cycle, or a second parent."""


class Arrivals:
    """All that is derived from the HyperNodes so far."""

    def __init__(self, labels_by_node: Mapping[str, Labels], pick: Pick):
        self._labels, self._pick = labels_by_node, pick
        self.entries: dict[str, Arrival] = {}
        self.by_tier: dict[int, set[str]] = {}
        self.nodes: dict[str, set[str]] = {}
        self.ready = True

    def arrive(self, hyper_nodes: Iterable[HyperNode]) -> None:
        """All of them in order, then those that failed again."""
        waiting = list(hyper_nodes)
        for _ in range(1 + ROUNDS):
            waiting = [one for one in waiting if not self._update(one)]

    def _update(self, arrived: HyperNode) -> bool:
        name, spec = arrived.metadata.name, arrived.spec
        old = self.entries.get(name)
        selects = any(one.selector.regex_match or one.selector.label_match for one in spec.members)
        if old is not None and old.spec == spec and not selects:
            return True
        changed = old is None or old.spec.members != spec.members
        freed = self._release(old, spec) if changed and old is not None else set()
        if old is None or old.spec.tier != spec.tier:
            self._enter_tier(name, old, spec.tier)
        if old is None:
            self.entries[name] = Arrival(name, spec, spec.tier)
        else:
            old.spec, old.tier = spec, spec.tier
        if not changed and not selects:
            return True
        try:
            self._rebuild(name)
            for child in sorted(freed):
                for other in [one.name for one in self.entries.values() if one.name != name and _claims(one, child)]:
                    self._rebuild(other)
        except _BrokenError:
            self.ready = False
            return False
        self.ready = True
        return True

    def _release(self, old: Arrival, spec: HyperNodeSpec) -> set[str]:
        """Children that are members no longer lose their parent."""
        removed = _named(old.spec.members) - _named(spec.members)
        for child in removed & self.entries.keys():
            self.entries[child].parent = ""
        return removed

    def _enter_tier(self, name: str, old: Arrival | None, tier: int) -> None:
        if old is not None and old.tier in self.by_tier:
            self.by_tier[old.tier].discard(name)
            if not self.by_tier[old.tier]:
                del self.by_tier[old.tier]
        self.by_tier.setdefault(tier, set()).add(name)

    def _rebuild(self, name: str) -> None:
        chain = ancestors(self.entries, name, self._pick)
        for one in chain:
            self.nodes.pop(one, None)
            if one in self.entries:
                self.entries[one].parent = ""
                self.entries[one].children.clear()
        built: set[str] = set()
        for one in chain:
            if one in self.entries:
                self._build(self.entries[one], set(chain), built)

    def _build(self, start: Arrival, chain: set[str], built: set[str]) -> None:
        """Depth first without recursion: a chain of HyperNodes may be long."""
        path: dict[str, None] = {}
        work: list[tuple[Arrival, int]] = [(start, 0)]
        if start.name in built:
            return
        path[start.name] = None
        while work:
            entry, place = work.pop()
            if place == len(entry.spec.members):
                built.add(entry.name)
                del path[entry.name]
                if work:
                    # Its parent goes on with the member that it was.
                    self._unite(work[-1][0].name, self.nodes.get(entry.name, set()))
                continue
            work.append((entry, place + 1))
            member = entry.spec.members[place]
            if member.type == "Node":
                self._unite(entry.name, members(member.selector, self._labels))
            elif member.type == "HyperNode" and member.selector.exact_match and member.selector.exact_match.name:
                child = self._adopt(entry, member.selector.exact_match.name)
                if child.name in path:
                    raise _BrokenError
                if child.name in chain and child.name not in built:
                    path[child.name] = None
                    work.append((child, 0))
                else:
                    self._unite(entry.name, self.nodes.get(child.name, set()))

    def _unite(self, name: str, nodes: set[str]) -> None:
        self.nodes[name] = self.nodes.get(name, set()) | nodes

    def _adopt(self, parent: Arrival, name: str) -> Arrival:
        child = self.entries.get(name)
        if child is None:
            # Named before it arrives: a stand-in without tier and members.
            child = self.entries[name] = Arrival(name, HyperNodeSpec(), 0)
        if child.parent not in ("", parent.name):
            raise _BrokenError
        child.parent = parent.name
        parent.children.add(name)
        return child


def ancestors(entries: Mapping[str, Arrival], name: str, pick: Pick) -> list[str]:
    """The HyperNode, its parent and so on upwards; stops where it would repeat itself."""
    found = {name: None}
    current = name
    while True:
        entry = entries.get(current)
        parent = entry.parent if entry is not None and entry.parent else _parent_by_spec(entries, current, pick)
        if not parent or parent in found:
            return list(found)
        found[parent] = None
        current = parent


def _parent_by_spec(entries: Mapping[str, Arrival], name: str, pick: Pick) -> str:
    """Any HyperNode of a higher tier that names it, whether or not it has adopted it."""
    tier = entries[name].tier if name in entries else -1
    naming = [
        one.name
        for one in entries.values()
        if one.tier > tier and any(m.type != "Node" and _exact(m) == name for m in one.spec.members)
    ]
    return sorted(naming)[pick(len(naming))] if naming else ""


def _exact(member: Member) -> str | None:
    return None if member.selector.exact_match is None else member.selector.exact_match.name


def _named(given: Iterable[Member]) -> set[str]:
    return {name for one in given if one.type == "HyperNode" and (name := _exact(one)) is not None}


def _claims(entry: Arrival, child: str) -> bool:
    return child in _named(entry.spec.members)
