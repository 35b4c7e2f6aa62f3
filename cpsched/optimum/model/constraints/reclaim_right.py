"""Claims: whether a queue may reclaim for a task, because it stays within its deserved share."""

from __future__ import annotations

from math import floor

from ortools.sat.python import cp_model

from cpsched.optimum.model.constraints.queue import change, with_ancestors
from cpsched.optimum.model.variables import Claims, Variables
from cpsched.snapshot import Snapshot


def claims_of(v: Variables) -> Claims:
    """Per class that may reclaim: its queue stays within its deserved share, as the share plugin tests it.

    None where the rule `queue` keeps it there anyway, as proportion's does.
    """
    if v.claims is None:
        v.claims = _claims(v.cp, v.snapshot, v)
    return v.claims


def _claims(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> Claims:
    asks = snapshot.policy.asks_shares
    reclaiming = sorted({i for group in v.classes.victims for a, some in group.rights.items() if asks(a) for i in some})
    claims: Claims = {}
    alike: dict[tuple[str | None, tuple[str, ...]], cp_model.IntVar] = {}
    proportion = snapshot.policy.share_plugin == "proportion"
    for index in reclaiming:
        one = v.classes.tasks[index]
        queue = snapshot.jobs[one.jobs[0]].queue
        resources = tuple(sorted(r for r, amount in one.representative.requests.items() if amount > 0 and r != "pods"))
        if with_ancestors(snapshot, queue) and proportion and (snapshot.policy.limits_queues or not resources):
            claims[index] = None
            continue
        if (queue, resources) not in alike:
            alike[queue, resources] = _claim(cp, snapshot, v, queue, resources)
        claims[index] = alike[queue, resources]
    return claims


def _claim(
    cp: cp_model.CpModel, snapshot: Snapshot, v: Variables, queue: str | None, resources: tuple[str, ...]
) -> cp_model.IntVar:
    claim = v.flag(f"claim of {queue}")
    line = with_ancestors(snapshot, queue)
    if not line:
        cp.add(claim == 0)
    elif snapshot.policy.share_plugin == "proportion":
        for resource in resources:
            cp.add(change(v, line[0], resource) <= _room(v, line[0], resource)).only_enforce_if(claim)
    else:
        plugin = snapshot.policy.plugin("capacity")
        reach = plugin.arguments.integer("ancestorReclaimLevel") if plugin else 0
        # The line goes from the queue itself over the root down to its parent; the root is never asked.
        names = (line[0], *line[:1:-1][:reach])
        cp.add_bool_or([~claim, *(_within(cp, v, name, resource) for name in names for resource in resources)])
    return claim


def _within(cp: cp_model.CpModel, v: Variables, queue: str, resource: str) -> cp_model.IntVar:
    within = v.flag(f"{queue} within share of {resource}")
    cp.add(change(v, queue, resource) <= _room(v, queue, resource)).only_enforce_if(within)
    return within


def _room(v: Variables, queue: str, resource: str) -> int:
    """How many units more keep the queue within its deserved share."""
    share = v.snapshot.shares[queue]
    room = share.deserved.get(resource, 0) - share.allocated.get(resource, 0)
    return floor(room // v.classes.unit.get(resource, 1))
