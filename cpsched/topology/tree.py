"""The tree of HyperNodes as one session sees it, under a top that holds every node; mirrors `framework/session.go`."""

from __future__ import annotations

from cpsched.instance import Instance
from cpsched.objects.topology import HyperNode
from cpsched.topology.arrivals import Arrival, Arrivals, Pick, ancestors

TOP = "<cluster-top-hypernode>"


def first(count: int) -> int:
    """The choice of those who do not care."""
    return 0


class Tree:
    """HyperNodes by name; nodes of a HyperNode are those of the session, in its order."""

    def __init__(self, instance: Instance, pick: Pick = first):
        arrived = Arrivals({name: node.labels for name, node in instance.nodes.items()}, pick)
        arrived.arrive(instance.of_kind(HyperNode))
        self._pick = pick
        self._entries = arrived.entries
        self.ready = arrived.ready
        known = arrived.nodes
        self.nodes = {name: tuple(n for n in instance.nodes if n in found) for name, found in known.items()}
        self.by_tier = {tier: sorted(names) for tier, names in arrived.by_tier.items()}
        self._tiers_by_name = _tiers_by_name(arrived.entries)
        self._add_top(tuple(instance.nodes))
        self.tiers = sorted(self.by_tier)
        self.node_sets = {name: frozenset(nodes) for name, nodes in self.nodes.items()}
        self._leaves = self._find_leaves()
        self._ancestors: dict[str, list[str]] = {}
        self._common: dict[tuple[str, str], str] = {}

    def _add_top(self, nodes: tuple[str, ...]) -> None:
        top = Arrival(TOP, HyperNode().spec, max(1, max(self.by_tier, default=0) + 1))
        for entry in self._entries.values():
            if not entry.parent:
                entry.parent = TOP
                top.children.add(entry.name)
        self._entries[TOP] = top
        self.by_tier[top.tier] = [TOP]
        self.nodes[TOP] = nodes

    def _find_leaves(self) -> dict[str, list[str]]:
        leaves: dict[str, list[str]] = {}
        for name in self.by_tier[self.tiers[0]]:
            for node in self.nodes.get(name, ()):
                leaves.setdefault(node, []).append(name)
        return leaves

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def names(self) -> list[str]:
        """Every HyperNode, the top and those not yet arrived included."""
        return sorted(self._entries)

    @property
    def nodes_of_top(self) -> tuple[str, ...]:
        """All nodes."""
        return self.nodes[TOP]

    def tier(self, name: str) -> int:
        """How far apart the nodes of a HyperNode may be."""
        return self._entries[name].tier

    @property
    def top_tier(self) -> int:
        """The tier of the whole cluster."""
        return self._entries[TOP].tier

    def parent(self, name: str) -> str:
        """The HyperNode around it, empty for the top."""
        return self._entries[name].parent

    def children(self, name: str) -> list[str]:
        """The HyperNodes in it, by name."""
        return sorted(self._entries[name].children)

    def tier_named(self, name: str) -> int | None:
        """The tier that goes by a name; of several, any."""
        tiers = self._tiers_by_name.get(name)
        return tiers[self._pick(len(tiers))] if tiers else None

    def holds(self, name: str, node: str) -> bool:
        """Whether a node is in a HyperNode."""
        return node in self.node_sets.get(name, ())

    def spans(self, nodes: set[str], limit: int) -> bool:
        """Whether some HyperNode of a tier up to the limit holds all the nodes."""
        return any(nodes <= found for name, found in self.node_sets.items() if self.tier(name) <= limit)

    def leaf(self, node: str) -> str:
        """A HyperNode of the lowest tier that holds the node, empty without one."""
        leaves = self._leaves.get(node)
        if not leaves:
            return ""
        return leaves[self._pick(len(leaves))]

    def lowest(self, names: list[str]) -> str:
        """One of the lowest tier, empty if there is none."""
        least = min((self.tier(name) for name in names), default=0)
        equal = [name for name in names if self.tier(name) == least]
        return equal[self._pick(len(equal))] if equal else ""

    def ancestors(self, name: str) -> list[str]:
        """The HyperNode and all around it, from the inside."""
        if name not in self._ancestors:
            self._ancestors[name] = ancestors(self._entries, name, self._pick)
        return self._ancestors[name]

    def common(self, left: str, right: str) -> str:
        """The lowest HyperNode around both; of an empty name and another the other."""
        if not left or not right:
            return left or right
        found = self._common.get((left, right))
        if found is None:
            around = set(self.ancestors(left))
            found = next((name for name in self.ancestors(right) if name in around), "")
            self._common[left, right] = found
        return found


def _tiers_by_name(entries: dict[str, Arrival]) -> dict[str, list[int]]:
    found: dict[str, set[int]] = {}
    for entry in entries.values():
        if entry.spec.tier_name:
            found.setdefault(entry.spec.tier_name, set()).add(entry.tier)
    return {name: sorted(tiers) for name, tiers in found.items()}
