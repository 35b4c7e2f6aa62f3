"""Room that is there, or would be if certain victims went, and how many tasks of some kinds it takes at most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import floor

import numpy as np
from numpy.typing import NDArray

from cpsched.certificate.victims import Victims
from cpsched.certificate.waiting import Kind, Waiting
from cpsched.instance import Task
from cpsched.snapshot import Snapshot

Numbers = NDArray[np.int64]
_FAR = np.int64(2**62)


class Room:
    """Every node's room in every resource; whatever is placed fits into it, node by node."""

    def __init__(self, snapshot: Snapshot, victims: Victims, may_go: Callable[[Task], bool], *, today: bool = False):
        self.today = today
        self.nodes = list(snapshot.instance.nodes)
        self.gone = () if today else tuple(victim for victim in victims.all if may_go(victim))
        idle = snapshot.idle if today else snapshot.future_idle
        names = {name for room in idle.values() for name in room}
        self.resources = sorted(names.union(*(task.requests for task in snapshot.instance.tasks.values())))
        self._column = {name: position for position, name in enumerate(self.resources)}
        self._row = {name: position for position, name in enumerate(self.nodes)}
        self.free = np.array(
            [[floor(idle[node].get(name, 0)) for name in self.resources] for node in self.nodes], dtype=np.int64
        ).reshape(len(self.nodes), len(self.resources))
        self._add(snapshot, victims)
        self._slots: dict[tuple[Kind, ...], Numbers] = {}
        self.demands: dict[tuple[Waiting, str], int] = {}
        self.served: dict[Waiting, bool] = {}
        self.freed = self._freed(snapshot)

    def _add(self, snapshot: Snapshot, victims: Victims) -> None:
        """Add what the victims hold; of a job that keeps its minimum only as many as may go, the largest ones."""
        by_place: dict[tuple[str, str], list[Task]] = {}
        for victim in self.gone:
            by_place.setdefault((victim.node, snapshot.job_key(victim)), []).append(victim)
        for (node, job), tasks in by_place.items():
            most = victims.most_of(job)
            held = np.sort(np.array([self.vector(task) for task in tasks], dtype=np.int64), axis=0)[::-1]
            self.free[self._row[node]] += held[: len(tasks) if most is None else most].sum(axis=0)

    def _freed(self, snapshot: Snapshot) -> dict[str, dict[str, int]]:
        """What the victims hold, per queue; a queue's victims are its ancestors' too."""
        found: dict[str, dict[str, int]] = {}
        shares = snapshot.shares
        for victim in self.gone:
            queue = snapshot.queue_of(victim)
            if queue is None or queue.name not in shares:
                continue
            for name in (queue.name, *shares[queue.name].ancestors):
                freed = found.setdefault(name, {})
                for resource, amount in victim.requests.items():
                    freed[resource] = freed.get(resource, 0) + amount
        return found

    def vector(self, task: Task) -> Numbers:
        """What the task asks for."""
        found = np.zeros(len(self.resources), dtype=np.int64)
        for name, amount in task.requests.items():
            found[self._column[name]] = amount
        return found

    def slots(self, kinds: Iterable[Kind]) -> Numbers:
        """Per node how many tasks of these kinds it takes at most."""
        kinds = tuple(kind for kind in kinds if (kind.may_bind if self.today else kind.may_bind or kind.may_reserve))
        if kinds not in self._slots:
            self._slots[kinds] = self._count(kinds)
        return self._slots[kinds]

    def most(self, kinds: Sequence[Kind]) -> int:
        """How many tasks of these kinds fit at most, all nodes together."""
        one_by_one = sum(self.most_of(kind) for kind in kinds)
        return min(one_by_one, int(self.slots(kinds).sum())) if len(kinds) > 1 else one_by_one

    def most_of(self, kind: Kind) -> int:
        """How many tasks of one kind fit at most."""
        return min(len(kind.tasks), int(self.slots((kind,)).sum()))

    def most_of_size(self, kinds: Sequence[Kind], size: dict[str, int]) -> int:
        """How many tasks fit at most where these kinds may go, if every one asked for no more than this.

        Coarser than `most`, but a victim adds no more to it than its own request divided by the size.
        """
        where = np.logical_or.reduce([self._mask(kind) for kind in kinds])
        times = np.full(len(self.nodes), sum(len(kind.tasks) for kind in kinds), dtype=np.int64)
        for name, amount in size.items():
            times = np.minimum(times, self.free[:, self._column[name]] // amount)
        return int(np.maximum(times, 0)[where].sum())

    def total(self, resource: str) -> int:
        """Room for a resource, all nodes together."""
        return int(np.maximum(self.free[:, self._column[resource]], 0).sum())

    def _count(self, kinds: tuple[Kind, ...]) -> Numbers:
        smallest = np.full(self.free.shape, _FAR)
        members = np.zeros(len(self.nodes), dtype=np.int64)
        for kind in kinds:
            request = self.vector(kind.sample)
            fits = self._mask(kind) & ((self.free >= request) | (request <= 0)).all(axis=1)
            smallest[fits] = np.minimum(smallest[fits], request)
            members[fits] += len(kind.tasks)
        asked = (smallest > 0) & (smallest < _FAR)
        times = np.where(asked, self.free // np.where(asked, smallest, 1), _FAR)
        found: Numbers = np.minimum(members, times.min(axis=1, initial=_FAR))
        return found

    def _mask(self, kind: Kind) -> NDArray[np.bool_]:
        if len(kind.nodes) == len(self.nodes):
            return self._everywhere
        return np.array([node in kind.nodes for node in self.nodes], dtype=bool)

    @cached_property
    def _everywhere(self) -> NDArray[np.bool_]:
        return np.ones(len(self.nodes), dtype=bool)


def could_be_served(room: Room, one: Waiting) -> bool:
    """Whether the job alone could get what it needs; if not, it gets nothing."""
    if one not in room.served:
        room.served[one] = _could_be_served(room, one)
    return room.served[one]


def _could_be_served(room: Room, one: Waiting) -> bool:
    asking = [kind for kind in one.kinds if not kind.sample.best_effort]
    if room.most(one.kinds) < 1:
        return False
    if not (one.whole_start if room.today else one.whole):
        return True
    if room.most(asking) < one.need:
        return False
    return all(
        room.most([kind for kind in asking if kind.sample.role == role]) >= need
        for role, need in one.need_by_role.items()
    )


def least_demand(room: Room, one: Waiting, resource: str) -> int:
    """The least that the job's minimum asks of a resource, whichever tasks are placed."""
    if (one, resource) not in room.demands:
        room.demands[one, resource] = _least_demand(room, one, resource)
    return room.demands[one, resource]


def _least_demand(room: Room, one: Waiting, resource: str) -> int:
    asking = [kind for kind in one.kinds if not kind.sample.best_effort]
    if not one.whole or not one.need:
        able = [kind for kind in one.kinds if room.most_of(kind)]
        return min((kind.sample.requests.get(resource, 0) for kind in able), default=0)
    amounts = sorted(
        (kind.sample.requests.get(resource, 0), kind.sample.role)
        for kind in asking
        for _ in range(min(room.most_of(kind), len(kind.tasks)))
    )
    chosen: list[int] = []
    rest: list[int] = []
    left = dict(one.need_by_role)
    for amount, role in amounts:
        if left.get(role, 0) > 0:
            left[role] -= 1
            chosen.append(amount)
        else:
            rest.append(amount)
    return sum(chosen) + sum(rest[: max(0, one.need - len(chosen))])
