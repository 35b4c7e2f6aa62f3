"""NodeVolumeLimits: a driver attaches only so many volumes to a node; mirrors `plugins/nodevolumelimits/csi.go`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from cpsched.filters.args import Args
from cpsched.filters.contract import SKIPPED, Filter, PreFilterResult
from cpsched.filters.csi_translation import DRIVER_BY_PLUGIN, CsiVolume, csi_volume, in_tree, volume_zones
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Status, error, not_found, unresolvable, unschedulable
from cpsched.filters.storage import Storage, claim_class, claim_name, not_owned, owned_by
from cpsched.instance import Task
from cpsched.objects.storage import CSINode, PersistentVolumeClaim
from cpsched.objects.volumes import PodVolume

NAME = "NodeVolumeLimits"
TOO_MANY = unschedulable(NAME, "node(s) exceed max volume count")


class _LookupError(Exception):
    """A volume that cannot be looked up, with the status it leads to."""

    def __init__(self, status: Status):
        self.status = status


@dataclass(frozen=True)
class VolumeLimitsState:
    """Whether a driver missing from the node refuses the pod."""

    needs_driver: bool


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Skip a pod without claims and without disks that a driver took over."""
    pod = task.pod
    if not any(claim_name(pod, volume) is not None or in_tree(volume) for volume in pod.spec.volumes):
        return SKIPPED
    return PreFilterResult(state=VolumeLimitsState(args.features.volume_limit_scaling))


def check(state: VolumeLimitsState, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node on which a driver would hold more volumes than it may."""
    storage = cluster.storage
    csi_node = storage.csi_nodes.get(node.name)
    try:
        wanted = _volumes(task, csi_node, storage, is_new=True)
        if not wanted:
            return SUCCESS
        if state.needs_driver and (missing := _missing_driver(wanted, csi_node, storage)):
            return unschedulable(NAME, f"{missing} CSI driver is not installed on the node")
        limits = limits_at(node.name, storage)
        if not limits:
            return SUCCESS
        held = {volume for other in node.tasks for volume in _volumes(other, csi_node, storage, is_new=False)}
    except _LookupError as fault:
        return fault.status
    # A wanted volume that is attached but used by no pod here counts twice, as upstream.
    used = Counter(volume.driver for volume in held | attached_to(node.name, storage))
    new = Counter(volume.driver for volume in wanted - held)
    exceeded = any(driver in limits and used[driver] + amount > limits[driver] for driver, amount in new.items())
    return TOO_MANY if exceeded else SUCCESS


def volumes_at(task: Task, node: str, storage: Storage) -> set[CsiVolume]:
    """What some driver must attach to the node for the task; nothing if that cannot be looked up."""
    try:
        return _volumes(task, storage.csi_nodes.get(node), storage, is_new=False)
    except _LookupError:
        return set()


def _volumes(task: Task, csi_node: CSINode | None, storage: Storage, *, is_new: bool) -> set[CsiVolume]:
    """The distinct volumes of a task that some driver must attach."""
    found: set[CsiVolume] = set()
    for volume in task.pod.spec.volumes:
        named = claim_name(task.pod, volume)
        if named is None:
            found |= _inline(volume, csi_node)
            continue
        claim = storage.claims.get(f"{task.namespace}/{named}")
        if claim is None:
            if is_new:
                reason = f"looking up PVC {task.namespace}/{named}: {not_found('persistentvolumeclaim', named)}"
                raise _LookupError(unresolvable(NAME, reason))
            continue
        if volume.ephemeral is not None and not owned_by(claim, task.pod):
            raise _LookupError(error(NAME, not_owned(claim, task.pod)))
        behind = _behind_claim(claim, csi_node, storage)
        if behind is not None and behind.driver and behind.handle:
            found.add(behind)
    return found


def _inline(volume: PodVolume, csi_node: CSINode | None) -> set[CsiVolume]:
    if in_tree(volume) is None or csi_node is None:
        return set()
    translated = csi_volume(volume)
    if translated is None:
        raise _LookupError(error(NAME, f"converting volume({volume.name}) from inline to csi"))
    return {translated}


def _behind_claim(claim: PersistentVolumeClaim, csi_node: CSINode | None, storage: Storage) -> CsiVolume | None:
    volume = storage.volumes.get(claim.spec.volume_name) if claim.spec.volume_name else None
    if volume is None:
        return _to_be_provisioned(claim, csi_node, storage)
    if volume.spec.csi is not None:
        return CsiVolume(volume.spec.csi.driver, volume.spec.csi.volume_handle)
    return None if csi_node is None else csi_volume(volume.spec, volume_zones(volume))


def _to_be_provisioned(claim: PersistentVolumeClaim, csi_node: CSINode | None, storage: Storage) -> CsiVolume | None:
    """A volume that does not exist yet, named after its claim."""
    storage_class = storage.classes.get(claim_class(claim))
    if storage_class is None:
        return None
    driver = storage_class.provisioner
    if driver in DRIVER_BY_PLUGIN:
        if csi_node is None:
            return None
        driver = DRIVER_BY_PLUGIN[driver]
    return CsiVolume(driver, f"claim {claim.key}")


def _missing_driver(wanted: set[CsiVolume], csi_node: CSINode | None, storage: Storage) -> str | None:
    installed = {driver.name for driver in csi_node.spec.drivers} if csi_node is not None else set()
    for volume in sorted(wanted):
        driver = storage.drivers.get(volume.driver)
        if driver is not None and driver.spec.prevent_pod_scheduling_if_missing and volume.driver not in installed:
            return volume.driver
    return None


def limits_at(node: str, storage: Storage) -> dict[str, int]:
    """How many volumes each driver may attach to the node, if it says so."""
    csi_node = storage.csi_nodes.get(node)
    drivers = csi_node.spec.drivers if csi_node is not None else ()
    return {d.name: d.allocatable.count for d in drivers if d.allocatable and d.allocatable.count is not None}


def attached_to(node: str, storage: Storage) -> set[CsiVolume]:
    """Volumes that are attached to the node, by any task."""
    found = set()
    for attachment in storage.attachments.get(node, ()):
        volume = storage.volumes.get(attachment.spec.source.persistent_volume_name)
        if attachment.spec.attacher and volume is not None and volume.spec.csi is not None:
            found.add(CsiVolume(attachment.spec.attacher, volume.spec.csi.volume_handle))
    return found


FILTER = Filter(NAME, prefilter, check)
