"""One profile of a KubeSchedulerConfiguration: its name, its effective plugins, their arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from cpsched.objects.base import Items
from cpsched.policy.kube_args import PluginArgs, ShapePoint
from cpsched.policy.kube_plugins import Pipeline, PluginSet, resolve_pipeline
from cpsched.policy.kube_registry import MERGED_PLUGINS, UNMIRRORED_PLUGINS, FormName, KubeVersion, plugins, points
from cpsched.policy.notes import Notes, known, shown
from cpsched.policy.shapes import ClosedShape, validated

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_SHAPE = (ShapePoint(utilization=0, score=10), ShapePoint(utilization=100, score=0))


class PluginConfigEntry(ClosedShape):
    """Arguments of one plugin."""

    name: str
    args: dict[str, Any] = {}


class ProfileShape(ClosedShape):
    """A profile as it is written."""

    scheduler_name: str | None = None
    percentage_of_nodes_to_score: int | None = Field(None, ge=0, le=100)
    plugins: dict[str, PluginSet] = {}
    plugin_config: Items[PluginConfigEntry] = ()


@dataclass(frozen=True)
class Profile:
    """A profile as it works; `percentage_of_nodes_to_score` 0 lets the cluster's size decide."""

    scheduler_name: str
    percentage_of_nodes_to_score: int
    pipeline: Pipeline
    args: PluginArgs

    @property
    def filters(self) -> tuple[str, ...]:
        """Filter plugins in order."""
        return self.pipeline.points["filter"]

    @property
    def pre_filters(self) -> tuple[str, ...]:
        """PreFilter plugins in order; switching a Filter off leaves its PreFilter on."""
        return self.pipeline.points["preFilter"]

    @property
    def post_filters(self) -> tuple[str, ...]:
        """PostFilter plugins in order; without any, a failed attempt clears the pod's nomination."""
        return self.pipeline.points["postFilter"]

    @property
    def scores(self) -> Mapping[str, int]:
        """Score plugins in order with their weights."""
        return self.pipeline.weights

    @property
    def preempts(self) -> bool:
        """Whether DefaultPreemption runs after a failed attempt."""
        return "DefaultPreemption" in self.post_filters


def resolve_profile(
    shape: ProfileShape, percentage: int, version: KubeVersion, notes: Notes, place: str, form: FormName = "v1"
) -> Profile:
    """The effective profile; `percentage` is the configuration's own percentageOfNodesToScore."""
    own = shape.percentage_of_nodes_to_score
    every = ("multiPoint", *points(version))
    for point in shape.plugins:
        if point not in every:
            notes.unknown(f"unknown extension point {point}", place=f"{place}.plugins", right=known(point, every))
    given = {point: one for point, one in shape.plugins.items() if point in every}
    return Profile(
        shape.scheduler_name or DEFAULT_SCHEDULER,
        percentage if own is None else own,
        resolve_pipeline(given, version, notes, f"{place}.plugins", form),
        _plugin_args(shape, version, notes, f"{place}.pluginConfig"),
    )


def _plugin_args(shape: ProfileShape, version: KubeVersion, notes: Notes, place: str) -> PluginArgs:
    implemented = plugins(version)
    left_out = {entry.name for one in shape.plugins.values() for entry in one.enabled}
    takes_some = {field.alias or name for name, field in PluginArgs.model_fields.items()}
    given: dict[str, dict[str, Any]] = {}
    for name, args in _once_each(shape.plugin_config, notes, place):
        if name in takes_some:
            given[name] = args
        elif name in implemented:
            notes.unknown(f"plugin {name} takes no arguments", place=place)
        elif name not in {*left_out, *UNMIRRORED_PLUGINS, *MERGED_PLUGINS}:
            right = known(name, implemented, also=UNMIRRORED_PLUGINS)
            notes.unknown(f"arguments of the unknown plugin {shown(name)} are ignored", place=place, right=right)
    return _with_volume_shape(validated(PluginArgs, given, notes, place), version, notes, place)


def _once_each(entries: Sequence[PluginConfigEntry], notes: Notes, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    names = set()
    for entry in entries:
        if entry.name in names:
            raise notes.error(f"plugin {entry.name} is configured twice", place=place)
        names.add(entry.name)
        yield entry.name, entry.args


def _with_volume_shape(args: PluginArgs, version: KubeVersion, notes: Notes, place: str) -> PluginArgs:
    """Scoring by storage capacity came on with 1.37: before, a shape is refused; since then there is a default one."""
    shape = args.volume_binding.shape
    if version == "1.36":
        if shape is not None:
            right = "remove it, or read the file as that of a later release"
            raise notes.error("1.36 refuses a shape", place=f"{place}.VolumeBinding.shape", right=right)
        return args
    binding = args.volume_binding.model_copy(update={"shape": shape or DEFAULT_SHAPE})
    return args.model_copy(update={"volume_binding": binding})
