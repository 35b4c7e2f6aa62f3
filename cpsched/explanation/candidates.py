"""A task that preempts: every node with the heuristic's victims, the optimal ones, and both score vectors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cpsched.explanation.goal import Clock
from cpsched.explanation.lifting import Lifted
from cpsched.explanation.requirements import Requirement, named
from cpsched.explanation.result import Candidate, Victims
from cpsched.instance import Task
from cpsched.objectives import OF_VICTIMS, value_of
from cpsched.optimum.queries.feasibility import Limit, UndecidedError
from cpsched.optimum.queries.single_preemptor import best_victims
from cpsched.policy.levels import LevelRef
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.snapshot.rights import Action
from cpsched.solution import Eviction

NOT_IN_TIME = "unknown (time limit)"
ENOUGH_SECONDS = 5.0
"""No single node may take longer."""


@dataclass
class Heuristic:
    """What the mirror says about every node, the task tried first and alone."""

    victims: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    chosen: str | None = None
    notes: list[str] = field(default_factory=list)


def candidates_of(snapshot: Snapshot, task: Task, action: Action, clock: Clock) -> dict[str, Any]:
    """All nodes as candidates, the heuristic's choice first, then the better ones first."""
    heuristic = _kube(snapshot, task) if snapshot.policy.is_kube else _volcano(snapshot, task, action, clock)
    rows = [_candidate(snapshot, task, action, node, heuristic, clock) for node in snapshot.instance.nodes]
    best = min((key for row in rows if (key := _key(row.optimal)) is not None), default=None)
    rows = [row.model_copy(update={"best": best is not None and _key(row.optimal) == best}) for row in rows]
    rows.sort(key=lambda row: (not row.chosen, _key(row.optimal) or ((2, 0),), row.node))
    late = [row.node for row in rows if NOT_IN_TIME in (row.optimal_reason, row.reason)]
    if late:
        heuristic.notes.append(f"Not found out in time on {named(late)}: a better node may be among them.")
    return {"candidates": tuple(rows), "notes": tuple(heuristic.notes)}


def levels_of(snapshot: Snapshot) -> tuple[str, ...]:
    """The levels by which one preemptor's victims are compared."""
    return ("pdb_violations", *OF_VICTIMS) if snapshot.policy.is_kube else tuple(OF_VICTIMS)


def alone(snapshot: Snapshot, task: Task, node: str) -> Lifted:
    """The session of one preemptor on one node: no other task takes part; its gang and its entering do not count."""
    job = snapshot.job_key(task)
    lifted = [Requirement("gang", job), Requirement("enqueue", job)]
    return Lifted(snapshot, job, lifted, only=[job], tasks=[task.key], node=node)


def optimal_victims(snapshot: Snapshot, task: Task, node: str, action: Action, limit: Limit) -> Decision | None:
    """The least victims for the task on the node, level by level; None if there is no way."""
    session = alone(snapshot, task, node)
    return best_victims(session, task, node, action, levels_of(snapshot), limit)


def _candidate(
    snapshot: Snapshot, task: Task, action: Action, node: str, heuristic: Heuristic, clock: Clock
) -> Candidate:
    optimal, reason = None, ""
    try:
        found = optimal_victims(snapshot, task, node, action, clock.part(0.5, ENOUGH_SECONDS))
        optimal = None if found is None else _scored(snapshot, found)
        reason = "" if found is not None else "no victims it may take would do"
    except UndecidedError:
        reason = NOT_IN_TIME
    victims = heuristic.victims.get(node)
    return Candidate(
        node=node,
        reason=heuristic.reasons.get(node, ""),
        heuristic=None if victims is None else _scored(snapshot, _decision(snapshot, task, node, action, victims)),
        optimal=optimal,
        optimal_reason=reason,
        chosen=node == heuristic.chosen,
    )


def _decision(snapshot: Snapshot, task: Task, node: str, action: Action, victims: Iterable[str]) -> Decision:
    session = alone(snapshot, task, node)
    evictions = tuple(Eviction(task=victim, node=node, action=action) for victim in victims)
    entered = frozenset({session.job} if session.jobs[session.job].is_pending else ())
    return Decision(session, {}, {task.key: node}, evictions, entered)


def _scored(snapshot: Snapshot, decision: Decision) -> Victims:
    refs = [LevelRef(name) for name in levels_of(snapshot)]
    levels = {ref.label: ref.stated(value_of(decision, *ref)) for ref in refs}
    broken = tuple(dict.fromkeys(one.rule for one in violations(decision)))
    return Victims(tasks=tuple(sorted(decision.evicted)), levels=levels, findings=broken)


def _key(victims: Victims | None) -> tuple[tuple[int, int], ...] | None:
    """Sorts better victims first."""
    if victims is None:
        return None
    refs = [LevelRef(name) for name in victims.levels]
    return tuple(ref.rank(ref.value(value)) for ref, value in zip(refs, victims.levels.values(), strict=True))


def _volcano(snapshot: Snapshot, task: Task, action: Action, clock: Clock) -> Heuristic:
    from cpsched.greedy.volcano.candidates import Trials

    found, half = Heuristic(), clock.left / 2
    trials = Trials(snapshot.instance, snapshot.policy, task.key, action)
    if refusal := trials.refusal():
        found.notes.append(f"Tried alone by {action} it evicts no task: {refusal}.")
        return found
    for node in snapshot.instance.nodes:
        if clock.left < half:
            found.reasons[node] = NOT_IN_TIME
            continue
        attempt = trials.on(node)
        if attempt.victims is None:
            found.reasons[node] = attempt.reason
        else:
            found.victims[node] = attempt.victims
    found.chosen = trials.choice()
    return found


def _kube(snapshot: Snapshot, task: Task) -> Heuristic:
    from cpsched.greedy import kube

    run = kube.replay(snapshot.instance, snapshot.policy, kube.Options(only=task.key, record=True))
    found = Heuristic()
    for attempt in run.attempts:
        if attempt.result == "bound":
            found.victims = dict.fromkeys(attempt.feasible, ())
            found.chosen = attempt.node
            found.notes.append("Tried alone it needs no eviction: others placed before it take the room.")
        for node, status in (*attempt.failed.items(), *attempt.dry_run_failed.items()):
            found.reasons[node] = ", ".join(status.reasons)
        for one in attempt.candidates:
            found.victims[one.node] = one.victims
            found.reasons.pop(one.node, None)
            if one.pdb_violations != one.true_violations:
                text = f"{one.pdb_violations} budget violations by kube-scheduler's count, {one.true_violations} truly"
                found.notes.append(f"Node {one.node}: {text}.")
        found.chosen = attempt.nominated or found.chosen
        if attempt.ineligible_reason:
            found.notes.append(f"Tried alone it may not preempt: {attempt.ineligible_reason}")
    return found
