"""What kube-scheduler knows by name: its plugins, where each one hooks in, and which run by default in which order."""

from __future__ import annotations

from typing import Literal

KubeVersion = Literal["1.36", "head"]
VERSIONS: tuple[KubeVersion, ...] = ("1.36", "head")

POINTS = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "placementGenerate",
    "placementScore",
)

_FILTER = ("preFilter", "filter")
_SCORE = ("preScore", "score")

PLUGINS: dict[str, tuple[str, ...]] = {
    "SchedulingGates": ("preEnqueue",),
    "PrioritySort": ("queueSort",),
    "NodeUnschedulable": ("filter",),
    "NodeName": ("filter",),
    "TaintToleration": ("filter", *_SCORE),
    "NodeAffinity": (*_FILTER, *_SCORE),
    "NodePorts": _FILTER,
    "NodeResourcesFit": (*_FILTER, *_SCORE, "placementScore"),
    "VolumeRestrictions": _FILTER,
    "NodeVolumeLimits": _FILTER,
    "VolumeBinding": (*_FILTER, *_SCORE, "reserve", "preBind"),
    "VolumeZone": _FILTER,
    "PodTopologySpread": (*_FILTER, *_SCORE),
    "InterPodAffinity": (*_FILTER, *_SCORE),
    "DynamicResources": ("preEnqueue", *_FILTER, "postFilter", "score", "reserve", "preBind"),
    "DefaultPreemption": ("preEnqueue", "postFilter"),
    "NodeResourcesBalancedAllocation": _SCORE,
    "ImageLocality": ("score",),
    "DefaultBinder": ("bind",),
    "NodeDeclaredFeatures": _FILTER,
}
"""Release 1.36: default plugins in default order, with the extension points they implement."""

_HEAD_CHANGES: dict[str, tuple[str, ...]] = {
    "NodeName": _FILTER,
    "NodeUnschedulable": _FILTER,
    "TaintToleration": (*_FILTER, *_SCORE),
    "DynamicResources": (*PLUGINS["DynamicResources"], "podGroupPostFilter"),
    "DefaultPreemption": (*PLUGINS["DefaultPreemption"], "podGroupPostFilter"),
}

WEIGHTS: dict[str, int] = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}
"""Default score weights; a scorer that is not listed has weight 1."""

UNSUPPORTED_PLUGINS = frozenset(
    {"DeferredPodScheduling", "GangScheduling", "PodGroupPodsCount", "TopologyPlacementGenerator"}
)
"""In the source, but off by default and not mirrored here."""


def plugins(version: KubeVersion) -> dict[str, tuple[str, ...]]:
    """The default plugins of a release in default order, with their extension points."""
    if version == "1.36":
        return PLUGINS
    order = list(PLUGINS)
    first, second = order.index("NodeUnschedulable"), order.index("NodeName")
    order[first], order[second] = order[second], order[first]
    return {name: _HEAD_CHANGES.get(name, PLUGINS[name]) for name in order}


def points(version: KubeVersion) -> tuple[str, ...]:
    """The extension points a profile may configure in a release, without multiPoint."""
    return POINTS if version == "1.36" else (*POINTS, "podGroupPostFilter")
