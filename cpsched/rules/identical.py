"""What a rule's questions cannot distinguish: the classes of tasks, jobs, victims and nodes that are asked about once.

Each function is equal for two that are equal in everything that its question reads; see cpsched/snapshot/identical.py.
Requests are compared by identity, which is quicker: tasks that request the same mostly share the vector.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable
from typing import TYPE_CHECKING

from cpsched.instance import Task
from cpsched.snapshot import SessionJob, Snapshot

if TYPE_CHECKING:
    from cpsched.rules.charging import Charges
    from cpsched.rules.decision import Decision
    from cpsched.rules.rights import Pair, Pairs, Rights


def requests_of(tasks: Iterable[Task]) -> Hashable:
    """What the tasks request, one by one."""
    return tuple([id(task.requests) for task in tasks])


def request_of(task: Task) -> Hashable:
    """What the task requests."""
    return id(task.requests)


def fates(decision: Decision) -> Callable[[SessionJob], Hashable]:
    """The task of a job that has no other, and what the decision makes of it; any other job goes by its name."""
    identities, placed, binds, evicted = decision.snapshot.identities, decision.placed, decision.binds, decision.evicted

    def fate_of(job: SessionJob) -> Hashable:
        if len(job.tasks) > 1:
            return job.key
        key = job.tasks[0].key
        return identities[key], key in placed, key in binds, key in evicted

    return fate_of


def victims(rights: Rights) -> Callable[[str, str], Hashable]:
    """The victim, whose identical ones are on the same node, and the action that its eviction names.

    Where victims are evicted for tasks on any node, the kind of victim is enough. Where there are gang actions, victims
    have their own classes: whether all of a gang goes counts there.
    """
    identity_of, kind_of, tasks = (
        rights.snapshot.identity_of,
        rights.snapshot.rights.victim_kind,
        rights.snapshot.instance.tasks,
    )
    if rights.snapshot.gang_rights.exist:
        return lambda key, named: (key, named)
    if rights.everywhere:
        return lambda key, named: (kind_of(tasks[key]), named)
    return lambda key, named: (identity_of(key), named)


pairs_of: Callable[[Pairs], Hashable] = id
"""Those who may evict a victim, which victims of one class share."""


def right_of(pairs: Pairs, goes: bool) -> Hashable:
    """The same, and whether the victim finds its queue above its share."""
    return id(pairs), goes


def holding_of(rights: Rights, victim: Task) -> Hashable:
    """The victim's queue, and what it holds there."""
    return rights.snapshot.job_by_task[victim.key].queue, id(victim.requests)


def charge_of(charges: Charges, nodes: tuple[str, ...]) -> Hashable:
    """What a node lacks, what its victims hold, and what those who may evict them request.

    Several nodes together, or one with a victim that either action could evict, are distinguished by name.
    """
    victims, contested = charges.victims(nodes[0]), charges.rights.contested
    if len(nodes) > 1 or (contested and any(victim.key in contested for victim in victims)):
        return nodes
    job_of = charges.decision.snapshot.job_by_task
    jobs: dict[str, int] = {}
    payers: dict[int, tuple[int, Hashable]] = {}
    each = []
    for victim in victims:
        pairs = charges.payers[victim.key]
        if id(pairs) not in payers:
            described = [
                (jobs.setdefault(job_of[payer.key].key, len(jobs)), payer.priority, id(payer.requests), action)
                for payer, action in pairs
            ]
            payers[id(pairs)] = (len(payers), tuple(described))
        each.append((id(victim.requests), payers[id(pairs)][0]))
    return tuple(each), tuple(payers.values()), tuple(sorted(charges.missing[nodes[0]].items()))


def payers(snapshot: Snapshot, charged: Container[str]) -> Callable[[Pair], Hashable]:
    """What decides which victims a task may evict and needs, if it is charged nothing yet; else the task."""
    job_of = snapshot.job_by_task

    def payer_of(pair: Pair) -> Hashable:
        payer, action = pair
        if payer.key in charged:
            return payer.key, action
        return job_of[payer.key].key, payer.priority, id(payer.requests), action

    return payer_of
