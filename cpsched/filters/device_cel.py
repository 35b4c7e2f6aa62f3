"""CEL selectors over devices, evaluated by cel-python; mirrors `dynamic-resource-allocation/cel`.

The library is imported when the first selector is met. What it does not know (cel.bind, optional fields with `?`,
rarer functions) is an InputError that names the expression, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from cpsched.errors import InputError, one_line
from cpsched.filters import cel_values, devices
from cpsched.filters.cel_budget import MOST_STEPS, CelBudget
from cpsched.filters.cel_errors import CelError, NotUnderstoodError, TooExpensiveError
from cpsched.objects.devices import Device

_LONGEST_SHOWN = 200
_NO_MEMBER, _QUOTE, _UNKNOWN = "no such member in mapping: ", "'", "cel-python cannot evaluate it"
_REASONS = {
    "found no matching overload": "it joins values of different types",
    "no such overload": "it joins values of different types",
    "modulus or divide by zero": "it divides by zero",
    "return error for overflow": "a value is not what its function reads",
    "overflow": "a number is too large",
}
MOST_BYTES = 10 * 1024
"""The API server stores no longer expression."""


def matches(expression: str, driver: str, device: Device, budget: CelBudget | None = None) -> bool:
    """Whether the device meets the expression; the budget is that of one evaluation."""
    celpy = _library()
    program, value = _program(expression), _value(driver, device)
    try:
        result = program.evaluate({"device": value}, budget)
    except celpy.CELEvalError as failed:
        raise _failure(expression, *failed.args) from None
    except TooExpensiveError:
        right = f"at most {MOST_STEPS} steps are taken for a device; write a simpler one"
        raise InputError(f"the device selector `{shown(expression)}` is too expensive", right=right) from None
    except NotUnderstoodError as refused:
        raise _not_understood(expression, str(refused)) from None
    except RecursionError:
        raise _not_understood(expression, "it is nested too deeply") from None
    except Exception:
        # The library has no list of what else it raises.
        raise _not_understood(expression, _UNKNOWN) from None
    if not isinstance(result, celpy.celtypes.BoolType | bool):
        raise CelError(f"CEL result of type {type(result).__name__} could not be converted to bool")
    return bool(result)


def _failure(expression: str, text: Any = "", *details: Any) -> Exception:
    """What cel-python found wrong: upstream fails at a missing key too, anything else is reported as ours."""
    if text == "no such key":
        return CelError(f"no such key: {''.join(str(key) for key in details[-1] or ())}")
    if str(text).startswith(_NO_MEMBER):
        return CelError(f"no such key: {str(text).removeprefix(_NO_MEMBER).strip(_QUOTE)}")
    why = next((why for start, why in _REASONS.items() if str(text).startswith(start)), _UNKNOWN)
    return _not_understood(expression, why)


def _library() -> Any:
    try:
        return import_module("celpy")
    except ImportError:
        wrong = "device selectors need the cel-python library"
        raise InputError(wrong, right="pip install 'cpsched[dra]'") from None


@lru_cache(maxsize=256)
def _program(expression: str) -> Any:
    if len(expression.encode(errors="surrogatepass")) > MOST_BYTES:
        wrong = f"the device selector `{shown(expression)}` is longer than {MOST_BYTES} bytes"
        raise InputError(wrong, right="the API server stores no longer one")
    celpy = _library()
    runner = import_module("cpsched.filters.cel_evaluation").BoundedRunner
    environment = celpy.Environment(runner_class=runner)
    try:
        return environment.program(environment.compile(expression), functions=cel_values.functions())
    except celpy.CELParseError as failed:
        raise _not_understood(expression, f"no CEL at line {failed.line} column {failed.column}") from None


def _not_understood(expression: str, why: str) -> InputError:
    return InputError(
        f"the device selector `{shown(expression)}` is not understood: {why}", right="see docs/filters.md"
    )


def shown(expression: str) -> str:
    """The expression on one line, cut if it is long."""
    return one_line(expression, longest=_LONGEST_SHOWN)


def _value(driver: str, device: Device) -> Any:
    """The variable `device`; a domain without attributes or capacities reads as an empty map."""
    celtypes = _library().celtypes
    text = celtypes.StringType
    return celtypes.MapType(
        {
            text("driver"): text(driver),
            text("allowMultipleAllocations"): celtypes.BoolType(device.allow_multiple_allocations),
            text("attributes"): _by_domain("attribute", devices.attributes(device), _attribute, driver, device),
            text("capacity"): _by_domain("capacity", devices.capacity(device), _capacity, driver, device),
        }
    )


def _by_domain(
    kind: str, stated: Mapping[str, Any], read: Callable[[str, Any], Any], driver: str, device: Device
) -> Any:
    found: dict[str, dict[str, Any]] = {}
    for name, one in stated.items():
        domain, identifier = _qualified(name, driver)
        try:
            found.setdefault(domain, {})[identifier] = read(name, one)
        except (ValueError, TypeError):
            wrong = f"its {kind} {name} has no value of its type"
            raise InputError(wrong, place=f"device {device.name} of {driver}", right="see docs/filters.md") from None
    return cel_values.with_default(found)


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


def _capacity(_: str, stated: Any) -> Any:
    return cel_values.quantity(str(stated.get("value") if isinstance(stated, dict) else stated))
