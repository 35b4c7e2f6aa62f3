"""The hard spread constraints of a pod: its own, or the scheduler's defaults with a selector from the pod's owners."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cpsched.filters.args import Args, Features
from cpsched.filters.state import ClusterState
from cpsched.instance import Task
from cpsched.objects.affinity import TopologySpreadConstraint
from cpsched.objects.cluster import ReplicaSet, ReplicationController, Service, StatefulSet
from cpsched.selectors import NOTHING, ParsedRequirement, Selector, SelectorError, equal_labels, label_selector


@dataclass(frozen=True)
class SpreadConstraint:
    """A parsed constraint."""

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int
    honours_affinity: bool
    honours_taints: bool


def hard_constraints(task: Task, cluster: ClusterState, args: Args) -> tuple[SpreadConstraint, ...]:
    """Constraints with DoNotSchedule; defaults count only for a pod that states none at all."""
    own = task.pod.spec.topology_spread_constraints
    if own:
        return _hard(own, task, args.features)
    defaults = _hard(args.default_constraints, task, args.features)
    if not defaults:
        return ()
    selector = default_selector(task, cluster)
    return () if selector.is_empty else tuple(replace(constraint, selector=selector) for constraint in defaults)


def default_selector(task: Task, cluster: ClusterState) -> Selector:
    """The labels by which services and the controlling set pick the pod; empty if none does."""
    of_kind = cluster.instance.of_kind
    merged: dict[str, str] = {}
    for service in of_kind(Service):
        if service.metadata.namespace == task.namespace and equal_labels(service.spec.selector).matches(task.labels):
            merged |= service.spec.selector
    selector = equal_labels(merged)
    owner = next((owner for owner in task.pod.metadata.owner_references if owner.controller), None)
    if owner is None:
        return selector
    key = f"{task.namespace}/{owner.name}"
    if owner.kind == "ReplicationController":
        for controller in of_kind(ReplicationController):
            if controller.key == key:
                return equal_labels(merged | controller.spec.selector)
    for kind, shape in (("ReplicaSet", ReplicaSet), ("StatefulSet", StatefulSet)):
        for controller in of_kind(shape) if owner.kind == kind else ():
            if controller.key == key:
                return selector.also(_requirements(controller))
    return selector


def _requirements(controller: ReplicaSet | StatefulSet) -> tuple[ParsedRequirement, ...]:
    try:
        return label_selector(controller.spec.selector).requirements or ()
    except SelectorError:
        return ()


def _hard(stated: Iterable[TopologySpreadConstraint], task: Task, features: Features) -> tuple[SpreadConstraint, ...]:
    return tuple(_parsed(one, task, features) for one in stated if one.when_unsatisfiable == "DoNotSchedule")


def _parsed(stated: TopologySpreadConstraint, task: Task, features: Features) -> SpreadConstraint:
    selector = label_selector(stated.label_selector)
    if features.match_label_keys and selector is not NOTHING:
        own = {key: task.labels[key] for key in stated.match_label_keys if key in task.labels}
        selector = selector.also(equal_labels(own).requirements or ())
    policies = features.node_inclusion_policy
    return SpreadConstraint(
        stated.max_skew,
        stated.topology_key,
        selector,
        1 if stated.min_domains is None else stated.min_domains,
        honours_affinity=not policies or stated.node_affinity_policy != "Ignore",
        honours_taints=policies and stated.node_taints_policy == "Honor",
    )
