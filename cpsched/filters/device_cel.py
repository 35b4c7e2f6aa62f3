"""CEL selectors over devices, evaluated by cel-python; mirrors `dynamic-resource-allocation/cel`.

The library is imported when the first selector is met. What it does not know (cel.bind, optional fields with `?`,
rarer functions) is an InputError that names the expression, never a guess.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from cpsched.errors import InputError
from cpsched.filters import cel_values, devices
from cpsched.objects.devices import Device


class CelError(Exception):
    """The expression fails on this device, as it would upstream."""


def matches(expression: str, driver: str, device: Device) -> bool:
    """Whether the device meets the expression."""
    celpy = _library()
    program = _program(expression)
    try:
        result = program.evaluate({"device": _value(driver, device)})
    except celpy.CELEvalError as failed:
        text = str(failed.args[0]) if failed.args else ""
        if text.startswith("no such member in mapping: "):
            key = text.removeprefix("no such member in mapping: ").strip("'")
            raise CelError(f"no such key: {key}") from None
        why = "it joins values of different types" if text.startswith("found no matching overload") else text
        raise _not_understood(expression, why.partition(" (in activation")[0]) from None
    if not isinstance(result, celpy.celtypes.BoolType | bool):
        raise CelError(f"CEL result of type {type(result).__name__} could not be converted to bool")
    return bool(result)


def _library() -> Any:
    try:
        return import_module("celpy")
    except ImportError:
        wrong = "device selectors need the cel-python library"
        raise InputError(wrong, right="install it: pip install cel-python") from None


@lru_cache(maxsize=256)
def _program(expression: str) -> Any:
    celpy = _library()
    environment = celpy.Environment()
    try:
        return environment.program(environment.compile(expression), functions=cel_values.functions())
    except celpy.CELParseError as failed:
        raise _not_understood(expression, str(failed.args[0]).splitlines()[0]) from None


def _not_understood(expression: str, why: str) -> InputError:
    shown = " ".join(expression.split())
    return InputError(f"the device selector `{shown}` is not understood: {why}", right="see docs/filters.md")


def _value(driver: str, device: Device) -> Any:
    """The variable `device`; a domain without attributes or capacities reads as an empty map."""
    celtypes = _library().celtypes
    attributes: dict[str, dict[str, Any]] = {}
    for name, stated in devices.attributes(device).items():
        domain, identifier = _qualified(name, driver)
        attributes.setdefault(domain, {})[identifier] = _attribute(name, stated)
    capacity: dict[str, dict[str, Any]] = {}
    for name, stated in devices.capacity(device).items():
        domain, identifier = _qualified(name, driver)
        amount = stated.get("value") if isinstance(stated, dict) else stated
        capacity.setdefault(domain, {})[identifier] = cel_values.quantity(str(amount))
    text = celtypes.StringType
    return celtypes.MapType(
        {
            text("driver"): text(driver),
            text("allowMultipleAllocations"): celtypes.BoolType(device.allow_multiple_allocations),
            text("attributes"): cel_values.with_default(attributes),
            text("capacity"): cel_values.with_default(capacity),
        }
    )


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _attribute(name: str, stated: Any) -> Any:
    celtypes = _library().celtypes
    if stated.get("int") is not None:
        return celtypes.IntType(stated["int"])
    if stated.get("bool") is not None:
        return celtypes.BoolType(stated["bool"])
    if stated.get("string") is not None:
        return celtypes.StringType(stated["string"])
    if stated.get("version") is not None:
        return cel_values.semver(stated["version"])
    raise CelError(f"attribute {name}: unsupported attribute value")
