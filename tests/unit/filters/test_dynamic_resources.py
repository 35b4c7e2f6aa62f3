"""DynamicResources without selectors: claims, counts, alternatives, constraints, taints, bookings."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.filters import FILTERS, Args, ClusterState, Code, Features, Status, device_allocator, prefilter
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of, verdict
from tests.unit.filters.build_devices import CANNOT, allocated, at, claim, cluster, device, request, slice_of, using

NAME = "DynamicResources"


def test_devices_are_where_their_slice_is() -> None:
    state = cluster([claim("c", request())], [slice_of(device("1"))])
    assert at("a", state, "c").is_success
    refused = at("b", state, "c")
    assert (refused.code, refused.reasons) == (Code.UNRESOLVABLE, CANNOT)


def test_absent_count_and_mode_are_one_exactly() -> None:
    state = cluster([claim("c", request(count=2)), claim("d", request())], [slice_of(device("1"))])
    assert at("a", state, "c").reasons == CANNOT
    assert at("a", state, "d").is_success


def test_older_api_versions_state_requests_and_devices_differently() -> None:
    inline = {"name": "r", "deviceClassName": "gpu", "count": 1}
    taint = [{"key": "k", "effect": "NoSchedule"}]
    assert at("a", cluster([claim("c", inline)], [slice_of(device("1", basic={}))]), "c").is_success
    tainted = slice_of(device("1", basic={"taints": taint}))
    assert at("a", cluster([claim("c", inline)], [tainted]), "c").reasons == CANNOT


def test_allocated_devices_are_taken_unless_with_admin_access() -> None:
    taken = claim("other", request(), status=allocated("1"))
    watched = claim("other", request(), status=allocated("1", adminAccess=True))
    for held, passes in ((taken, False), (watched, True)):
        state = cluster([claim("c", request()), held], [slice_of(device("1"))])
        assert at("a", state, "c").is_success is passes


def test_admin_access_takes_any_device_once_per_claim() -> None:
    taken = claim("other", request(), status=allocated("1"))
    state = cluster([claim("c", request(adminAccess=True)), taken], [slice_of(device("1"))])
    assert at("a", state, "c").is_success
    twice = claim("c", request("r", adminAccess=True), request("s", adminAccess=True))
    assert at("a", cluster([twice], [slice_of(device("1"))]), "c").reasons == CANNOT


def test_claims_of_one_task_do_not_share_devices() -> None:
    claims = [claim("c", request()), claim("d", request())]
    assert at("a", cluster(claims, [slice_of(device("1"))]), "c", "d").reasons == CANNOT
    assert at("a", cluster(claims, [slice_of(device("1"), device("2"))]), "c", "d").is_success


def test_all_devices_must_be_free() -> None:
    everything = claim("c", request(allocationMode="All"))
    free = cluster([everything], [slice_of(device("1"), device("2"))])
    assert at("a", free, "c").is_success
    busy = cluster([everything, claim("o", request(), status=allocated("2"))], [slice_of(device("1"), device("2"))])
    assert at("a", busy, "c").reasons == CANNOT
    assert at("a", cluster([everything], []), "c").reasons == CANNOT


def test_all_devices_of_an_incomplete_pool_is_an_error() -> None:
    everything = claim("c", request(allocationMode="All"))
    status = at("a", cluster([everything], [slice_of(device("1"), count=2)]), "c")
    assert status.code is Code.ERROR
    text = "claim default/c, request r: asks for all devices, but resource pool d/a is currently being updated"
    assert status.reasons == (text,)


def test_incomplete_and_outdated_pools_give_nothing() -> None:
    wanted = [claim("c", request())]
    assert at("a", cluster(wanted, [slice_of(device("1"), count=2)]), "c").reasons == CANNOT
    older = slice_of(device("1"), name="old")
    newer = slice_of(name="new", pool_fields={"generation": 2})
    assert at("a", cluster(wanted, [older, newer]), "c").reasons == CANNOT
    both = [slice_of(device("1"), name="one", count=2), slice_of(device("2"), name="two", count=2)]
    assert at("a", cluster([claim("c", request(count=2))], both), "c").is_success


def test_a_pool_that_has_moved_on_is_not_there() -> None:
    """Its newer slices are for another node: nothing is being updated here, there are just no devices."""
    here = slice_of(device("1"), name="old", count=2, pool="shared")
    there = slice_of(device("2"), node="b", name="new", pool="shared", pool_fields={"generation": 2})
    everything = claim("c", request(allocationMode="All"))
    assert at("a", cluster([everything], [here, there]), "c").reasons == CANNOT


def test_a_pool_with_one_name_twice_is_invalid() -> None:
    status = at("a", cluster([claim("c", request())], [slice_of(device("1"), device("1"))]), "c")
    assert (status.code, status.reasons) == (Code.UNRESOLVABLE, ("invalid resource pools were encountered",))


def on_rack(number: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "rack", "operator": "In", "values": [number]}]}


def test_network_attached_devices() -> None:
    wanted = [claim("c", request())]
    everywhere = slice_of(device("1"), node="", allNodes=True)
    selected = slice_of(device("1"), node="", nodeSelector={"nodeSelectorTerms": [on_rack("2")]})
    per_device = slice_of(device("1", nodeName="b"), node="", perDeviceNodeSelection=True)
    for one, expected in ((everywhere, {"a", "b"}), (selected, {"b"}), (per_device, {"b"})):
        assert {node for node in "ab" if at(node, cluster(wanted, [one]), "c").is_success} == expected


def test_first_available_alternative_wins() -> None:
    alternatives = [{"name": "two", "deviceClassName": "gpu", "count": 2}, {"name": "one", "deviceClassName": "gpu"}]
    state = cluster([claim("c", {"name": "r", "firstAvailable": alternatives})], [slice_of(device("1"))])
    task = task_of(pod_json("p", **using("c")))
    own = FILTERS[NAME].prefilter(task, state, Args()).state
    assert FILTERS[NAME].filter(own, task, state.nodes["a"], state).is_success
    assert [given.request.full_name for given in own.found_by_node["a"][1]] == ["r/one"]


def value(kind: str, content: Any) -> dict[str, Any]:
    return {"attributes": {"numa": {kind: content}}}


MATCH = [{"requests": [], "matchAttribute": "d/numa"}]


def test_matching_attribute_backtracks() -> None:
    devices = [device("1", **value("int", 0)), device("2", **value("int", 1)), device("3", **value("int", 1))]
    state = cluster([claim("c", request(count=2), constraints=MATCH)], [slice_of(*devices)])
    task = task_of(pod_json("p", **using("c")))
    own = FILTERS[NAME].prefilter(task, state, Args()).state
    assert FILTERS[NAME].filter(own, task, state.nodes["a"], state).is_success
    assert [given.candidate.id.device for given in own.found_by_node["a"][1]] == ["2", "3"]


@pytest.mark.parametrize(("count", "agree"), [(12, 11), (2, 1)])
def test_looking_for_devices_ends(monkeypatch: pytest.MonkeyPatch, count: int, agree: int) -> None:
    """Of many devices always one too few agree: each search looks at most so many times at one."""
    looks: list[Any] = []
    in_use = device_allocator.Allocator._in_use
    monkeypatch.setattr(device_allocator.Allocator, "_in_use", lambda *stated: looks.append(None) or in_use(*stated))
    devices = [device(str(n), **value("int", n // agree)) for n in range(22 if agree > 1 else 300)]
    state = cluster([claim("c", request(count=count), constraints=MATCH)], [slice_of(*devices)])
    assert at("a", state, "c").reasons == CANNOT
    whole = len(looks)
    assert whole > 40_000
    monkeypatch.setattr(device_allocator, "MOST_LOOKS", 1000)
    assert at("a", state, "c").reasons == ("node a: timed out trying to allocate devices",)
    assert len(looks) - whole < whole / 5


@pytest.mark.parametrize(
    ("one", "two", "passes"),
    [
        (("int", 1), ("int", 1), True),
        (("int", 1), ("int", 2), False),
        (("string", "1"), ("int", 1), False),
        (("version", "1.0.0"), ("version", "1.0.0"), True),
        (("bool", True), ("bool", False), False),
    ],
)
def test_what_agrees(one: Any, two: Any, passes: bool) -> None:
    devices = [device("1", **value(*one)), device("2", **value(*two))]
    state = cluster([claim("c", request(count=2), constraints=MATCH)], [slice_of(*devices)])
    assert at("a", state, "c").is_success is passes


def test_a_device_without_the_attribute_does_not_match() -> None:
    state = cluster([claim("c", request(), constraints=MATCH)], [slice_of(device("1"))])
    assert at("a", state, "c").reasons == CANNOT


def test_constraints_of_other_requests_do_not_bind() -> None:
    devices = [device("1", **value("int", 0)), device("2", **value("int", 1))]
    two = claim("c", request("r"), request("s"), constraints=[{"requests": ["r"], "matchAttribute": "d/numa"}])
    assert at("a", cluster([two], [slice_of(*devices)]), "c").is_success


def test_constraint_on_all_devices_is_an_error() -> None:
    devices = [device("1", **value("int", 0)), device("2", **value("int", 1))]
    everything = claim("c", request(allocationMode="All"), constraints=MATCH)
    status = at("a", cluster([everything], [slice_of(*devices)]), "c")
    assert status.code is Code.ERROR
    assert "because a claim constraint would not be satisfied" in status.reasons[0]


def test_distinct_attribute_compares_requests_not_devices_of_one() -> None:
    same = [device("1", **value("int", 0)), device("2", **value("int", 0))]
    distinct = [{"requests": [], "distinctAttribute": "d/numa"}]
    apart = claim("c", request("r"), request("s"), constraints=distinct)
    assert at("a", cluster([apart], [slice_of(*same)]), "c").reasons == CANNOT


@pytest.mark.parametrize(
    ("taints", "tolerations", "passes"),
    [
        ([{"key": "k", "value": "v", "effect": "NoSchedule"}], [], False),
        ([{"key": "k", "value": "v", "effect": "NoExecute"}], [], False),
        ([{"key": "k", "value": "v", "effect": "None"}], [], True),
        ([{"key": "k", "value": "v", "effect": "NoSchedule"}], [{"key": "k", "operator": "Equal", "value": "v"}], True),
        ([{"key": "k", "value": "v", "effect": "NoSchedule"}], [{"operator": "Exists", "effect": "NoExecute"}], False),
    ],
)
def test_device_taints(taints: Any, tolerations: Any, passes: bool) -> None:
    state = cluster([claim("c", request(tolerations=tolerations))], [slice_of(device("1", taints=taints))])
    assert at("a", state, "c").is_success is passes


def test_allocated_claim_is_used_where_its_selector_says() -> None:
    state = cluster([claim("c", request(), status=allocated("1", selector=on_rack("1")))], [])
    assert at("a", state, "c").is_success
    refused = at("b", state, "c")
    assert (refused.code, refused.reasons) == (Code.UNRESOLVABLE, ("resourceclaim not available on the node",))
    anywhere = cluster([claim("c", request(), status=allocated("1"))], [])
    assert at("b", anywhere, "c").is_success


def test_reserved_devices_are_taken_and_tie_the_claim_to_the_node() -> None:
    state = cluster(
        [claim("c", request()), claim("d", request())], [slice_of(device("1")), slice_of(device("2"), node="b")]
    )
    task = task_of(pod_json("p", **using("c")))
    own = FILTERS[NAME].prefilter(task, state, Args()).state
    FILTERS[NAME].filter(own, task, state.nodes["a"], state)
    reserve = FILTERS[NAME].reserve
    assert reserve is not None
    undo = reserve(own, task, state.nodes["a"], state)
    assert at("a", state, "d").reasons == CANNOT
    assert at("b", state, "d").is_success
    assert {node for node in "ab" if at(node, state, "c").is_success} == {"a"}
    undo()
    assert at("a", state, "d").is_success


def test_evicting_the_container_frees_no_device() -> None:
    state = cluster([claim("c", request()), claim("o", request(), status=allocated("1"))], [slice_of(device("1"))])
    container = task_of(pod_json("q", **using("o")), 1)
    state.add(container, "a")
    state.remove(container)
    assert at("a", state, "c").reasons == CANNOT


def template(status: list[dict[str, str]] | None = None) -> Any:
    raw = pod_json("p", resourceClaims=[{"name": "x", "resourceClaimTemplateName": "t"}])
    raw["status"] = {"resourceClaimStatuses": status or []}
    return task_of(raw)


def test_claims_from_templates() -> None:
    owner = [{"kind": "Pod", "name": "p", "uid": template().uid, "controller": True}]
    made = [{"name": "x", "resourceClaimName": "c"}]
    own = cluster([claim("c", request(), metadata={"ownerReferences": owner})], [slice_of(device("1"))])
    assert verdict(NAME, template(made), own, "a").is_success
    waiting = verdict(NAME, template(), own, "a")
    assert waiting.reasons == ('pod "default/p": ResourceClaim not created yet',)
    foreign = cluster([claim("c", request())], [slice_of(device("1"))])
    text = "ResourceClaim default/c was not created for Pod default/p (Pod is not owner)"
    assert verdict(NAME, template(made), foreign, "a").reasons == (text,)
    assert prefilter(template([{"name": "x"}]), own, [NAME], Args()).skipped == {NAME}


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ([], 'could not find ResourceClaim "default/c"'),
        (
            [claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
            'resourceclaim "c" is being deleted',
        ),
        ([claim("c", request(deviceClassName="none"))], "request r: device class none does not exist"),
        ([claim("c", {"name": "r"})], "resource claim default/c, request r: unknown request type"),
    ],
)
def test_claims_that_refuse_the_task_at_once(claims: list[dict[str, Any]], reason: str) -> None:
    status = at("a", cluster(claims, []), "c")
    assert (status.code, status.reasons) == (Code.UNRESOLVABLE, (reason,))


def test_claim_limit() -> None:
    many = [slice_of(*(device(str(i)) for i in range(40)))]
    assert at("a", cluster([claim("c", request(count=32))], many), "c").is_success
    status = at("a", cluster([claim("c", request(count=33))], many), "c")
    assert status.code is Code.ERROR
    assert status.reasons == ("claim default/c: number of requested devices 33 exceeds the claim limit of 32",)


def test_what_is_not_understood_is_named() -> None:
    parts = slice_of(device("1", consumesCounters=[{"counterSet": "s", "counters": {}}]))
    with pytest.raises(InputError, match="partitionable devices are not understood"):
        at("a", cluster([claim("c", request())], [parts]), "c")
    shared = slice_of(device("1", allowMultipleAllocations=True))
    with pytest.raises(InputError, match="consumable capacity is not understood"):
        at("a", cluster([claim("c", request())], [shared]), "c")
    wanted = claim("c", request(capacity={"requests": {"memory": "1Gi"}}))
    with pytest.raises(InputError, match="consumable capacity is not understood"):
        at("a", cluster([wanted], [slice_of(device("1"))]), "c")
    held = claim("o", request(), status=allocated("1", shareID="x"))
    with pytest.raises(InputError, match="consumable capacity is not understood"):
        at("a", cluster([claim("c", request()), held], [slice_of(device("1"))]), "c")


def test_skip_without_claims() -> None:
    assert prefilter(task_of(pod_json("p")), cluster([], []), [NAME], Args()).skipped == {NAME}


GPU_CLASS = {"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}


def asking(**requests: str) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"example.com/gpu": requests.get("gpu", "1")}}}


def extended(state: ClusterState, node: str, **spec: Any) -> Status:
    return verdict(NAME, task_of(pod_json("p", **spec)), state, node)


def test_extended_resources_by_devices() -> None:
    state = cluster([], [slice_of(device("1"), device("2"))], DeviceClass=[GPU_CLASS])
    assert extended(state, "a", containers=[asking(gpu="2")]).is_success
    assert extended(state, "a", containers=[asking(), asking(gpu="2")]).reasons == CANNOT
    assert extended(state, "b", containers=[asking()]).reasons == CANNOT
    off = Args(Features(dra_extended_resource=False))
    assert prefilter(task_of(pod_json("p", containers=[asking()])), state, [NAME], off).skipped == {NAME}


def test_init_containers_reuse_what_later_containers_hold() -> None:
    state = cluster([], [slice_of(device("1"), device("2"))], DeviceClass=[GPU_CLASS])
    assert extended(state, "a", containers=[asking()], initContainers=[asking(gpu="2")]).is_success
    sidecar = {**asking(), "restartPolicy": "Always"}
    assert extended(state, "a", containers=[asking()], initContainers=[sidecar, asking(gpu="2")]).reasons == CANNOT
    assert extended(state, "a", containers=[asking()], initContainers=[asking(gpu="2"), sidecar]).is_success


def test_a_node_that_offers_the_resource_itself_needs_no_device() -> None:
    node = {**node_json("a"), "status": {"allocatable": {"pods": "9", "example.com/gpu": "1"}}}
    state = cluster_of([node], DeviceClass=[GPU_CLASS])
    assert extended(state, "a", containers=[asking()]).is_success


def test_implicit_resource_of_a_class() -> None:
    name = "deviceclass.resource.kubernetes.io/gpu"
    container = {"name": "c", "resources": {"requests": {name: "1"}}}
    state = cluster([], [slice_of(device("1"))])
    assert extended(state, "a", containers=[container]).is_success
    assert extended(state, "b", containers=[container]).reasons == CANNOT
