"""What `cpsched capture` writes beside the objects: when it was, how the schedulers are configured, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cpsched import timestamps
from cpsched.errors import InputError
from cpsched.importers.raw import text_at
from cpsched.instance import API_VERSION

KIND = "Capture"
FORBIDDEN = ": forbidden"
"""Ends what is missing because the user may not read it."""


def is_capture(raw: Any) -> bool:
    """Whether this is the description of a captured cluster."""
    return isinstance(raw, Mapping) and raw.get("kind") == KIND and raw.get("apiVersion") == API_VERSION


def stated(raw: Mapping[str, Any], file: str, place: str, notes: list[str]) -> dict[str, Any]:
    """The moment and the configuration of the captured cluster; notes say what is not used and what is missing."""
    place = f"{place}: {KIND}" if place else KIND
    settings: dict[str, Any] = {}
    if raw.get("time") is not None:
        try:
            settings["now"] = timestamps.parse(raw["time"])
        except ValueError as error:
            raise InputError(str(error), file=file, place=f"{place}: time") from None
    spare = [one for one in _list(raw, "configurations") if isinstance(one, Mapping)]
    spare = sorted((one for one in spare if isinstance(one.get("conf"), Mapping)), key=_serves, reverse=True)
    if spare and _serves(spare[0]) > ((0, True) if raw.get("pending") else (0, False)):
        settings["conf"] = spare.pop(0)["conf"]
    for one in spare:
        where, scheduler = text_at(one, "from"), text_at(one, "scheduler")
        notes.append(f"ConfigMap {where} of the scheduler {scheduler} is not used; name its configuration by --conf")
    notes += shortfall([one for one in _list(raw, "missing") if isinstance(one, str)])
    return settings


def shortfall(missing: Sequence[str]) -> list[str]:
    """What could not be read, in few lines: kinds that the user may not read are one."""
    forbidden = [one.removesuffix(FORBIDDEN) for one in missing if one.endswith(FORBIDDEN)]
    others = [f"not captured: {one}" for one in missing if not one.endswith(FORBIDDEN)]
    if not forbidden:
        return others
    where = "docs/capture.md has the ClusterRole that is needed"
    return [f"not captured, because that user may not read them ({where}): {', '.join(forbidden)}", *others]


def _serves(configuration: Mapping[str, Any]) -> tuple[int, bool]:
    """How much waits for a scheduler with this configuration; where nothing waits at all, Volcano's is used."""
    waiting = configuration.get("waiting")
    return waiting if isinstance(waiting, int) else 0, configuration.get("scheduler") == "volcano"


def _list(raw: Mapping[str, Any], key: str) -> list[Any]:
    value = raw.get(key)
    return value if isinstance(value, list) else []
