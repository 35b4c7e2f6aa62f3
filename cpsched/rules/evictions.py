"""Rules about victims: who may be evicted for whom, and that room goes to those with a right to it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cpsched.instance import Status, Task
from cpsched.rules.charging import uncharged_nodes
from cpsched.rules.decision import Decision
from cpsched.rules.identical import pairs_of
from cpsched.rules.rights import Pairs, Rights
from cpsched.rules.violation import Violation
from cpsched.snapshot import Snapshot


def eviction(decision: Decision) -> Iterator[Violation]:
    """Every victim is evicted for a starving job that places a task allowed to evict it where it stood."""
    snapshot, by_victim, tasks = decision.snapshot, decision.rights.by_victim, decision.snapshot.instance.tasks
    allowed = snapshot.policy.rules.eviction != "off"
    jobs_of = snapshot.identical.once(partial(_jobs_of, snapshot), pairs_of)
    seen: set[str] = set()
    for item in decision.evictions:
        key, node, for_job = item.task, item.node, item.for_job
        victim = tasks.get(key)
        if victim is None:
            yield Violation("eviction", key, "does not exist")
        elif key in seen:
            yield Violation("eviction", key, "is evicted twice")
        elif not allowed:
            yield Violation("eviction", key, "is evicted although the policy allows no evictions")
        elif node and node != victim.node:
            yield Violation("eviction", key, f"is on {victim.node or 'no node'}, not on {node}")
        elif item.action == "shuffle":
            if victim.status is not Status.RUNNING or victim.node not in snapshot.overloaded:
                yield Violation(
                    "eviction", key, f"shuffle: {victim.node or 'no node'} is not one that pods are moved off"
                )
        elif not (pairs := by_victim[key]):
            yield Violation("eviction", key, _reason(decision.rights, victim))
        elif for_job and for_job not in jobs_of(pairs):
            yield Violation("eviction", key, f"{for_job}, for which it goes, places no task that may evict it")
        seen.add(key)


def _jobs_of(snapshot: Snapshot, pairs: Pairs) -> frozenset[str]:
    """The jobs of those who may evict."""
    job_of = snapshot.job_by_task
    return frozenset([job_of[task.key].key for task, _ in pairs])


def _reason(rights: Rights, victim: Task) -> str:
    if not rights.static[victim.key]:
        return f"no task placed on {victim.node} for a starving job may evict it"
    queue = rights.snapshot.queue_of(victim)
    assert queue is not None
    return f"reclaim: its queue {queue.name} is not above its deserved share, or the other queue has no claim"


def charge(decision: Decision) -> Iterator[Violation]:
    """Victims whose room is used are charged to tasks that may evict them, none more than its request can need."""
    if decision.snapshot.policy.rules.charge == "off":
        return
    for node, decided in uncharged_nodes(decision):
        if decided:
            yield Violation("charge", node, "uses room of victims that no task with a right to it needs")
        else:
            yield Violation(
                "charge", node, "whether its victims can be charged was not decided within the search limit"
            )
