"""One question about one session: decide, look where the job or task went, and if it stays find out why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from cpsched import engines
from cpsched.checker import CheckedSolution
from cpsched.completeness.registry import doubts
from cpsched.errors import InputError
from cpsched.explanation import texts
from cpsched.explanation.candidates import candidates_of
from cpsched.explanation.capacity import capacities
from cpsched.explanation.changes import applied
from cpsched.explanation.competitors import Competitor, competitors_of
from cpsched.explanation.goal import Clock, Goal, clock_of, decision_with, is_large
from cpsched.explanation.groups import NodeGroup, groups_of, node_groups, partition
from cpsched.explanation.obstruction import conflicts_of
from cpsched.explanation.repairs import KINDS, repairs, unfinished
from cpsched.explanation.requirements import Requirement, requirements_of
from cpsched.explanation.result import Explanation, NodeReasons, Reason, Repair, RepairChange, Verdict
from cpsched.explanation.scaling import enough_for_all
from cpsched.explanation.subject import Subject, settled, subject_of
from cpsched.explanation.trial import Changes, Trial
from cpsched.instance import Instance
from cpsched.optimum.queries.feasibility import UndecidedError, identical_pending
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.rules import Decision
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.rights import Action
from cpsched.solution import Solution, SolutionStatus

Fields = dict[str, Any]
ALONE = "The reasons are those of the job alone; whether others could make room past them is unknown (time limit)."
TOO_LARGE = "Not every question was decided in time: a set of reasons may hold more than it needs."
NO_REASONS = "Why no decision places it is unknown (time limit)."
NOT_ALL_REASONS = "Whether there are further sets of reasons is unknown (time limit)."
ALONE_REPAIRS = "Repairs were tried with the job and those ahead of it alone: with others' help less may do."
NOT_PROVED = "The optimum was not proved in time: with a longer --time-limit the decision may be another."


def explain(  # noqa: PLR0913 - a question, its terms, and what is known already
    instance: Instance,
    policy: Policy,
    options: Options,
    *,
    engine: str = "optimal",
    job: str | None = None,
    task: str | None = None,
    name: str | None = None,
    clock: Clock | None = None,
    decided: CheckedSolution | None = None,
) -> Explanation:
    """Why the job or task is where it is in the engine's decision, or is nowhere; the clock is that of the options.

    A decision of the engine that is known already is given as `decided`.
    """
    snapshot = Snapshot(instance, policy)
    subject = subject_of(snapshot, job, task, name)
    inquiry = Inquiry(snapshot, subject, engine, options, clock or clock_of(options), decided)
    return Explanation(
        job=subject.job.name if subject.job else "",
        task=subject.task.key if subject.task else None,
        engine=engine,
        model=policy.name,
        doubts=doubts(instance, policy, search=True),
        what_if=instance.what_if,
        time_limit=options.time_limit,
        **inquiry.answer(),
    )


@dataclass(frozen=True)
class Inquiry:
    """A question with what is known so far."""

    snapshot: Snapshot
    subject: Subject
    engine: str
    options: Options
    clock: Clock
    decided: CheckedSolution | None = None

    def answer(self) -> Fields:
        """Everything but the names."""
        if (reason := settled(self.snapshot, self.subject)) is not None:
            return {"verdict": Verdict.SETTLED, "summary": f"{self.subject.name} {reason}.", **self._fate()}
        if self._is_placed(self.decision):
            return self._placed()
        return self._stays()

    @cached_property
    def job(self) -> SessionJob:
        """The job that the question is about."""
        assert self.subject.job is not None
        return self.subject.job

    @property
    def solution(self) -> Solution:
        """What the engine decides."""
        return self._of_engine.solution

    @property
    def decision(self) -> Decision:
        """The same, seen against the session."""
        return self._of_engine.decision

    @property
    def optimum(self) -> Solution:
        """The best decision, or the best so far."""
        return self._best.solution

    @property
    def best(self) -> Decision:
        """The same, seen against the session."""
        return self._best.decision

    @cached_property
    def _of_engine(self) -> CheckedSolution:
        return self.decided or self._decide(self.engine)

    @cached_property
    def _best(self) -> CheckedSolution:
        return self._of_engine if self.engine == "optimal" else self._decide("optimal")

    def _decide(self, engine: str) -> CheckedSolution:
        options = replace(self.options, time_limit=max(0.5, self.clock.left * 0.4))
        return engines.decide(engine, self.snapshot.instance, self.snapshot.policy, options)

    # Placed, or nothing to place.

    def _is_placed(self, decision: Decision) -> bool:
        if self.subject.task is not None:
            return self.subject.task.key in decision.placed
        placed = {task.key for task in decision.placed_by_job.get(self.job.key, [])}
        return bool(placed) and self.job.is_pipelined(placed, decision.evicted)

    def _fate(self) -> Fields:
        """For a task that sits on a node: whether the engine evicts it."""
        task = self.subject.task
        if task is None or not task.node or self.subject.job is None:
            return {}
        gone = [one for one in self.solution.evictions if one.task == task.key]
        notes = (*(texts.evicted(self.engine, one) for one in gone), *self._unproved())
        return {"evictions": tuple(gone), "notes": notes}

    def _unproved(self) -> tuple[str, ...]:
        """A note if the decision that is explained is called the optimum without being proved."""
        is_open = self.engine == "optimal" and self.solution.status is not SolutionStatus.OPTIMAL
        return (NOT_PROVED,) if is_open else ()

    def _placed(self) -> Fields:
        keys = [self.subject.task.key] if self.subject.task else [task.key for task in self.job.tasks]
        placements = {key: self.decision.placed[key] for key in keys if key in self.decision.placed}
        evictions = texts.evictions_for(self.solution, self.job.key, placements.values())
        waits = [key for key in placements if key in self.decision.reserves]
        found: Fields = {
            "verdict": Verdict.PLACED,
            "summary": texts.placed(self.subject.name, placements, waits, evictions),
            "placements": placements,
            "evictions": evictions,
        }
        if evictions and self.subject.task is not None:
            action: Action = "reclaim" if all(one.action == "reclaim" for one in evictions) else "preempt"
            found |= candidates_of(self.snapshot, self.subject.task, action, self.clock)
        elif evictions:
            found["notes"] = (f"explain --task {next(iter(placements))} shows its candidate nodes and victims",)
        return found | {"notes": (*found.get("notes", ()), *self._unproved())}

    # Stays.

    def _stays(self) -> Fields:
        found: Fields = {
            "told": texts.stated(self.snapshot, self.solution, self.engine, self.job, self.subject.task),
            "nodes": tuple(NodeReasons(task=g.task, nodes=g.nodes, reasons=g.reasons) for g in self._shown_groups),
            "capacity": capacities(self.snapshot, self._shown_groups),
            "concerns": texts.concerns(self.snapshot, self.job, self.groups),
            "notes": self._notes(),
        }
        if self.engine != "optimal" and self._is_placed(self.best):
            return found | self._missed()
        try:
            other = self._feasible(self.goal)
        except UndecidedError:
            none_tried = {"repairs_not_tried": tuple(KINDS)}
            return found | texts.undecided(self.subject.name, self.options.time_limit) | none_tried
        return found | (self._impossible() if other is None else self._outranked(other))

    @cached_property
    def goal(self) -> Goal:
        """That the job is served; or one more of its tasks, if it is served already or has its minimum."""
        task, placed = self.subject.task, self.best.placed
        if not self.job.is_below_minimum or self.job.key in self.best.placed_by_job:
            waiting = [one for one in self.job.pending if one.key not in placed]
            task = task or waiting[0]
            alike = identical_pending(self.snapshot, task)
            counts = {job: len(tasks) for job, tasks in self.best.placed_by_job.items()}
            return Goal(self.job.key, task.key, alike, sum(key in placed for key in alike), counts)
        return Goal(self.job.key)

    @cached_property
    def groups(self) -> list[NodeGroup]:
        """Nodes by what speaks against them, per kind of task."""
        return node_groups(self.snapshot, self.job)

    @cached_property
    def _shown_groups(self) -> list[NodeGroup]:
        task = self.subject.task
        return self.groups if task is None else groups_of(self.snapshot, task)

    def _notes(self) -> tuple[str, ...]:
        if self.optimum.status is not SolutionStatus.OPTIMAL:
            return ("The optimum was not proved in time: who is ahead may change with a longer --time-limit.",)
        return ()

    def _feasible(self, goal: Goal) -> Decision | None:
        """Any feasible decision with the goal in it: alone first, which is quick, then with other jobs placed too."""
        alone = decision_with(self.snapshot, goal, goal.wanted(), self.clock.part(0.3), only=[self.job.key])
        return alone or decision_with(self.snapshot, goal, goal.wanted(), self.clock.part(0.5))

    def _missed(self) -> Fields:
        keys = [self.subject.task.key] if self.subject.task else [task.key for task in self.job.tasks]
        ours, best = ([level.value for level in one.levels] for one in (self.solution, self.optimum))
        is_tied = ours == best and not self.solution.findings
        name = self.subject.name
        return {
            "verdict": Verdict.TIED if is_tied else Verdict.MISSED,
            "summary": texts.tied(name, self.engine) if is_tied else texts.missed(name, self.engine, self.optimum),
            "alternative": {key: self.best.placed[key] for key in keys if key in self.best.placed},
            "alternative_evictions": tuple(
                one.task for one in texts.evictions_for(self.optimum, self.job.key, self.best.placed.values())
            ),
        }

    def _impossible(self) -> Fields:
        wanted = requirements_of(self.snapshot, self.job, partition(self.groups))
        notes = list(self._notes())
        conflicts = conflicts_of(self.snapshot, self.goal, wanted, self.clock)
        notes += [ALONE] * (not conflicts.of_all) + [TOO_LARGE] * (not conflicts.minimal)
        if not conflicts.complete:
            notes.append(NOT_ALL_REASONS if conflicts.sets else NO_REASONS)
        return {
            "verdict": Verdict.IMPOSSIBLE,
            "summary": texts.impossible(self.subject.name, self.goal, conflicts.sets),
            "conflicts": tuple(tuple(_reason(one) for one in conflict) for conflict in conflicts.sets),
            "conflicts_minimal": conflicts.minimal,
            **self._repairs(),
            "notes": (*notes, *self._of_repairs()),
        }

    def _outranked(self, other: Decision) -> Fields:
        notes = list(self._notes())
        try:
            rivals = competitors_of(self.snapshot, self.goal, self.best, self.clock)
        except UndecidedError:
            rivals = []
            notes.append("Who is ahead is unknown (time limit).")
        if rivals is None:
            rivals = []
            notes.append("Nothing that is ahead excludes it: no level of the policy counts it, or the optimum is open.")
        return {
            "verdict": Verdict.OUTRANKED,
            "summary": texts.outranked(self.subject.name, self.goal, self._names(rivals)),
            "rivals": tuple(texts.competitor(self.snapshot, self.best, one) for one in rivals),
            "alternative": {t.key: other.placed[t.key] for t in self.job.tasks if t.key in other.placed},
            "alternative_evictions": tuple(sorted(other.evicted)),
            **self._repairs(),
            "notes": (*notes, *self._of_repairs()),
        }

    def _names(self, competitors: Sequence[Competitor]) -> list[str]:
        return [self.snapshot.jobs[one.job].name for one in competitors if one.job]

    def _of_repairs(self) -> tuple[str, ...]:
        return (ALONE_REPAIRS,) if is_large(self.snapshot) else ()

    def _repairs(self) -> Fields:
        trial = Trial(self.snapshot.instance, self.snapshot.policy, self.goal, self.best, self.clock)
        found = []
        for changes in repairs(trial):
            found.append(self._repair(changes))
            if found[-1].admitted is False and (larger := enough_for_all(trial, changes)):
                found.append(self._repair(larger))
        not_tried, not_finished = unfinished(trial.progress)
        return {
            "repairs": tuple(sorted(found, key=lambda repair: len(repair.changes))),
            "repairs_not_tried": not_tried,
            "repairs_not_finished": not_finished,
        }

    def _repair(self, changes: Changes) -> Repair:
        parts = tuple(RepairChange(**vars(change)) for change in changes)
        return Repair(changes=parts, admitted=self._admitted(applied(self.snapshot.instance, changes)))

    def _admitted(self, instance: Instance) -> bool | None:
        """Whether the optimum of the changed cluster reaches the goal."""
        if self.clock.left <= 0:
            return None
        limit = max(0.05, self.clock.left * 0.2)
        options = replace(self.options, time_limit=limit)
        try:
            solution, decision = engines.decide("optimal", instance, self.snapshot.policy, options)
        except InputError:
            return None
        if self.goal.is_met(decision):
            return True
        if solution.status is SolutionStatus.OPTIMAL:
            return False
        self.clock.spend(limit)
        return None


def _reason(one: Requirement) -> Reason:
    return Reason(key=one.key, subject=one.subject, nodes=one.nodes, text=one.text)
