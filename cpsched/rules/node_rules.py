"""Rules of plugins about nodes: nodegroup, usage, and what the rules about cards and CPUs refuse at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from cpsched.rules.cards import cards as shared_out
from cpsched.rules.decision import Decision
from cpsched.rules.numa import numa as aligned
from cpsched.rules.violation import Violation
from cpsched.snapshot.node_rules import GroupRule


def nodegroup(decision: Decision) -> Iterator[Violation]:
    """Tasks are on nodes of groups that their queue names, and its tasks of a group stay within its limit there."""
    yield from _barred(decision, "nodegroup")
    snapshot = decision.snapshot
    groups = snapshot.groups
    if groups is None or not groups.left:
        return
    placed = _held(decision, groups, decision.placed)
    gone = _held(decision, groups, {victim.key: victim.node for victim in decision.victims})
    for queue, group in sorted(placed):
        for name, room in groups.left[queue, group].items():
            if placed[queue, group][name] - gone.get((queue, group), Counter())[name] > room:
                yield Violation("nodegroup", queue, f"holds more {name} in node group {group} than its limit")


def _held(decision: Decision, groups: GroupRule, places: Mapping[str, str]) -> dict[tuple[str, str], Counter[str]]:
    """Per queue and group with a limit what the tasks request that are placed there, or go from there."""
    snapshot = decision.snapshot
    found: dict[tuple[str, str], Counter[str]] = {}
    for key, node in places.items():
        group, job = groups.group_by_node.get(node), snapshot.job_by_task.get(key)
        if group is None or job is None or job.queue is None or key in groups.exempt:
            continue
        if (job.queue, group) in groups.left:
            found.setdefault((job.queue, group), Counter()).update(snapshot.instance.tasks[key].requests)
    return found


def usage(decision: Decision) -> Iterator[Violation]:
    """Nothing is placed on a node whose measured load is above the threshold."""
    yield from _barred(decision, "usage")


def cards(decision: Decision) -> Iterator[Violation]:
    """Tasks are on nodes with such cards as they want, and all that is placed on a node finds its cards there."""
    refused = list(_barred(decision, "cards"))
    yield from refused
    if not refused:
        yield from shared_out(decision)


def numa(decision: Decision) -> Iterator[Violation]:
    """Tasks are on nodes of their policy, and the CPUs of all their containers can be aligned."""
    refused = list(_barred(decision, "numa"))
    yield from refused
    if not refused:
        yield from aligned(decision)


def _barred(decision: Decision, key: str) -> Iterator[Violation]:
    """Tasks on nodes that the rule refuses whatever else is placed there."""
    rule, tasks = decision.snapshot.node_rules.get(key), decision.snapshot.instance.tasks
    for name, node in decision.placed.items() if rule is not None else ():
        assert rule is not None
        if name in tasks and (reason := rule.refused(tasks[name]).get(node)) is not None:
            yield Violation(key, name, f"may not be on {node}: {reason}")
