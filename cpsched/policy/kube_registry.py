"""What kube-scheduler knows by name: its plugins, where each one hooks in, and which run by default in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

KubeVersion = Literal["1.36", "head"]
VERSIONS: tuple[KubeVersion, ...] = ("1.36", "head")
FormName = Literal["v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1"]

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

OLD_WEIGHTS: dict[str, int] = {**WEIGHTS, "TaintToleration": 1, "NodeAffinity": 1, "InterPodAffinity": 1}
"""The same before v1beta3."""


@dataclass(frozen=True)
class ConfigForm:
    """A version of the KubeSchedulerConfiguration: the releases that read it, and its default score weights."""

    releases: str
    weights: Mapping[str, int]


FORMS: dict[FormName, ConfigForm] = {
    "v1": ConfigForm("from 1.25 on", WEIGHTS),
    "v1beta3": ConfigForm("from 1.23 to 1.28", WEIGHTS),
    "v1beta2": ConfigForm("from 1.22 to 1.27", OLD_WEIGHTS),
    "v1beta1": ConfigForm("from 1.19 to 1.22", OLD_WEIGHTS),
    "v1alpha2": ConfigForm("of 1.18", OLD_WEIGHTS),
    "v1alpha1": ConfigForm("up to 1.18", OLD_WEIGHTS),
}

DECIDES: dict[str, str] = {
    "preEnqueue": "admission of pods",
    "queueSort": "order of pods",
    "preFilter": "which nodes fit",
    "filter": "which nodes fit",
    "postFilter": "victims",
    "preScore": "node choice",
    "score": "node choice",
    "reserve": "whether a placement is kept",
    "permit": "when a pod may start",
    "preBind": "whether a placement is kept",
    "bind": "binding",
    "placementGenerate": "placement of pod groups",
    "placementScore": "placement of pod groups",
    "podGroupPostFilter": "victims",
}
"""What is decided at an extension point."""

UNMIRRORED_PLUGINS: dict[str, tuple[str, ...]] = {
    # In kube-scheduler, off by default.
    "DeferredPodScheduling": ("preEnqueue",),
    "GangScheduling": ("preEnqueue", "permit"),
    "PodGroupPodsCount": ("placementScore",),
    "TopologyPlacementGenerator": ("placementGenerate",),
    # In kube-scheduler before the mirrored releases.
    "NodeLabel": ("filter", "score"),
    "NodePreferAvoidPods": ("score",),
    "NodeResourceLimits": ("score",),
    "NodeResourcesLeastAllocated": ("score",),
    "NodeResourcesMostAllocated": ("score",),
    "RequestedToCapacityRatio": ("score",),
    "SelectorSpread": ("score",),
    "ServiceAffinity": ("filter", "score"),
    # In kubernetes-sigs/scheduler-plugins.
    "CapacityScheduling": ("preFilter", "postFilter", "reserve"),
    "Coscheduling": ("queueSort", "preFilter", "postFilter", "permit", "reserve"),
    "CrossNodePreemption": ("postFilter",),
    "LoadVariationRiskBalancing": ("score",),
    "LowRiskOverCommitment": ("score",),
    "NetworkOverhead": ("filter", "score"),
    "NodeMetadata": ("score",),
    "NodeResourceTopologyMatch": ("filter", "score", "reserve"),
    "NodeResourcesAllocatable": ("score",),
    "Peaks": ("score",),
    "PodState": ("score",),
    "PreemptionToleration": ("postFilter",),
    "QOSSort": ("queueSort",),
    "SySched": ("score",),
    "TargetLoadPacking": ("score",),
    "TopologicalSort": ("queueSort",),
}
"""Plugins that are known and not run here, with their extension points."""

MERGED_PLUGINS: dict[str, str] = dict.fromkeys(
    ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"), "NodeVolumeLimits"
)
"""Former plugins whose work another one does in the mirrored releases."""


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
