"""Whose configuration a mapping is: Volcano's, kube-scheduler's, or a ConfigMap that holds one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cpsched.errors import InputError
from cpsched.json_values import RepeatedKeyError
from cpsched.policy.kube_conf import GROUP, KIND
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


def recognise(given: object, *, file: str | None = None) -> SchedulerConf:
    """Tell the dialects apart; an error says what would have been understood."""
    notes = Notes(file)
    if not isinstance(given, Mapping):
        raise notes.error(f"{shown(given)} is not a scheduler configuration", right=_EXPECTED)
    if given.get("kind") == "ConfigMap":
        return _from_config_map(given, notes)
    scheduler = _scheduler_of(given)
    if scheduler is None:
        raise notes.error("this is not a scheduler configuration", right=_EXPECTED)
    return SchedulerConf(scheduler, given)


def _scheduler_of(conf: object) -> Scheduler | None:
    if not isinstance(conf, Mapping):
        return None
    if conf.get("kind") == KIND or str(conf.get("apiVersion", "")).startswith(GROUP):
        return "kube"
    return "volcano" if "actions" in conf or "tiers" in conf else None


def _from_config_map(config_map: Mapping[str, Any], notes: Notes) -> SchedulerConf:
    data = config_map.get("data")
    if not isinstance(data, Mapping) or not data:
        raise notes.error("the ConfigMap holds no data", place="data", right=_EXPECTED)
    found: dict[str, SchedulerConf] = {}
    for key, text in data.items():
        conf = _parsed(key, text, notes)
        scheduler = _scheduler_of(conf)
        if scheduler:
            found[key] = SchedulerConf(scheduler, conf)
    if len(found) != 1:
        number = "several scheduler configurations" if found else "no scheduler configuration"
        keys = ", ".join(map(str, found or data))
        raise notes.error(f"the ConfigMap holds {number} ({keys})", place="data", right="one is needed")
    return next(iter(found.values()))


def _parsed(key: object, text: object, notes: Notes) -> Any:
    """The YAML of one entry; only an entry that must be the configuration has to be readable."""
    if not isinstance(text, str):
        return None
    try:
        values = list(yaml_values(text, str(key)))
    except InputError as error:
        if isinstance(error, RepeatedKeyError):
            raise notes.error(error.wrong, place=f"data.{key}: {error.place}", right=error.right) from None
        if not str(key).endswith(".conf"):
            return None
        line = f" in its {error.place.partition(' column')[0]}" if error.place else ""
        raise notes.error(f"{key} is not YAML{line}", place="data") from None
    return values[0] if len(values) == 1 else None
