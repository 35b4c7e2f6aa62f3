"""assignment, capacity, charge: where tasks go, what nodes can hold, and whose room it is."""

from __future__ import annotations

from math import inf

from cpsched.proof.counted import Place
from cpsched.proof.draft import Draft
from cpsched.proof.names import begun, begun_by, evicted, placed, served, taken, taken_by
from cpsched.proof.rows import Terms, summed
from cpsched.resources import Vector


def assignment(draft: Draft) -> None:
    """A pending, ungated task of a job that takes part goes to one node; all others have no variable.

    What is placed of a kind on all nodes is what the jobs receive of it, and none receives more than it has.
    """
    counted = draft.counted
    for number, kind in enumerate(counted.kinds):
        owners = [n for n, jobs in enumerate(counted.jobs) if number in jobs.kinds]
        places = [n for n, place in enumerate(counted.places) if number in place.kinds]
        there = summed((1, placed(draft, number, place)) for place in places)
        had = summed((-1, taken_by(draft, jobs, number)) for jobs in owners)
        draft.equal(f"assignment[{kind.name}]", summed([(1, there), (1, had)]), 0)
        if not draft.starts:
            continue
        for place in places:
            both = (placed(draft, number, place), begun(draft, number, place))
            name = f"{kind.name},{counted.places[place].name}"
            draft.at_least(f"assignment[{name} started]", summed(zip((1, -1), both, strict=True)), 0)
            if not kind.may_reserve:
                draft.at_least(f"actions[{name}]", summed(zip((-1, 1), both, strict=True)), 0)
        start = summed((1, begun(draft, number, place)) for place in places)
        own = summed((-1, begun_by(draft, jobs, number)) for jobs in owners)
        draft.equal(f"assignment[{kind.name} started]", summed([(1, start), (1, own)]), 0)
    for number, jobs in enumerate(counted.jobs):
        for own_kind, count in jobs.kinds.items():
            most = summed([(count, served(draft, number)), (-1, taken_by(draft, number, own_kind))])
            draft.at_least(f"assignment[{jobs.name} of {counted.kinds[own_kind].name}]", most, 0)
        some = summed([(1, taken(draft, number)), (-1, served(draft, number))])
        draft.at_least(f"assignment[{jobs.name}]", some, 0)


def capacity(draft: Draft) -> None:
    """Σ binds ≤ idle, and Σ binds and reserves ≤ future + Σ evicted, in every resource a placed task asks for."""
    for number, place in enumerate(draft.counted.places):
        freed = _freed(draft, number, place) if place.kinds else []
        for resource in _asked(draft, place):
            _fits(draft, number, place, resource, freed)


def _fits(draft: Draft, number: int, place: Place, resource: str, freed: list[tuple[int, Terms]]) -> None:
    counted, many = draft.counted, len(place.nodes)
    asking = [(counted.amount(counted.kinds[k].task, resource), k) for k in place.kinds]
    asking = [(amount, kind) for amount, kind in asking if amount]
    label = f"{place.name},{resource}"
    if draft.starts:
        start = summed((amount, begun(draft, kind, number)) for amount, kind in asking)
        draft.at_most(f"capacity[{label} today]", start, many * max(0, place.idle.get(resource, 0)))
    used = summed((amount, placed(draft, kind, number)) for amount, kind in asking)
    given = ((-counted.amount(counted.victims[group].task, resource), count) for group, count in freed)
    beyond, future = summed([(1, used), *given]), place.future.get(resource, 0)
    if future >= 0:
        draft.at_most(f"capacity[{label}]", beyond, many * future)
        return
    # A node that holds more than it can: where no task asks for the resource, nothing is looked at.
    kinds = [kind for _, kind in asking]
    asked = draft.variable(f"asked[{label}]", 0, many, lambda c: c.nodes_with(number, kinds), number)
    for kind in kinds:
        there = placed(draft, kind, number)
        most = draft.highest(there)
        draft.at_least(f"capacity[{label} by {counted.kinds[kind].name}]", summed([(most, asked), (-1, there)]), 0)
    draft.at_most(f"capacity[{label}]", summed([(1, beyond), (-future, asked)]), 0)


def _asked(draft: Draft, place: Place) -> list[str]:
    kinds = draft.counted.kinds
    return sorted({name for k in place.kinds for name, amount in kinds[k].task.requests.items() if amount})


def _freed(draft: Draft, number: int, place: Place) -> list[tuple[int, Terms]]:
    """charge: how many victims of each group make room; of those that not all there may evict, the charged ones.

    The charged victims free all the room used beyond future, and each is charged to a task that may evict it.
    """
    counted = draft.counted
    groups = counted.victims_at(number)
    if draft.snapshot.policy.rules.charge == "off":
        return [(group, evicted(draft, group)) for group in groups]
    able = frozenset(n for n, kind in enumerate(counted.kinds) if kind.nodes) if counted.everywhere else place.kinds
    over = {name for name, amount in place.future.items() if amount < 0}.intersection(_asked(draft, place))
    found, limited = [], dict[tuple[int, ...], list[int]]()
    for group in groups:
        rights = sorted({kind for kinds in counted.victims[group].rights.values() for kind in kinds if kind in able})
        if len(rights) == len(able) and not over:
            found.append((group, evicted(draft, group)))
        elif rights:
            limited.setdefault(tuple(rights), []).append(group)
            found.append((group, _charged(draft, group)))
    if not counted.everywhere:
        _needed(draft, place.name, limited, {kind: placed(draft, kind, number) for kind in place.kinds})
    return found


def _charged(draft: Draft, group: int) -> Terms:
    victims = draft.counted.victims[group]
    made = draft.once(
        ("charged", group),
        lambda: draft.variable(f"charged[{victims.name}]", 0, victims.most, lambda c: c.charged[group], victims.place),
    )
    draft.at_least(f"charge[{victims.name}]", summed([(1, evicted(draft, group)), (-1, made)]), 0)
    return made


def _needed(draft: Draft, where: str, limited: dict[tuple[int, ...], list[int]], there: dict[int, Terms]) -> None:
    """No task is charged a victim it cannot need: take any one away and the others do not cover its request.

    So of victims of at least a size, one fewer than it is charged is too small for it in some resource.
    """
    victims = draft.counted.victims
    for rights in limited:
        inside = [group for other, groups in limited.items() if set(other) <= set(rights) for group in groups]
        by_size: dict[tuple[tuple[str, int], ...], list[int]] = {}
        for group in inside:
            by_size.setdefault(tuple(sorted(victims[group].task.requests.items())), []).append(group)
        sets = [*by_size.values(), *([inside] if len(by_size) > 1 else [])]
        for groups in sets:
            names = {name for group in groups for name in victims[group].task.requests}
            least = {name: min(victims[group].task.requests.get(name, 0) for group in groups) for name in names}
            most = sum(victims[group].most for group in groups)
            charged = summed((1, _charged(draft, group)) for group in groups)
            needs = []
            for kind in rights:
                request = draft.counted.kinds[kind].task.requests
                needs.append((-min(most, most_needed(request, least)), there.get(kind, {})))
            first = f"{where},{victims[groups[0]].name},{len(groups)},{len(rights)}"
            draft.at_most(f"charge[{first}]", summed([(1, charged), *needs]), 0)


def most_needed(request: Vector, victim: Vector) -> int:
    """How many victims of at least this size a task can be charged: one fewer do not cover its request."""
    most: float = 1
    for name, amount in request.items():
        if amount > 0:
            size = victim.get(name, 0)
            most = max(most, inf if size == 0 else 1 + (amount - 1) // size)
    return 10**9 if most == inf else int(most)
