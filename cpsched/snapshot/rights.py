"""Who may evict whom, as far as the snapshot alone says: the static half of the rule `eviction`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from cpsched.instance import HOLDS_ROOM, Task
from cpsched.resources import Vector
from cpsched.shares import Exact

if TYPE_CHECKING:
    from cpsched.snapshot import SessionJob, Snapshot

Action = Literal["preempt", "reclaim"]


def actions_against(snapshot: Snapshot, task: Task, victim: Task) -> Iterator[Action]:
    """The actions by which a starving job's task may evict the victim, were both on one node."""
    job, owner = snapshot.job_of(task), snapshot.job_of(victim)
    if job is None or owner is None or victim.status not in HOLDS_ROOM:
        return
    unrestricted = job.key in snapshot.unrestricted
    if unrestricted:
        yield "preempt"
    if not snapshot.is_starving(job) or snapshot.never_preempts(task):
        return
    if not (victim.preemptable or snapshot.policy.is_kube):
        return
    if not unrestricted and snapshot.policy.evicts("preempt") and _may_preempt(snapshot, task, victim):
        yield "preempt"
    if snapshot.policy.evicts("reclaim") and job.queue != owner.queue and _gives_back(snapshot, owner.queue):
        yield "reclaim"


class StaticRights:
    """actions_against for a whole session, asked once for every two kinds of task that it can tell apart."""

    def __init__(self, snapshot: Snapshot):
        self._snapshot = snapshot
        self._numbers: dict[Hashable, int] = {}
        self._twins = snapshot.twins
        self._claimants: dict[int | None, int] = {}
        self._victims: dict[int | None, int] = {}
        self._found: dict[tuple[int, int], tuple[Action, ...]] = {}
        self._against: dict[int, dict[int | None, tuple[Action, ...]]] = defaultdict(dict)

    def actions(self, task: Task, victim: Task) -> tuple[Action, ...]:
        """What actions_against says of the two."""
        kinds = (self.claimant_kind(task), self.victim_kind(victim))
        found = self._found.get(kinds)
        if found is None:
            found = self._found[kinds] = tuple(actions_against(self._snapshot, task, victim))
        return found

    def against(self, victim: Task, tasks: Iterable[Task]) -> list[tuple[Task, Action]]:
        """The same of every task, one after another."""
        twin_of, known = self._twins, self._against[self.victim_kind(victim)]
        pairs: list[tuple[Task, Action]] = []
        for task in tasks:
            twin = twin_of.get(task.key)
            if twin not in known:
                known[twin] = self.actions(task, victim)
            for action in known[twin]:
                pairs.append((task, action))
        return pairs

    def claimant_kind(self, task: Task) -> int:
        """Equal for tasks that may evict the same victims."""
        twin = self._twins.get(task.key)
        kind = self._claimants.get(twin)
        if kind is None:
            kind = self._claimants[twin] = self._number(self._claimant(task))
        return kind

    def victim_kind(self, victim: Task) -> int:
        """Equal for tasks that the same tasks may evict."""
        twin = self._twins.get(victim.key)
        kind = self._victims.get(twin)
        if kind is None:
            kind = self._victims[twin] = self._number(self._victim(victim))
        return kind

    def claimants(self, tasks: Iterable[Task]) -> list[Task]:
        """One task of every kind."""
        kinds: dict[int, Task] = {}
        for task in tasks:
            kinds.setdefault(self.claimant_kind(task), task)
        return list(kinds.values())

    def _claimant(self, task: Task) -> Hashable:
        job = self._snapshot.job_of(task)
        if job is None:
            return None
        snapshot = self._snapshot
        return (
            job.queue,
            job.priority,
            self._family(job),
            snapshot.is_starving(job),
            job.key in snapshot.unrestricted,
            task.priority,
            task.best_effort,
            snapshot.never_preempts(task),
        )

    def _victim(self, victim: Task) -> Hashable:
        job = self._snapshot.job_of(victim)
        if job is None or victim.status not in HOLDS_ROOM:
            return None
        return job.queue, job.priority, self._family(job), victim.priority, victim.best_effort, victim.preemptable

    def _family(self, job: SessionJob) -> str | None:
        """The job, where one of its tasks could be another's victim; a task alone in it does not outrank itself."""
        return job.key if job.holding and self._snapshot.has_siblings(job) else None

    def _number(self, kind: Hashable) -> int:
        return self._numbers.setdefault(kind, len(self._numbers))


def _may_preempt(snapshot: Snapshot, task: Task, victim: Task) -> bool:
    job, owner = snapshot.jobs[snapshot.job_key(task)], snapshot.jobs[snapshot.job_key(victim)]
    if job.queue != owner.queue:
        return False
    if not snapshot.policy.is_kube and task.best_effort and not victim.best_effort:
        return False
    if job is owner:
        return victim.priority < task.priority
    return owner.priority < job.priority


def _gives_back(snapshot: Snapshot, queue: str | None) -> bool:
    return queue is not None and snapshot.instance.queues[queue].reclaimable


def is_above_share_now(snapshot: Snapshot, victim: Task) -> bool:
    """Whether the victim's queue is above its share today; whoever goes before can only make that less so."""
    queue = snapshot.queue_of(victim)
    if queue is None or queue.name not in snapshot.shares:
        return False
    return is_above_share(snapshot, queue.name, victim, snapshot.shares[queue.name].allocated)


def is_above_share(snapshot: Snapshot, queue: str, victim: Task, held: Vector) -> bool:
    """Whether the queue, holding this much, is above its deserved share in the eyes of its share plugin.

    proportion looks at every resource, capacity only at the victim's; it gives up freely what has no declared share.
    """
    if queue not in snapshot.shares:
        return False
    deserved = snapshot.shares[queue].deserved
    if snapshot.policy.share_plugin == "proportion":
        return any(amount > deserved.get(name, 0) for name, amount in held.items())
    if not claims_any(deserved, victim.requests):
        return True
    return any(held.get(name, 0) > deserved.get(name, 0) for name in declared_of(deserved, victim.requests))


def claims_any(deserved: Mapping[str, Exact], requests: Mapping[str, int]) -> bool:
    """Whether a share is declared for anything that is asked for, pods included."""
    return any(amount > 0 and deserved.get(name, 0) > 0 for name, amount in requests.items())


def declared_of(deserved: Mapping[str, Exact], requests: Mapping[str, int]) -> list[str]:
    """What is asked for and has a declared share; of a scalar a share of nothing counts too, pods never count."""
    return [
        name
        for name, amount in requests.items()
        if amount > 0 and name != "pods"
        if (deserved.get(name, 0) > 0 if name in ("cpu", "memory") else name in deserved)
    ]
