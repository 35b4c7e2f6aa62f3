"""Rows for resource claims: devices are given to one claim each, and evicting frees none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cpsched.errors import InputError
from cpsched.filters import FILTERS
from cpsched.filters.device_allocation import ties_to_node
from cpsched.filters.device_allocator import Allocator, InvalidPoolError
from cpsched.filters.device_request import AllocationError, DeviceCandidate
from cpsched.filters.dynamic_resources import NAME, DynamicResourcesState
from cpsched.filters.state import ClusterState
from cpsched.objects.devices import ResourceClaim
from cpsched.optimum.model.classes import TaskClass
from cpsched.optimum.model.constraints.pod_filters.context import FilterModel
from cpsched.optimum.model.constraints.pod_filters.matching import SetDemand, enough_for_all
from cpsched.optimum.model.variables import Expr, sum_of

Demands = list[tuple[int, list[DeviceCandidate]]]


def devices(board: FilterModel) -> None:
    """Claims with devices are used where these are, and claims without find enough of them.

    Extended resources that a class of devices stands for are left to the checker.
    """
    predicates = board.snapshot.predicates
    asked: list[tuple[TaskClass, DynamicResourcesState]] = []
    for one in board.tasks:
        if one.representative.pod.spec.resource_claims and board.interactions.enabled(one.representative, NAME):
            found = FILTERS[NAME].prefilter(one.representative, predicates.cluster, predicates.args(one.representative))
            if found.status.is_success and found.state is not None:
                asked.append((one, found.state))
    if not asked:
        return
    users: dict[str, list[TaskClass]] = {}
    claims = {claim.key: claim for _, state in asked for claim in state.to_allocate}
    for one, state in asked:
        for claim in state.to_allocate:
            users.setdefault(claim.key, []).append(one)
    search = _Search(predicates.cluster)
    for one, state in asked:
        own = all(len(users[claim.key]) == 1 for claim in state.to_allocate) and not state.extended
        board.forbid(one, [n for n in one.nodes if search.is_refused(state, n, state.to_allocate if own else ())])
    demands: list[SetDemand] = []
    for key, those in users.items():
        nodes = dict.fromkeys(node for one in those for node in one.nodes)
        demands += _demands(board, those, {node: search.wishes(claims[key], node) for node in nodes})
    enough_for_all(board, demands)


class _Search:
    """What devices there are for claims before any task is placed; claims that ask for the same are asked once."""

    def __init__(self, cluster: ClusterState):
        self.cluster = cluster
        self.taken = cluster.devices.allocated()
        self._wanted_of: dict[tuple[str, str], Demands] = {}
        self._refused: dict[tuple[str, ...], bool] = {}
        self._spec: dict[str, str] = {}

    def is_refused(self, state: DynamicResourcesState, node: str, claims: Sequence[ResourceClaim]) -> bool:
        """Whether the node cannot use what is held, or has not enough for the claims even now."""
        if not all(terms.matches(self.cluster.nodes[node].labels, node) for terms in state.available_on):
            return True
        key = (node, *map(self._text, claims))
        if claims and key not in self._refused:
            try:
                self._refused[key] = self._allocator(claims, node).allocate() is None
            except InvalidPoolError:
                self._refused[key] = True
            except (AllocationError, InputError):
                # Whether the search gets as far as the fault is for the checker to see.
                self._refused[key] = False
        return bool(claims) and self._refused[key]

    def wishes(self, claim: ResourceClaim, node: str) -> Demands:
        """Per request of the claim how many devices it takes at the node, and which would do; none if that fails."""
        key = (self._text(claim), node)
        if key not in self._wanted_of:
            try:
                self._wanted_of[key] = self._allocator([claim], node).wishes(0)
            except (AllocationError, InputError):
                self._wanted_of[key] = []
        return self._wanted_of[key]

    def _allocator(self, claims: Sequence[ResourceClaim], node: str) -> Allocator:
        return Allocator(self.cluster, self.cluster.nodes[node], claims, self.taken)

    def _text(self, claim: ResourceClaim) -> str:
        if claim.key not in self._spec:
            self._spec[claim.key] = claim.spec.model_dump_json()
        return self._spec[claim.key]


def _demands(board: FilterModel, users: list[TaskClass], by_node: dict[str, Demands]) -> Iterator[SetDemand]:
    """What a claim takes at each node; of one with several users only if it can be used on one node alone."""
    used: dict[str, Expr] = {}
    for node in by_node:
        counts = [count for one in users for count in board.counts(one, [node])]
        if counts:
            used[node] = sum_of(counts) if len(users) == 1 else board.any_placed(users, [node])
    if len(users) > 1:
        if not all(any(least and all(map(ties_to_node, fit)) for least, fit in by_node[node]) for node in used):
            return
        board.cp.add(sum_of(list(used.values())) <= 1)
    for node, taker in used.items():
        for amount, fit in by_node[node]:
            yield SetDemand(amount, frozenset(candidate.id for candidate in fit), taker)
