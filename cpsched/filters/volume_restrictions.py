"""VolumeRestrictions: disks and ReadWriteOncePod claims that cannot be shared; mirrors `plugins/volumerestrictions`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cpsched.filters.args import Args
from cpsched.filters.contract import SKIPPED, Filter, PreFilterResult
from cpsched.filters.state import ClusterState, FactsOf, NodeState
from cpsched.filters.status import SUCCESS, Status, not_found, unresolvable, unschedulable
from cpsched.instance import Task
from cpsched.objects.volumes import PodVolume

NAME = "VolumeRestrictions"
DISK_TAKEN = unschedulable(NAME, "node(s) had no available disk")
CLAIM_TAKEN = unschedulable(
    NAME,
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
)


@dataclass
class VolumeRestrictionsState:
    """Disks that need a look at each node, and how often the task's exclusive claims are in use anywhere."""

    facts: FactsOf
    disks: tuple[PodVolume, ...]
    exclusive: frozenset[str]
    conflicts: int

    def clone(self) -> VolumeRestrictionsState:
        """A copy with a count of its own."""
        return replace(self)


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Count exclusive claims in use; skip if there is none and no disk."""
    for name in cluster.facts(task).claims:
        if f"{task.namespace}/{name}" not in cluster.storage.claims:
            return PreFilterResult(unresolvable(NAME, not_found("persistentvolumeclaim", name)))
    exclusive = exclusive_claims(task, cluster)
    conflicts = sum(cluster.claim_in_use(f"{task.namespace}/{name}") for name in exclusive)
    disks = disks_of(task)
    if not disks and not conflicts:
        return SKIPPED
    return PreFilterResult(state=VolumeRestrictionsState(cluster.facts, disks, exclusive, conflicts))


def check(state: VolumeRestrictionsState, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node where a disk is taken, and every node while an exclusive claim is in use."""
    for volume in state.disks:
        if any(_conflict(volume, held) for other in node.tasks for held in other.pod.spec.volumes):
            return DISK_TAKEN
    return CLAIM_TAKEN if state.conflicts > 0 else SUCCESS


def add_task(state: VolumeRestrictionsState, task: Task, other: Task, node: NodeState) -> None:
    """Another task comes to the node."""
    state.conflicts += _uses(state, other)


def remove_task(state: VolumeRestrictionsState, task: Task, other: Task, node: NodeState) -> None:
    """Another task leaves the node."""
    state.conflicts -= _uses(state, other)


def _uses(state: VolumeRestrictionsState, other: Task) -> int:
    """How often the other task names an exclusive claim; upstream does not compare the namespaces here."""
    return sum(name in state.exclusive for name in state.facts(other).claims)


def exclusive_claims(task: Task, cluster: ClusterState) -> frozenset[str]:
    """Names of the task's claims that only one pod may use."""
    claims = ((name, cluster.storage.claims.get(f"{task.namespace}/{name}")) for name in cluster.facts(task).claims)
    return frozenset(name for name, claim in claims if claim and "ReadWriteOncePod" in claim.spec.access_modes)


def disks_of(task: Task) -> tuple[PodVolume, ...]:
    """The task's disks that may not be shared by all."""
    return tuple(volume for volume in task.pod.spec.volumes if _is_disk(volume))


def disks_clash(one: Task, other: Task) -> bool:
    """Whether a disk keeps the two from sharing a node."""
    return any(_conflict(disk, held) for disk in disks_of(one) for held in other.pod.spec.volumes)


def _is_disk(volume: PodVolume) -> bool:
    disks = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.rbd, volume.iscsi)
    return any(disk is not None for disk in disks)


def _conflict(wanted: PodVolume, held: PodVolume) -> bool:
    if wanted.gce_persistent_disk and held.gce_persistent_disk:
        ours, theirs = wanted.gce_persistent_disk, held.gce_persistent_disk
        if ours.pd_name == theirs.pd_name and not (ours.read_only and theirs.read_only):
            return True
    if wanted.aws_elastic_block_store and held.aws_elastic_block_store:
        ours_id, theirs_id = wanted.aws_elastic_block_store.volume_id, held.aws_elastic_block_store.volume_id
        if ours_id == theirs_id:
            return True
    if wanted.iscsi and held.iscsi:
        read_only = wanted.iscsi.read_only and held.iscsi.read_only
        if wanted.iscsi.iqn == held.iscsi.iqn and not read_only:
            return True
    if wanted.rbd and held.rbd:
        same = (wanted.rbd.pool, wanted.rbd.image) == (held.rbd.pool, held.rbd.image)
        overlap = not set(wanted.rbd.monitors).isdisjoint(held.rbd.monitors)
        return same and overlap and not (wanted.rbd.read_only and held.rbd.read_only)
    return False


FILTER = Filter(NAME, prefilter, check, add_task=add_task, remove_task=remove_task, clone=lambda state: state.clone())
