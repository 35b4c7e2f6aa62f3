"""Pods that no node of the cluster would take, against the nodes of the input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cpsched.completeness.origin import FREE_CAPACITY, WAS_IT_ALL
from cpsched.completeness.texts import RefusedPod, refusals
from cpsched.filters.args import Args
from cpsched.filters.feasible import feasible
from cpsched.filters.registry import FILTERS
from cpsched.filters.state import ClusterState
from cpsched.instance import ENDED, PENDING, Instance

MOST_ASKED = 40
"""Pods that are held against all nodes; they are all of one cluster, so some show what all would."""
MOST_NAMED = 3
LACKING = "Insufficient "
CLEARLY = 2
"""Nodes that are otherwise than the scheduler stated; one may have been freed since it looked."""
FIT = "NodeResourcesFit"


def nodes_counted(instance: Instance) -> Iterator[tuple[str, str]]:
    """kube-scheduler counts all nodes it knows, Volcano those it asked: neither can be more than there are."""
    found, present = refusals(instance), len(instance.nodes)
    kube = [one for one in found if one.by_kube]
    volcano = [one for one in found if not one.by_kube]
    # A pod that was last tried before a node went away counts more than the others do.
    least = min(kube, key=lambda one: one.nodes, default=None) or max(volcano, key=lambda one: one.nodes, default=None)
    if least is None:
        return
    stated = f"the scheduler counted {least.nodes} nodes when it last tried {least.task.key}, the input has {present}"
    if least.nodes > present:
        yield "which nodes there are", f"{stated}: nodes are missing"
        return
    most = max(kube, key=lambda one: one.nodes, default=least)
    older = sum(_is_older(instance, name, most) for name in instance.nodes)
    if most.by_kube and most.nodes < older:
        stated = f"the scheduler counted {most.nodes} nodes when it last tried {most.task.key}"
        yield (
            "which nodes there are",
            f"{stated}, the input has {older} that are older than this pod: they are of more than one cluster, "
            "or the scheduler does not see all",
        )


def _is_older(instance: Instance, node: str, refusal: RefusedPod) -> bool:
    created, pod = instance.nodes[node].node.metadata.creation_timestamp, refusal.task.pod.metadata.creation_timestamp
    return created is not None and pod is not None and created < pod


def lacking_resources(instance: Instance) -> Iterator[tuple[str, str]]:
    """A node that the scheduler found full is full here too, unless pods on it are missing."""
    contradicted = list(_contradicted(instance))
    if contradicted:
        one, reason, here = max(contradicted, key=lambda each: each[0].reasons[each[1]] - each[2])
        counted, resource = one.reasons[reason], reason.removeprefix(LACKING)
        others = len({each[0].task.key for each in contradicted}) - 1
        more = f"; {others} more pods like that" if others else ""
        yield (
            FREE_CAPACITY,
            f"the scheduler found too little {resource} for {one.task.key} on {counted} of {one.nodes} nodes, by the "
            f"input that is so on {here}{more}: pods are missing; {WAS_IT_ALL}",
        )


def _contradicted(instance: Instance) -> Iterator[tuple[RefusedPod, str, int]]:
    asked = _asked(instance)
    if not asked:
        return
    state = _state(instance)
    for one in asked:
        statuses = feasible(one.task, state, [FIT], Args()).by_node().values()
        here = Counter(reason for status in statuses for reason in status.reasons)
        for reason, counted in one.reasons.items():
            # More nodes than the input has are another doubt.
            missed = counted - here[reason]
            is_clear = missed >= CLEARLY or (missed > 0 and not here[reason])
            if reason.startswith(LACKING) and is_clear and one.nodes <= len(instance.nodes):
                yield one, reason, here[reason]


def fitting(instance: Instance) -> Iterator[tuple[str, str]]:
    """What no node took fits no node here, unless something is missing or has changed since."""
    asked = _asked(instance)
    if not asked:
        return
    state, known = _state(instance), {one.task.key for one, _, _ in _contradicted(instance)}
    found = []
    for one in asked:
        if one.task.key not in known and one.nodes <= len(instance.nodes):
            nodes = feasible(one.task, state, FILTERS, Args()).passing
            found += [(one, nodes)] if len(nodes) >= min(CLEARLY, len(instance.nodes)) else []
    if found:
        one, nodes = found[0]
        where = nodes[0] + (f" and {len(nodes) - 1} more" if len(nodes) > 1 else "")
        more = f"; {len(found) - 1} more pods like that" if len(found) > 1 else ""
        yield (
            "which nodes fit",
            f"the scheduler found no node for {one.task.key} ({one.quoted}), by the input {where} would do{more}: "
            "something is missing in the input, or the cluster has changed since",
        )


def _asked(instance: Instance) -> list[RefusedPod]:
    """What kube-scheduler stated node by node; Volcano counts what it gives to others in the same session."""
    return [
        one
        for one in refusals(instance)
        if one.by_kube and one.reasons and not one.task.gated and not one.task.pod_status.nominated_node_name
    ][:MOST_ASKED]


def _state(instance: Instance) -> ClusterState:
    """Who holds capacity now, and who may have held it when the scheduler looked: pods that have ended since."""
    state = ClusterState.from_instance(instance)
    for task in instance.tasks.values():
        held = task.node if task.status in ENDED else ""
        held = task.pod_status.nominated_node_name if task.status is PENDING and not task.node else held
        if held in state.nodes:
            state.add(task, held)
    return state
