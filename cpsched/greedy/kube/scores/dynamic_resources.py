"""Devices a claim prefers among its alternatives; mirrors `plugins/dynamicresources` (computeScore)."""

from __future__ import annotations

import numpy as np

from cpsched.filters.dynamic_resources import NAME, DynamicResourcesState
from cpsched.greedy.kube.scores.contract import ScoreRequest, Scores, normalized
from cpsched.objects.devices import ResourceClaim

_MOST_ALTERNATIVES = 8


def score(request: ScoreRequest) -> Scores:
    """100 for the node with the best alternatives, 0 for all where claims have none; never skipped."""
    state: DynamicResourcesState | None = request.pre.states.get(NAME)
    if state is None or not state.found_by_node:
        return np.zeros(len(request.places), dtype=np.int64)
    names = (request.snapshot.names[place] for place in request.places.tolist())
    return normalized(np.array([_worth(request, state, name) for name in names], dtype=np.int64))


def _worth(request: ScoreRequest, state: DynamicResourcesState, node: str) -> int:
    if node not in state.found_by_node:
        return 0
    claims, found = state.found_by_node[node]
    worth = 0
    for number, claim in enumerate(claims):
        worth += _of_claim(claim, {one.request.full_name for one in found if one.claim == number})
    for claim in _held(request):
        assert claim.status.allocation is not None
        worth += _of_claim(claim, {one.request for one in claim.status.allocation.devices.results})
    return worth


def _of_claim(claim: ResourceClaim, given: set[str]) -> int:
    return sum(
        _MOST_ALTERNATIVES - place
        for stated in claim.spec.devices.requests
        for place, alternative in enumerate(stated.first_available)
        if f"{stated.name}/{alternative.name}" in given
    )


def _held(request: ScoreRequest) -> list[ResourceClaim]:
    """The task's claims that have their devices already."""
    task, claims = request.task, request.snapshot.cluster.devices.claims
    made = {status.name: status.resource_claim_name for status in task.pod.status.resource_claim_statuses}
    names = (stated.resource_claim_name or made.get(stated.name, "") for stated in task.pod.spec.resource_claims)
    found = (claims.get(f"{task.namespace}/{name}") for name in names)
    return [claim for claim in found if claim is not None and claim.status.allocation is not None]
