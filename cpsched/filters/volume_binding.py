"""VolumeBinding: a task's claims must be bound, matched or provisioned at the node; mirrors `plugins/volumebinding`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cpsched.filters.args import Args
from cpsched.filters.contract import SKIPPED, Filter, PreFilterResult
from cpsched.filters.csi_translation import node_affinity
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Status, error, not_found, unresolvable
from cpsched.filters.storage import (
    BIND_COMPLETED,
    SELECTED_NODE,
    Storage,
    claim_class,
    claim_name,
    not_owned,
    owned_by,
    volume_class,
)
from cpsched.filters.volume_match import can_provision, has_capacity, match, size
from cpsched.instance import Task
from cpsched.objects.pod import Pod
from cpsched.objects.storage import ClaimReference, PersistentVolume, PersistentVolumeClaim
from cpsched.objects.volumes import PodVolume
from cpsched.selectors import SelectorError, node_selector

NAME = "VolumeBinding"
OTHER_NODE = "node(s) didn't match PersistentVolume's node affinity"
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"
VOLUME_GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


@dataclass(frozen=True)
class VolumeChoice:
    """What the task would take at a node: volumes for claims, and claims to be provisioned there."""

    bindings: tuple[tuple[str, str], ...] = ()
    """(volume, claim)."""
    provisions: tuple[str, ...] = ()


@dataclass
class VolumeBindingState:
    """The task's claims, the volumes they may bind, and the choice at each node that passed."""

    bound: list[PersistentVolumeClaim] = field(default_factory=list)
    delayed: list[PersistentVolumeClaim] = field(default_factory=list)
    volumes_by_class: dict[str, list[PersistentVolume]] = field(default_factory=dict)
    choice_by_node: dict[str, VolumeChoice] = field(default_factory=dict)


class _RefusedError(Exception):
    def __init__(self, status: Status):
        self.status = status


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Sort the claims into bound and waiting for a node; refuse any other; skip a task without claims."""
    storage = cluster.storage
    try:
        claims = [c for volume in task.pod.spec.volumes if (c := _claim(task.pod, volume, storage)) is not None]
        state = VolumeBindingState()
        immediate = False
        for claim in claims:
            if claim.spec.volume_name and BIND_COMPLETED in claim.metadata.annotations:
                state.bound.append(claim)
            elif _waits_for_node(claim, storage) and not claim.spec.volume_name:
                state.delayed.append(claim)
            else:
                immediate = True
    except _RefusedError as refused:
        return PreFilterResult(refused.status)
    if not claims:
        return SKIPPED
    if immediate:
        return PreFilterResult(unresolvable(NAME, "pod has unbound immediate PersistentVolumeClaims"))
    for name in {claim_class(claim) for claim in state.delayed}:
        state.volumes_by_class[name] = [v for v in storage.volumes.values() if volume_class(v) == name]
    return PreFilterResult(state=state)


def check(state: VolumeBindingState, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node where some claim cannot be had."""
    bound_reason = next((reason for c in state.bound if (reason := _unusable(c, node, cluster))), None)
    try:
        choice, delayed_reason = _choose(state, node, cluster)
    except SelectorError as broken:
        return error(NAME, f"error creating internal label selector for claim: {broken}")
    reasons = [reason for reason in (bound_reason, delayed_reason) if reason]
    if reasons:
        ordered = [reason for reason in (OTHER_NODE, NO_VOLUME, NO_SPACE, VOLUME_GONE) if reason in reasons]
        return unresolvable(NAME, *ordered)
    state.choice_by_node[node.name] = choice
    return SUCCESS


def reserve(state: VolumeBindingState, task: Task, node: NodeState, cluster: ClusterState) -> Callable[[], None]:
    """Book the volumes chosen at the node and mark claims to be provisioned there, as upstream assumes them."""
    storage = cluster.storage
    choice = state.choice_by_node.get(node.name, VolumeChoice())
    before: list[tuple[dict[str, Any], str, Any]] = []
    for name, key in choice.bindings:
        claim, volume = storage.claims[key], storage.volumes[name]
        reference = {"namespace": claim.metadata.namespace, "name": claim.metadata.name, "uid": claim.metadata.uid}
        spec = volume.spec.model_copy(update={"claim_ref": ClaimReference.model_validate(reference)})
        before.append((storage.volumes, name, volume))
        storage.volumes[name] = volume.model_copy(update={"spec": spec})
    for key in choice.provisions:
        claim = storage.claims[key]
        annotations = claim.metadata.annotations | {SELECTED_NODE: node.name}
        before.append((storage.claims, key, claim))
        metadata = claim.metadata.model_copy(update={"annotations": annotations})
        storage.claims[key] = claim.model_copy(update={"metadata": metadata})
    return lambda: _restore(before)


def booked(state: VolumeBindingState, node: str) -> VolumeChoice | None:
    """What `reserve` books."""
    return state.choice_by_node.get(node)


def _restore(before: list[tuple[dict[str, Any], str, Any]]) -> None:
    for objects, key, item in reversed(before):
        objects[key] = item


def _claim(pod: Pod, volume: PodVolume, storage: Storage) -> PersistentVolumeClaim | None:
    name = claim_name(pod, volume)
    if name is None:
        return None
    claim = storage.claims.get(f"{pod.metadata.namespace}/{name}")
    if claim is None:
        missing = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        raise _RefusedError(
            unresolvable(NAME, missing if volume.ephemeral else not_found("persistentvolumeclaim", name))
        )
    if claim.status.phase == "Lost":
        gone = f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
        raise _RefusedError(unresolvable(NAME, gone))
    if claim.metadata.deletion_timestamp is not None:
        raise _RefusedError(unresolvable(NAME, f'persistentvolumeclaim "{name}" is being deleted'))
    if volume.ephemeral is not None and not owned_by(claim, pod):
        raise _RefusedError(unresolvable(NAME, not_owned(claim, pod)))
    return claim


def _waits_for_node(claim: PersistentVolumeClaim, storage: Storage) -> bool:
    name = claim_class(claim)
    if name not in storage.classes:
        return False
    mode = storage.classes[name].volume_binding_mode
    if not mode:
        raise _RefusedError(error(NAME, f'VolumeBindingMode not set for StorageClass "{name}"'))
    return mode == "WaitForFirstConsumer"


def _unusable(claim: PersistentVolumeClaim, node: NodeState, cluster: ClusterState) -> str | None:
    volume = cluster.storage.volumes.get(claim.spec.volume_name)
    if volume is None:
        return VOLUME_GONE
    required = node_affinity(volume, cluster.storage.csi_nodes.get(node.name))
    return None if required is None or node_selector(required).matches(node.labels, "") else OTHER_NODE


def _choose(state: VolumeBindingState, node: NodeState, cluster: ClusterState) -> tuple[VolumeChoice, str | None]:
    """The smallest fitting volume for each claim, small claims first; the others must be provisioned."""
    to_match, to_provision = [], []
    for claim in state.delayed:
        selected = claim.metadata.annotations.get(SELECTED_NODE)
        if selected is None:
            to_match.append(claim)
        elif selected != node.name:
            return VolumeChoice(), NO_VOLUME
        else:
            to_provision.append(claim)
    taken: dict[str, str] = {}
    for claim in sorted(to_match, key=size):
        volume = match(claim, state.volumes_by_class[claim_class(claim)], node, taken)
        if volume is None:
            to_provision.append(claim)
        else:
            taken[volume.metadata.name] = claim.key
    for claim in to_provision:
        if not can_provision(claim, node, cluster.storage):
            return VolumeChoice(), NO_VOLUME
        if not has_capacity(claim, node, cluster.storage):
            return VolumeChoice(), NO_SPACE
    return VolumeChoice(tuple(taken.items()), tuple(claim.key for claim in to_provision)), None


FILTER = Filter(NAME, prefilter, check, reserve=reserve, booked=booked)
