"""All that waits in a session, grouped by the first reason, the most important first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cpsched import engines
from cpsched.alterations import Alteration
from cpsched.doubts import Doubt
from cpsched.explanation.blocks import what_if_block
from cpsched.explanation.first_reason import FirstReasons
from cpsched.importers.chosen import undecided
from cpsched.instance import Instance, Status, Task
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution, SolutionStatus
from cpsched.tables import Block, Table, markdown

MOST_NAMES = 3
STARTS = "starts now"
RESERVED = "capacity is reserved for it, it starts once pods that are evicted or end are gone"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class WaitingGroup(_Part):
    """Tasks that wait for the same reason."""

    reason: str
    priority: int = Field(description="the highest priority among its jobs")
    jobs: tuple[str, ...] = Field(description="by priority, then by name")
    tasks: tuple[str, ...]


class Waiting(_Part):
    """Every pending task, by the first reason why it waits; what the engine starts now comes apart."""

    api_version: Literal["cpsched/v1"] = Field("cpsched/v1", alias="apiVersion")
    kind: Literal["Waiting"] = "Waiting"
    engine: str
    model: str
    status: SolutionStatus
    doubts: tuple[Doubt, ...] = Field((), description="what the input lacks, or the configuration runs and is left out")
    groups: tuple[WaitingGroup, ...] = Field(description="by the highest priority, then by name")
    starts: WaitingGroup | None = Field(None, description="what the engine starts in this session")
    what_if: tuple[Alteration, ...] = Field((), description="how the cluster was changed before it was decided on")

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return self.model_dump(mode="json", by_alias=True)

    @property
    def is_open(self) -> bool:
        """Whether time ended it without a decision."""
        return self.status is SolutionStatus.UNKNOWN

    def to_markdown(self) -> str:
        """The same as Markdown."""
        return markdown(self.blocks()) + "\n"

    def blocks(self) -> Iterator[Block]:
        """The counts, the groups, and how to ask about one."""
        yield from what_if_block(self.what_if)
        yield from (f"Doubt: {doubt.text}" for doubt in self.doubts)
        groups = [*self.groups, *([self.starts] if self.starts else [])]
        if not groups:
            yield "Nothing waits: no task is pending."
            return
        jobs = len({job for group in groups for job in group.jobs})
        tasks = sum(len(group.tasks) for group in groups)
        yield f"{_counted(tasks, 'task')} of {_counted(jobs, 'job')} pending; decision of engine {self.engine}."
        if self.groups:
            columns = ["#jobs", "#tasks", "#priority", "reason", "most important first"]
            yield Table("What waits, by the first reason", columns, [_row(group) for group in self.groups])
        if self.starts:
            started = f"{_counted(len(self.starts.tasks), 'task')} of {_counted(len(self.starts.jobs), 'job')}"
            yield f"Started now: {started}, {_named(self.starts.jobs)}."
        if self.groups:
            example = self.groups[0].jobs[0]
            yield f"Add a name to see the reason on every node and what would place it: cpsched explain INPUT {example}"


def waiting(
    instance: Instance, policy: Policy, options: Options, engine: str | None = None, also: Policy | None = None
) -> Waiting:
    """One decision of the engine, by default that of the model's scheduler; then the first reason of what it leaves.

    Pods that `also` decides about, the policy of another scheduler, are left to it.
    """
    name = engine or policy.model.scheduler
    solution = engines.run(name, instance, policy, options)
    found: dict[str, dict[str, Task]] = {}
    snapshot = Snapshot(instance, policy)
    for reason, task in _reasons(snapshot, solution, name):
        if also is not None and undecided(task, policy) is not None and undecided(task, also) is None:
            continue
        found.setdefault(reason, {})[task.key] = task
    groups = {reason: _group(snapshot, reason, [*tasks.values()]) for reason, tasks in found.items()}
    starts = groups.pop(STARTS, None)
    ordered = sorted(groups.values(), key=lambda group: (-group.priority, group.jobs[0]))
    about: dict[str, Any] = {"engine": name, "model": policy.name, "status": solution.status, "starts": starts}
    return Waiting(groups=tuple(ordered), what_if=instance.what_if, doubts=solution.doubts, **about)


def _reasons(snapshot: Snapshot, solution: Solution, engine: str) -> Iterator[tuple[str, Task]]:
    reasons = FirstReasons(snapshot, engine)
    by_job: dict[str, list[Task]] = {}
    for task in snapshot.instance.tasks.values():
        if task.status is not Status.PENDING or task.node:
            continue
        job = snapshot.job_of(task)
        if task.key in solution.binds:
            yield STARTS, task
        elif job is None:
            yield reasons.of_strangers(task), task
        else:
            by_job.setdefault(job.key, []).append(task)
    for key, tasks in by_job.items():
        job, reserved = snapshot.jobs[key], solution.reserves
        if not job.is_pipelined({**solution.binds, **reserved}, solution.evicted):
            # What a gang holds that gets too little is given back at the session's end.
            reserved = {}
        yield from ((RESERVED, task) for task in tasks if task.key in reserved)
        rest = [task for task in tasks if task.key not in reserved]
        for reason, some in reasons.of_tasks(job, rest):
            yield from ((reason, task) for task in some)


def _group(snapshot: Snapshot, reason: str, tasks: list[Task]) -> WaitingGroup:
    ranks: dict[str, int] = {}
    for task in tasks:
        job = snapshot.job_of(task)
        ranks[task.key if job is None else job.name] = task.pod_priority if job is None else job.priority
    names = sorted(ranks, key=lambda name: (-ranks[name], name))
    keys = tuple(sorted(task.key for task in tasks))
    return WaitingGroup(reason=reason, priority=ranks[names[0]], jobs=tuple(names), tasks=keys)


def _row(group: WaitingGroup) -> tuple[str, ...]:
    return (str(len(group.jobs)), str(len(group.tasks)), str(group.priority), group.reason, _named(group.jobs))


def _named(names: tuple[str, ...]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
