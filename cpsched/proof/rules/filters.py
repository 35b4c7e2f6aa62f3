"""filters: what a static filter refuses has no variable; of those that look at other tasks, ports, affinity, spread.

Only where the form tells nodes apart. Evictions come first and newcomers stay, so whatever is there in the end and was
not placed by the decision was there when each of them came, and of two newcomers one came second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from cpsched.instance import Task
from cpsched.proof.counts import Counts
from cpsched.proof.draft import Draft
from cpsched.proof.names import begun, evicted, placed
from cpsched.proof.neighbours import DomainLimit, Neighbours, Pairwise
from cpsched.proof.rows import Terms, summed


def filters(draft: Draft) -> None:
    """Every predicate holds for every placed task; only what is certain whatever else is decided is stated."""
    if not draft.counted.tells_neighbours:
        return
    near = Neighbours(draft.counted)
    _ports(draft, near)
    _anti_affinity(draft, near)
    _affinity(draft, near)
    _spread(draft, near)


def _ports(draft: Draft, near: Neighbours) -> None:
    """NodePorts: of tasks that want the same port of a node at most one is there."""
    alone = [k for k in _alone(draft) if near.facts(_task(draft, k)).ports and near.asks(_task(draft, k), "NodePorts")]
    for place in range(len(draft.counted.places)) if alone else ():
        _apart(draft, near, [place], alone, near.same_port, "port")


def _anti_affinity(draft: Draft, near: Neighbours) -> None:
    """InterPodAffinity: tasks that repel each other do not share a domain."""
    asking = [k for k in range(len(draft.counted.kinds)) if near.asks(_task(draft, k), "InterPodAffinity")]
    for key in near.anti_keys:
        for places in near.domains(key).values():
            _apart(draft, near, places, asking, near.repels(key), f"anti-affinity {key}")


def _apart(
    draft: Draft, near: Neighbours, places: Sequence[int], kinds: Sequence[int], repels: Pairwise, why: str
) -> None:
    """Within the places: no newcomer beside one that stays and repels it, nor two that repel each other."""
    where = draft.counted.places[places[0]].name
    here = [kind for kind in kinds if _there(draft, kind, places)]
    staying = [task for place in places for task in near.staying.get(place, ())]
    for kind in here:
        task, there = _task(draft, kind), _there(draft, kind, places)
        label = f"filters[{why},{draft.counted.kinds[kind].name},{where}]"
        if any(repels(task, other) for other in staying):
            draft.at_most(label, there, 0)
            continue
        for place in places:
            for group in draft.counted.victims_at(place):
                one = draft.counted.victims[group]
                if repels(task, one.task):
                    gone, most = evicted(draft, group), draft.highest(there)
                    row = summed([(most, gone), (-len(one.tasks), there)])
                    draft.at_least(f"{label} after {one.name}", row, 0)
                    if draft.starts:  # what starts does so while the victims still stand
                        draft.at_most(f"{label} today", _starting(draft, kind, places), 0)
    both = {
        (a, b)
        for a in here
        for b in here
        if a < b and repels(_task(draft, a), _task(draft, b)) and repels(_task(draft, b), _task(draft, a))
    }
    single = set(_alone(draft))
    for clique in _cliques(sorted(pair for pair in both if single.issuperset(pair))):
        row = summed((1, _there(draft, kind, places)) for kind in clique)
        draft.at_most(f"filters[{why},{draft.counted.kinds[clique[0]].name}+{len(clique) - 1},{where}]", row, 1)
    for a, b in sorted(pair for pair in both if len(single.intersection(pair)) == 1):
        alone, several = (a, b) if a in single else (b, a)
        there, others = _there(draft, alone, places), _there(draft, several, places)
        most = draft.highest(others)
        names = f"{draft.counted.kinds[alone].name} {draft.counted.kinds[several].name}"
        draft.at_most(f"filters[{why},{names},{where}]", summed([(most, there), (1, others)]), most)


def _cliques(pairs: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Sets in which every two are a pair; every pair is in one of them."""
    known, left = set(pairs), list(pairs)
    while left:
        clique = list(left[0])
        for other in sorted({b for _, b in left}):
            if all((one, other) in known for one in clique):
                clique.append(other)
        inside = set(clique)
        left = [pair for pair in left if not inside.issuperset(pair)]
        yield clique


def _affinity(draft: Draft, near: Neighbours) -> None:
    """InterPodAffinity: a task finds support in every domain it asks for, or is the first that supports itself."""
    alike: dict[object, list[int]] = {}
    for kind in _alone(draft):
        task = _task(draft, kind)
        terms = near.facts(task).affinity
        if not terms or not near.asks(task, "InterPodAffinity"):
            continue
        for key in {term.topology_key for term in terms}:
            nowhere = _there(draft, kind, near.without(key))
            draft.at_most(f"filters[affinity {key},{draft.counted.kinds[kind].name},no domain]", nowhere, 0)
        alike.setdefault(terms if near.supports(task, task) else kind, []).append(kind)
    for company in alike.values():
        _supported(draft, near, company)


def _supported(draft: Draft, near: Neighbours, company: list[int]) -> None:
    """Tasks of the same terms: the first of them in a domain finds others there, or there is no support anywhere."""
    task = _task(draft, company[0])
    keys = sorted({term.topology_key for term in near.facts(task).affinity})
    reached = {place for key in keys for places in near.domains(key).values() for place in places}
    staying = {p for p in reached if any(near.supports(task, other) for other in near.staying.get(p, ()))}
    groups = [
        n for n, one in enumerate(draft.counted.victims) if one.place in reached and near.supports(task, one.task)
    ]
    others = [k for k in range(len(draft.counted.kinds)) if k not in company and near.supports(task, _task(draft, k))]
    may_be_first = near.supports(task, task) and not staying
    name = draft.counted.kinds[company[0]].name
    for key in keys:
        firsts = []
        for value, places in near.domains(key).items():
            present = [kind for kind in company if _there(draft, kind, places)]
            if staying.intersection(places) or not present:
                continue
            mine = [n for n in groups if draft.counted.victims[n].place in places]
            support = summed(
                [
                    *((1, _there(draft, kind, places)) for kind in others),
                    *((-1, evicted(draft, number)) for number in mine),
                ]
            )
            standing = sum(len(draft.counted.victims[n].tasks) for n in mine)
            label = f"filters[affinity {key},{{}},{value}]"
            if may_be_first:
                known = partial(_is_first, draft, company, others, mine, places)
                firsts.append(draft.variable(f"first[{name},{key},{value}]", 0, 1, known))
                support = summed([(1, support), (1, firsts[-1])])
                for number in groups:
                    many = len(draft.counted.victims[number].tasks)
                    row = summed([(1, evicted(draft, number)), (-many, firsts[-1])])
                    draft.at_least(label.format(f"first after {draft.counted.victims[number].name}"), row, 0)
            for kind in present:
                row = summed([(1, support), (-1, _there(draft, kind, places))])
                draft.at_least(label.format(draft.counted.kinds[kind].name), row, -standing)
        draft.at_most(f"filters[affinity {key},{name},first]", summed((1, first) for first in firsts), 1)


def _is_first(
    draft: Draft, company: list[int], others: list[int], groups: list[int], places: list[int], counts: Counts
) -> int:
    """Whether some of the company are there and nothing else that supports them."""
    there = any(counts.place[kind, place] for kind in company for place in places)
    supported = any(counts.place[kind, place] for kind in others for place in places)
    stands = any(counts.gone(n) < len(draft.counted.victims[n].tasks) for n in groups)
    return int(there and not supported and not stands)


def _spread(draft: Draft, near: Neighbours) -> None:
    """PodTopologySpread: the last to come into a domain finds all others there, and no more than the skew.

    The skew is counted from the emptiest domain, which in the end is no emptier than it was.
    """
    wishes: dict[DomainLimit, list[int]] = {}
    for kind in _alone(draft):
        for limit in near.spread(_task(draft, kind)):
            nowhere = _there(draft, kind, near.without(limit.key))
            draft.at_most(f"filters[spread {limit.key},{draft.counted.kinds[kind].name},no domain]", nowhere, 0)
            if limit.counts(_task(draft, kind)) and not limit.selector.is_empty:
                wishes.setdefault(limit, []).append(kind)
    for limit, kinds in wishes.items():
        _evenly(draft, near, limit, kinds)


def _evenly(draft: Draft, near: Neighbours, limit: DomainLimit, kinds: list[int]) -> None:
    counted = draft.counted
    eligible = {counted.place_of[node] for node in limit.eligible}
    domains = {value: [p for p in places if p in eligible] for value, places in near.domains(limit.key).items()}
    domains = {value: places for value, places in domains.items() if places}
    name = f"spread {limit.key},{counted.kinds[kinds[0]].name}"
    before = {value: _before(draft, near, limit, places) for value, places in domains.items()}
    ends = {value: _end(draft, limit, places, *before[value]) for value, places in domains.items()}
    floor: Terms = {}
    if limit.above_emptiest:
        most = min(draft.highest(end) + standing for end, standing in ends.values())
        point = partial(_emptiest, draft, near, limit, list(domains.values()))
        floor = draft.variable(f"emptiest[{name}]", 0, most, point)
        for value, (end, standing) in ends.items():
            draft.at_least(f"filters[{name},emptiest {value}]", summed([(1, end), (-1, floor)]), -standing)
    for value, places in domains.items():
        standing, gone = before[value]
        come = summed((1, _there(draft, kind, places)) for kind in kinds)
        if not come:
            continue
        any_ = draft.variable(f"some[{name},{value}]", 0, 1, partial(_is_any_there, kinds, places))
        for kind in kinds:
            row = summed([(1, any_), (-1, _there(draft, kind, places))])
            draft.at_least(f"filters[{name},{value} by {counted.kinds[kind].name}]", row, 0)
        row = summed([(1, floor), (1, gone), (-1, come), (limit.skew - standing, any_)])
        draft.at_least(f"filters[{name},{value}]", row, 0)


def _is_any_there(kinds: list[int], places: list[int], counts: Counts) -> int:
    return int(any(counts.place[kind, place] for kind in kinds for place in places))


def _before(draft: Draft, near: Neighbours, limit: DomainLimit, places: list[int]) -> tuple[int, Terms]:
    """Who counts there before any task is placed, and how many of them go."""
    groups = [n for place in places for n in draft.counted.victims_at(place)]
    mine = [n for n in groups if limit.counts(draft.counted.victims[n].task)]
    stay = sum(limit.counts(task) for place in places for task in near.staying.get(place, ()))
    standing = stay + sum(len(draft.counted.victims[n].tasks) for n in mine)
    return standing, summed((1, evicted(draft, n)) for n in mine)


def _end(draft: Draft, limit: DomainLimit, places: list[int], standing: int, gone: Terms) -> tuple[Terms, int]:
    """Who counts there in the end: a sum, and a number beside it."""
    kinds = [k for k in range(len(draft.counted.kinds)) if limit.counts(_task(draft, k))]
    return summed([*((1, _there(draft, kind, places)) for kind in kinds), (-1, gone)]), standing


def _emptiest(draft: Draft, near: Neighbours, limit: DomainLimit, domains: list[list[int]], counts: Counts) -> int:
    def end(places: list[int]) -> int:
        kinds = [k for k in range(len(draft.counted.kinds)) if limit.counts(_task(draft, k))]
        groups = [n for p in places for n in draft.counted.victims_at(p) if limit.counts(draft.counted.victims[n].task)]
        come = sum(counts.place[kind, place] for kind in kinds for place in places)
        return come + _before(draft, near, limit, places)[0] - sum(map(counts.gone, groups))

    return min(map(end, domains))


def _alone(draft: Draft) -> list[int]:
    """Kinds of a single task: those that state something about others are counted apart."""
    return [number for number, kind in enumerate(draft.counted.kinds) if len(kind.tasks) == 1]


def _task(draft: Draft, kind: int) -> Task:
    return draft.counted.kinds[kind].task


def _there(draft: Draft, kind: int, places: Iterable[int]) -> Terms:
    """How many of the kind are placed there."""
    return summed((1, placed(draft, kind, place)) for place in places if kind in draft.counted.places[place].kinds)


def _starting(draft: Draft, kind: int, places: Iterable[int]) -> Terms:
    return summed((1, begun(draft, kind, place)) for place in places if kind in draft.counted.places[place].kinds)
