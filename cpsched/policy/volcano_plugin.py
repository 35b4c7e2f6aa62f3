"""One plugin entry of a volcano-scheduler.conf, its flags and arguments resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cpsched.policy.arguments import Arguments, resolve
from cpsched.policy.notes import UNKNOWN, Notes, as_mapping, as_name, known, shown
from cpsched.policy.volcano_registry import ASKED_BY, DECIDES, FLAGS, PLUGINS, UNMIRRORED_PLUGINS


@dataclass(frozen=True)
class PluginConf:
    """One plugin entry of one tier; flags and arguments go by their yaml keys."""

    name: str
    flags: Mapping[str, bool]
    arguments: Arguments

    def on(self, flag: str) -> bool:
        """Whether the extension point behind a flag such as `enablePreemptable` is on."""
        return self.flags[flag]


def read_plugin(item: object, place: str, actions: Sequence[str], notes: Notes) -> PluginConf | None:
    """The entry, or None for a plugin that is not run here; `actions` are all that are configured."""
    entry = as_mapping(item, place, notes)
    name = as_name(entry.get("name"), place, notes)
    flags = _flags(entry, name, place, notes)
    given = as_mapping(entry.get("arguments"), f"{place}.arguments", notes)
    if name not in PLUGINS:
        _left_out(name, flags, actions, place, notes)
        return None
    arguments = resolve(given, PLUGINS[name], f"plugin {name}", notes, f"{place}.arguments")
    plugin = PluginConf(name, flags, arguments)
    if name in _LISTS_RESOURCES:
        _warn_of_unlisted(plugin, f"{place}.arguments", notes)
    if name == "deviceshare":
        _check_cards(plugin, f"{place}.arguments", notes)
    if name == "predicates" and not plugin.on("enablePredicate"):
        wrong = "predicates with enablePredicate: false lets Volcano place nothing at all"
        raise notes.error(wrong, place=place, right="leave the plugin out to run without predicates")
    return plugin


def _left_out(name: str, flags: Mapping[str, bool], actions: Sequence[str], place: str, notes: Notes) -> None:
    """The doubt about a plugin that is not run here; none if nothing would have asked it."""
    if not name:
        notes.unknown("the plugin has no name, so Volcano goes on without it", place=place, right=known("", PLUGINS))
        return
    if name not in UNMIRRORED_PLUGINS:
        wrong = f"unknown plugin {shown(name)}: the answer is made without it, like that of a Volcano not built with it"
        right = known(name, PLUGINS, also=UNMIRRORED_PLUGINS)
        notes.doubt("plugin", name, UNKNOWN, wrong, place=place, right=right)
        return
    decides = decided(flags, UNMIRRORED_PLUGINS[name], actions)
    if decides:
        wrong = f"plugin {name} is not mirrored, so the answer is made without it; it decides: {decides}"
        notes.doubt("plugin", name, decides, wrong, place=place)


def decided(flags: Mapping[str, bool], points: Sequence[str], actions: Sequence[str]) -> str:
    """What is decided at those of the points that are on and that an action asks."""
    on = (flag for flag in points if flags[flag])
    return ", ".join(DECIDES[flag] for flag in on if flag not in ASKED_BY or ASKED_BY[flag] in actions)


def _flags(entry: Mapping[str, Any], name: str, place: str, notes: Notes) -> dict[str, bool]:
    flags = dict(FLAGS)
    for key, value in entry.items():
        if key in FLAGS:
            flags[key] = _flag(value, FLAGS[key], f"{place}.{key}", notes)
        elif key not in ("name", "arguments"):
            wrong = f"unknown flag {key} of plugin {shown(name)} is ignored, as by Volcano"
            notes.unknown(wrong, place=place, right=known(key, FLAGS))
    return flags


def _flag(value: object, default: bool, place: str, notes: Notes) -> bool:
    if value is None:
        return default
    if not isinstance(value, bool):
        raise notes.error(f"{shown(value)} is not a flag", place=place, right="write true or false without quotes")
    return value


def _check_cards(plugin: PluginConf, place: str, notes: Notes) -> None:
    """Cards are shared in one way; another program's cards are left out."""
    ways = [f"deviceshare.{way}" for way in ("GPUSharingEnable", "GPUNumberEnable", "VGPUEnable")]
    if sum(map(plugin.arguments.boolean, ways)) > 1:
        wrong = "two ways of sharing cards end the scheduler"
        raise notes.error(wrong, place=place, right=f"switch one of {', '.join(ways)} on")
    for key in ("deviceshare.AscendMindClusterVNPUEnable", "deviceshare.AscendHAMiVNPUEnable"):
        if plugin.arguments.boolean(key):
            decides = "which nodes fit"
            wrong = f"argument {key} is not mirrored, so the answer is made without it; it decides: {decides}"
            notes.doubt("argument", key, decides, wrong, place=place)


_LISTS_RESOURCES = {"binpack": "binpack", "network-topology-aware": "hypernode.binpack"}
"""Plugins with weights for resources that they list, and how the keys of these arguments begin."""


def _warn_of_unlisted(plugin: PluginConf, place: str, notes: Notes) -> None:
    key = f"{_LISTS_RESOURCES[plugin.name]}.resources"
    for name in plugin.arguments.family(f"{key}."):
        if name not in _listed_resources(plugin):
            notes.warn(f"{key} does not list {name}, so its weight is ignored", place=place)


def _listed_resources(plugin: PluginConf) -> list[str]:
    names = plugin.arguments.text(f"{_LISTS_RESOURCES[plugin.name]}.resources").split(",")
    return [name.strip() for name in names if name.strip()]


def packing_weights(plugin: PluginConf) -> dict[str, int]:
    """Weight per resource that binpack or network-topology-aware looks at: cpu, memory and what is listed."""
    prefix = _LISTS_RESOURCES[plugin.name]
    given = plugin.arguments.family(f"{prefix}.resources.")
    weights = {name: given.get(name, 1) for name in _listed_resources(plugin)}
    weights |= {name: plugin.arguments.integer(f"{prefix}.{name}") for name in ("cpu", "memory")}
    return {name: int(weight or 0) for name, weight in weights.items()}


def revocable_zones(plugin: PluginConf) -> dict[str, str]:
    """tdm's zones with their windows, such as {"rz1": "10:00-21:00"}."""
    return {zone: str(window) for zone, window in plugin.arguments.family("tdm.revocable-zone.").items()}
