"""CEL selectors of device classes and requests."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.filters import Code
from cpsched.filters.cel_errors import CelError
from cpsched.filters.device_cel import matches
from cpsched.objects.devices import Device
from tests.unit.filters.build_devices import CANNOT, at, claim, cluster, device, request, slice_of

A100 = Device.model_validate(
    {
        "name": "gpu-0",
        "attributes": {
            "model": {"string": "A100"},
            "index": {"int": 3},
            "ecc": {"bool": True},
            "driverVersion": {"version": "550.54.15"},
            "other.com/slot": {"string": "front"},
        },
        "capacity": {"memory": {"value": "40Gi"}},
    }
)
GPU = 'device.attributes["gpu.com"]'


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('device.driver == "gpu.com"', True),
        (f'{GPU}.model == "A100"', True),
        (f'{GPU}.model == "H100"', False),
        (f'{GPU}.model.lowerAscii().matches("^a1")', True),
        (f'{GPU}.model in ["A100", "H100"] && {GPU}.index > 2', True),
        (f"{GPU}.ecc && !{GPU}.ecc", False),
        (f'{GPU}.driverVersion.compareTo(semver("550.54.2")) > 0', True),
        (f'{GPU}.driverVersion.isLessThan(semver("550.54.15"))', False),
        (f'semver("1.0.0").isGreaterThan(semver("1.0.0-rc.1")) && {GPU}.driverVersion.major() == 550', True),
        ('device.attributes["other.com"].slot.startsWith("fr")', True),
        ('device.capacity["gpu.com"].memory.compareTo(quantity("40960Mi")) == 0', True),
        ('device.capacity["gpu.com"].memory.isGreaterThan(quantity("80Gi"))', False),
        ('"gpu.com" in device.attributes && !("none.com" in device.attributes)', True),
        (f"has({GPU}.model) && !has({GPU}.none)", True),
        ('has(device.attributes["none.com"].model)', False),
        ("device.allowMultipleAllocations", False),
        (f'{GPU}.index % 2 == 1 ? {GPU}.model == "A100" : false', True),
        (f'["A100", "H100"].exists(model, model == {GPU}.model)', True),
    ],
)
def test_expressions(expression: str, expected: bool) -> None:
    assert matches(expression, "gpu.com", A100) is expected


def test_missing_keys_fail_as_upstream() -> None:
    with pytest.raises(CelError, match="no such key: none"):
        matches(f'{GPU}.none == "x"', "gpu.com", A100)
    with pytest.raises(CelError, match="no such key: model"):
        matches('device.attributes["none.com"].model == "x"', "gpu.com", A100)
    with pytest.raises(CelError, match="could not be converted to bool"):
        matches(f"{GPU}.model", "gpu.com", A100)


@pytest.mark.parametrize(
    "expression",
    [
        f'{GPU}.?model.orValue("x") == "A100"',
        f'cel.bind(d, {GPU}, d.model == "A100")',
        f"{GPU}.model.unheardOf()",
        "device.driver ==",
    ],
)
def test_what_is_not_understood_names_the_expression(expression: str) -> None:
    with pytest.raises(InputError, match="is not understood"):
        matches(expression, "gpu.com", A100)


def attributes(**values: Any) -> dict[str, Any]:
    return {"attributes": {name: {"string": value} for name, value in values.items()}}


def cel(expression: str) -> dict[str, Any]:
    return {"selectors": [{"cel": {"expression": expression}}]}


def test_class_and_request_select_together() -> None:
    devices = [device("1", **attributes(model="a", kind="x")), device("2", **attributes(model="b", kind="x"))]
    classes = [{"metadata": {"name": "gpu"}, "spec": cel('device.attributes["d"].kind == "x"')}]
    for model, passes in (("b", True), ("c", False)):
        wanted = claim("c", request(**cel(f'device.attributes["d"].model == "{model}"')))
        status = at("a", cluster([wanted], [slice_of(*devices)], DeviceClass=classes), "c")
        assert status.is_success is passes
        if not passes:
            assert status.reasons == CANNOT


def test_a_failing_expression_is_an_error() -> None:
    wanted = claim("c", request(**cel('device.attributes["d"].none == "x"')))
    status = at("a", cluster([wanted], [slice_of(device("1"))]), "c")
    assert (status.code, status.reasons) == (
        Code.ERROR,
        ("claim default/c: selector #0: CEL runtime error: no such key: none",),
    )


def test_devices_in_use_are_not_asked() -> None:
    held = claim(
        "o", request(), status={"allocation": {"devices": {"results": [{"driver": "d", "pool": "a", "device": "1"}]}}}
    )
    wanted = claim("c", request(**cel('device.attributes["d"].model == "a"')))
    devices = [device("1"), device("2", **attributes(model="a"))]
    assert at("a", cluster([wanted, held], [slice_of(*devices)]), "c").is_success
