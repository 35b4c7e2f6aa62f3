"""Indexes that spare the filters a walk over all pods: pods by their labels, pods by whom they keep away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from cpsched.selectors import AffinityTerm, Labels, Selector


class LabelClass:
    """All pods of a namespace with the same labels, going or staying: how many are on each node, by node index."""

    __slots__ = ("counts", "labels", "namespace", "number", "terminating")

    def __init__(self, number: int, namespace: str, labels: Labels, terminating: bool):
        self.number, self.namespace, self.labels, self.terminating = number, namespace, labels, terminating
        self.counts: dict[int, int] = {}


class LabelIndex:
    """Pods by their labels."""

    def __init__(self) -> None:
        self._classes: list[LabelClass] = []
        self._by_content: dict[tuple[str, bool, tuple[tuple[str, str], ...]], LabelClass] = {}
        self._found: dict[tuple[frozenset[str] | None, Selector], tuple[int, list[LabelClass]]] = {}

    def of(self, namespace: str, labels: Labels, terminating: bool) -> LabelClass:
        """The class of such pods."""
        key = (namespace, terminating, tuple(sorted(labels.items())))
        found = self._by_content.get(key)
        if found is None:
            found = self._by_content[key] = LabelClass(len(self._classes), namespace, labels, terminating)
            self._classes.append(found)
        return found

    def matching(self, namespaces: frozenset[str] | None, selector: Selector) -> list[LabelClass]:
        """The classes a selector picks in these namespaces (None: all); only those new since last time are tested."""
        key = (namespaces, selector)
        seen, matched = self._found.get(key, (0, []))
        if seen < len(self._classes):
            for one in self._classes[seen:]:
                if (namespaces is None or one.namespace in namespaces) and selector.matches(one.labels):
                    matched.append(one)
            self._found[key] = (len(self._classes), matched)
        return matched


class AntiClass:
    """All pods with the same required anti-affinity: how many are on each node, by node index."""

    __slots__ = ("counts", "terms")

    def __init__(self, terms: tuple[AffinityTerm, ...]):
        self.terms = terms
        self.counts: dict[int, int] = {}


class AntiIndex:
    """Pods by their required anti-affinity."""

    def __init__(self) -> None:
        self._classes: list[AntiClass] = []
        self._by_terms: dict[tuple[AffinityTerm, ...], AntiClass] = {}
        self._found: dict[int, tuple[int, list[tuple[AntiClass, str]]]] = {}

    def of(self, terms: tuple[AffinityTerm, ...]) -> AntiClass:
        """The class of pods with these terms."""
        found = self._by_terms.get(terms)
        if found is None:
            found = self._by_terms[terms] = AntiClass(terms)
            self._classes.append(found)
        return found

    def against(self, labels: LabelClass, namespace_labels: Labels) -> list[tuple[AntiClass, str]]:
        """Who keeps such pods away, with the topology key: once per matching term."""
        seen, matched = self._found.get(labels.number, (0, []))
        if seen < len(self._classes):
            for one in self._classes[seen:]:
                for term in one.terms:
                    if term.matches(labels.namespace, labels.labels, namespace_labels):
                        matched.append((one, term.topology_key))
            self._found[labels.number] = (len(self._classes), matched)
        return matched


class Domains:
    """The values of one topology key: `codes[i]` is the number of node i's value, -1 where it lacks the key."""

    def __init__(self, key: str, node_labels: Iterator[Labels]):
        self.key = key
        numbers: dict[str, int] = {}
        self.code_by_node = [
            -1 if (value := labels.get(key)) is None else numbers.setdefault(value, len(numbers))
            for labels in node_labels
        ]
        self.values = list(numbers)
        self.codes: npt.NDArray[np.int64] = np.array(self.code_by_node, dtype=np.int64)

    def per_node(self, amounts: Mapping[str, int], missing: int) -> npt.NDArray[np.int64]:
        """An amount per value as an amount per node; a value not listed counts 0, a node without the key `missing`."""
        table = [amounts.get(value, 0) for value in self.values]
        table.append(missing)
        return np.array(table, dtype=np.int64)[self.codes]
