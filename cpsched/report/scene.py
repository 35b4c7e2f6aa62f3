"""What happens to every task under every decision: the one place the pictures and the tables read it from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from cpsched.importers.load import TITLE
from cpsched.instance import Instance, Status, Task
from cpsched.policy import Policy
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from cpsched.solution import Eviction, Solution


class Fate(Enum):
    """What becomes of a task; the value is the letter that marks it, so that nothing hangs on colour."""

    STAYS = ""
    ENDS = "E"
    VICTIM = "V"
    STARTS = "S"
    WAITS = "W"
    HOLDS = "H"
    PENDING = "P"
    ENDED = "-"


@dataclass(frozen=True)
class View:
    """One checked decision under the name by which the report calls it."""

    name: str
    solution: Solution
    decision: Decision

    @cached_property
    def evictions(self) -> dict[str, Eviction]:
        """Victim → its eviction."""
        return {one.task: one for one in self.solution.evictions}

    def fate(self, task: Task) -> tuple[Fate, str]:
        """What becomes of the task, and on which node."""
        solution = self.solution
        if task.key in self.evictions:
            return Fate.VICTIM, task.node
        for fate, places in (
            (Fate.STARTS, solution.binds),
            (Fate.WAITS, solution.pipelined),
            (Fate.HOLDS, solution.allocated),
        ):
            if task.key in places:
                return fate, places[task.key]
        return fate_before(task)


def fate_before(task: Task) -> tuple[Fate, str]:
    """How the snapshot shows the task."""
    if task.status is Status.PENDING:
        return Fate.PENDING, ""
    if task.status in (Status.SUCCEEDED, Status.FAILED):
        return Fate.ENDED, ""
    return (Fate.ENDS if task.status is Status.RELEASING else Fate.STAYS), task.node


@dataclass(frozen=True)
class Scene:
    """A cluster under a policy, and the decisions about it, in the order in which they are shown."""

    snapshot: Snapshot
    views: tuple[View, ...]

    @classmethod
    def of(
        cls,
        instance: Instance,
        policy: Policy,
        solutions: Sequence[Solution],
        names: Sequence[str],
    ) -> Scene:
        """The scene of checked solutions, called by these names."""
        snapshot = Snapshot(instance, policy)
        named = zip(names, solutions, strict=True)
        views = (View(name, one, Decision.of(snapshot, one)) for name, one in named)
        return cls(snapshot, tuple(views))

    @property
    def instance(self) -> Instance:
        """The cluster."""
        return self.snapshot.instance

    @property
    def title(self) -> str:
        """What the cluster is called: its file."""
        title: str = self.instance.found_out.get(TITLE, "")
        return title or (Path(self.instance.file).name if self.instance.file else "A cluster")

    @cached_property
    def touched(self) -> tuple[Task, ...]:
        """Tasks that some decision places or evicts, in order of arrival."""
        keys = {key for view in self.views for key in (*view.solution.binds, *view.solution.reserves, *view.evictions)}
        return tuple(task for key, task in self.instance.tasks.items() if key in keys)
