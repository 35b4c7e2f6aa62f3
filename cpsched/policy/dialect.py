"""Whose configuration a mapping is: Volcano's, kube-scheduler's, or a ConfigMap that holds one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeGuard

from cpsched.errors import InputError
from cpsched.json_values import RepeatedKeyError
from cpsched.policy.kube_forms import GROUP, KIND
from cpsched.policy.notes import Notes, shown
from cpsched.yaml_values import yaml_values

Scheduler = Literal["volcano", "kube"]

_EXPECTED = (
    "write Volcano's actions and tiers, a KubeSchedulerConfiguration with apiVersion and kind, "
    "or the ConfigMap that holds either"
)


@dataclass(frozen=True)
class SchedulerConf:
    """A configuration taken out of its wrapping."""

    scheduler: Scheduler
    conf: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


Found = dict[str, SchedulerConf]
"""Configurations by where they are."""


def recognise(given: object, *, file: str | None = None) -> SchedulerConf:
    """Tell the dialects apart; an error says what would have been understood."""
    notes = Notes(file)
    if not isinstance(given, Mapping):
        raise notes.error(f"{shown(given)} is not a scheduler configuration", right=_EXPECTED)
    if _is_config_map(given):
        found, what, where = _in_config_map(given, notes), "the ConfigMap", "data"
    elif _is_list(given):
        found, what, where = _in_list(given["items"], notes), "the list", "items"
    else:
        found, what, where = _itself(given), "this", ""
    if len(found) == 1:
        return next(iter(found.values()))
    if not where:
        raise notes.error("this is not a scheduler configuration", right=_EXPECTED)
    if where == "data" and not (isinstance(given.get(where), Mapping) and given[where]):
        raise notes.error("the ConfigMap holds no data", place=where, right=_EXPECTED)
    number = "several scheduler configurations" if found else "no scheduler configuration"
    names = ", ".join(map(str, found or given.get("data", ())))
    raise notes.error(f"{what} holds {number}{names and f' ({names})'}", place=where, right="one is needed")


def _is_config_map(given: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(given, Mapping) and given.get("kind") == "ConfigMap"


def _is_list(given: Mapping[str, Any]) -> bool:
    return str(given.get("kind", "")).endswith("List") and isinstance(given.get("items"), list | tuple)


def _itself(given: object) -> Found:
    if not isinstance(given, Mapping):
        return {}
    if given.get("kind") == KIND or str(given.get("apiVersion", "")).startswith(GROUP):
        return {"": SchedulerConf("kube", given)}
    return {"": SchedulerConf("volcano", given)} if "actions" in given or "tiers" in given else {}


def _in_list(items: Sequence[object], notes: Notes) -> Found:
    """The objects' configurations; an object that cannot be read counts only if nothing else is found."""
    found: Found = {}
    failed: list[InputError] = []
    for index, item in enumerate(items):
        try:
            own = _in_config_map(item, notes) if _is_config_map(item) else _itself(item)
        except InputError as error:
            failed.append(error)
        else:
            found |= {f"{index + 1}.{key}".rstrip("."): conf for key, conf in own.items()}
    if failed and not found:
        raise failed[0]
    return found


def _in_config_map(config_map: Mapping[str, Any], notes: Notes) -> Found:
    data = config_map.get("data")
    entries = data.items() if isinstance(data, Mapping) else ()
    return {str(key): conf for key, text in entries for conf in _parsed(key, text, notes).values()}


def _parsed(key: object, text: object, notes: Notes) -> Found:
    """The configuration in one entry; only an entry that must be one has to be readable.

    Both schedulers read the first document and no further.
    """
    documents = yaml_values(text, str(key)) if isinstance(text, str) else iter(())
    try:
        found = _itself(next(documents, None))
    except InputError as error:
        if isinstance(error, RepeatedKeyError):
            raise notes.error(error.wrong, place=f"data.{key}: {error.place}", right=error.right) from None
        if not str(key).endswith(".conf"):
            return {}
        line = f" in its {error.place.partition(' column')[0]}" if error.place else ""
        raise notes.error(f"{key} is not YAML{line}", place="data") from None
    if found and _goes_on(documents):
        wrong = "what follows the first YAML document is ignored, as by the scheduler"
        found[""] = replace(found[""], warnings=(str(notes.error(wrong, place=f"data.{key}")),))
    return found


def _goes_on(documents: Iterator[object]) -> bool:
    """Whether there is more, readable or not."""
    try:
        return next(documents, None) is not None
    except InputError:
        return True
