"""volcano-scheduler.conf: actions, tiers of plugins and action arguments, every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from cpsched.policy.arguments import Arguments, resolve
from cpsched.policy.notes import Notes, as_list, as_mapping, known, shown
from cpsched.policy.volcano_plugin import PluginConf, is_mirrored, read_plugin
from cpsched.policy.volcano_registry import ACTIONS, UNSUPPORTED_ACTIONS

BUILT_IN: dict[str, Any] = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [
        {"plugins": [{"name": name} for name in ("priority", "gang", "conformance")]},
        {"plugins": [{"name": name} for name in ("overcommit", "drf", "predicates", "proportion", "nodeorder")]},
    ],
}
"""What Volcano runs without a configuration file (util.go)."""

TOP_KEYS = ("actions", "tiers", "configurations", "metrics")

Tiers = tuple[tuple[PluginConf, ...], ...]


@dataclass(frozen=True)
class VolcanoConf:
    """A session's configuration; `configurations` holds the arguments of every action, configured or not."""

    actions: tuple[str, ...]
    tiers: Tiers
    configurations: Mapping[str, Arguments]
    warnings: tuple[str, ...] = ()

    @classmethod
    def parse(cls, conf: Mapping[str, Any], *, file: str | None = None, lenient: bool = False) -> VolcanoConf:
        """Read the mapping that a volcano-scheduler.conf holds."""
        notes = Notes(file, lenient)
        for key in conf:
            if key not in TOP_KEYS:
                notes.doubt(f"unknown key {key}", right=known(key, TOP_KEYS))
        actions = _actions(conf.get("actions"), notes)
        tiers = _tiers(conf.get("tiers"), notes)
        return cls(actions, tiers, _configurations(conf.get("configurations"), notes), tuple(notes.warnings))

    @classmethod
    def default(cls) -> VolcanoConf:
        """Volcano's built-in configuration."""
        return cls.parse(BUILT_IN)

    @cached_property
    def plugins(self) -> tuple[PluginConf, ...]:
        """All plugin entries in the order in which the tiers are walked."""
        return tuple(plugin for tier in self.tiers for plugin in tier)

    def plugin(self, name: str) -> PluginConf | None:
        """The first entry of that name."""
        return next((plugin for plugin in self.plugins if plugin.name == name), None)

    def enabled(self, name: str, flag: str) -> bool:
        """Whether some entry of that name has the flag on."""
        return any(plugin.on(flag) for plugin in self.plugins if plugin.name == name)


def _actions(given: object, notes: Notes) -> tuple[str, ...]:
    example = 'write a comma-separated text such as "enqueue, allocate, backfill"'
    if given is None or given == "":
        raise notes.error("no action is configured", place="actions", right=example)
    if not isinstance(given, str):
        raise notes.error(f"{shown(given)} is not a text", place="actions", right=example)
    names = [part.strip() for part in given.split(",")]
    kept = tuple(n for n in names if is_mirrored("action", n, ACTIONS, UNSUPPORTED_ACTIONS, "actions", notes))
    if not kept:
        raise notes.error("no action is left", place="actions", right=example)
    return kept


def _tiers(given: object, notes: Notes) -> Tiers:
    entries = as_list(given, "tiers", notes)
    tiers = tuple(_tier(entry, f"tiers[{index}]", notes) for index, entry in enumerate(entries))
    if not any(tiers):
        notes.warn("no plugin is configured, so nothing orders, limits or protects anybody", place="tiers")
    return _with_last_arguments(tiers, notes)


def _tier(entry: object, place: str, notes: Notes) -> tuple[PluginConf, ...]:
    tier = as_mapping(entry, place, notes)
    for key in tier:
        if key != "plugins":
            notes.doubt(f"unknown key {key}", place=place, right="a tier holds plugins")
    items = as_list(tier.get("plugins"), f"{place}.plugins", notes)
    read = (read_plugin(item, f"{place}.plugins[{index}]", notes) for index, item in enumerate(items))
    plugins = tuple(plugin for plugin in read if plugin)
    hierarchical = any(plugin.name == "drf" and plugin.on("enableHierarchy") for plugin in plugins)
    if hierarchical and any(plugin.name == "proportion" for plugin in plugins):
        right = "take one of them out of the tier"
        raise notes.error("drf with enableHierarchy conflicts with proportion", place=place, right=right)
    return plugins


def _with_last_arguments(tiers: Tiers, notes: Notes) -> Tiers:
    """Of a plugin named twice the later one registers its functions last, so its arguments hold for both."""
    last: dict[str, PluginConf] = {}
    for plugin in (plugin for tier in tiers for plugin in tier):
        if plugin.name in last:
            right = "Volcano walks both entries, with the arguments of the last"
            notes.doubt(f"plugin {plugin.name} is configured twice", place="tiers", right=right)
        last[plugin.name] = plugin
    return tuple(tuple(replace(plugin, arguments=last[plugin.name].arguments) for plugin in tier) for tier in tiers)


def _configurations(given: object, notes: Notes) -> dict[str, Arguments]:
    entries = as_list(given, "configurations", notes)
    arguments: dict[str, Arguments] = {}
    for index, item in enumerate(entries):
        _read_configuration(item, f"configurations[{index}]", arguments, notes)
    defaults = {name: resolve({}, table, name, notes, "") for name, table in ACTIONS.items()}
    return defaults | arguments


def _read_configuration(item: object, place: str, arguments: dict[str, Arguments], notes: Notes) -> None:
    entry = as_mapping(item, place, notes)
    for key in entry:
        if key not in ("name", "arguments"):
            notes.doubt(f"unknown key {key}", place=place, right="a configuration holds name and arguments")
    name = entry.get("name")
    if not isinstance(name, str) or name not in {*ACTIONS, *UNSUPPORTED_ACTIONS}:
        notes.doubt(f"arguments for the unknown action {shown(name)}", place=place, right=known(name, ACTIONS))
    elif name in arguments:
        notes.doubt(f"arguments of {name} are given twice", place=place, right="Volcano reads the first ones")
    elif name in ACTIONS:
        given = as_mapping(entry.get("arguments"), f"{place}.arguments", notes)
        arguments[name] = resolve(given, ACTIONS[name], f"action {name}", notes, f"{place}.arguments")
