"""Rules about how near to each other tasks run: a job, or a sub-group, in one HyperNode of a tier that it allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cpsched.instance import HOLDS_ROOM
from cpsched.rules.decision import Decision
from cpsched.rules.violation import Violation
from cpsched.snapshot.near import TopologyUnit


def topology_job(decision: Decision) -> Iterator[Violation]:
    """A job that received something lies in one HyperNode of a tier up to its limit."""
    nearness = decision.snapshot.nearness
    for job in decision.placed_by_job:
        if nearness.is_barred(job):
            yield Violation("topology.job", job, "gets tasks although the tree of HyperNodes is not usable")
            continue
        for unit in nearness.units.get(job, ()):
            if not unit.is_sub_group and (reason := _too_far(decision, unit)):
                yield Violation("topology.job", job, reason)


def topology_subgroup(decision: Decision) -> Iterator[Violation]:
    """A sub-group of which something was placed lies in one HyperNode of a tier up to its limit."""
    nearness = decision.snapshot.nearness
    for job in decision.placed_by_job:
        for unit in nearness.units.get(job, ()):
            if unit.is_sub_group and unit.tasks & decision.placed.keys() and (reason := _too_far(decision, unit)):
                yield Violation("topology.subgroup", unit.key, reason)


def _too_far(decision: Decision, unit: TopologyUnit) -> str | None:
    limit = decision.snapshot.nearness.limit_of(unit)
    nodes = nodes_held(decision, unit.tasks) if limit is not None else set()
    if limit is None or decision.snapshot.nearness.tree.spans(nodes, limit):
        return None
    return f"is on {', '.join(sorted(nodes))}, which no HyperNode of a tier up to {limit} holds together"


def nodes_held(decision: Decision, tasks: Iterable[str]) -> set[str]:
    """The nodes on which these tasks are afterwards; what is being released or evicted is nowhere."""
    placed, evicted, known = decision.placed, decision.evicted, decision.snapshot.instance.tasks
    found = {placed[key] for key in tasks if key in placed}
    staying = (known[key] for key in tasks if key not in placed and key not in evicted)
    return found | {task.node for task in staying if task.status in HOLDS_ROOM}
