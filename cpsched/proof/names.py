"""The variables that count a decision's placements, jobs and victims, each named after what it counts."""

from __future__ import annotations

from cpsched.proof.draft import Draft
from cpsched.proof.rows import Terms, summed
from cpsched.rules import Decision
from cpsched.snapshot.rights import Action


def placed(draft: Draft, kind: int, place: int) -> Terms:
    """How many tasks of the kind start or are reserved at the place."""

    def make() -> Terms:
        most = _most(draft, kind, place, _later(draft, place))
        name = f"place[{draft.counted.kinds[kind].name},{draft.counted.places[place].name}]"
        return draft.variable(name, 0, most, lambda c: c.place[kind, place], place)

    return draft.once(("place", kind, place), make)


def begun(draft: Draft, kind: int, place: int) -> Terms:
    """How many of them start."""

    def make() -> Terms:
        one, where = draft.counted.kinds[kind], draft.counted.places[place]
        most = _most(draft, kind, place, where.idle) if one.may_bind else 0
        return draft.variable(f"bind[{one.name},{where.name}]", 0, most, lambda c: c.bind[kind, place], place)

    return draft.once(("bind", kind, place), make)


def taken_by(draft: Draft, jobs: int, kind: int) -> Terms:
    """How many tasks of the kind the jobs get placed."""

    def make() -> Terms:
        one = draft.counted.jobs[jobs]
        name = f"take[{one.name},{draft.counted.kinds[kind].name}]"
        return draft.variable(name, 0, one.kinds[kind] * len(one.keys), lambda c: c.take[jobs, kind])

    return draft.once(("take", jobs, kind), make)


def begun_by(draft: Draft, jobs: int, kind: int) -> Terms:
    """How many of them start; where starts are not distinguished, those placed count, which are no fewer."""
    if not draft.starts:
        return taken_by(draft, jobs, kind)

    def make() -> Terms:
        one = draft.counted.jobs[jobs]
        name = f"begin[{one.name},{draft.counted.kinds[kind].name}]"
        return draft.variable(name, 0, one.kinds[kind] * len(one.keys), lambda c: c.begin[jobs, kind])

    return draft.once(("begin", jobs, kind), make)


def taken(draft: Draft, jobs: int, *, role: str | None = None, asking: bool = False) -> Terms:
    """How many of all kinds, or of a role, or of those that ask for something."""
    return summed((1, taken_by(draft, jobs, kind)) for kind in _of(draft, jobs, role, asking))


def started(draft: Draft, jobs: int, *, role: str | None = None, asking: bool = False) -> Terms:
    """How many of those start."""
    return summed((1, begun_by(draft, jobs, kind)) for kind in _of(draft, jobs, role, asking))


def served(draft: Draft, jobs: int) -> Terms:
    """How many of the jobs receive something."""
    one = draft.counted.jobs[jobs]
    return draft.once(
        ("serve", jobs), lambda: draft.variable(f"serve[{one.name}]", 0, len(one.keys), lambda c: c.serve[jobs])
    )


def ready(draft: Draft, jobs: int) -> Terms:
    """How many of those are ready to start."""
    one = draft.counted.jobs[jobs]
    return draft.once(
        ("ready", jobs), lambda: draft.variable(f"ready[{one.name}]", 0, len(one.keys), lambda c: c.ready[jobs])
    )


def evicted_by(draft: Draft, group: int, action: Action) -> Terms:
    """How many victims of the group go by the action."""
    one = draft.counted.victims[group]
    return draft.once(
        ("evict", group, action),
        lambda: draft.variable(f"evict[{one.name},{action}]", 0, one.most, lambda c: c.evict[group, action], one.place),
    )


def evicted(draft: Draft, group: int) -> Terms:
    """How many victims of the group go."""
    return draft.once(
        ("gone", group),
        lambda: summed((1, evicted_by(draft, group, action)) for action in draft.counted.victims[group].rights),
    )


def lost(draft: Draft, job: str, role: str | None = None) -> Terms:
    """How many tasks, or tasks of a role, a job loses whose victims are distinguished."""
    victims = draft.counted.victims
    return summed(
        (1, evicted(draft, number))
        for number in draft.counted.victims_of.get(job, ())
        if role is None or victims[number].task.role == role
    )


def change(draft: Draft, queue: str, resource: str) -> Terms:
    """By how many units the queue's holding changes: placed, less evicted; what is below it counts."""

    def make() -> Terms:
        counted, shares = draft.counted, draft.snapshot.shares
        inside = {name for name, share in shares.items() if queue in (name, *share.ancestors)}
        won = [
            (counted.amount(counted.kinds[kind].task, resource), taken_by(draft, number, kind))
            for number, jobs in enumerate(counted.jobs)
            if jobs.job.queue in inside
            for kind in jobs.kinds
        ]
        gone = [
            (-counted.amount(group.task, resource), evicted(draft, number))
            for number, group in enumerate(counted.victims)
            if group.job.queue in inside
        ]
        total = summed([*won, *gone])
        before, unit = shares[queue].allocated.get(resource, 0), counted.unit.get(resource, 1)

        def value(decision: Decision) -> int:
            return round((decision.allocated_after[queue].get(resource, 0) - before) // unit)

        name = f"change[{queue},{resource}]"
        made = draft.variable(name, draft.lowest(total), draft.highest(total), lambda c: value(c.decision))
        draft.equal(name, summed([(1, made), (-1, total)]), 0)
        return made

    return draft.once(("change", queue, resource), make)


def _of(draft: Draft, jobs: int, role: str | None, asking: bool) -> list[int]:
    kinds = draft.counted.kinds
    return [
        kind
        for kind in draft.counted.jobs[jobs].kinds
        if (role is None or kinds[kind].task.role == role) and not (asking and kinds[kind].task.best_effort)
    ]


def _later(draft: Draft, place: int) -> dict[str, int]:
    """What a node of the place will have free at most, once all its possible victims have gone."""

    def make() -> Terms:
        counted = draft.counted
        room = dict(counted.places[place].future)
        for group in (counted.victims[number] for number in counted.victims_at(place)):
            for name in group.task.requests:
                room[name] = room.get(name, 0) + group.most_on_node * counted.amount(group.task, name)
        return room

    return draft.once(("later", place), make)


def _most(draft: Draft, kind: int, place: int, room: dict[str, int]) -> int:
    """How many tasks of the kind fit: as many times its request as there is room, node by node."""
    counted = draft.counted
    task, nodes = counted.kinds[kind].task, len(counted.places[place].nodes)
    times = [
        max(0, room.get(name, 0) // counted.amount(task, name)) for name, amount in task.requests.items() if amount > 0
    ]
    return min(len(counted.kinds[kind].tasks), nodes * min(times, default=len(counted.kinds[kind].tasks)))
