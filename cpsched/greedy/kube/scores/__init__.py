"""Score plugins: one file each, one list of all."""

from __future__ import annotations

from cpsched.greedy.kube.scores import (
    balanced_allocation,
    dynamic_resources,
    image_locality,
    inter_pod_affinity,
    node_affinity,
    pod_topology_spread,
    resources_fit,
    taint_toleration,
    volume_binding,
)
from cpsched.greedy.kube.scores.contract import Score, ScoreRequest, Scores

SCORES: dict[str, Score] = {
    "TaintToleration": taint_toleration.score,
    "NodeAffinity": node_affinity.score,
    "NodeResourcesFit": resources_fit.score,
    "VolumeBinding": volume_binding.score,
    "PodTopologySpread": pod_topology_spread.score,
    "InterPodAffinity": inter_pod_affinity.score,
    "DynamicResources": dynamic_resources.score,
    "NodeResourcesBalancedAllocation": balanced_allocation.score,
    "ImageLocality": image_locality.score,
}

__all__ = ["SCORES", "ScoreRequest", "Scores"]
