"""Rules about victims: who may be evicted for whom, and that room goes to those with a right to it."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.check.charging import uncharged_nodes
from cpsched.check.decision import Decision
from cpsched.check.rights import Rights
from cpsched.check.violation import Violation
from cpsched.instance import Task


def eviction(decision: Decision) -> Iterator[Violation]:
    """Every victim is evicted for a starving job that places a task allowed to evict it where it stood."""
    snapshot, rights = decision.snapshot, decision.rights
    seen: set[str] = set()
    for item in decision.evictions:
        victim = snapshot.instance.tasks.get(item.task)
        if victim is None:
            yield Violation("eviction", item.task, "does not exist")
        elif item.task in seen:
            yield Violation("eviction", item.task, "is evicted twice")
        elif snapshot.policy.rules.eviction == "off":
            yield Violation("eviction", item.task, "is evicted although the policy allows no evictions")
        elif item.node and item.node != victim.node:
            yield Violation("eviction", item.task, f"is on {victim.node or 'no node'}, not on {item.node}")
        elif not rights.by_victim[item.task]:
            yield Violation("eviction", item.task, _reason(rights, victim))
        elif item.for_job and not any(
            snapshot.job_key(task) == item.for_job for task, _ in rights.by_victim[item.task]
        ):
            yield Violation("eviction", item.task, f"{item.for_job}, for which it goes, places nobody who may evict it")
        seen.add(item.task)


def _reason(rights: Rights, victim: Task) -> str:
    if not rights.static[victim.key]:
        return f"nobody placed on {victim.node} for a starving job may evict it"
    queue = rights.snapshot.queue_of(victim)
    assert queue is not None
    return f"reclaim: its queue {queue.name} is not above its deserved share, or the other queue has no claim"


def charge(decision: Decision) -> Iterator[Violation]:
    """Victims whose room is used are charged to tasks that may evict them, none more than its request can need."""
    if decision.snapshot.policy.rules.charge == "off":
        return
    for node, decided in uncharged_nodes(decision):
        if decided:
            yield Violation("charge", node, "uses room of victims that nobody with a right to it needs")
        else:
            yield Violation(
                "charge", node, "whether its victims can be charged was not decided within the search limit"
            )
