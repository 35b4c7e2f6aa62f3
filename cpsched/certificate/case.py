"""A session with the values of its earlier levels: what any decision that has them still can and cannot do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from cpsched.certificate.room import Room
from cpsched.certificate.victims import Victims
from cpsched.certificate.waiting import Waiting, waiting_jobs
from cpsched.instance import Task
from cpsched.policy.levels import Value
from cpsched.snapshot import Snapshot

Given = Mapping[tuple[str, int | None], Value]


class Session:
    """What does not depend on any level."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self.waiting: list[Waiting] = waiting_jobs(snapshot)
        self.victims = Victims(snapshot, self.waiting)
        self._rooms: dict[tuple[bool, frozenset[str]], Room] = {}

    @cached_property
    def tiers(self) -> dict[int, list[Waiting]]:
        """Starving jobs by priority."""
        found: dict[int, list[Waiting]] = {}
        for one in self.waiting:
            if one.starving:
                found.setdefault(one.job.priority, []).append(one)
        return found

    def room(self, may_go: Callable[[Task], bool], *, today: bool = False) -> Room:
        """The room if these victims may go; made once for every set of them."""
        gone = frozenset() if today else frozenset(victim.key for victim in self.victims.all if may_go(victim))
        if (today, gone) not in self._rooms:
            self._rooms[today, gone] = Room(self.snapshot, self.victims, lambda victim: victim.key in gone, today=today)
        return self._rooms[today, gone]


class Case:
    """The session under the values given for the levels before the one in question."""

    def __init__(self, session: Session, given: Given):
        self.session, self.given = session, given
        self.snapshot, self.victims = session.snapshot, session.victims

    @property
    def admitted(self) -> dict[int, int]:
        """Jobs admitted per priority, highest first, as far as that is settled."""
        found = {p: v for (name, p), v in self.given.items() if name == "jobs_admitted" and p is not None}
        return {priority: found[priority] or 0 for priority in sorted(found, reverse=True)}

    def may_go(self, victim: Task) -> bool:
        """Whether the earlier levels leave it possible that the task is evicted."""
        for (name, priority), value in self.given.items():
            if name == "victim_max_priority":
                limit = value
            elif name in ("victim_priority_sum", "victim_count") and value == 0:
                limit = None
            else:
                continue
            if self.victims.is_counted(victim, priority) and (limit is None or victim.pod_priority > limit):
                return False
        return self._fits_top(victim)

    def _fits_top(self, victim: Task) -> bool:
        """Whether it can be a victim beside the earliest of the highest priority, or, if there is one only, be it."""
        top, first = (self.given.get((name, None)) for name in ("victim_max_priority", "victim_start_time"))
        alone = self.most_victims == 1
        if top is None or victim.pod_priority != top:
            return top is None or not alone
        start = victim.pod.status.start_time
        begun = self.snapshot.now if start is None else start
        return first is None or begun == first or (begun > first and not alone)

    @cached_property
    def candidates(self) -> tuple[Task, ...]:
        """The victims that are still possible."""
        return tuple(victim for victim in self.victims.all if self.may_go(victim))

    @cached_property
    def room(self) -> Room:
        """The room once all those have gone."""
        return self.session.room(self.may_go)

    @cached_property
    def room_today(self) -> Room:
        """The room for what starts now."""
        return self.session.room(self.may_go, today=True)

    @property
    def most_victims(self) -> int | None:
        """How many victims there are, if that is settled."""
        return self.given.get(("victim_count", None))
