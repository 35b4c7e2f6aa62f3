"""Rows for volumes: what only one may use, what drivers can attach, and what is still to be bound."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.filters import FILTERS, volume_binding, volume_restrictions
from cpsched.filters.state import NodeState
from cpsched.filters.storage import SELECTED_NODE, claim_class, volume_class
from cpsched.filters.volume_match import can_provision, has_capacity, match
from cpsched.filters.volume_restrictions import disks_clash, disks_of, exclusive_claims
from cpsched.instance import Task
from cpsched.objects.storage import PersistentVolumeClaim
from cpsched.optimum.model.classes import TaskClass
from cpsched.optimum.model.constraints.pod_filters.context import FilterModel
from cpsched.optimum.model.constraints.pod_filters.matching import SetDemand, Things, enough_for_all
from cpsched.optimum.model.variables import Expr, sum_of
from cpsched.selectors import SelectorError


def with_volumes(board: FilterModel, name: str) -> list[TaskClass]:
    """Classes that the filter looks at; each is a single task."""
    return [
        one
        for one in board.tasks
        if one.representative.pod.spec.volumes and board.interactions.enabled(one.representative, name)
    ]


def restrictions(board: FilterModel) -> None:
    """A claim for one pod only is used once in the cluster; a disk that cannot be shared once on a node."""
    cluster, everywhere = board.snapshot.predicates.cluster, list(board.snapshot.predicates.cluster.nodes)

    def uses(one: Task, other: Task) -> bool:
        shared = exclusive_claims(one, cluster) & set(cluster.facts(other).claims)
        return bool(shared) and one.namespace == other.namespace

    asked = with_volumes(board, volume_restrictions.NAME)
    for one in asked:
        if exclusive_claims(one.representative, cluster):
            board.add_exclusion(one, asked, everywhere, uses, uses)
        if disks_of(one.representative):
            for node in one.nodes:
                board.add_exclusion(one, asked, [node], disks_clash, disks_clash)


def binding(board: FilterModel) -> None:
    """Bound claims are used where their volumes are; others find a volume at the node, or one is made there.

    A claim of several tasks is left to the checker, unless its first user ties it to one node.
    """
    predicates = board.snapshot.predicates
    users: dict[str, list[TaskClass]] = {}
    claims: dict[str, PersistentVolumeClaim] = {}
    states: list[tuple[TaskClass, volume_binding.VolumeBindingState]] = []
    for one in with_volumes(board, volume_binding.NAME):
        found = FILTERS[volume_binding.NAME].prefilter(
            one.representative, predicates.cluster, predicates.args(one.representative)
        )
        if found.status.is_success and found.state is not None:
            states.append((one, found.state))
            for claim in found.state.delayed:
                claims[claim.key] = claim
                users.setdefault(claim.key, []).append(one)
    for one, state in states:
        if all(len(users[claim.key]) == 1 for claim in state.delayed):
            nodes = [predicates.cluster.nodes[node] for node in one.nodes]
            verdicts = ((n, volume_binding.check(state, one.representative, n, predicates.cluster)) for n in nodes)
            board.forbid(one, [node.name for node, status in verdicts if not status.is_success])
    enough_for_all(board, (demand for key in claims for demand in _demands(board, claims[key], users[key])))


def _demands(board: FilterModel, claim: PersistentVolumeClaim, users: list[TaskClass]) -> Iterator[SetDemand]:
    """The volume that a claim takes at each node where none can be made for it."""
    storage = board.snapshot.predicates.cluster.storage
    used: dict[NodeState, Expr] = {}
    for name in dict.fromkeys(node for one in users for node in one.nodes):
        counts = [count for one in users for count in board.counts(one, [name])]
        if counts:
            node = board.snapshot.predicates.cluster.nodes[name]
            used[node] = sum_of(counts) if len(users) == 1 else board.any_placed(users, [name])
    try:
        fits = {node: _fitting(board, claim, node) for node in used}
    except SelectorError:
        return
    is_selected = SELECTED_NODE in claim.metadata.annotations
    made_at = {n: can_provision(claim, n, storage) and has_capacity(claim, n, storage) for n in used}
    if len(users) > 1:
        overlap = sum(map(len, fits.values())) > len(frozenset[object]().union(*fits.values()))
        if is_selected or (any(fits.values()) and (any(made_at.values()) or overlap)):
            return
        board.cp.add(sum_of(list(used.values())) <= 1)
    for node, taker in used.items():
        if not made_at[node] and not is_selected:
            yield SetDemand(1, fits[node], taker)


def _fitting(board: FilterModel, claim: PersistentVolumeClaim, node: NodeState) -> Things:
    volumes = board.snapshot.predicates.cluster.storage.volumes.values()
    mine = (v for v in volumes if volume_class(v) == claim_class(claim))
    return frozenset(v.metadata.name for v in mine if match(claim, [v], node, ()) is not None)
