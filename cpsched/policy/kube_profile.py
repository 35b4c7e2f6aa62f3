"""One profile of a KubeSchedulerConfiguration: its name, its effective plugins, their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from cpsched.objects.base import Items
from cpsched.policy.kube_args import PluginArgs, ShapePoint
from cpsched.policy.kube_plugins import Pipeline, PluginSet, is_known, resolve_pipeline
from cpsched.policy.kube_registry import KubeVersion, plugins, points
from cpsched.policy.notes import Notes, known
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


def resolve_profile(shape: ProfileShape, percentage: int, version: KubeVersion, notes: Notes, place: str) -> Profile:
    """The effective profile; `percentage` is the configuration's own percentageOfNodesToScore."""
    own = shape.percentage_of_nodes_to_score
    for point in shape.plugins:
        if point not in ("multiPoint", *points(version)):
            right = known(point, ("multiPoint", *points(version)))
            notes.doubt(f"unknown extension point {point}", place=f"{place}.plugins", right=right)
    return Profile(
        shape.scheduler_name or DEFAULT_SCHEDULER,
        percentage if own is None else own,
        resolve_pipeline(shape.plugins, version, notes, f"{place}.plugins"),
        _plugin_args(shape.plugin_config, version, notes, f"{place}.pluginConfig"),
    )


def _plugin_args(entries: tuple[PluginConfigEntry, ...], version: KubeVersion, notes: Notes, place: str) -> PluginArgs:
    takes_some = {field.alias or name for name, field in PluginArgs.model_fields.items()}
    given: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if entry.name in given:
            raise notes.error(f"plugin {entry.name} is configured twice", place=place)
        if entry.name in takes_some:
            given[entry.name] = entry.args
        elif is_known(entry.name, plugins(version), notes, place):
            notes.doubt(f"plugin {entry.name} takes no arguments", place=place)
    return _with_volume_shape(validated(PluginArgs, given, notes, place), version, notes, place)


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
