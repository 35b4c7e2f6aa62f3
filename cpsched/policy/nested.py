"""Arguments of plugins that are more than one word, brought into shape as Volcano decodes them.

Where a scheduler decodes strictly (mapstructure), a wrong type ends it: TypeError here. Field names are distinguished
without regard to case, unknown ones are ignored, and null is the zero value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cpsched.quantity import milli, whole

Decoder = Callable[[object], Any]

LEAST, MOST = "LeastAllocated", "MostAllocated"


def strict_integer(raw: object) -> int:
    """A number, cut to a whole one."""
    if raw is None:
        return 0
    if type(raw) not in (int, float):
        raise TypeError("write a bare number, without quotes")
    assert isinstance(raw, int | float)
    return int(raw)


def strict_number(raw: object) -> float:
    """A number."""
    if raw is None:
        return 0.0
    if type(raw) not in (int, float):
        raise TypeError("write a bare number, without quotes")
    assert isinstance(raw, int | float)
    return float(raw)


def strict_boolean(raw: object) -> bool:
    """A boolean."""
    if raw is not None and not isinstance(raw, bool):
        raise TypeError("write true or false, without quotes")
    return bool(raw)


def strict_text(raw: object) -> str:
    """A text."""
    if raw is not None and not isinstance(raw, str):
        raise TypeError("write a text")
    return raw or ""


def strict_map(of: Decoder) -> Decoder:
    """A mapping of texts to something."""

    def decode(raw: object) -> dict[str, Any]:
        return {strict_text(key): of(value) for key, value in _mapping(raw).items()}

    return decode


def strict_struct(**fields: Decoder) -> Decoder:
    """A mapping with known fields."""
    by_name = {name.lower(): name for name in fields}

    def decode(raw: object) -> dict[str, Any]:
        found = {name: decoder(None) for name, decoder in fields.items()}
        for key, value in _mapping(raw).items():
            name = by_name.get(key.lower()) if isinstance(key, str) else None
            if name is not None:
                found[name] = fields[name](value)
        return found

    return decode


def _mapping(raw: object) -> Mapping[Any, Any]:
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise TypeError("write a mapping")
    return raw


def listed(text: str) -> tuple[str, ...]:
    """The names of a comma-separated text."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True)
class Thresholds:
    """The load of a node, in percent, above which usage keeps tasks off."""

    cpu: int = 80
    memory: int = 80


@dataclass(frozen=True)
class Estimator:
    """How usage guesses the load of tasks that are not measured yet."""

    request_ratio: float = 0.7
    burst_ratio: float = 0.0
    risk_threshold: float = 0.6
    risk_factor: float = 1.2
    be_cpu: float = 250.0
    """milli-cores of a task without requests"""
    be_memory: float = 200.0 * 2**20
    """bytes of such a task"""


def thresholds(raw: object) -> Thresholds:
    """`thresholds` of usage; what cannot be used leaves the default."""
    stated, default = _section(raw), Thresholds()

    def percent(key: str, otherwise: int) -> int:
        value = stated.get(key)
        return value if type(value) is int and 0 <= value <= 100 else otherwise

    return Thresholds(percent("cpu", default.cpu), percent("mem", default.memory))


def estimator(raw: object) -> Estimator:
    """`estimator` of usage; what cannot be used leaves the default."""
    stated, default = _section(raw), Estimator()

    def number(key: str, least: float, most: float, otherwise: float) -> float:
        value = stated.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return otherwise
        return float(value) if least <= value <= most else otherwise

    return Estimator(
        number("request_ratio", 0, 1, default.request_ratio),
        number("burst_ratio", 0, 1, default.burst_ratio),
        number("risk_threshold", 0, 1, default.risk_threshold),
        number("risk_factor", 1, float("inf"), default.risk_factor),
        _amount(stated.get("be_cpu"), 1, milli, default.be_cpu),
        _amount(stated.get("be_mem"), 2**20, whole, default.be_memory),
    )


def _section(raw: object) -> Mapping[str, Any]:
    """A mapping of texts; anything else counts as nothing at all."""
    return raw if isinstance(raw, Mapping) and all(isinstance(key, str) for key in raw) else {}


def _amount(value: object, unit: int, read: Callable[[str], int], otherwise: float) -> float:
    """A quantity as text, or a bare whole number of a unit; neither below zero."""
    if type(value) is int:
        return float(value * unit) if value >= 0 else otherwise
    if not isinstance(value, str):
        return otherwise
    try:
        amount = read(value)
    except ValueError:
        return otherwise
    return float(amount) if amount >= 0 else otherwise


@dataclass(frozen=True)
class LowUtilization:
    """rescheduling's only strategy: percent below which a node has little to do, and above which too much."""

    thresholds: tuple[tuple[str, int], ...]
    targets: tuple[tuple[str, int], ...]


def period(raw: object) -> str:
    """A text that is not looked into; anything else ends the scheduler."""
    if raw is not None and not isinstance(raw, str):
        raise TypeError('write a text such as "10m"')
    return "5m" if raw is None else raw


def strategies(raw: object) -> tuple[LowUtilization, ...]:
    """`strategies` of rescheduling; of those that Volcano documents it reads lowNodeUtilization alone."""
    stated = raw if isinstance(raw, list | tuple) else [{"name": _LOW}]
    parameters = [one.get("params") or {} for one in stated if isinstance(one, Mapping) and one.get("name") == _LOW]
    return tuple(_low_utilization(one) for one in parameters if isinstance(one, Mapping))


_LOW = "lowNodeUtilization"


def _low_utilization(stated: Mapping[str, Any]) -> LowUtilization:
    found = []
    for key in ("thresholds", "targetThresholds"):
        percents = dict.fromkeys(("cpu", "memory", "pods"), 100)
        given = stated.get(key, {})
        if not isinstance(given, Mapping):
            # Reading ends here, so what follows keeps its defaults.
            stated = {}
            given = {}
        for name, percent in given.items():
            if type(percent) is not int:
                raise TypeError(f"write {key} as whole percents without quotes")
            percents[str(name)] = percent
        found.append(tuple(percents.items()))
    return LowUtilization(*found)


def exclusive_rules(raw: object) -> tuple[tuple[tuple[str, str], ...], ...]:
    """`GPUExclusiveRules` of deviceshare: labels that keep pods off each other's cards; what is no text is dropped."""
    found = []
    for entry in raw if isinstance(raw, list | tuple) else ():
        pairs = entry.items() if isinstance(entry, Mapping) else ()
        rule = tuple((key, value) for key, value in pairs if isinstance(key, str) and isinstance(value, str))
        if rule:
            found.append(rule)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class FitEntry:
    """How resource-strategy-fit rates one resource, or all that begin alike."""

    type: str = LEAST
    weight: int = 1


@dataclass(frozen=True)
class FitTable:
    """resource-strategy-fit's table: resources by name, and by what their names begin with."""

    exact: tuple[tuple[str, FitEntry], ...] = ()
    prefixes: tuple[tuple[str, FitEntry], ...] = ()
    dropped: tuple[str, ...] = ()
    """Patterns that Volcano drops."""


_ENTRIES = strict_map(strict_struct(type=strict_text, weight=strict_integer))
_BY_DEFAULT: dict[str, dict[str, Any]] = {name: {"type": LEAST, "weight": 1} for name in ("cpu", "memory")}


def fit_table(raw: object) -> FitTable:
    """`resources` of resource-strategy-fit; without an entry, cpu and memory are rated."""
    exact, prefixes, dropped = [], [], []
    for name, stated in (_ENTRIES(raw) or _BY_DEFAULT).items():
        type_ = stated["type"] if stated["type"] in (LEAST, MOST) else LEAST
        entry = FitEntry(type_, stated["weight"] if stated["weight"] > 0 else 1)
        if "*" not in name:
            exact.append((name, entry))
        elif name.index("*") == len(name) - 1 and len(name) > 1:
            prefixes.append((name[:-1], entry))
        else:
            dropped.append(name)
    # The longest prefix that a name begins with decides.
    prefixes.sort(key=lambda pair: -len(pair[0]))
    return FitTable(tuple(exact), tuple(prefixes), tuple(dropped))


@dataclass(frozen=True)
class Scarce:
    """Resources that tasks which do not need them are kept away from (`sra`); a weight of 0 is no score."""

    resources: tuple[str, ...] = ()
    weight: int = 0
    weights: tuple[tuple[str, int], ...] = ()


_SCARCE = strict_struct(
    enable=strict_boolean, resources=strict_text, weight=strict_integer, resourceWeight=strict_map(strict_integer)
)


def scarce(raw: object) -> Scarce:
    """`sra` of resource-strategy-fit."""
    stated = _SCARCE(raw)
    if not stated["enable"]:
        return Scarce()
    weights = {name: weight if weight >= 0 else 1 for name, weight in stated["resourceWeight"].items()}
    resources = listed(stated["resources"])
    return Scarce(resources, max(0, stated["weight"]), tuple((name, weights.get(name, 1)) for name in resources))


@dataclass(frozen=True)
class Proportion:
    """What each device of a kind keeps for itself on a node: cores, and GB of 10**9 bytes (`proportional`)."""

    resource: str
    cpu: float
    memory: float


_PROPORTIONAL = strict_struct(
    enable=strict_boolean, resources=strict_text, resourceProportion=strict_map(strict_number)
)


def proportions(raw: object) -> tuple[Proportion, ...]:
    """`proportional` of resource-strategy-fit; nothing if it is off."""
    stated = _PROPORTIONAL(raw)
    if not stated["enable"]:
        return ()
    rates = {name: rate if rate >= 0 else 1.0 for name, rate in stated["resourceProportion"].items()}
    return tuple(
        Proportion(name, rates.get(f"{name}.cpu", 1.0), rates.get(f"{name}.memory", 1.0))
        for name in listed(stated["resources"])
    )
