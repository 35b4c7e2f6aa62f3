"""The allocation a claim gets, with the nodes from which its devices can be used."""

from __future__ import annotations

from typing import Any

from cpsched.errors import InputError
from cpsched.filters.device_request import DeviceCandidate, GivenDevice
from cpsched.objects.affinity import NodeSelector
from cpsched.objects.devices import Allocation

_NAME_FIELD = "metadata.name"


def allocation(given: list[GivenDevice], node: str) -> Allocation:
    """Results and node selector as the allocator writes them."""
    results = [
        {
            "request": one.request.full_name,
            "driver": one.candidate.id.driver,
            "pool": one.candidate.id.pool,
            "device": one.candidate.id.device,
            "adminAccess": one.request.asked.admin_access,
        }
        for one in given
    ]
    made = Allocation.model_validate({"devices": {"results": results}})
    return made.model_copy(update={"node_selector": _node_selector(given, node)})


def ties_to_node(candidate: DeviceCandidate) -> bool:
    """Whether a claim that holds the device can be used on one node only."""
    device, spec = candidate.device, candidate.slice.spec
    return bool(device.node_name if spec.per_device_node_selection else spec.node_name) or device.binds_to_node


def _node_selector(given: list[GivenDevice], node: str) -> NodeSelector | None:
    """One device of a single node ties the claim to it; otherwise all the devices' selectors hold together."""
    fields: list[Any] = []
    expressions: list[Any] = []
    for one in given:
        device, spec = one.candidate.device, one.candidate.slice.spec
        selector = device.node_selector if spec.per_device_node_selection else spec.node_selector
        if ties_to_node(one.candidate):
            here = {"key": _NAME_FIELD, "operator": "In", "values": [node]}
            return NodeSelector.model_validate({"nodeSelectorTerms": [{"matchFields": [here]}]})
        terms = selector.node_selector_terms if selector is not None else ()
        if len(terms) > 1:
            raise InputError(
                f"a ResourceSlice of {spec.driver} has a node selector with {len(terms)} terms", right="one"
            )
        for term in terms:
            fields += [e for e in term.match_fields if e not in fields]
            expressions += [e for e in term.match_expressions if e not in expressions]
    if not fields and not expressions:
        return None
    dumped = {
        "matchFields": [e.model_dump() for e in fields],
        "matchExpressions": [e.model_dump() for e in expressions],
    }
    return NodeSelector.model_validate({"nodeSelectorTerms": [dumped]})
