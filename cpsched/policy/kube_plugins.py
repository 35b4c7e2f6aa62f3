"""Which plugins a profile runs at which extension point, in order (default_plugins.go, framework/runtime)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field

from cpsched.objects.base import Items
from cpsched.policy.kube_registry import UNSUPPORTED_PLUGINS, WEIGHTS, KubeVersion, plugins, points
from cpsched.policy.notes import Notes, known
from cpsched.policy.shapes import ClosedShape


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


def resolve_pipeline(given: Mapping[str, PluginSet], version: KubeVersion, notes: Notes, place: str) -> Pipeline:
    """The effective plugins of a profile whose `plugins` section is given."""
    implemented = plugins(version)
    sets = {point: _known_only(one, implemented, notes, f"{place}.{point}") for point, one in given.items()}
    everywhere = _merge_defaults(sets.get("multiPoint", PluginSet()), implemented)
    _refuse_repeats([entry.name for entry in everywhere], notes, f"{place}.multiPoint")
    by_point = {}
    for point in points(version):
        plugin_set = sets.get(point, PluginSet())
        _refuse_misfits(plugin_set, point, implemented, notes, f"{place}.{point}")
        by_point[point] = _expand(plugin_set, [e.name for e in everywhere if point in implemented[e.name]])
    if len(by_point["queueSort"]) != 1:
        raise notes.error("the profile needs exactly one queueSort plugin", place=place)
    if not by_point["bind"]:
        raise notes.error("the profile needs a bind plugin", place=place)
    entries = [*sets.get("score", PluginSet()).enabled, *everywhere]
    return Pipeline(by_point, {name: _weight(name, entries) for name in by_point["score"]})


def _known_only(given: PluginSet, implemented: Mapping[str, object], notes: Notes, place: str) -> PluginSet:
    def check(entries: tuple[PluginEntry, ...], side: str) -> tuple[PluginEntry, ...]:
        return tuple(entry for entry in entries if is_known(entry.name, implemented, notes, f"{place}.{side}"))

    disabled = tuple(entry for entry in given.disabled if entry.name == "*" or check((entry,), "disabled"))
    return given.model_copy(update={"enabled": check(given.enabled, "enabled"), "disabled": disabled})


def is_known(name: str, implemented: Mapping[str, object], notes: Notes, place: str) -> bool:
    """Whether the plugin is one that is mirrored; if not, the doubt says whether kube-scheduler has it."""
    if name in implemented:
        return True
    if name in UNSUPPORTED_PLUGINS:
        right = f"supported: {', '.join(sorted(implemented))}"
        notes.doubt(f"plugin {name} exists in kube-scheduler but is not mirrored here", place=place, right=right)
    else:
        notes.doubt(f"unknown plugin {name}", place=place, right=known(name, implemented, also=UNSUPPORTED_PLUGINS))
    return False


def _merge_defaults(multi_point: PluginSet, implemented: Mapping[str, object]) -> list[PluginEntry]:
    """Default plugins, re-configured in place or taken away, then the ones that were not among them."""
    off = multi_point.disabled_names
    defaults = [] if "*" in off else [name for name in implemented if name not in off]
    configured = {entry.name: entry for entry in multi_point.enabled}
    # Go keeps the last entry of a name for the default's place and appends the others, which then count as repeats.
    kept = [configured.get(name) or PluginEntry(name=name, weight=WEIGHTS.get(name, 0)) for name in defaults]
    return [*kept, *(entry for entry in multi_point.enabled if not any(entry is used for used in kept))]


def _refuse_repeats(names: list[str], notes: Notes, place: str) -> None:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated:
        raise notes.error(f"plugin {repeated} is enabled twice", place=f"{place}.enabled")


def _refuse_misfits(
    given: PluginSet, point: str, implemented: Mapping[str, tuple[str, ...]], notes: Notes, place: str
) -> None:
    _refuse_repeats([entry.name for entry in given.enabled], notes, place)
    for entry in given.enabled:
        if point not in implemented[entry.name]:
            right = f"it has {', '.join(implemented[entry.name])}"
            raise notes.error(f"plugin {entry.name} has no {point}", place=f"{place}.enabled", right=right)


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
