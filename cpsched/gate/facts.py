"""What a session comes to in numbers: all that a judge in another language needs for the rules that are plain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any

from cpsched.instance import ENDED, HOLDS_ROOM, PENDING, Status, Task
from cpsched.objectives import level_plan, out_of_reach
from cpsched.policy.levels import ABOUT_NEARNESS, SENSES
from cpsched.policy.policy import GANG_ACTIONS
from cpsched.resources import Vector
from cpsched.rules.protections import covers
from cpsched.shares import QueueShare
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.queues import cluster_total

LARGEST = 2**53
"""Amounts beyond it are exact in Python alone; sums of many below it fit into 64 bits."""
_PRESENT = HOLDS_ROOM | {Status.SUCCEEDED}


def facts(snapshot: Snapshot) -> dict[str, Any] | None:
    """The session, None if an amount is too large to be exact elsewhere, or if rules about network topology decide.

    `open` names the rules that these numbers do not settle: they read more of the objects.
    """
    if _is_shaped(snapshot):
        return None
    found = {
        "open": _open(snapshot),
        "policy": _policy(snapshot),
        "nodes": _nodes(snapshot),
        "tasks": {key: _task(snapshot, task) for key, task in snapshot.instance.tasks.items()},
        "jobs": {key: _job(snapshot, job) for key, job in snapshot.jobs.items()},
        "queues": _queues(snapshot),
        "budgets": {one.key: one.status.disruptions_allowed for one in snapshot.instance.budgets},
        "refused": _refused(snapshot),
        "total": dict(cluster_total(snapshot.instance)),
        "plan": [{"label": one.label, "name": one.name, "sense": SENSES[one.name]} for one in level_plan(snapshot)],
        "between": _between(snapshot),
    }
    return found if _is_exact(found) else None


def _is_shaped(snapshot: Snapshot) -> bool:
    """Whether sub-groups, nearness or gang actions are in it: only the checker itself reads those."""
    levels = {one.name for one in level_plan(snapshot)}
    groups = any(job.sub_groups is not None for job in snapshot.jobs.values())
    actions = any(snapshot.policy.evicts(action) for action in GANG_ACTIONS)
    return groups or actions or bool(snapshot.nearness.units) or not levels.isdisjoint(ABOUT_NEARNESS)


def _open(snapshot: Snapshot) -> list[str]:
    """Rules of which a plugin or a filter asks how tasks stand to each other."""
    rules = [key for key in ("nodegroup", "cards", "numa", "usage") if key in snapshot.node_rules]
    return rules + ["filters"] * snapshot.predicates.any_dynamic


def _policy(snapshot: Snapshot) -> dict[str, Any]:
    policy = snapshot.policy
    return {
        "kube": policy.is_kube,
        "gangs": policy.requires_gangs,
        "waitsForAll": policy.is_kube or policy.enabled("gang", "enableJobPipelined"),
        "limitsQueues": policy.limits_queues,
        "byDeserved": policy.share_plugin == "proportion",
        "sharesRefused": snapshot.shares_refused,
        "eviction": policy.rules.eviction != "off",
        "charge": policy.rules.charge != "off",
        "everywhere": policy.rules.eviction_scope == "cluster",
        "preempts": policy.evicts("preempt"),
        "reclaims": policy.evicts("reclaim"),
        "enter": policy.pending_jobs_enter,
        "actions": list(policy.actions),
        "protects": {
            "gang": policy.gang_protects("preempt"),
            "conformance": policy.conformance_protects("preempt"),
            "cooldown": policy.cooldown_protects("preempt"),
            "pdb": policy.pdb_protects("preempt"),
            "guarantee": policy.guarantee_protects("preempt"),
        },
    }


def _nodes(snapshot: Snapshot) -> dict[str, Any]:
    idle, future = snapshot.idle, snapshot.future_idle
    return {name: {"idle": idle[name], "future": future[name]} for name in snapshot.instance.nodes}


def _task(snapshot: Snapshot, task: Task) -> dict[str, Any]:
    """What is false, empty or zero is left out."""
    job, start = snapshot.job_of(task), task.pod_status.start_time
    stated = {
        "pod": task.pod.key if task.pod.key != task.key else "",
        "job": None if job is None else job.key,
        "node": task.node,
        "requests": dict(task.requests),
        "role": task.role,
        "bestEffort": task.best_effort,
        "pending": task.status is PENDING,
        "present": task.status in _PRESENT,
        "holds": task.status in HOLDS_ROOM,
        "sits": task.status not in ENDED and task.node in snapshot.instance.nodes,
        "barred": _barred(snapshot, task, job),
        "priority": task.priority,
        "podPriority": task.pod_priority,
        "start": snapshot.now if start is None else start,
        "preemptable": task.preemptable or snapshot.policy.is_kube,
        "neverPreempts": snapshot.never_preempts(task),
        "critical": task.pod.is_critical,
        "cooling": snapshot.cools_down(task),
        "budgets": [one.key for one in snapshot.instance.budgets if covers(one, task)],
    }
    return {name: value for name, value in stated.items() if value}


def _barred(snapshot: Snapshot, task: Task, job: SessionJob | None) -> str:
    """Why the task may be placed nowhere, in the order of the rule `assignment`."""
    if task.status is not PENDING:
        return f"is {task.status.value}, not Pending"
    if task.gated:
        return "is held by a scheduling gate"
    if job is None:
        return "belongs to no job of this session"
    if snapshot.needs_valid_jobs and not job.is_valid:
        return f"its job {job.key} has too few tasks to ever be ready"
    return ""


def _job(snapshot: Snapshot, job: SessionJob) -> dict[str, Any]:
    stated = {
        "queue": job.queue,
        "priority": job.priority,
        "minimum": job.min_available,
        "roles": dict(job.min_by_role) if job.roles_count else {},
        "tasks": [task.key for task in job.tasks],
        "ready": job.ready,
        "holding": job.holding,
        "pending": job.is_pending,
        "starving": job.key in {one.key for one in snapshot.starving},
        "mayEvict": snapshot.is_starving(job),
    }
    return {name: value for name, value in stated.items() if value}


def _queues(snapshot: Snapshot) -> dict[str, Any]:
    used = {job.queue for job in snapshot.jobs.values()}
    by_deserved = snapshot.policy.share_plugin == "proportion"
    found: dict[str, Any] = {}
    for name, queue in snapshot.instance.queues.items():
        found[name] = {"closed": not queue.is_open}
        if (share := snapshot.shares.get(name)) is not None:
            limit = share.deserved if by_deserved else share.real_capability
            found[name] |= {
                "ancestors": list(share.ancestors),
                "allocated": dict(share.allocated),
                "limit": {resource: _floor(amount) for resource, amount in limit.items()},
                "guarantee": {resource: ceil(amount) for resource, amount in share.guarantee.items()},
                "wants": _wants(share) if share.is_leaf and name in used else None,
            }
    return found


def _wants(share: QueueShare[Any]) -> dict[str, list[int]]:
    """What the queue deserves and asks for, as fractions: its deficit is measured by it."""
    wanted = {name: Fraction(min(share.deserved.get(name, 0), amount)) for name, amount in share.request.items()}
    return {name: [due.numerator, due.denominator] for name, due in wanted.items() if name != "pods" and due > 0}


def _floor(amount: Any) -> int | None:
    """Whole amounts exceed a fraction exactly if they exceed its whole part; None for no limit."""
    return None if amount == float("inf") else floor(amount)


def _refused(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Nodes that static filters refuse, with the reasons, and the tasks that they refuse them to."""
    if not snapshot.policy.is_kube and snapshot.policy.plugin("predicates") is None and not snapshot.instance.sharding:
        return []
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for key, task in snapshot.instance.tasks.items():
        if task.status is PENDING:
            nodes = {name: ", ".join(status.reasons) for name, status in snapshot.predicates.refused(task).items()}
            groups.setdefault(tuple(sorted(nodes.items())), []).append(key)
    return [{"tasks": tasks, "nodes": dict(nodes)} for nodes, tasks in groups.items() if nodes]


def _between(snapshot: Snapshot) -> dict[str, list[str]]:
    """Per priority of a level between two admissions the tasks that it counts if they are evicted."""
    priorities = {one.priority for one in level_plan(snapshot) if one.name != "jobs_admitted"} - {None}
    return {str(one): _out_of_reach(snapshot, one) for one in sorted(p for p in priorities if p is not None)}


def _out_of_reach(snapshot: Snapshot, priority: int) -> list[str]:
    test = out_of_reach(snapshot, priority)
    in_session = (task for task in snapshot.instance.tasks.values() if task.key in snapshot.job_by_task)
    return [task.key for task in in_session if task.status in HOLDS_ROOM and test(task)]


def _is_exact(found: Mapping[str, Any]) -> bool:
    """Whether every amount is a whole number that other languages hold too."""
    vectors: list[Vector] = [found["total"]]
    vectors += [node[part] for node in found["nodes"].values() for part in ("idle", "future")]
    vectors += [task.get("requests", {}) for task in found["tasks"].values()]
    for queue in found["queues"].values():
        vectors += [queue.get(part, {}) for part in ("allocated", "limit", "guarantee")]
        vectors += [{"": max(pair)} for pair in (queue.get("wants") or {}).values()]
    return all(_are_exact(vector.values()) for vector in vectors)


def _are_exact(amounts: Iterable[float | None]) -> bool:
    return all(one is None or (isinstance(one, int) and abs(one) < LARGEST) for one in amounts)
