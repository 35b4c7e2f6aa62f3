"""resource-strategy-fit: fill or spread, resource by resource; mirrors `plugins/resource-strategy-fit`."""

from __future__ import annotations

import json

from cpsched.filters.status import unresolvable
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf
from cpsched.policy.nested import LEAST, MOST, FitEntry, FitTable, Proportion, Scarce
from cpsched.resources import THRESHOLD

NAME = "resource-strategy-fit"
TYPE, WEIGHT = "volcano.sh/resource-strategy-scoring-type", "volcano.sh/resource-strategy-weight"


def resource_strategy_fit(session: Session, conf: PluginConf) -> Hooks:
    """Score nodes by what is used of them, and keep tasks without devices from using up what devices need."""
    weight = conf.arguments.integer("resourceStrategyFitWeight")
    table: FitTable = conf.arguments.form("resources")
    rare: Scarce = conf.arguments.form("sra")
    proportions: tuple[Proportion, ...] = conf.arguments.form("proportional")

    def score(task: TaskState, node: NodeAccount) -> float:
        total = _strategy(task, node, table) * (100 * weight) if weight else 0.0
        return total + (_scarcity(task, node, rare) * (100 * rare.weight) if rare.weight else 0.0)

    def predicate(task: TaskState, node: NodeAccount) -> FitError | None:
        if any(task.request.get(one.resource, 0) > 0 for one in proportions):
            return None
        for one in proportions:
            if one.resource in node.idle and not _leaves_enough(task, node, one):
                return FitError((unresolvable(NAME, f"proportional of resource {one.resource} check failed"),))
        return None

    return Hooks(
        node_order=score if weight or rare.weight else None,
        predicate=predicate if proportions else None,
    )


def _asked(task: TaskState) -> list[tuple[str, float]]:
    return [(name, amount) for name, amount in task.ordered_request if amount >= THRESHOLD]


def _strategy(task: TaskState, node: NodeAccount, table: FitTable) -> float:
    """The weighted mean over what the task asks for; 0 if the task would overfill one of it."""
    entries = _entries(task, table)
    if entries is None:
        return 0.0
    total, weights = 0.0, 0
    for name, asked, entry in entries:
        weights += entry.weight
        capacity = node.allocatable.get(name, 0)
        if capacity == 0:
            continue
        used = node.used.get(name, 0) + asked
        if used > capacity:
            return 0.0
        if entry.type in (LEAST, MOST):
            left = used if entry.type == MOST else capacity - used
            total += left * entry.weight / capacity
    # A sum of weights below zero divides nothing: the score stays negative.
    return total / weights if weights > 0 else total


def _entries(task: TaskState, table: FitTable) -> list[tuple[str, float, FitEntry]] | None:
    """What is rated of the task's request, and how; the pod's own annotations come first, None if they name nothing."""
    annotations = task.task.pod.metadata.annotations
    if own := annotations.get(TYPE):
        weights = _weights(annotations.get(WEIGHT, ""))
        if weights is None:
            return None
        return [(name, asked, FitEntry(own, weights[name])) for name, asked in _asked(task) if name in weights]
    exact, found = dict(table.exact), []
    for name, asked in _asked(task):
        entry = exact.get(name) or next((e for prefix, e in table.prefixes if name.startswith(prefix)), None)
        if entry is not None:
            found.append((name, asked, entry))
    return found


def _weights(text: str) -> dict[str, int] | None:
    """Whole numbers by name; None if the text holds anything else."""
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if stated is None:
        return {}
    if not isinstance(stated, dict) or any(value is not None and type(value) is not int for value in stated.values()):
        return None
    return {name: value or 0 for name, value in stated.items()}


def _scarcity(task: TaskState, node: NodeAccount, rare: Scarce) -> float:
    """1 for a node without anything scarce, 0 for one with everything; 0 too if it lacks what the task asks for."""
    if any(node.allocatable.get(name, 0) == 0 for name, _ in _asked(task)):
        return 0.0
    whole = sum(weight for _, weight in rare.weights)
    if not whole:
        return 0.0
    here = sum(weight for name, weight in rare.weights if node.allocatable.get(name, 0) > 0)
    return 1 - here / whole


def _leaves_enough(task: TaskState, node: NodeAccount, one: Proportion) -> bool:
    """Whether every idle device keeps its cores and GB; what will be free counts as taken."""
    devices = node.idle[one.resource]
    cpu = node.idle.get("cpu", 0) - task.request["cpu"]
    memory = node.idle.get("memory", 0) - task.request["memory"]
    return not (cpu < devices * one.cpu or memory < devices * one.memory * 1e6)
