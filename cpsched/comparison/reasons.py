"""Why an engine did what it did to one task: one sentence, taken from a replay and from the checker."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

from cpsched.comparison.contender import Contender
from cpsched.comparison.differences import Kind
from cpsched.comparison.kube_trace import KubeTrace
from cpsched.comparison.session import Session
from cpsched.comparison.volcano_trace import VolcanoTrace
from cpsched.options import Options
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution

UNTOLD = "the engine states no reason"
MOST_TRIALS = 50
"""Victims that the checker tries to do without: each trial checks the whole decision again."""
MOST_CHECKED = 50_000
"""Tasks in all these trials together: in a large cluster fewer victims are tried, at least one."""


class ReplayReasons(Protocol):
    """What a mirror can tell about its own decision."""

    solution: Solution

    def evicted(self, task: str) -> str:
        """Why it is a victim."""

    def placed(self, task: str) -> str:
        """Why it is where it is."""

    def waiting(self, task: str) -> str:
        """Why it is nowhere."""


REPLAYS: dict[str, Callable[[Session, Options], ReplayReasons]] = {"volcano": VolcanoTrace, "kube": KubeTrace}


class Reasons:
    """Answers for one contender against the better decision; the replay is made when the first question comes."""

    def __init__(self, session: Session, contender: Contender, best: Solution, options: Options):
        self.session, self.contender, self.best, self.options = session, contender, best, options
        self._asked = 0

    def __call__(self, task: str, kind: Kind) -> str:
        """One sentence."""
        if kind == "victim":
            return f"{self._from_replay('evicted', task)}{self._broken(task) or self._needless(task)}"
        if kind == "spared":
            return self._spared(task)
        return f"{self._from_replay('waiting' if kind == 'waiting' else 'placed', task)}{self._broken(task)}"

    def _from_replay(self, what: str, task: str) -> str:
        own = self.contender.solution
        if self._replay is not None:
            text: str = getattr(self._replay, what)(task)
            return text
        if what == "waiting" and own.unplaced.get(task):
            return f"it states: {'; '.join(own.unplaced[task])}"
        return UNTOLD

    @cached_property
    def _replay(self) -> ReplayReasons | None:
        """The mirror's, if its decision is this very one: also a recorded decision can so be explained."""
        make = REPLAYS.get(self.contender.solution.engine) or REPLAYS[self.session.mirror]
        if self.contender.engine.startswith("exec:") or self.contender.solution.engine == "optimal":
            return None
        replay = make(self.session, self.options)
        return replay if _parts(replay.solution) == _parts(self.contender.solution) else None

    def _broken(self, task: str) -> str:
        """A finding about the task, its job, its queue or its node, the nearest first."""
        known, own = self.session.instance.tasks.get(task), self.contender.solution
        job = None if known is None else self._snapshot.job_of(known)
        place = {**own.binds, **own.reserves}.get(task)
        for subject in (task, job.key if job else None, job.queue if job else None, place):
            for one in own.findings if subject else ():
                if one.subject == subject:
                    whose = "" if subject == task else f"{subject}: "
                    return f"; that breaks {one.rule}: {whose}{one.message}"
        return ""

    def _needless(self, task: str) -> str:
        """Whether the decision would be no worse by the rules without this victim; asked for the first victims only."""
        if self._asked >= max(1, min(MOST_TRIALS, MOST_CHECKED // len(self.session.instance.tasks))):
            return "; whether it was needed was not tried"
        self._asked += 1
        own = self.contender.solution
        kept = tuple(eviction for eviction in own.evictions if eviction.task != task)
        after = self._findings(own.model_copy(update={"evictions": kept}))
        return (
            "; it was not needed: without this eviction no further rule is broken"
            if after <= self._broken_anyway
            else ""
        )

    @cached_property
    def _broken_anyway(self) -> set[tuple[str, str]]:
        return self._findings(self.contender.solution)

    def _findings(self, solution: Solution) -> set[tuple[str, str]]:
        found = violations(Decision.of(self._snapshot, solution))
        return {(one.rule, one.subject) for one in found}

    @cached_property
    def _snapshot(self) -> Snapshot:
        return Snapshot(self.session.instance, self.session.policy)

    def _spared(self, task: str) -> str:
        """What the engine made of the job that the better decision clears room for."""
        job = next(eviction.for_job for eviction in self.best.evictions if eviction.task == task)
        members = [key for key, one in self.session.instance.tasks.items() if job in (one.group, key)]
        own = self.contender.solution
        placed = [key for key in members if key in own.binds or key in own.reserves]
        if placed:
            return f"{job} is placed elsewhere: {self._from_replay('placed', placed[0])}"
        asked = [key for key in members if key in self.best.binds or key in self.best.reserves]
        return f"{job} is not placed: {self._from_replay('waiting', asked[0])}" if asked else f"{job} is not placed"


def _parts(solution: Solution) -> tuple[object, ...]:
    return solution.binds, solution.allocated, solution.pipelined, solution.evicted
