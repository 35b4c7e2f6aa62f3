"""Tasks and victims in which two decisions differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from cpsched.solution import Solution

Kind = Literal["victim", "spared", "placed", "waiting", "moved"]
"""What one decision does and the better one does not: evicts, spares, places, leaves waiting, places elsewhere."""


@dataclass(frozen=True)
class TaskDifference:
    """One task that fares differently, and why the engine did what it did."""

    task: str
    kind: Kind
    here: str
    """What the decision does with the task."""
    there: str
    """What the better one does with it."""
    reason: str = ""


def differences(one: Solution, best: Solution, reason: Callable[[str, Kind], str]) -> tuple[TaskDifference, ...]:
    """All of them: victims first, then tasks that only one decision places, then those placed otherwise."""
    found = [*_victims(one, best), *_placements(one, best)]
    return tuple(TaskDifference(task, kind, here, there, reason(task, kind)) for task, kind, here, there in found)


def fate(solution: Solution, task: str) -> str:
    """What becomes of the task, in a few words."""
    for eviction in solution.evictions:
        if eviction.task == task:
            return f"evicted for {eviction.for_job}" if eviction.for_job else "evicted"
    for words, places in (
        ("starts on", solution.binds),
        ("waits for capacity on", solution.pipelined),
        ("is allocated on", solution.allocated),
    ):
        if task in places:
            return f"{words} {places[task]}"
    return "stays pending"


def _victims(one: Solution, best: Solution) -> Iterator[tuple[str, Kind, str, str]]:
    ours = list(dict.fromkeys(eviction.task for eviction in one.evictions))
    for task in ours:
        if task not in best.evicted:
            yield task, "victim", fate(one, task), "keeps running"
    for eviction in best.evictions:
        if eviction.task not in one.evicted:
            yield eviction.task, "spared", "keeps running", fate(best, eviction.task)


def _placements(one: Solution, best: Solution) -> Iterator[tuple[str, Kind, str, str]]:
    places = [{**solution.binds, **solution.reserves} for solution in (one, best)]
    kinds: dict[Kind, list[str]] = {"waiting": [], "placed": [], "moved": []}
    for task in sorted({*places[0], *places[1]}):
        if task not in places[0]:
            kinds["waiting"].append(task)
        elif task not in places[1]:
            kinds["placed"].append(task)
        elif fate(one, task) != fate(best, task):
            kinds["moved"].append(task)
    for kind, tasks in kinds.items():
        for task in tasks:
            yield task, kind, fate(one, task), fate(best, task)
