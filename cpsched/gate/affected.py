"""What a decision does to whom, in names: which tasks of which job are placed, and who is evicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from cpsched.instance import Instance
from cpsched.solution import Solution

MOST_NAMES = 5
"""Affected in one sentence; the report as JSON has all."""
MOST_JOBS = 3


class Affected(BaseModel):
    """The names, sorted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    placed: dict[str, tuple[str, ...]] = Field({}, description="job → its tasks that start or are reserved")
    victims: tuple[str, ...] = Field((), description="tasks that are evicted")

    @classmethod
    def of(cls, instance: Instance, solution: Solution) -> Affected:
        """Of one decision; a pod on its own is its own job."""
        placed: dict[str, list[str]] = {}
        for key in sorted({*solution.binds, *solution.reserves}):
            task = instance.tasks.get(key)
            placed.setdefault((task.group if task is not None else None) or key, []).append(key)
        by_job = {job: tuple(tasks) for job, tasks in sorted(placed.items())}
        return cls(placed=by_job, victims=tuple(sorted(solution.evicted)))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is decided."""
        return not self.placed and not self.victims


def changes(now: Affected, before: Affected, where: str) -> str:
    """Who fares otherwise than `where`, as a sentence; empty if none does."""
    return "; ".join([*_jobs(now, before, where), *_victims(now, before, where)])


def _jobs(now: Affected, before: Affected, where: str) -> Iterator[str]:
    lost = {job: tasks for job, tasks in before.placed.items() if job not in now.placed}
    won = {job: tasks for job, tasks in now.placed.items() if job not in before.placed}
    yield from _some([f"job {job} is not placed ({listed(tasks)} {where})" for job, tasks in lost.items()])
    yield from _some([f"job {job} is placed ({listed(tasks)}), not {where}" for job, tasks in won.items()])
    fewer = _fewer(now.placed, before.placed)
    yield from _some([f"job {job} has {count} fewer tasks than {where}: {listed(gone)}" for job, count, gone in fewer])
    more = _fewer(before.placed, now.placed)
    yield from _some([f"job {job} has {count} more tasks than {where}: {listed(new)}" for job, count, new in more])


def _fewer(
    now: Mapping[str, Sequence[str]], before: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, int, Sequence[str]]]:
    """Jobs that are placed in both with fewer tasks now: how many, and those that are missing."""
    for job, tasks in before.items():
        if job in now and len(now[job]) < len(tasks):
            yield job, len(tasks) - len(now[job]), [task for task in tasks if task not in now[job]]


def _victims(now: Affected, before: Affected, where: str) -> Iterator[str]:
    if now.victims == before.victims:
        return
    change = len(now.victims) - len(before.victims)
    count = f"{abs(change)} victim{'s' * (abs(change) != 1)} {'more' if change > 0 else 'fewer'}" if change else ""
    who = f"victims {where}: {listed(before.victims)}; now: {listed(now.victims)}"
    yield f"{count} ({who})" if count else who


def listed(tasks: Sequence[str]) -> str:
    """Some of them, and how many more there are."""
    rest = len(tasks) - MOST_NAMES
    return ", ".join(tasks[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "") if tasks else "none"


def _some(sentences: Sequence[str]) -> Iterator[str]:
    yield from sentences[:MOST_JOBS]
    if (rest := len(sentences) - MOST_JOBS) > 0:
        yield f"{rest} more such job{'s' * (rest != 1)}"
