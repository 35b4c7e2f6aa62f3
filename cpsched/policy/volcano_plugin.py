"""One plugin entry of a volcano-scheduler.conf, its flags and arguments resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cpsched.policy.arguments import Arguments, resolve
from cpsched.policy.notes import Notes, as_mapping, known, shown
from cpsched.policy.volcano_registry import FLAGS, PLUGINS, UNSUPPORTED_PLUGINS


@dataclass(frozen=True)
class PluginConf:
    """One plugin entry of one tier; flags and arguments go by their yaml keys."""

    name: str
    flags: Mapping[str, bool]
    arguments: Arguments

    def on(self, flag: str) -> bool:
        """Whether the extension point behind a flag such as `enablePreemptable` is on."""
        return self.flags[flag]


def read_plugin(item: object, place: str, notes: Notes) -> PluginConf | None:
    """The entry, or None for a plugin that is not mirrored and only a warning to the lenient."""
    entry = as_mapping(item, place, notes)
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise notes.error("the plugin has no name", place=place, right=f"known: {', '.join(sorted(PLUGINS))}")
    if not is_mirrored("plugin", name, PLUGINS, UNSUPPORTED_PLUGINS, place, notes):
        return None
    given = as_mapping(entry.get("arguments"), f"{place}.arguments", notes)
    arguments = resolve(given, PLUGINS[name], f"plugin {name}", notes, f"{place}.arguments")
    plugin = PluginConf(name, _flags(entry, place, notes), arguments)
    if name == "binpack":
        _warn_of_unlisted(plugin, f"{place}.arguments", notes)
    if name == "predicates" and not plugin.on("enablePredicate"):
        wrong = "predicates with enablePredicate: false lets Volcano place nothing at all"
        raise notes.error(wrong, place=place, right="leave the plugin out to run without predicates")
    return plugin


def is_mirrored(
    kind: str, name: str, supported: Mapping[str, Any], unsupported: frozenset[str], place: str, notes: Notes
) -> bool:
    """Whether an action or plugin can be run here; if not, the doubt says whether Volcano knows it."""
    if name in supported:
        return True
    if name in unsupported:
        right = f"supported: {', '.join(sorted(supported))}"
        notes.doubt(f"{kind} {name} exists in Volcano but is not mirrored here", place=place, right=right)
    else:
        notes.doubt(f"unknown {kind} {shown(name)}", place=place, right=known(name, supported, also=unsupported))
    return False


def _flags(entry: Mapping[str, Any], place: str, notes: Notes) -> dict[str, bool]:
    flags = dict(FLAGS)
    for key, value in entry.items():
        if key in FLAGS:
            flags[key] = _flag(value, FLAGS[key], f"{place}.{key}", notes)
        elif key not in ("name", "arguments"):
            notes.doubt(f"unknown flag {key} of plugin {entry['name']}", place=place, right=known(key, FLAGS))
    return flags


def _flag(value: object, default: bool, place: str, notes: Notes) -> bool:
    if value is None:
        return default
    if not isinstance(value, bool):
        raise notes.error(f"{shown(value)} is not a flag", place=place, right="write true or false without quotes")
    return value


def _warn_of_unlisted(plugin: PluginConf, place: str, notes: Notes) -> None:
    for name in plugin.arguments.family("binpack.resources."):
        if name not in _listed_resources(plugin):
            notes.warn(f"binpack.resources does not list {name}, so its weight is ignored", place=place)


def _listed_resources(plugin: PluginConf) -> list[str]:
    names = (name.strip() for name in plugin.arguments.text("binpack.resources").split(","))
    return [name for name in names if name]


def binpack_weights(plugin: PluginConf) -> dict[str, int]:
    """Weight per resource that binpack looks at: cpu, memory and what binpack.resources lists."""
    given = plugin.arguments.family("binpack.resources.")
    weights = {name: given.get(name, 1) for name in _listed_resources(plugin)}
    weights |= {"cpu": plugin.arguments.integer("binpack.cpu"), "memory": plugin.arguments.integer("binpack.memory")}
    return {name: int(weight or 0) for name, weight in weights.items()}


def revocable_zones(plugin: PluginConf) -> dict[str, str]:
    """tdm's zones with their windows, such as {"rz1": "10:00-21:00"}."""
    return {zone: str(window) for zone, window in plugin.arguments.family("tdm.revocable-zone.").items()}
