"""Node scores of pods that may run anywhere, from the fullness of the HyperNodes around each node, tier by tier."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cpsched.errors import InputError
from cpsched.greedy.outcomes import Choices
from cpsched.topology.tree import Tree

_MOST_TIERS = 10_000


class Tiers:
    """Every whole number from the lowest tier to the highest counts, whether or not a HyperNode has it."""

    def __init__(self, tree: Tree, choices: Choices, fading: float):
        self._choices = choices
        least, most = tree.tiers[0], tree.tiers[-1]
        if most - least >= _MOST_TIERS:
            wrong = (
                f"tiers of HyperNodes from {least} to {most}: Volcano goes through every number between for each pod"
            )
            raise InputError(wrong, right=f"at most {_MOST_TIERS} tiers")
        self.weights = [_power(fading, tier - 1) for tier in range(least, most + 1)]
        self.total = sum(self.weights)
        self._domains: dict[str, list[list[str]]] = {}
        for node in tree.nodes_of_top:
            around: list[list[str]] = [[] for _ in self.weights]
            self._domains[node] = around
        for tier, names in tree.by_tier.items():
            for name in names:
                for node in tree.nodes.get(name, ()):
                    self._domains[node][tier - least].append(name)

    def around(self, node: str) -> list[list[str]]:
        """The HyperNodes around a node, tier by tier."""
        return self._domains[node]

    def means(self, nodes: Iterable[str], fullness: Callable[[str], float]) -> dict[str, float]:
        """The weighted mean over the tiers; where a tier has none around the node it counts as full."""
        if self.total <= 0:
            return {}
        return {node: self._mean(self._domains[node], fullness) for node in nodes}

    def _mean(self, around: list[list[str]], fullness: Callable[[str], float]) -> float:
        total = 0.0
        for weight, names in zip(self.weights, around, strict=True):
            total += weight * (fullness(names[self._choices.pick(len(names))]) if names else 1.0)
        return total / self.total


def _power(base: float, exponent: int) -> float:
    """As Go has it: what is too large, or divided by zero, is infinite."""
    try:
        return float(base**exponent)
    except (OverflowError, ZeroDivisionError):
        return float("inf")
