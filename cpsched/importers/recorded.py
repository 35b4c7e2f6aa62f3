"""Decisions that some scheduler took, as a corpus carries them, turned into Solutions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cpsched.errors import InputError
from cpsched.files import read_document
from cpsched.importers.corpus import Case
from cpsched.solution import Solution

RECORDED = "recorded"
_PARTS = ("binds", "allocated", "pipelined", "nominations", "phases")


@dataclass(frozen=True)
class RecordedOutcome:
    """One decision, and in how many runs of the scheduler it was seen."""

    solution: Solution
    count: int = 1


def outcomes(case: Case) -> tuple[RecordedOutcome, ...]:
    """The recorded decisions of a case, most frequent first; none if nothing was recorded."""
    found = list(_outcomes(case))
    return tuple(sorted(found, key=lambda one: -one.count))


def _outcomes(case: Case) -> Iterator[RecordedOutcome]:
    stated = case.stated
    solution = stated.get("solution")
    if isinstance(solution, Path):
        document = read_document(solution)
        yield RecordedOutcome(_named(Solution.parse(document.data, file=document.file)))
    elif solution is not None:
        yield RecordedOutcome(_named(Solution.parse(solution, file=case.place)))
    elif "outcomes" in stated:
        for one in stated["outcomes"]:
            yield RecordedOutcome(decision(one, case.place), int(one.get("count", 1)))
    elif "decision" in stated:
        yield RecordedOutcome(decision(stated["decision"], case.place))


def decision(stated: Any, file: str) -> Solution:
    """A decision in short form: placements by part, and victims as names (`evicted`) or in full (`evictions`)."""
    if not isinstance(stated, Mapping):
        raise InputError("a recorded decision is a mapping", file=file, right="give binds, pipelined and evicted")
    parts: dict[str, Any] = {part: stated[part] for part in _PARTS if part in stated}
    if "pipelined" not in parts and "attempts" in stated:
        parts["pipelined"] = _nominated(stated)
    victims = [{"task": task} for task in stated.get("evicted", ())]
    parts["evictions"] = [*victims, *stated.get("evictions", ())]
    return _named(Solution.parse(parts, file=file))


def _nominated(stated: Mapping[str, Any]) -> dict[str, str]:
    """Pods that were nominated in this very session and still are: they wait for the room that was made."""
    kept = stated.get("nominations", {})
    attempts = stated["attempts"]
    return {one["pod"]: one["nominated"] for one in attempts if kept.get(one["pod"], "") == one.get("nominated")}


def _named(solution: Solution) -> Solution:
    return solution if solution.engine else solution.model_copy(update={"engine": RECORDED})
