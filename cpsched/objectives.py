"""The levels: what better means, one function per level name, recomputed from the decision alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from types import MappingProxyType

from cpsched.instance import Task
from cpsched.policy.levels import SENSES, LevelRef, Value
from cpsched.rules.decision import Decision
from cpsched.rules.near import nodes_held
from cpsched.rules.protections import budget_allowed, budget_use
from cpsched.snapshot import Snapshot
from cpsched.snapshot.queues import cluster_total
from cpsched.snapshot.rights import is_above_share_now
from cpsched.solution import Level

MOST_OPEN = 2
"""Open levels that a sentence names."""
PRIORITY_OFFSET = 2**31
MILLIONTHS = 10**6
IN_MILLIONTHS = frozenset({"queue_deficit_max", "queue_deficit_total", "resources_placed"})
"""Levels that count in millionths; readers see percent."""


def jobs_admitted(decision: Decision, priority: int) -> int:
    """Starving jobs of this priority that received something; the rule `gang` makes that their whole minimum."""
    starving = {job.key for job in decision.snapshot.starving if job.priority == priority}
    return len(starving & decision.placed_by_job.keys())


def queue_deficits(decision: Decision) -> list[int]:
    """Per queue with a job, in millionths: how far it is from what it deserves and asks for, in its worst resource."""
    deficits = []
    for name, share in decision.snapshot.shares.items():
        held = decision.allocated_after[name]
        if not share.is_leaf or not any(job.queue == name for job in decision.snapshot.jobs.values()):
            continue
        worst = Fraction(0)
        for resource, request in share.request.items():
            want = Fraction(min(share.deserved.get(resource, 0), request))
            if resource != "pods" and want > 0:
                worst = max(worst, (want - Fraction(held.get(resource, 0))) / want)
        deficits.append(ceil(MILLIONTHS * worst))
    return deficits


def queue_deficit_max(decision: Decision) -> int:
    """The deficit of the queue that is worst off."""
    return max(queue_deficits(decision), default=0)


def queue_deficit_total(decision: Decision) -> int:
    """All deficits together."""
    return sum(queue_deficits(decision))


def pdb_violations(decision: Decision) -> int:
    """Evictions beyond what budgets allow, each budget counted truly."""
    return sum(max(0, len(v) - max(0, budget_allowed(decision, key))) for key, v in budget_use(decision).items())


def victim_max_priority(victims: Iterable[Task], snapshot: Snapshot) -> Value:
    """Scoring level 1: the highest pod priority among the victims, None without any."""
    return max((victim.pod_priority for victim in victims), default=None)


def victim_priority_sum(victims: Iterable[Task], snapshot: Snapshot) -> int:
    """Scoring level 2: pod priorities, each raised by 2^31."""
    return sum(victim.pod_priority + PRIORITY_OFFSET for victim in victims)


def level_text(
    label: str, value: int | str | None, values: Mapping[str, int | str | None] = MappingProxyType({})
) -> str:
    """A level's value for a reader: millionths as percent, a priority sum as the number of victims and their sum.

    `values` are all levels of the same decision by label: with its victim_count the split is exact. Without it the sum
    is split only if the priorities then add up to less than a quarter of 2^31, so that no other number of victims
    comes near; else the number is shown as it is.
    """
    if value is None:
        return "none"
    if isinstance(value, int) and label in IN_MILLIONTHS:
        return f"{percent(value)} %"
    if not isinstance(value, int) or not label.startswith("victim_priority_sum"):
        return str(value)
    stated = values.get(label.replace("victim_priority_sum", "victim_count"))
    victims = stated if isinstance(stated, int) else round(Fraction(value, PRIORITY_OFFSET))
    plain = value - victims * PRIORITY_OFFSET
    if not isinstance(stated, int) and not (victims > 0 and abs(plain) < PRIORITY_OFFSET // 4):
        return str(value) if value else "no victims"
    return f"{victims} victim{'s' * (victims != 1)}, priority sum {plain}" if victims else "no victims"


def open_levels(levels: Sequence[Level]) -> str:
    """The levels that a search left open, with values and bounds; empty if all are closed or nothing was searched."""
    if not any(level.proved or level.bound is not None for level in levels):
        return ""
    found = [level for level in levels if not level.proved and (level.bound is None or level.bound != level.value)]
    shown = [_open_level(level, {one.label: one.value for one in levels}) for level in found[:MOST_OPEN]]
    rest = len(found) - len(shown)
    return ", ".join(shown) + (f" and {rest} more level{'s' * (rest > 1)}" if rest else "")


def _open_level(level: Level, values: Mapping[str, int | str | None]) -> str:
    side = "at most" if level.sense == "max" else "at least"
    bound = "no bound" if level.bound is None else f"{side} {level_text(level.label, level.bound)}"
    return f"{level.label} ({level_text(level.label, level.value, values)}; {bound})"


def percent(millionths: int) -> str:
    """The same in hundredths, exact: 444445 is 44.4445."""
    whole, rest = divmod(abs(millionths), MILLIONTHS // 100)
    return f"{'-' * (millionths < 0)}{whole}" + f".{rest:04}".rstrip("0") * (rest > 0)


def victim_count(victims: Iterable[Task], snapshot: Snapshot) -> int:
    """Scoring level 3."""
    return sum(1 for _ in victims)


def victim_start_time(victims: Iterable[Task], snapshot: Snapshot) -> Value:
    """Scoring level 4: the earliest start among the victims of highest priority; one not started counts as now."""
    group = list(victims)
    top = victim_max_priority(group, snapshot)
    starts = (victim.pod_status.start_time for victim in group if victim.pod_priority == top)
    return min((snapshot.now if start is None else start for start in starts), default=None)


def gangs_broken(decision: Decision) -> int:
    """Running gangs pushed below their minimum, in all, per role or of sub-groups; what they start counts."""
    binds, evicted = decision.binds, decision.evicted
    losers = (decision.snapshot.jobs[key] for key in decision.victims_by_job)
    return sum(job.is_whole and not job.keeps_minimum(binds, evicted) for job in losers)


def unit_tiers(decision: Decision) -> list[int]:
    """Per unit that received something the lowest tier of a HyperNode that holds all of it afterwards."""
    nearness, placed = decision.snapshot.nearness, decision.placed.keys()
    units = [unit for job in decision.placed_by_job for unit in nearness.units.get(job, ()) if unit.tasks & placed]
    return [nearness.tier_of(nodes_held(decision, unit.tasks)) for unit in units]


def topology_tier_max(decision: Decision) -> Value:
    """The tier of the unit that is spread furthest, None without any."""
    return max(unit_tiers(decision), default=None)


def topology_tier_sum(decision: Decision) -> int:
    """The tiers of all units together."""
    return sum(unit_tiers(decision))


def hypernodes_used(decision: Decision) -> int:
    """HyperNodes of the lowest tier that each unit newly uses; a node in none of them counts as its own."""
    nearness, placed = decision.snapshot.nearness, decision.placed
    return sum(
        len({nearness.tree.leaf(placed[key]) or f"node {placed[key]}" for key in unit.tasks & placed.keys()})
        for job in decision.placed_by_job
        for unit in nearness.units.get(job, ())
    )


def tasks_bound(decision: Decision) -> int:
    """Tasks started now."""
    return len(decision.binds)


def tasks_placed(decision: Decision) -> int:
    """Tasks started or reserved."""
    return len(decision.placed)


def resources_placed(decision: Decision) -> int:
    """Dominant shares of the cluster that were placed, in millionths, each rounded down."""
    total = cluster_total(decision.snapshot.instance)
    placed = (task for tasks in decision.placed_by_node.values() for task in tasks)
    return sum(
        floor(
            MILLIONTHS
            * max(
                (Fraction(amount) / Fraction(total[name]) for name, amount in task.requests.items() if total.get(name)),
                default=Fraction(0),
            )
        )
        for task in placed
    )


def nodes_used(decision: Decision) -> int:
    """Nodes hosting anything."""
    evicted = decision.evicted
    stay = {
        name
        for name, tasks in decision.snapshot.instance.tasks_by_node.items()
        if any(task.key not in evicted for task in tasks)
    }
    return len(stay | decision.placed_by_node.keys())


OF_DECISION: dict[str, Callable[[Decision], Value]] = {
    "queue_deficit_max": queue_deficit_max,
    "queue_deficit_total": queue_deficit_total,
    "pdb_violations": pdb_violations,
    "gangs_broken": gangs_broken,
    "tasks_bound": tasks_bound,
    "tasks_placed": tasks_placed,
    "resources_placed": resources_placed,
    "topology_tier_max": topology_tier_max,
    "topology_tier_sum": topology_tier_sum,
    "hypernodes_used": hypernodes_used,
    "nodes_used": nodes_used,
}
OF_VICTIMS: dict[str, Callable[[Iterable[Task], Snapshot], Value]] = {
    "victim_max_priority": victim_max_priority,
    "victim_priority_sum": victim_priority_sum,
    "victim_count": victim_count,
    "victim_start_time": victim_start_time,
}


def level_plan(snapshot: Snapshot) -> tuple[LevelRef, ...]:
    """Every level of the policy in order; admission levels once per priority of starving jobs."""
    return snapshot.level_plan


def out_of_reach(snapshot: Snapshot, priority: int) -> Callable[[Task], bool]:
    """Whether no starving job of lower priority has a right to evict the task, as the snapshot shows it."""
    rights = snapshot.rights
    lower = rights.claimants(task for job in snapshot.starving if job.priority < priority for task in job.pending)

    def test(victim: Task) -> bool:
        actions_of = rights.against(victim)
        for task in lower:
            for action in (*actions_of(task), *snapshot.gang_rights.actions(task, victim)):
                if not snapshot.policy.asks_shares(action) or is_above_share_now(snapshot, victim):
                    return False
        return True

    return snapshot.identical.once(test, rights.reach_of)


def vector(decision: Decision) -> list[Value]:
    """The decision's value on every level, in order; times as nanoseconds."""
    return [value_of(decision, name, priority) for name, priority in level_plan(decision.snapshot)]


def value_of(decision: Decision, name: str, priority: int | None) -> Value:
    """One level's value; a decision does not change, so each is worked out once."""
    level = LevelRef(name, priority)
    if level not in decision.worth:
        decision.worth[level] = _value_of(decision, name, priority)
    return decision.worth[level]


def _value_of(decision: Decision, name: str, priority: int | None) -> Value:
    if name == "jobs_admitted":
        assert priority is not None
        return jobs_admitted(decision, priority)
    if name in OF_VICTIMS:
        victims: Iterable[Task] = decision.victims
        if priority is not None:
            beyond = out_of_reach(decision.snapshot, priority)
            victims = [victim for victim in victims if beyond(victim)]
        return OF_VICTIMS[name](victims, decision.snapshot)
    return OF_DECISION[name](decision)


def levels(decision: Decision) -> tuple[Level, ...]:
    """The decision's levels as a Solution shows them, nothing claimed about optimality."""
    return tuple(
        Level(
            name=level.name,
            priority=level.priority,
            sense=SENSES[level.name],
            value=level.stated(value_of(decision, *level)),
        )
        for level in level_plan(decision.snapshot)
    )


def comparable(plan: Iterable[tuple[str, int | None]], values: Iterable[Value]) -> tuple[tuple[int, int], ...]:
    """A key that sorts better decisions first."""
    return tuple(LevelRef(*level).rank(value) for level, value in zip(plan, values, strict=True))
