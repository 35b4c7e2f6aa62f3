"""volcano-scheduler.conf: actions, tiers of plugins and action arguments, every default filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from cpsched.doubts import Doubt
from cpsched.policy.arguments import Arguments, resolve
from cpsched.policy.durations import SECOND, nanoseconds
from cpsched.policy.notes import Notes, as_list, as_mapping, as_name, known, shown
from cpsched.policy.volcano_plugin import PluginConf, read_plugin
from cpsched.policy.volcano_registry import ACTIONS

BUILT_IN: dict[str, Any] = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [
        {"plugins": [{"name": name} for name in ("priority", "gang", "conformance")]},
        {"plugins": [{"name": name} for name in ("overcommit", "drf", "predicates", "proportion", "nodeorder")]},
    ],
}
"""What Volcano runs without a configuration file (util.go)."""

TOP_KEYS = ("actions", "tiers", "configurations", "metrics")

INTERVAL = "metrics.interval"
"""Where usage finds how often loads are measured."""

Tiers = tuple[tuple[PluginConf, ...], ...]


@dataclass(frozen=True)
class VolcanoConf:
    """A session's configuration; `configurations` holds the arguments of every action, configured or not."""

    actions: tuple[str, ...]
    tiers: Tiers
    configurations: Mapping[str, Arguments]
    warnings: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = field(default=(), repr=False)
    """What is configured and not run here."""

    @classmethod
    def parse(cls, conf: Mapping[str, Any], *, file: str | None = None, strict: bool = False) -> VolcanoConf:
        """Read the mapping that a volcano-scheduler.conf holds."""
        notes = Notes(file, strict)
        _warn_of_other_keys(conf, TOP_KEYS, None, notes)
        actions = _actions(conf.get("actions"), notes)
        tiers = _tiers(conf.get("tiers"), actions, notes)
        configurations = _configurations(conf.get("configurations"), notes)
        tiers = _with_interval(tiers, _metrics(conf.get("metrics"), notes).get("interval"))
        return cls(actions, tiers, configurations, tuple(notes.warnings), tuple(notes.doubts))

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


def _warn_of_other_keys(given: Mapping[str, Any], keys: Sequence[str], place: str | None, notes: Notes) -> None:
    for key in given:
        if key not in keys:
            notes.unknown(f"unknown key {key} is ignored, as by Volcano", place=place, right=known(key, keys))


def _actions(given: object, notes: Notes) -> tuple[str, ...]:
    """All configured actions; Volcano refuses the whole configuration for one that it does not know."""
    example = 'write a comma-separated text such as "enqueue, allocate, backfill"'
    if given is None or given == "":
        raise notes.error("no action is configured", place="actions", right=example)
    if not isinstance(given, str):
        raise notes.error(f"{shown(given)} is not a text", place="actions", right=example)
    names = tuple(part.strip() for part in given.split(","))
    for name in names:
        if name not in ACTIONS:
            wrong = f"unknown action {shown(name)}, for which Volcano refuses the configuration"
            raise notes.error(wrong, place="actions", right=known(name, ACTIONS))
    return names


def _metrics(given: object, notes: Notes) -> Mapping[str, Any]:
    """Only the interval is used here; Volcano refuses the whole configuration for a value that is no text."""
    metrics = as_mapping(given, "metrics", notes)
    for key, value in metrics.items():
        if isinstance(value, Mapping | list | tuple):
            right = "write flat keys such as tls.insecureSkipVerify"
            raise notes.error(f"{shown(value)} is not a text", place=f"metrics.{key}", right=right)
    return metrics


def _with_interval(tiers: Tiers, stated: object) -> Tiers:
    """The time that a load takes to be measured, among the arguments of usage, which goes by it."""
    try:
        interval = nanoseconds(stated)
    except ValueError:
        interval = 0

    def known(plugin: PluginConf) -> PluginConf:
        if plugin.name != "usage":
            return plugin
        values = {**plugin.arguments.values, INTERVAL: interval if interval > 0 else 30 * SECOND}
        return replace(plugin, arguments=Arguments(values))

    return tuple(tuple(map(known, tier)) for tier in tiers)


def _tiers(given: object, actions: Sequence[str], notes: Notes) -> Tiers:
    entries = as_list(given, "tiers", notes)
    tiers = tuple(_tier(entry, f"tiers[{index}]", actions, notes) for index, entry in enumerate(entries))
    if not any(tiers):
        notes.warn("no plugin is run, so nothing orders, limits or protects", place="tiers")
    return _with_last_arguments(tiers, notes)


def _tier(entry: object, place: str, actions: Sequence[str], notes: Notes) -> tuple[PluginConf, ...]:
    tier = as_mapping(entry, place, notes)
    _warn_of_other_keys(tier, ("plugins",), place, notes)
    items = as_list(tier.get("plugins"), f"{place}.plugins", notes)
    read = (read_plugin(item, f"{place}.plugins[{index}]", actions, notes) for index, item in enumerate(items))
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
            notes.unknown(f"plugin {plugin.name} is configured twice", place="tiers", right=right)
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
    _warn_of_other_keys(entry, ("name", "arguments"), place, notes)
    name = as_name(entry.get("name"), place, notes)
    given = as_mapping(entry.get("arguments"), f"{place}.arguments", notes)
    if name not in ACTIONS:
        wrong = f"arguments for the unknown action {shown(name)} are ignored, as by Volcano"
        notes.unknown(wrong, place=place, right=known(name, ACTIONS))
    elif name in arguments:
        notes.unknown(f"arguments of {name} are given twice", place=place, right="Volcano reads the first ones")
    else:
        arguments[name] = resolve(given, ACTIONS[name], f"action {name}", notes, f"{place}.arguments")
