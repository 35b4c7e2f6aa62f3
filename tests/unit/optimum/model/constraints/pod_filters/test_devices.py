"""Rows for resource claims."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.optimum.model.constraints.pod_filters.build_session import Raw, allowed, node, waiting

NODES = [node("x1"), node("y1")]
BIG = {"selectors": [{"cel": {"expression": "device.attributes['d'].model == 'big'"}}]}


def obj(kind: str, name: str, **spec: Any) -> Raw:
    """A device class, slice or claim."""
    space = {"namespace": "default"} if kind == "ResourceClaim" else {}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name, **space}, "spec": spec}


def claim(name: str, device_class: str = "gpu", **exactly: Any) -> Raw:
    """A claim for one device, unless it says otherwise."""
    request = {"name": "r", "exactly": {"deviceClassName": device_class, **exactly}}
    return obj("ResourceClaim", name, devices={"requests": [request]})


def devices(node: str, *models: str) -> Raw:
    """Devices of a node, or of all nodes."""
    place = {"nodeName": node} if node else {"allNodes": True}
    pool = {"name": node or "net", "generation": 1, "resourceSliceCount": 1}
    held = [{"name": f"g{i}", "attributes": {"model": {"string": model}}} for i, model in enumerate(models)]
    return obj("ResourceSlice", f"slice-{node}", driver="d", pool=pool, devices=held, **place)


def fits(slices: list[Raw], claims: list[Raw], uses: dict[str, str], **nodes: str) -> bool:
    """Whether jobs with these claims may be on these nodes."""
    jobs = [
        waiting(job, resourceClaims=[{"name": name, "resourceClaimName": name} for name in names.split()])
        for job, names in uses.items()
    ]
    objects = [obj("DeviceClass", "gpu"), obj("DeviceClass", "big") | {"spec": BIG}, *slices, *claims]
    return allowed(NODES, jobs, objects=objects, binds={f"{job}/t-0": name for job, name in nodes.items()})


@pytest.mark.parametrize(
    ("models", "kinds", "fine"),
    [
        (["small"], "gpu gpu", False),
        (["small", "small"], "gpu gpu", True),
        (["small", "big"], "gpu big", True),
        (["small", "small"], "gpu big", False),
        (["big", "small", "small"], "big big", False),
    ],
)
def test_a_device_serves_one_claim(models: list[str], kinds: str, fine: bool) -> None:
    claims = [claim(f"c{i}", kind) for i, kind in enumerate(kinds.split())]
    assert fits([devices("x1", *models)], claims, {"v": "c0", "w": "c1"}, v="x1", w="x1") is fine


def test_overlapping_wishes_are_counted_together() -> None:
    """Two want the local device or the shared one, one can only have the shared one."""
    slices = [devices("x1", "small"), devices("", "small")]
    claims = [claim("c0"), claim("c1"), claim("c2")]
    assert fits(slices, claims, {"v": "c0", "w": "c1"}, v="x1", w="y1")
    assert not fits(slices, claims, {"u": "c0", "v": "c1", "w": "c2"}, u="x1", v="x1", w="y1")


def test_so_are_wishes_that_overlap_in_part() -> None:
    """Each node has a device of its own, and there is one that both reach."""
    slices = [devices("x1", "small"), devices("y1", "small"), devices("", "small")]
    claims = [claim(f"c{i}") for i in range(4)]
    three = {"s": "c0", "t": "c1", "u": "c2"}
    assert fits(slices, claims, three, s="x1", t="x1", u="y1")
    assert not fits(slices, claims, three | {"v": "c3"}, s="x1", t="x1", u="y1", v="y1")


@pytest.mark.parametrize(("count", "fine"), [(1, True), (2, False)])
def test_so_many_as_are_asked_for(count: int, fine: bool) -> None:
    claims = [claim("c0", count=count), claim("c1")]
    assert fits([devices("x1", "small", "small")], claims, {"v": "c0", "w": "c1"}, v="x1", w="x1") is fine


def test_who_wants_all_leaves_none() -> None:
    claims = [claim("c0", allocationMode="All"), claim("c1")]
    slices = [devices("x1", "small", "small")]
    assert fits(slices, claims, {"v": "c0"}, v="x1")
    assert not fits(slices, claims, {"v": "c0", "w": "c1"}, v="x1", w="x1")
    assert not fits(slices, claims, {"v": "c0"}, v="y1")


def test_admin_access_takes_none_but_there_must_be_one() -> None:
    claims = [claim("c0", adminAccess=True), claim("c1")]
    assert fits([devices("x1", "small")], claims, {"v": "c0", "w": "c1"}, v="x1", w="x1")
    assert not fits([devices("x1", "small")], claims, {"v": "c0"}, v="y1")


def test_the_first_of_several_ways_will_do() -> None:
    ways = [{"name": "a", "deviceClassName": "big"}, {"name": "b", "deviceClassName": "gpu", "count": 2}]
    either = obj("ResourceClaim", "c0", devices={"requests": [{"name": "r", "firstAvailable": ways}]})
    assert fits([devices("x1", "big", "small")], [either, claim("c1")], {"v": "c0", "w": "c1"}, v="x1", w="x1")
    assert not fits([devices("x1", "small", "small")], [either, claim("c1")], {"v": "c0", "w": "c1"}, v="x1", w="x1")


def test_users_of_a_claim_with_a_local_device_share_a_node() -> None:
    slices = [devices("x1", "small"), devices("y1", "small")]
    assert fits(slices, [claim("c")], {"v": "c", "w": "c"}, v="x1", w="x1")
    assert not fits(slices, [claim("c")], {"v": "c", "w": "c"}, v="x1", w="y1")
    assert not fits(slices, [claim("c"), claim("d")], {"v": "c", "w": "c", "u": "d"}, v="x1", w="x1", u="x1")
    assert fits([devices("", "small")], [claim("c")], {"v": "c", "w": "c"}, v="x1", w="y1")


def test_a_claim_with_devices_is_used_where_they_are() -> None:
    held = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "x1", "device": "g0"}]}}
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["x1"]}]}
    allocation = {**held, "nodeSelector": {"nodeSelectorTerms": [term]}}
    given = claim("c") | {"status": {"allocation": allocation}}
    slices = [devices("x1", "small"), devices("y1", "small")]
    assert fits(slices, [given], {"w": "c"}, w="x1")
    assert not fits(slices, [given], {"w": "c"}, w="y1")
    assert not fits(slices, [given, claim("d")], {"w": "d"}, w="x1")


def test_a_claim_that_is_not_there_refuses_the_task() -> None:
    assert not fits([devices("x1", "small")], [], {"w": "c"}, w="x1")
