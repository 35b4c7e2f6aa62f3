"""Scores by company; mirrors kube-scheduler's `interpodaffinity/scoring.go`, `podtopologyspread/scoring.go`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cpsched.filters.spread_constraint import default_selector
from cpsched.filters.state import NodeState
from cpsched.greedy.volcano.picture import FilterView
from cpsched.instance import Task
from cpsched.objects.affinity import TopologySpreadConstraint
from cpsched.selectors import NOTHING, Selector, blocks, equal_labels, label_selector

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"

Weights = dict[str, dict[str, int]]
"""topology key → value → summed weight."""


def affinity_scores(picture: FilterView, task: Task, indexes: Sequence[int]) -> list[int] | None:
    """Preferences of the task about others and of others about it, the best node 100, the worst 0."""
    weights = _preferences(picture, task)
    if not weights:
        return None
    raw = [_weight_of(weights, picture.node_list[index].labels) for index in indexes]
    least, span = min(raw), max(raw) - min(raw)
    return [int(100.0 * ((score - least) / span)) if span > 0 else 0 for score in raw]


def _preferences(picture: FilterView, task: Task) -> Weights:
    weights: Weights = {}
    own = picture.preferred(task)
    for term, weight in own:
        expanded = term.expanded(picture.namespaces)
        namespaces = None if expanded.namespace_selector.is_empty else expanded.namespaces
        for one in picture.labels.matching(namespaces, expanded.selector):
            _spread_out(weights, picture, term.topology_key, one.counts, weight)
    namespace_labels = picture.namespaces.get(task.namespace, {})
    for company in picture.preferences.values():
        counts = company.counts
        if not own:
            # Without terms of its own a task meets only nodes that held choosy pods when the session opened.
            counts = {index: count for index, count in counts.items() if index in picture.affinity_nodes}
        for term, weight in company.terms:
            if term.matches(task.namespace, task.labels, namespace_labels):
                _spread_out(weights, picture, term.topology_key, counts, weight)
    return weights


def _spread_out(weights: Weights, picture: FilterView, key: str, counts: Mapping[int, int], weight: int) -> None:
    for index, count in counts.items():
        value = picture.node_list[index].labels.get(key)
        if value is not None and count:
            by_value = weights.setdefault(key, {})
            by_value[value] = by_value.get(value, 0) + count * weight


def _weight_of(weights: Weights, labels: Mapping[str, str]) -> int:
    return sum(by_value.get(labels[key], 0) for key, by_value in weights.items() if key in labels)


@dataclass(frozen=True)
class Soft:
    """A parsed constraint with ScheduleAnyway."""

    max_skew: int
    key: str
    selector: Selector
    honours_affinity: bool
    honours_taints: bool


def spread_scores(picture: FilterView, task: Task, indexes: Sequence[int]) -> list[int] | None:
    """The fewer matching pods in a node's domains, the better."""
    constraints = soft_constraints(picture, task)
    if not constraints:
        return None
    all_keys = bool(task.pod.spec.topology_spread_constraints)
    nodes = [picture.node_list[index] for index in indexes]
    counted = [node for node in nodes if not all_keys or all(one.key in node.labels for one in constraints)]
    totals: dict[int, float] = {node.index: 0.0 for node in counted}
    for one in constraints:
        pods = _matching(picture, task, one)
        by_value = _by_value(picture, task, one, constraints, counted, pods, all_keys=all_keys)
        size = len(counted) if one.key == HOSTNAME else len(by_value)
        weight = math.log(size + 2)
        for node in counted:
            if one.key in node.labels:
                count = pods.get(node.index, 0) if one.key == HOSTNAME else by_value[node.labels[one.key]]
                totals[node.index] += count * weight + (one.max_skew - 1)
    rounded = {index: math.floor(total + 0.5) for index, total in totals.items()}
    top, least = max(rounded.values(), default=0), min(rounded.values(), default=0)
    return [_turned(rounded[node.index], least, top) if node.index in rounded else 0 for node in nodes]


def _turned(score: int, least: int, top: int) -> int:
    return 100 if not top else 100 * (top + least - score) // top


def _by_value(
    picture: FilterView,
    task: Task,
    one: Soft,
    constraints: Sequence[Soft],
    counted: Iterable[NodeState],
    pods: Mapping[int, int],
    *,
    all_keys: bool,
) -> dict[str, int]:
    """Matching pods per value of the key among the candidates, over all nodes that the constraint counts."""
    if one.key == HOSTNAME:
        return {}
    by_value = {node.labels.get(one.key, ""): 0 for node in counted}
    for index, count in pods.items():
        node = picture.node_list[index]
        if all_keys and not all(other.key in node.labels for other in constraints):
            continue
        value = node.labels.get(one.key, "")
        if value in by_value and _eligible(picture, task, one, node):
            by_value[value] += count
    return by_value


def _eligible(picture: FilterView, task: Task, one: Soft, node: NodeState) -> bool:
    if one.honours_affinity and not picture.facts(task).node_affinity.matches(node.labels, node.name):
        return False
    return not (one.honours_taints and blocks(node.node.node.spec.taints, task.pod.spec.tolerations))


def _matching(picture: FilterView, task: Task, one: Soft) -> dict[int, int]:
    """How many pods of the task's namespace match, by node."""
    found: dict[int, int] = {}
    if one.selector.is_empty:
        return found
    for pods in picture.labels.matching(frozenset((task.namespace,)), one.selector):
        if not pods.terminating:
            for index, count in pods.counts.items():
                found[index] = found.get(index, 0) + count
    return found


def soft_constraints(picture: FilterView, task: Task) -> list[Soft]:
    """The pod's own, or without any the system's defaults for pods that services or sets select."""
    stated = task.pod.spec.topology_spread_constraints
    if stated:
        return [_parsed(one, task) for one in stated if one.when_unsatisfiable == "ScheduleAnyway"]
    selector = default_selector(task, picture)
    if selector.is_empty:
        return []
    return [Soft(3, HOSTNAME, selector, True, False), Soft(5, ZONE, selector, True, False)]


def _parsed(stated: TopologySpreadConstraint, task: Task) -> Soft:
    selector = label_selector(stated.label_selector)
    if selector is not NOTHING:
        own = {key: task.labels[key] for key in stated.match_label_keys if key in task.labels}
        selector = selector.also(equal_labels(own).requirements or ())
    honours_taints = stated.node_taints_policy == "Honor"
    return Soft(stated.max_skew, stated.topology_key, selector, stated.node_affinity_policy != "Ignore", honours_taints)
