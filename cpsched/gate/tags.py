"""What a case is about: tags by which results are counted, and a sentence for a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cpsched.contents import counted
from cpsched.gate.measure import Measured
from cpsched.instance import PENDING, Instance, Task
from cpsched.objectives import level_text
from cpsched.objects.topology import HyperNode
from cpsched.policy import Policy
from cpsched.snapshot import Snapshot

FEATURES: dict[str, Callable[[Task], bool]] = {
    "node-affinity": lambda task: bool(task.spec.node_selector or task.spec.affinity.node_affinity.required),
    "pod-affinity": lambda task: bool(
        task.spec.affinity.pod_affinity.required or task.spec.affinity.pod_anti_affinity.required
    ),
    "spread": lambda task: bool(task.spec.topology_spread_constraints),
    "volumes": lambda task: bool(task.spec.volumes),
    "claims": lambda task: bool(task.spec.resource_claims),
    "gates": lambda task: task.gated,
    "best-effort": lambda task: task.best_effort,
    "devices": lambda task: any("/" in name for name in task.requests),
}
"""Of a pending task."""


def tags(snapshot: Snapshot, *, evicts: bool) -> dict[str, list[str]]:
    """Actions and plugins of the configuration, and features of cluster and pods; `evicts`: the best decision does."""
    return {
        "action": list(dict.fromkeys(snapshot.policy.actions)),
        "plugin": list(dict.fromkeys(_plugins(snapshot.policy))),
        "feature": sorted({*_features(snapshot), *["victims"] * evicts}),
    }


def sentence(case: Measured) -> str:
    """How large the case is, and what the engine of its baseline does."""
    assert case.read is not None
    size = (
        f"{counted(case.read.nodes, 'node')}, {counted(case.read.running, 'pod')} running, {case.read.pending} pending"
    )
    return f"{size}: {case.decided_by} {_standing(case)}."


def _standing(case: Measured) -> str:
    if case.rules:
        return f"breaks {', '.join(sorted(case.rules))}"
    if case.distance is None:
        return "keeps every rule"
    if (gap := case.distance.gap) is not None:
        here, there = level_text(gap.level, gap.value, case.levels), level_text(gap.level, gap.best)
        return f"is behind at {gap.level}: {here}, {there} is possible"
    return "decides as well as is possible" if case.distance.proved else "is not seen to be behind, nothing is proved"


def _plugins(policy: Policy) -> Iterator[str]:
    if not policy.is_kube:
        yield from (plugin.name for tier in policy.volcano.tiers for plugin in tier)


def _features(snapshot: Snapshot) -> Iterator[str]:
    instance, pending = snapshot.instance, [task for task in snapshot.instance.tasks.values() if task.status is PENDING]
    yield from (name for name, test in FEATURES.items() if any(map(test, pending)))
    yield from _of_cluster(instance)
    if any(job.min_available > 1 for job in snapshot.jobs.values()):
        yield "gang"
    if any(job.min_by_role for job in snapshot.jobs.values()):
        yield "roles"
    if len({job.priority for job in snapshot.jobs.values()}) > 1:
        yield "priorities"


def _of_cluster(instance: Instance) -> Iterator[str]:
    facts = {
        "queues": len(instance.queues) > 1,
        "queue-tree": any(queue.parent for queue in instance.queues.values()),
        "budgets": bool(instance.budgets),
        "taints": any(node.node.spec.taints for node in instance.nodes.values()),
        "sharding": instance.sharding is not None,
        "topology": bool(instance.of_kind(HyperNode)),
    }
    yield from (name for name, holds in facts.items() if holds)
