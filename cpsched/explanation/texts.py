"""The sentences of an explanation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cpsched.amounts import shown
from cpsched.explanation.competitors import Competitor
from cpsched.explanation.entering import entering_lines
from cpsched.explanation.goal import Goal
from cpsched.explanation.groups import HELD, NodeGroup
from cpsched.explanation.obstacles import summary
from cpsched.explanation.requirements import Requirement, named
from cpsched.explanation.result import CompetitorReason, Verdict
from cpsched.instance import Task
from cpsched.objectives import level_text, value_of
from cpsched.rules import Decision
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.solution import Eviction, Solution, SolutionStatus

if TYPE_CHECKING:
    from collections.abc import Collection


def evictions_for(solution: Solution, job: str, nodes: Iterable[str]) -> tuple[Eviction, ...]:
    """The evictions that make room for the job on these nodes."""
    here = set(nodes)
    return tuple(one for one in solution.evictions if one.for_job in ("", job) and one.node in here)


def evicted(engine: str, one: Eviction) -> str:
    """What becomes of a task that runs."""
    how = f" by {one.action}" if one.action else ""
    return f"Engine {engine} evicts it{how}{f' for {one.for_job}' if one.for_job else ''}."


def placed(name: str, places: Mapping[str, str], waits: Collection[str], evictions: Sequence[Eviction]) -> str:
    """One line with where."""
    nodes = named(list(dict.fromkeys(places.values())))
    how = "waits for capacity" if len(waits) == len(places) else "starts"
    many = f" with {len(places)} tasks" if len(places) > 1 else ""
    victims = ", ".join(one.task for one in evictions[:5]) + (", ..." if len(evictions) > 5 else "")
    cost = "; no pod is evicted for it"
    if evictions:
        cost = f"; {victims} {'is' if len(evictions) == 1 else 'are'} evicted for it"
    return f"{name} {how}{many} on {nodes}{cost}."


def missed(name: str, engine: str, optimum: Solution) -> str:
    """The heuristic's fault."""
    best = "the optimum" if optimum.status is SolutionStatus.OPTIMAL else "the best decision found"
    return f"{name} is not placed by engine {engine}, but it could be: {best} places it."


def tied(name: str, engine: str) -> str:
    """Without a reason in the cluster."""
    return f"{name} is not placed by engine {engine}; another decision, equal on every level, places it."


def undecided(name: str, seconds: float) -> dict[str, Any]:
    """No answer in time."""
    text = f"{name} is not placed; whether any decision could place it was not found out within {seconds:g} s."
    return {"verdict": Verdict.UNDECIDED, "summary": text}


def _more(goal: Goal) -> str:
    return f" (asked: one more task like {goal.task}; {goal.alike} placed)" if goal.task else ""


def impossible(name: str, goal: Goal, conflicts: Sequence[Sequence[Requirement]]) -> str:
    """No decision at all."""
    keys = [" with ".join(dict.fromkeys(one.key for one in conflict)) for conflict in conflicts]
    why = f": {'; and '.join(keys)}" if any(keys) else ""
    return f"{name} cannot be placed by any feasible decision{_more(goal)}{why}."


def outranked(name: str, goal: Goal, jobs: Sequence[str]) -> str:
    """A feasible decision places it, the best ones do not; with the competing jobs, if any is known."""
    if not jobs:
        return f"{name} is not placed{_more(goal)}: a level that ranks higher would get worse."
    listed = f"{', '.join(jobs[:5])}{', ...' if len(jobs) > 5 else ''}"
    who = f"a higher-ranked job ({listed}) uses" if len(jobs) == 1 else f"higher-ranked jobs ({listed}) use"
    return f"{name} is not placed{_more(goal)}: {who} the capacity it needs."


def competitor(snapshot: Snapshot, best: Decision, one: Competitor) -> CompetitorReason:
    """A competing job or level in words."""
    if one.level is not None:
        level, priority = one.level
        label = one.level.label
        value = value_of(best, *one.level)
        count = value_of(best, "victim_count", priority) if level == "victim_priority_sum" else None
        shown_value = level_text(label, value, {label.replace(level, "victim_count"): count})
        text = f"would get worse than {'without any victim' if value is None else shown_value}"
        return CompetitorReason(level=label, priority=priority, text=text)
    assert one.job is not None
    job = snapshot.jobs[one.job]
    tasks = best.placed_by_job[one.job]
    nodes = named(list(dict.fromkeys(best.placed[task.key] for task in tasks)))
    text = f"priority {job.priority}, gets {len(tasks)} task{'s' * (len(tasks) > 1)} on {nodes}"
    return CompetitorReason(job=job.name, priority=job.priority, text=text)


def stated(snapshot: Snapshot, solution: Solution, engine: str, job: SessionJob, task: Task | None) -> tuple[str, ...]:
    """What the engine itself says about those who stay."""
    tasks = [task] if task is not None else list(job.pending)
    lines = [text for one in tasks for text in solution.unplaced.get(one.key, [])]
    if engine == "volcano":
        from cpsched.greedy.volcano.engine import replay

        message = replay(snapshot.instance, snapshot.policy).messages.get(job.key)
        lines = [*([message] if message else []), *lines]
    return tuple(dict.fromkeys(lines))


def concerns(snapshot: Snapshot, job: SessionJob, groups: Sequence[NodeGroup]) -> tuple[str, ...]:
    """What stands against the job besides its nodes."""
    return (*_queue_lines(snapshot, job), *_gang_lines(snapshot, job), *_other_lines(snapshot, job, groups))


def _queue_lines(snapshot: Snapshot, job: SessionJob) -> list[str]:
    if job.queue is None:
        return []
    lines = []
    if not snapshot.instance.queues[job.queue].is_open:
        lines.append(f"queue: {job.queue} is {snapshot.instance.queues[job.queue].queue.status.state}")
    if snapshot.shares_refused:
        lines.append(f"deserved: {snapshot.shares_refused}")
    if not snapshot.policy.limits_queues or job.queue not in snapshot.shares:
        return lines
    by_deserved = snapshot.policy.share_plugin == "proportion"
    asked: dict[str, float] = {}
    for task in job.pending:
        for name, amount in task.requests.items():
            asked[name] = asked.get(name, 0) + amount
    for queue in (job.queue, *reversed(snapshot.shares[job.queue].ancestors)):
        share = snapshot.shares[queue]
        limit = share.deserved if by_deserved else share.real_capability
        for name, wanted in sorted(asked.items()):
            held, most = share.allocated.get(name, 0), limit.get(name, 0)
            if name != "pods" and 0 < wanted > most - held:
                what = "deserved share" if by_deserved else "capability"
                lines.append(
                    f"queue: {queue} holds {shown(name, held)} {name} of its {what} of {shown(name, most)}, "
                    f"{shown(name, wanted)} more is requested"
                )
    return lines


def _gang_lines(snapshot: Snapshot, job: SessionJob) -> list[str]:
    missing = job.min_available - job.ready
    if not snapshot.policy.requires_gangs or missing < 2:
        return []
    state = f"minAvailable {job.min_available}, {job.ready} running"
    return [f"gang: {missing} more tasks must be placed together ({state})"]


def _other_lines(snapshot: Snapshot, job: SessionJob, groups: Sequence[NodeGroup]) -> list[str]:
    lines = []
    how = snapshot.policy.pending_jobs_enter
    if job.is_pending and how == "never":
        lines.append("enqueue: its PodGroup is Pending, and no configured action lets it in")
    elif job.is_pending and how == "enqueue":
        lines += [f"enqueue: {line}" for line in entering_lines(snapshot, job)]
    held = [g for g in groups if not g.refusals and any(one.state == HELD for one in g.shortages)]
    if held:
        nodes = dict.fromkeys(node for group in held for node in group.nodes)
        lines.append(f"eviction: {summary(snapshot, job.pending[0], nodes)}")
    return lines
