"""Kinds that pods refer to and of which the input has not one object: it was made without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cpsched.instance import ENDED, GROUP_ANNOTATION, Instance, Task
from cpsched.objects.cluster import Namespace
from cpsched.objects.devices import DeviceClass, ResourceClaim, ResourceSlice
from cpsched.objects.groups import PodGroup, PriorityClass, Queue
from cpsched.objects.pod import Pod
from cpsched.objects.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass

MOST_NAMED = 3
Referrers = Callable[[Instance], Iterable[str]]


def missing_kinds(instance: Instance) -> Iterator[tuple[str, str]]:
    """One for each kind that is referred to."""
    for shape, (plural, decides, who, referrers) in KINDS_REFERRED_TO.items():
        if instance.of_kind(shape):
            continue
        names = list(dict.fromkeys(referrers(instance)))
        if names:
            listed = ", ".join([*names[:MOST_NAMED], *(["..."] if len(names) > MOST_NAMED else [])])
            refer = f"{who} refers" if len(names) == 1 else f"{who}s refer"
            stated = f"{len(names)} {refer} to {plural} ({listed}), of which the input has none"
            yield decides, f"{stated}: {decides} is not known"


def _pods(test: Callable[[Pod], bool]) -> Referrers:
    """Pods that refer to the kind; what one on a node refers to exists, what others refer to may not."""
    return lambda instance: (
        task.key for task in _alive(instance) if test(task.pod) and (task.node or has_few_kinds(instance))
    )


def has_few_kinds(instance: Instance) -> bool:
    """Every cluster has PriorityClasses: an input without any was asked for the main kinds only."""
    return not instance.of_kind(PriorityClass)


def _provisioned(instance: Instance) -> Iterator[str]:
    """Claims that wait for a class; a cluster without classes can have such claims too, but hardly a storage driver."""
    volumes, nodes = instance.of_kind(PersistentVolume), instance.of_kind(CSINode)
    drivers = any(one.spec.csi is not None for one in volumes) or any(one.spec.drivers for one in nodes)
    if drivers or has_few_kinds(instance):
        for one in instance.of_kind(PersistentVolumeClaim):
            if one.spec.storage_class_name and not one.spec.volume_name:
                yield one.key


def _allocated(instance: Instance) -> Iterator[str]:
    """Claims that hold devices."""
    return (one.key for one in instance.of_kind(ResourceClaim) if one.status.allocation or has_few_kinds(instance))


def _alive(instance: Instance) -> Iterator[Task]:
    return (task for task in instance.tasks.values() if task.status not in ENDED)


def _unclassed(instance: Instance) -> Iterator[str]:
    """PodGroups take their priority from the class; a pod that an API server has seen has its own."""
    for job in instance.jobs.values():
        if job.group.spec.priority_class_name and job.group in instance.of_kind(PodGroup):
            yield job.group.key


def _selects_namespaces(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    selectors = [
        term.namespace_selector for one in (affinity.pod_affinity, affinity.pod_anti_affinity) for term in one.required
    ]
    return any(one is not None and (one.match_labels or one.match_expressions) for one in selectors)


def unknown_budgets(instance: Instance) -> Iterator[tuple[str, str]]:
    """Where no such kind was asked for, neither were budgets."""
    if instance.budgets or not has_few_kinds(instance):
        return
    holders = [task.pod_priority for task in _alive(instance) if task.node]
    pending = [task.pod_priority for task in _alive(instance) if not task.node and not task.never_preempts]
    if holders and pending and max(pending) > min(holders):
        yield (
            "whom budgets protect",
            "the input has neither PodDisruptionBudgets nor PriorityClasses, which every cluster has: "
            "it was made without them, and whom budgets protect is not known",
        )


KINDS_REFERRED_TO: dict[type[Any], tuple[str, str, str, Referrers]] = {
    PersistentVolumeClaim: (
        "PersistentVolumeClaims",
        "which nodes their volumes allow",
        "pod",
        _pods(lambda pod: any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes)),
    ),
    PersistentVolume: (
        "PersistentVolumes",
        "which nodes the volumes allow",
        "claim",
        lambda instance: (one.key for one in instance.of_kind(PersistentVolumeClaim) if one.spec.volume_name),
    ),
    StorageClass: (
        "StorageClasses",
        "when and where volumes are made",
        "claim",
        _provisioned,
    ),
    ResourceClaim: (
        "ResourceClaims",
        "which devices they hold and need",
        "pod",
        _pods(lambda pod: bool(pod.spec.resource_claims)),
    ),
    ResourceSlice: (
        "devices (ResourceSlices)",
        "which nodes have them",
        "claim",
        _allocated,
    ),
    DeviceClass: (
        "DeviceClasses",
        "which devices they mean",
        "claim",
        lambda instance: (one.key for one in instance.of_kind(ResourceClaim)),
    ),
    PodGroup: (
        "PodGroups",
        "which gangs there are",
        "pod",
        _pods(lambda pod: GROUP_ANNOTATION in pod.metadata.annotations),
    ),
    Queue: (
        "Queues",
        "the share of each",
        "PodGroup",
        lambda instance: (one.key for one in instance.of_kind(PodGroup) if one.spec.queue),
    ),
    PriorityClass: ("PriorityClasses", "their priority", "PodGroup", _unclassed),
    Namespace: (
        "Namespaces by labels",
        "whom their affinity means",
        "pod",
        lambda instance: (task.key for task in _alive(instance) if _selects_namespaces(task.pod)),
    ),
}
"""shape → what it is called, what depends on it, what refers to it, and which of them do."""
