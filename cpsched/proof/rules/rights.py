"""eviction: every victim goes for a task placed where it stood, and reclaim takes from queues above their share."""

from __future__ import annotations

from math import floor

from cpsched.instance import Task
from cpsched.proof.counted import Victims
from cpsched.proof.counts import Counts
from cpsched.proof.draft import Draft
from cpsched.proof.names import change, evicted_by, placed
from cpsched.proof.rows import Terms, summed
from cpsched.proof.rules.queues import line_of, room_of
from cpsched.snapshot.rights import Action, claims_any, declared_of


def eviction(draft: Draft) -> None:
    """Some task that has a right to the victim is placed on its node (anywhere, with scope cluster).

    To reclaim, that task's queue stays within its deserved share.
    """
    counted = draft.counted
    flags: dict[tuple[int | None, Action, tuple[int, ...]], Terms] = {}
    for number, group in enumerate(counted.victims):
        place = None if counted.everywhere else group.place
        for action, kinds in group.rights.items():
            key = (place, action, kinds)
            if key not in flags:
                flags[key] = _entitled(draft, *key)
            each = group.most if counted.everywhere else group.most_on_node
            row = summed([(each, flags[key]), (-1, evicted_by(draft, number, action))])
            draft.at_least(f"eviction[{group.name},{action}]", row, 0)
    _above_shares(draft)


def _entitled(draft: Draft, place: int | None, action: Action, kinds: tuple[int, ...]) -> Terms:
    """On how many nodes of the place an entitled task is placed, distinguished by the claim it takes to reclaim."""
    by_claim: dict[str, tuple[Terms, list[int]]] = {}
    for kind in kinds:
        claim = _claim(draft, kind) if action == "reclaim" else {}
        by_claim.setdefault(next(iter(claim), ""), (claim, []))[1].append(kind)
    counted = draft.counted
    where = "any node" if place is None else counted.places[place].name
    most = 1 if place is None else len(counted.places[place].nodes)
    flags = []
    for claim, some in by_claim.values():
        name = f"{action}[{where},{counted.kinds[some[0]].name},{len(some)}]"

        def value(c: Counts, some: list[int] = some) -> int:
            claiming = [k for k in some if action == "preempt" or _has_claim(draft, c, k)]
            nodes = range(len(counted.places)) if place is None else [place]
            return min(most, sum(c.nodes_with(number, claiming) for number in nodes))

        flag = draft.variable(name, 0, most, value, place)
        nodes = range(len(counted.places)) if place is None else [place]
        there = [placed(draft, k, number) for number in nodes for k in some if k in counted.places[number].kinds]
        present = summed([*((1, one) for one in there), (-1, flag)])
        draft.at_least(f"eviction[{name}]", present, 0)
        if claim:
            draft.at_least(f"eviction[{name} has the claim]", summed([(most, claim), (-1, flag)]), 0)
        flags.append(flag)
    return summed((1, flag) for flag in flags)


def _has_claim(draft: Draft, counts: Counts, kind: int) -> bool:
    task = draft.counted.kinds[kind].task
    queue = draft.snapshot.job_by_task[task.key].queue
    return queue is not None and counts.decision.rights.within_share(queue, task.requests)


def _claim(draft: Draft, kind: int) -> Terms:
    """Whether the queue of the kind stays within its deserved share as its share plugin tests it."""
    task = draft.counted.kinds[kind].task
    queue = draft.snapshot.job_by_task[task.key].queue
    asked = tuple(sorted(name for name, amount in task.requests.items() if amount > 0 and name != "pods"))

    def make() -> Terms:
        line, policy = line_of(draft, queue), draft.snapshot.policy
        name = f"claim[{queue},{' '.join(asked)}]"
        claim = draft.variable(name, 0, 1 if line else 0, lambda c: int(_has_claim(draft, c, kind)))
        if line and policy.share_plugin == "proportion":
            for resource in asked:
                room = _room(draft, line[0], resource)
                if room is not None:
                    draft.at_most_if(f"eviction[{name} {resource}]", claim, change(draft, line[0], resource), room)
        elif line:
            plugin = policy.plugin("capacity")
            reach = plugin.arguments.integer("ancestorReclaimLevel") if plugin else 0
            ways = [_within(draft, one, resource) for one in (line[0], *line[:1:-1][:reach]) for resource in asked]
            row = summed([*((1, way) for way in ways), (-1, claim)])
            draft.at_least(f"eviction[{name}]", row, 0)
        return claim

    return draft.once(("claim", queue, asked), make)


def _within(draft: Draft, queue: str, resource: str) -> Terms:
    """Whether the queue holds no more of the resource than it deserves."""
    share = draft.snapshot.shares[queue]

    def value(c: Counts) -> int:
        return int(c.decision.allocated_after[queue].get(resource, 0) <= share.deserved.get(resource, 0))

    def make() -> Terms:
        name = f"within[{queue},{resource}]"
        flag, room = draft.variable(name, 0, 1, value), _room(draft, queue, resource)
        if room is not None:
            draft.at_most_if(f"eviction[{name}]", flag, change(draft, queue, resource), room)
        return flag

    return draft.once(("within", queue, resource), make)


def _room(draft: Draft, queue: str, resource: str) -> int | None:
    return room_of(draft.counted, queue, resource, draft.snapshot.shares[queue].deserved.get(resource, 0))


def _above_shares(draft: Draft) -> None:
    """A queue is above its share whenever one of its reclaim victims goes: so the last of them finds it above.

    proportion looks at every resource of the queue; capacity at those of the victim, so victims of one request are
    asked about by themselves, and what has no declared share is given up freely.
    """
    counted, shares = draft.counted, draft.snapshot.shares
    by_queue: dict[str | None, list[int]] = {}
    for number, group in enumerate(counted.victims):
        if "reclaim" in group.rights:
            by_queue.setdefault(group.job.queue, []).append(number)
    for queue, groups in by_queue.items():
        if queue is None or queue not in shares:
            for number in groups:
                draft.at_most(
                    f"eviction[{counted.victims[number].name} gives back]", evicted_by(draft, number, "reclaim"), 0
                )
            continue
        by_request: dict[tuple[tuple[str, int], ...], list[int]] = {}
        for number in groups:
            by_request.setdefault(tuple(sorted(counted.victims[number].task.requests.items())), []).append(number)
        if draft.snapshot.policy.share_plugin == "proportion":
            _last(draft, queue, groups, list(by_request.values()))
            continue
        for alike in by_request.values():
            if claims_any(shares[queue].deserved, counted.victims[alike[0]].task.requests):
                _last(draft, queue, alike, [alike])


def _last(draft: Draft, queue: str, groups: list[int], by_request: list[list[int]]) -> None:
    """If any goes, then some victim is the last; with its request back, the queue is above in some resource."""
    counted, share = draft.counted, draft.snapshot.shares[queue]
    proportion = draft.snapshot.policy.share_plugin == "proportion"
    gone = summed((1, evicted_by(draft, number, "reclaim")) for number in groups)
    first = counted.victims[groups[0]].name
    label = f"{queue},{first},{len(groups)}"
    ways: list[Terms] = []
    farthest: dict[str, list[int]] = {}
    for alike in by_request:
        group = counted.victims[alike[0]]
        own_gone = summed((1, evicted_by(draft, number, "reclaim")) for number in alike)
        for resource in sorted(share.allocated if proportion else declared_of(share.deserved, group.task.requests)):
            held, due = share.allocated.get(resource, 0), share.deserved.get(resource, 0)
            unit = counted.unit.get(resource, 1)
            # held − unit · (lost − own) > due
            most = -floor(-(held - due) / unit) - 1 + counted.amount(group.task, resource)
            if most < 0:
                continue
            lost = summed(
                (counted.amount(counted.victims[n].task, resource), evicted_by(draft, n, "reclaim")) for n in groups
            )
            name = f"last[{queue},{resource},{group.name}]"

            def value(c: Counts, alike: list[int] = alike, group: Victims = group, resource: str = resource) -> int:
                return int(_is_last(draft, c, queue, groups, alike, group.task, resource))

            way = draft.variable(name, 0, 1, value)
            draft.at_least(f"eviction[{name} goes]", summed([(1, own_gone), (-1, way)]), 0)
            draft.at_most_if(f"eviction[{name}]", way, lost, most)
            ways.append(way)
            farthest.setdefault(resource, []).append(most)
            if (
                len(by_request) == 1
                and proportion is False
                and len(declared_of(share.deserved, group.task.requests)) == 1
            ):
                draft.at_most(f"eviction[{label} in {resource}]", lost, most)
    highest = draft.highest(gone)
    row = summed([*((highest, way) for way in ways), (-1, gone)])
    draft.at_least(f"eviction[{label} in some]", row, 0)
    if len(farthest) == 1:
        # Whichever is last, no more than this goes.
        (resource, limits) = next(iter(farthest.items()))
        lost = summed(
            (counted.amount(counted.victims[n].task, resource), evicted_by(draft, n, "reclaim")) for n in groups
        )
        draft.at_most(f"eviction[{label} in {resource}]", lost, max(limits))


def _is_last(
    draft: Draft, counts: Counts, queue: str, groups: list[int], alike: list[int], task: Task, resource: str
) -> bool:
    """Whether a victim of these goes and, last of all, finds its queue above its share in the resource."""
    if not any(counts.evict[number, "reclaim"] for number in alike):
        return False
    counted, share = draft.counted, draft.snapshot.shares[queue]
    lost = sum(
        counted.victims[n].task.requests.get(resource, 0) * counts.evict[n, "reclaim"] for n in groups
    ) - task.requests.get(resource, 0)
    return share.allocated.get(resource, 0) - lost > share.deserved.get(resource, 0)
