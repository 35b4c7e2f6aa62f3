"""Why a task that holds room may not be evicted for a job: rights first, then what protects it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from cpsched.instance import HOLDS_ROOM, Status, Task
from cpsched.policy.policy import GANG_ACTIONS
from cpsched.rules.protections import covers
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.rights import Action, actions_against, is_above_share_now


def obstacles(snapshot: Snapshot, task: Task, victim: Task) -> tuple[str, ...]:
    """What stands in the way of evicting the victim alone for the task; nothing if it may go."""
    if victim.status is Status.RELEASING:
        return ("is ending already",)
    actions = [*actions_against(snapshot, task, victim), *snapshot.gang_rights.actions(task, victim)]
    if not actions:
        return (_no_right(snapshot, task, victim),)
    ways = [_protections(snapshot, victim, action) for action in actions]
    return min(ways, key=len)


def _no_right(snapshot: Snapshot, task: Task, victim: Task) -> str:
    policy, job, owner = snapshot.policy, snapshot.job_of(task), snapshot.job_of(victim)
    if owner is None or job is None:
        return "belongs to no job of this session"
    if victim.status not in HOLDS_ROOM:
        return f"is {victim.status.value}"
    if task.never_preempts:
        return "the preemptionPolicy is Never"
    if snapshot.never_preempts(task):
        return f"the profile {task.spec.scheduler_name} does not preempt"
    if not job.is_starving(policy):
        return f"{job.key} has its minimum"
    if not victim.preemptable and not policy.is_kube:
        return "is marked not preemptable"
    if policy.rules.eviction == "off":
        return "the policy evicts no pod"
    return _wrong_pair(snapshot, task, job, victim, owner)


def _wrong_pair(snapshot: Snapshot, task: Task, job: SessionJob, victim: Task, owner: SessionJob) -> str:
    policy = snapshot.policy
    if job.queue != owner.queue:
        if not policy.evicts("reclaim"):
            return f"is in queue {owner.queue}, and reclaim is not configured"
        return f"is in queue {owner.queue}, which gives nothing back"
    if not policy.evicts("preempt"):
        return "preempt is not configured"
    if task.best_effort and not victim.best_effort and not policy.is_kube:
        return "asks for resources, which a BestEffort task may not take"
    if job is owner:
        return f"is of the same job and no lower task priority ({victim.priority})"
    return f"has priority {owner.priority}, not lower than {job.priority}"


def _protections(snapshot: Snapshot, victim: Task, action: Action) -> tuple[str, ...]:
    found = ((key, text) for key, spares in SPARED_BY.items() for text in spares(snapshot, victim, action))
    return tuple(text if key == "eviction" else f"{key}: {text}" for key, text in found)


def _by_its_share(snapshot: Snapshot, victim: Task, action: Action) -> Iterator[str]:
    queue = snapshot.queue_of(victim)
    if snapshot.policy.asks_shares(action) and queue is not None and not is_above_share_now(snapshot, victim):
        yield f"its queue {queue.name} is not above its deserved share"


def _as_critical(snapshot: Snapshot, victim: Task, action: Action) -> Iterator[str]:
    if snapshot.policy.conformance_protects(action) and victim.pod.is_critical:
        yield "is critical to the system"


def _by_its_age(snapshot: Snapshot, victim: Task, action: Action) -> Iterator[str]:
    if snapshot.policy.cooldown_protects(action) and snapshot.cools_down(victim):
        yield "started too short a while ago"


def _by_its_gang(snapshot: Snapshot, victim: Task, action: Action) -> Iterator[str]:
    owner, mode = snapshot.jobs[snapshot.job_key(victim)], snapshot.policy.gang_protects(action)
    if action in GANG_ACTIONS and not owner.is_whole:
        return
    if owner.ready - 1 < owner.min_available and (mode == "keep" or (mode == "whole" and owner.holding > 1)):
        yield f"{owner.key} keeps its minimum of {owner.min_available}"


def _by_budgets(snapshot: Snapshot, victim: Task, action: Action) -> Iterator[str]:
    if snapshot.policy.pdb_protects(action) == "hard":
        for budget in snapshot.instance.budgets:
            if covers(budget, victim) and budget.status.disruptions_allowed < 1:
                yield f"{budget.key} allows no disruption"


SPARED_BY: dict[str, Callable[[Snapshot, Task, Action], Iterator[str]]] = {
    "eviction": _by_its_share,
    "protect.conformance": _as_critical,
    "protect.cooldown": _by_its_age,
    "protect.gang": _by_its_gang,
    "protect.pdb": _by_budgets,
}
"""Rule → why it spares a single victim of an action, if it does. A guarantee spares no single one: it is about sums."""


def summary(snapshot: Snapshot, task: Task, nodes: Iterable[str], most: int = 4) -> str:
    """Who holds room on the nodes and why they may stay, counted by reason."""
    counts: Counter[str] = Counter()
    for node in nodes:
        for victim in snapshot.instance.tasks_by_node[node]:
            found = obstacles(snapshot, task, victim)
            counts[found[0] if found else "may be evicted"] += 1
    if not counts:
        return "no pod runs there"
    shown = [f"{count}: {text}" for text, count in counts.most_common(most)]
    return "running pods on these nodes: " + "; ".join(shown) + ("; ..." if len(counts) > most else "")
