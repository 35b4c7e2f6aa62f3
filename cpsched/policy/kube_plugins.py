"""Which plugins a profile runs at which extension point, in order (default_plugins.go, framework/runtime)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from cpsched.objects.base import Items
from cpsched.policy.kube_registry import (
    DECIDES,
    FORMS,
    MERGED_PLUGINS,
    UNMIRRORED_PLUGINS,
    FormName,
    KubeVersion,
    plugins,
    points,
)
from cpsched.policy.notes import UNKNOWN, Notes, known, shown
from cpsched.policy.shapes import ClosedShape

Plugins = Mapping[str, tuple[str, ...]]
"""Plugins by name, with their extension points."""


class PluginEntry(ClosedShape):
    """A plugin by name, with a weight where it scores; no weight or 0 is weight 1."""

    name: str
    weight: int = Field(0, ge=-(2**31), lt=2**31)


class PluginSet(ClosedShape):
    """What one extension point adds to the default plugins and takes from them; `*` takes all."""

    enabled: Items[PluginEntry] = ()
    disabled: Items[PluginEntry] = ()

    @property
    def disabled_names(self) -> frozenset[str]:
        """Names that the set takes away."""
        return frozenset(entry.name for entry in self.disabled)


@dataclass(frozen=True)
class Pipeline:
    """Plugins per extension point in the order in which they run, and the weights of those that score."""

    points: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int]


def resolve_pipeline(
    given: Mapping[str, PluginSet], version: KubeVersion, notes: Notes, place: str, form: FormName = "v1"
) -> Pipeline:
    """The effective plugins of a profile whose `plugins` section is given."""
    implemented = plugins(version)
    left_out = _left_out(given, implemented, notes, place)
    sets = {point: _implemented_only(one, implemented) for point, one in given.items()}
    everywhere = _merge_defaults(sets.get("multiPoint", PluginSet()), implemented, FORMS[form].weights)
    _refuse_repeats([entry.name for entry in everywhere], notes, f"{place}.multiPoint")
    by_point = {}
    for point in points(version):
        plugin_set = _fitting(sets.get(point, PluginSet()), point, implemented, form, notes, f"{place}.{point}")
        by_point[point] = _expand(plugin_set, [e.name for e in everywhere if point in implemented[e.name]])
    for point, name in (("queueSort", "PrioritySort"), ("bind", "DefaultBinder")):
        if not by_point[point] and not left_out.isdisjoint((point, "multiPoint")):
            by_point[point] = (name,)
    if len(by_point["queueSort"]) != 1:
        raise notes.error("the profile needs exactly one queueSort plugin", place=place)
    if not by_point["bind"]:
        raise notes.error("the profile needs a bind plugin", place=place)
    entries = [*sets.get("score", PluginSet()).enabled, *everywhere]
    return Pipeline(by_point, {name: _weight(name, entries) for name in by_point["score"]})


def _left_out(given: Mapping[str, PluginSet], implemented: Plugins, notes: Notes, place: str) -> frozenset[str]:
    """The points at which a plugin is enabled that is not run here; each such plugin is named with what it decides."""
    enabled: dict[str, list[str]] = {}
    for point, one in given.items():
        for entry in one.enabled:
            if entry.name not in implemented:
                enabled.setdefault(entry.name, []).append(point)
        for entry in one.disabled:
            if entry.name not in {"*", *implemented, *UNMIRRORED_PLUGINS, *MERGED_PLUGINS}:
                wrong = f"unknown plugin {shown(entry.name)}: disabling it changes nothing"
                right = known(entry.name, implemented, also=UNMIRRORED_PLUGINS)
                notes.unknown(wrong, place=f"{place}.{point}.disabled", right=right)
    for name, where in enabled.items():
        _doubt(name, where, implemented, notes, place)
    return frozenset(point for name, where in enabled.items() if name not in MERGED_PLUGINS for point in where)


def _doubt(name: str, where: Sequence[str], implemented: Plugins, notes: Notes, place: str) -> None:
    if name in MERGED_PLUGINS:
        notes.warn(f"plugin {name} is left out, {MERGED_PLUGINS[name]} does its work", place=place)
        return
    own = UNMIRRORED_PLUGINS.get(name)
    hooks = [hook for point in where for hook in ((own or (UNKNOWN,)) if point == "multiPoint" else (point,))]
    decides = ", ".join(dict.fromkeys(DECIDES.get(hook, UNKNOWN) for hook in hooks if hook != "postBind"))
    if not decides:
        return
    wrong, right = f"plugin {name} is not mirrored, so the answer is made without it; it decides: {decides}", None
    if not own:
        wrong = f"unknown plugin {shown(name)}: the answer is made without it; it decides: {decides}"
        right = known(name, implemented, also=UNMIRRORED_PLUGINS)
    notes.doubt("plugin", name, decides, wrong, place=place, right=right)


def _implemented_only(given: PluginSet, implemented: Plugins) -> PluginSet:
    return given.model_copy(update={"enabled": tuple(entry for entry in given.enabled if entry.name in implemented)})


def _merge_defaults(multi_point: PluginSet, implemented: Plugins, weights: Mapping[str, int]) -> list[PluginEntry]:
    """Default plugins, re-configured in place or taken away, then the ones that were not among them."""
    off = multi_point.disabled_names
    defaults = [] if "*" in off else [name for name in implemented if name not in off]
    configured = {entry.name: entry for entry in multi_point.enabled}
    # Go keeps the last entry of a name for the default's place and appends the others, which then count as repeats.
    kept = [configured.get(name) or PluginEntry(name=name, weight=weights.get(name, 0)) for name in defaults]
    return [*kept, *(entry for entry in multi_point.enabled if not any(entry is used for used in kept))]


def _refuse_repeats(names: list[str], notes: Notes, place: str) -> None:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated:
        raise notes.error(f"plugin {repeated} is enabled twice", place=f"{place}.enabled")


def _fitting(given: PluginSet, point: str, implemented: Plugins, form: FormName, notes: Notes, place: str) -> PluginSet:
    """What a point enables; a plugin without that point is refused, unless the form is older than the plugin is now."""
    _refuse_repeats([entry.name for entry in given.enabled], notes, place)
    fitting = []
    for entry in given.enabled:
        if point in implemented[entry.name]:
            fitting.append(entry)
            continue
        wrong, right = f"plugin {entry.name} has no {point}", f"it has {', '.join(implemented[entry.name])}"
        if form == "v1":
            raise notes.error(wrong, place=f"{place}.enabled", right=right)
        notes.warn(f"{wrong} any more", place=f"{place}.enabled", right=right)
    return given.model_copy(update={"enabled": tuple(fitting)})


def _expand(given: PluginSet, everywhere: list[str]) -> tuple[str, ...]:
    """Overridden plugins first, then those enabled everywhere, then what only this point enables."""
    own = [entry.name for entry in given.enabled]
    off = given.disabled_names
    if "*" in off:
        return tuple(own)
    inherited = [name for name in everywhere if name not in off]
    overridden = [name for name in own if name in inherited]
    return (
        *overridden,
        *(name for name in inherited if name not in own),
        *(name for name in own if name not in overridden),
    )


def _weight(name: str, entries: list[PluginEntry]) -> int:
    return next((entry.weight for entry in entries if entry.name == name), 0) or 1
