"""Which pods are alike for all plugins of a profile; mirrors the plugins' `SignPod` and `framework/signers.go`."""

from __future__ import annotations

from collections.abc import Hashable

from cpsched.greedy.kube.framework import Framework
from cpsched.instance import Task


def signable(task: Task, framework: Framework) -> bool:
    """Whether the pod can be compared at all: nothing about it may depend on where others are."""
    spec, profile = task.pod.spec, framework.profile
    used = {*profile.pre_filters, *profile.filters, *profile.scores}
    spread, args = "PodTopologySpread" in used, profile.args.topology_spread
    if spread and (spec.topology_spread_constraints or args.constraints):
        return False
    together = (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity)
    if "InterPodAffinity" in used and any(one.required or one.preferred for one in together):
        return False
    return not ("DynamicResources" in used and spec.resource_claims)


def signature(task: Task, framework: Framework) -> Hashable:
    """Everything the profile's plugins read from the pod, None if it cannot be compared."""
    if not signable(task, framework):
        return None
    spec = task.pod.spec
    labels = framework.profile.args.inter_pod_affinity.ignore_preferred_terms_of_existing_pods
    return (
        spec.scheduler_name,
        spec.node_name,
        spec.affinity.node_affinity.model_dump_json(),
        _pairs(spec.node_selector),
        tuple(sorted(toleration.model_dump_json() for toleration in spec.tolerations)),
        frozenset(p.host_port for c in (*spec.containers, *spec.init_containers) for p in c.ports if p.host_port),
        _pairs(task.kube_requests),
        tuple(volume.model_dump_json(exclude={"name"}) for volume in spec.volumes),
        frozenset(container.image for container in (*spec.containers, *spec.init_containers)),
        None if labels else _pairs(task.labels),
    )


def _pairs(mapping: dict[str, str] | dict[str, int]) -> Hashable:
    return tuple(sorted(mapping.items()))
