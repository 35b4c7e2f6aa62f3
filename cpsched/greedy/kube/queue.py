"""Who is tried, in which order; mirrors `backend/queue`, `plugins/queuesort`, `plugins/schedulinggates`."""

from __future__ import annotations

from cpsched.filters.dynamic_resources import NAME as DYNAMIC_RESOURCES
from cpsched.greedy.outcomes import Choices, in_some_order
from cpsched.instance import Instance, Status, Task
from cpsched.objects.devices import ResourceClaim
from cpsched.policy.kube_conf import KubeConf
from cpsched.policy.kube_profile import DEFAULT_SCHEDULER, Profile

_ENDED = frozenset({Status.SUCCEEDED, Status.FAILED})
_EARLIEST = -(2**63)


def unplaced_tasks(instance: Instance) -> list[Task]:
    """Pods without a node that have not ended, whichever scheduler they are for."""
    return [task for task in instance.tasks.values() if not task.node and task.status not in _ENDED]


def profile_of(task: Task, conf: KubeConf) -> Profile | None:
    """The profile that is responsible for the pod, if one is."""
    return conf.profile(task.pod.spec.scheduler_name or DEFAULT_SCHEDULER)


def admitted(instance: Instance, conf: KubeConf) -> list[Task]:
    """Pods that enter the queue, in order of creation: of our profiles, and let in by the PreEnqueue plugins."""
    claims = {item.key for item in instance.of_kind(ResourceClaim)}
    found = []
    for task in unplaced_tasks(instance):
        profile = profile_of(task, conf)
        if profile is not None and not _held_back(task, profile, claims):
            found.append(task)
    return sorted(found, key=_created)


def not_admitted(instance: Instance, conf: KubeConf) -> dict[str, str]:
    """What keeps pods without a node out of the queue, by their keys."""
    claims = {item.key for item in instance.of_kind(ResourceClaim)}
    reasons = {}
    for task in unplaced_tasks(instance):
        profile = profile_of(task, conf)
        if profile is None:
            scheduler = task.pod.spec.scheduler_name
            reasons[task.key] = f"its scheduler is {scheduler}, and no profile of the configuration has this name"
        elif _held_back(task, profile, claims):
            gates = ", ".join(gate.name for gate in task.pod.spec.scheduling_gates)
            reasons[task.key] = f"scheduling gates: {gates}" if gates else "a resource claim that it needs is not there"
        elif task.pod.metadata.deletion_timestamp is not None:
            reasons[task.key] = "it is being deleted"
    return reasons


def in_order(tasks: list[Task], choices: Choices) -> list[Task]:
    """Priority first, then creation, which has whole seconds: among equals any may have been heard of first."""
    return in_some_order(tasks, lambda task: (-task.pod_priority, _created(task)), choices)


def _created(task: Task) -> int:
    created = task.pod.metadata.creation_timestamp
    return _EARLIEST if created is None else created


def _held_back(task: Task, profile: Profile, claims: set[str]) -> bool:
    gates = profile.pipeline.points["preEnqueue"]
    if "SchedulingGates" in gates and task.gated:
        return True
    return DYNAMIC_RESOURCES in gates and any(key not in claims for key in _claim_keys(task))


def _claim_keys(task: Task) -> list[str]:
    """Claims the pod names; one from a template that has no claim yet is named after nothing that exists."""
    made = {status.name: status.resource_claim_name for status in task.pod.status.resource_claim_statuses}
    keys = []
    for stated in task.pod.spec.resource_claims:
        if stated.resource_claim_name:
            keys.append(f"{task.namespace}/{stated.resource_claim_name}")
        elif stated.name not in made:
            keys.append(f"{task.namespace}/")
        elif made[stated.name]:
            keys.append(f"{task.namespace}/{made[stated.name]}")
    return keys
