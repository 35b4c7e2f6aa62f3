"""Selectors over many devices: each content is asked once, and all together have one bound."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.filters import ClusterState, device_selection
from cpsched.filters.cel_errors import CelError
from cpsched.filters.device_selection import STEPS_PER_DEVICE, Selections
from cpsched.objects.devices import Device, ResourceSlice
from tests.unit.filters.build_devices import at, claim, cluster, device, request, slice_of

FORTY = f"[{', '.join(map(str, range(40)))}]"
DEAR = f"{FORTY}.all(a, {FORTY}.all(b, true)) && device.attributes['d'].i == -1"
"""About 30,000 steps: far below what one device may take."""


def selecting(expression: str) -> dict[str, Any]:
    return {"selectors": [{"cel": {"expression": expression}}]}


def devices(number: int, **same: Any) -> list[dict[str, Any]]:
    return [device(f"gpu-{i}", attributes={"i": same or {"int": i}}) for i in range(number)]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    matches = device_selection.matches

    def counting(expression: str, driver: str, one: Device, *budget: Any) -> bool:
        asked.append(one.name)
        return matches(expression, driver, one, *budget)

    monkeypatch.setattr(device_selection, "matches", counting)
    return asked


def of_slice(state: ClusterState) -> tuple[Device, ...]:
    return tuple(one for found in state.instance.of_kind(ResourceSlice) for one in found.spec.devices)


def test_many_devices_end_in_one_line_that_names_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    monkeypatch.setattr(device_selection, "STEPS_FOR_ALL", 100_000)
    state = cluster([claim("c", request(**selecting(DEAR)))], [slice_of(*devices(200))])
    with pytest.raises(InputError) as refused:
        at("a", state, "c")
    most = 100_000 + 200 * STEPS_PER_DEVICE
    stated = f"is too expensive for so many devices; all selectors together take at most {most} steps here"
    assert str(refused.value).startswith("claim default/c: the device selector `[0, 1, 2")
    assert stated in str(refused.value)
    assert 5 < len(asked) < 15


def test_so_does_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_selection, "STEPS_FOR_ALL", 0)
    classes = [{"metadata": {"name": "gpu"}, "spec": selecting(DEAR)}]
    with pytest.raises(InputError, match=r"^class gpu: .* is too expensive for so many devices"):
        at("a", cluster([claim("c", request())], [slice_of(*devices(40))], DeviceClass=classes), "c")


def test_the_bound_is_the_clusters_not_a_claims_or_a_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims that differ, and every replay or check of the same instance, share it."""
    monkeypatch.setattr(device_selection, "STEPS_FOR_ALL", 100_000)
    claims = [claim(f"c{number}", request(**selecting(f"{DEAR} && {number} == 1"))) for number in range(8)]
    state = cluster(claims, [slice_of(*devices(1))])
    for number in range(3):
        assert not at("a", state.copy(), f"c{number}").is_success
    with pytest.raises(InputError, match="is too expensive for so many devices"):
        any(at("a", state.copy(), f"c{number}").is_success for number in range(3, 8))
    assert not at("a", state.copy(), "c0").is_success


def test_expressions_that_are_only_read_are_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_selection, "STEPS_FOR_ALL", 40_000)
    long = f"false {' ' * 9000}"
    with pytest.raises(InputError, match="is too expensive for so many devices"):
        at("a", cluster([claim("c", request(**selecting(long)))], [slice_of(device("x"))]), "c")


def test_devices_of_the_same_content_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    state = cluster([claim("c", request(**selecting(DEAR)))], [slice_of(*devices(400, int=1))])
    for _ in range(2):
        assert not at("a", state.copy(), "c").is_success
    assert asked == ["gpu-0"]


def test_what_an_expression_can_see_tells_devices_apart() -> None:
    state = cluster(
        [],
        [
            slice_of(
                device("a", attributes={"i": {"int": 1}}),
                device("b", attributes={"i": {"int": 2}}),
                device("c", capacity={"i": {"value": "1"}}),
                device("d", basic={"attributes": {"i": {"int": 1}}}),
                device("e", attributes={"i": {"int": 1}}, allowMultipleAllocations=True),
            )
        ],
    )
    known, found = Selections.of(state.instance), of_slice(state)
    same = "device.attributes['d'].i == 1"
    assert [known.matches(same, "d", found[place]) for place in (0, 1, 3, 4)] == [True, False, True, True]
    assert [known.matches("device.allowMultipleAllocations", "d", one) for one in found] == [False] * 4 + [True]
    assert [known.matches("'i' in device.capacity['d']", "d", one) for one in found[1:3]] == [False, True]
    assert [known.matches("device.driver == 'd'", driver, found[0]) for driver in ("d", "e")] == [True, False]


def test_a_failure_is_found_out_once_and_stated_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    state = cluster([], [slice_of(*devices(1))])
    known, (one,) = Selections.of(state.instance), of_slice(state)
    for _ in range(2):
        with pytest.raises(CelError, match=r"^no such key: none$"):
            known.matches("device.none == 1", "d", one)
        with pytest.raises(InputError, match="undeclared reference to 'nothing'"):
            known.matches("nothing", "d", one)
    assert len(asked) == 2


def test_usual_selectors_of_many_devices_stay_below_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_selection, "STEPS_FOR_ALL", 0)
    usual = 'device.driver == "d" && device.attributes["d"].i >= 500 && device.attributes["d"].i in [1, 2, 3]'
    state = cluster([claim("c", request(**selecting(usual)))], [slice_of(*devices(300))])
    assert not at("a", state, "c").is_success
