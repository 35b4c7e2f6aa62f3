"""NodeAffinity: nodeSelector and required node affinity; mirrors `plugins/nodeaffinity`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cpsched.errors import InputError
from cpsched.filters.args import Args
from cpsched.filters.contract import SKIPPED, Filter, Mask, PreFilterResult
from cpsched.filters.masks import per_node
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Status, unresolvable
from cpsched.instance import Task
from cpsched.objects.affinity import NodeSelector, NodeSelectorTerm
from cpsched.selectors import NODE_NAME_FIELD, NodeTerms, RequiredNodeAffinity, node_selector

NAME = "NodeAffinity"
NOT_MATCHED = unresolvable(NAME, "node(s) didn't match Pod's node affinity/selector")
NOT_ENFORCED = unresolvable(NAME, "node(s) didn't match scheduler-enforced node affinity")
CONFLICT = unresolvable(NAME, "pod affinity terms conflict")


@dataclass(frozen=True)
class NodeAffinityState:
    """What the pod requires, and what the scheduler adds."""

    required: RequiredNodeAffinity
    added: NodeTerms | None


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Skip a pod that asks for nothing; terms that all name nodes limit the search to these."""
    stated = task.pod.spec.affinity.node_affinity.required
    added = _added(args)
    if stated is None and added is None and not task.pod.spec.node_selector:
        return SKIPPED
    state = NodeAffinityState(cluster.facts(task).node_affinity, added)
    names = _named_nodes(stated)
    if names is not None and not names:
        return PreFilterResult(CONFLICT, state)
    return PreFilterResult(state=state, nodes=names)


def check(state: NodeAffinityState, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node that either side does not want."""
    if state.added is not None and not state.added.matches(node.labels, node.name):
        return NOT_ENFORCED
    return SUCCESS if state.required.matches(node.labels, node.name) else NOT_MATCHED


def masks(state: NodeAffinityState, task: Task, cluster: ClusterState) -> Iterable[tuple[Mask, Status]]:
    """The verdict for all nodes."""
    added, required = state.added, state.required
    if added is not None:
        yield per_node(cluster, (NAME, added), lambda n: not added.matches(n.labels, n.name)), NOT_ENFORCED
    yield per_node(cluster, (NAME, required), lambda n: not required.matches(n.labels, n.name)), NOT_MATCHED


def _added(args: Args) -> NodeTerms | None:
    if args.added_affinity is None or args.added_affinity.required is None:
        return None
    terms = node_selector(args.added_affinity.required)
    if terms.broken:
        raise InputError("addedAffinity has a term that cannot be parsed", right="correct its expressions")
    return terms


def _named_nodes(required: NodeSelector | None) -> frozenset[str] | None:
    """The nodes that terms name, None if some term leaves the name open."""
    if required is None or not required.node_selector_terms:
        return None
    names: frozenset[str] = frozenset()
    for term in required.node_selector_terms:
        named = _named_by_term(term)
        if named is None:
            return None
        names |= named
    return names


def _named_by_term(term: NodeSelectorTerm) -> frozenset[str] | None:
    fields = [e.values for e in term.match_fields if e.key == NODE_NAME_FIELD and e.operator == "In"]
    return frozenset.intersection(*map(frozenset, fields)) if fields else None


FILTER = Filter(NAME, prefilter, check, is_static=True, masks=masks)
