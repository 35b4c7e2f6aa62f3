"""Score plugins: one file each, one list of all."""

from __future__ import annotations

from cpsched.greedy.kube.scores import (
    balanced_allocation,
    image_locality,
    inter_pod_affinity,
    node_affinity,
    pod_topology_spread,
    resources_fit,
    taint_toleration,
    zero,
)
from cpsched.greedy.kube.scores.contract import Request, Score, Scores

SCORES: dict[str, Score] = {
    "TaintToleration": taint_toleration.score,
    "NodeAffinity": node_affinity.score,
    "NodeResourcesFit": resources_fit.score,
    "VolumeBinding": zero.volume_binding,
    "PodTopologySpread": pod_topology_spread.score,
    "InterPodAffinity": inter_pod_affinity.score,
    "DynamicResources": zero.dynamic_resources,
    "NodeResourcesBalancedAllocation": balanced_allocation.score,
    "ImageLocality": image_locality.score,
}

__all__ = ["SCORES", "Request", "Scores"]
