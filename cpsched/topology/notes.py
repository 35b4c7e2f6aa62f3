"""What a user asks of topology and does not get: a demand that binds nothing, a tree that serves no job."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.instance import PENDING, Instance
from cpsched.objects.groups import NetworkTopology, PodGroupSpec
from cpsched.policy import Policy
from cpsched.topology.demand import SOFT, demand_of
from cpsched.topology.tree import Tree

_SHOWN = 3


def topology_notes(instance: Instance) -> Iterator[str]:
    """One line per kind of demand that is ignored, as Volcano ignores it, and one for an unusable tree."""
    specs = {key: job.group.spec for key, job in instance.jobs.items()}
    asking = {key: wishes for key, spec in specs.items() if (wishes := _stated(spec))}
    if not asking:
        return
    tree = Tree(instance)
    if not tree.ready:
        yield f"the tree of HyperNodes has a cycle or a second parent: {_named(list(asking))} cannot be placed"
    loose: dict[str, list[str]] = {}
    for key, wishes in asking.items():
        for stated in wishes:
            if stated.mode != SOFT and not _binds(stated, tree):
                loose.setdefault(_why(stated), []).append(key)
    for why, keys in loose.items():
        yield f"networkTopology of PodGroup {_named(list(dict.fromkeys(keys)))} binds nothing: {why}"


def unkept_topology(instance: Instance, policy: Policy) -> Iterator[str]:
    """One line for hard demands of waiting jobs that no plugin of the configuration keeps."""
    if policy.is_kube or policy.enabled("network-topology-aware", "enabledHyperNodeGradient"):
        return
    waiting = (job for job in instance.jobs.values() if any(instance.tasks[t].status is PENDING for t in job.tasks))
    hard = {job.key: [one for one in _stated(job.group.spec) if one.mode != SOFT] for job in waiting}
    tree = Tree(instance) if any(hard.values()) else None
    if keys := [key for key, wishes in hard.items() if tree is not None and any(_binds(one, tree) for one in wishes)]:
        is_there = policy.plugin("network-topology-aware") is not None
        why = "has enabledHyperNodeGradient off" if is_there else "is not configured"
        yield f"hard networkTopology of PodGroup {_named(keys)} is not kept: plugin network-topology-aware {why}"


def _stated(spec: PodGroupSpec) -> list[NetworkTopology]:
    wishes = (spec.network_topology, *(one.network_topology for one in spec.sub_group_policy))
    return [wish for wish in wishes if wish is not None]


def _binds(stated: NetworkTopology, tree: Tree) -> bool:
    demand = demand_of(stated, tree)
    return demand is not None and demand.limit is not None


def _why(stated: NetworkTopology) -> str:
    if not stated.mode:
        return "its mode is empty; hard or soft is right"
    if stated.highest_tier_name:
        return f"no HyperNode has the tierName {stated.highest_tier_name}"
    return "it states no highestTierAllowed"


def _named(keys: list[str]) -> str:
    return ", ".join(keys[:_SHOWN]) + (f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else "")
