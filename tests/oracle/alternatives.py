"""Which rules bind: an alternative of the optimum that is better and breaks that rule alone."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.objectives import comparable, level_plan, vector
from cpsched.rules import Decision, violations
from cpsched.solution import Eviction
from tests.oracle.brute_force import Optimum


def binding_rules(best: Optimum) -> set[str]:
    """Rules without which the optimum would be another: some decision near it is better and breaks nothing else."""
    decision = best.decisions[0]
    plan = level_plan(decision.snapshot)
    key = comparable(plan, best.values)
    found: set[str] = set()
    for alternative in alternatives(decision):
        if comparable(plan, vector(alternative)) < key:
            broken = {violation.rule for violation in violations(alternative)}
            if len(broken) == 1:
                found |= broken
    return found


def alternatives(decision: Decision) -> Iterator[Decision]:
    """The decision with a job's tasks placed again on one node, with no, one or all running tasks evicted for it."""
    snapshot = decision.snapshot
    for job in snapshot.jobs.values():
        waiting = [task.key for task in job.tasks if not task.node]
        for keys in ([[key] for key in waiting] if len(waiting) > 1 else []) + ([waiting] if waiting else []):
            for node in snapshot.instance.nodes:
                sitting = [task.key for task in snapshot.instance.tasks_by_node[node]]
                for victims in ([], *([key] for key in sitting), sitting):
                    yield _changed(decision, keys, node, victims, bind=True)
                    yield _changed(decision, keys, node, victims, bind=False)
    for eviction in decision.evictions:
        yield _without(decision, eviction)


def _changed(decision: Decision, keys: list[str], node: str, victims: list[str], *, bind: bool) -> Decision:
    snapshot = decision.snapshot
    binds = {key: place for key, place in decision.binds.items() if key not in keys}
    reserves = {key: place for key, place in decision.reserves.items() if key not in keys}
    (binds if bind else reserves).update(dict.fromkeys(keys, node))
    kept = tuple(eviction for eviction in decision.evictions if eviction.task not in victims)
    evictions = (*kept, *(Eviction(task=key, node=node) for key in victims))
    owners = (snapshot.job_of(snapshot.instance.tasks[key]) for key in (*binds, *reserves))
    entered = frozenset(owner.key for owner in owners if owner is not None and owner.is_pending)
    return Decision(snapshot, binds, reserves, evictions, entered)


def _without(decision: Decision, eviction: Eviction) -> Decision:
    rest = tuple(other for other in decision.evictions if other is not eviction)
    return Decision(decision.snapshot, decision.binds, decision.reserves, rest, decision.entered)
