"""What the filters derive from a task, once."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import NamedTuple

from cpsched import resources
from cpsched.filters.index import AntiClass, AntiIndex, LabelClass, LabelIndex
from cpsched.instance import Task
from cpsched.objects.pod import Pod
from cpsched.selectors import AffinityTerm, RequiredNodeAffinity, SelectorError, affinity_term, required_node_affinity

ANY_IP = "0.0.0.0"
COUNTED = ("cpu", "memory", "ephemeral-storage")
"""The resources with fields of their own upstream, in the order of its messages; others count if they are scalars."""


class HostPort(NamedTuple):
    """A port taken on the node."""

    ip: str
    protocol: str
    port: int


class Facts:
    """A task as the filters see it; label and anti-affinity class belong to one cluster state."""

    def __init__(self, task: Task, labels: LabelIndex, anti: AntiIndex):
        pod = task.pod
        self.task = task
        self.requests = {n: amount for n, amount in task.kube_requests.items() if amount and counts(n)}
        self.ports = host_ports(pod)
        self.claims = tuple(v.persistent_volume_claim.claim_name for v in pod.spec.volumes if v.persistent_volume_claim)
        terminating = pod.metadata.deletion_timestamp is not None
        self.labels: LabelClass = labels.of(task.namespace, task.labels, terminating)
        self.anti: AntiClass | None = anti.of(self.anti_affinity) if self.anti_affinity else None

    @cached_property
    def affinity(self) -> tuple[AffinityTerm, ...]:
        """Required pod affinity; empty if it does not parse."""
        return _terms(self.task.pod, "pod_affinity")[0]

    @cached_property
    def anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """Required pod anti-affinity; empty if it does not parse."""
        return _terms(self.task.pod, "pod_anti_affinity")[0]

    @cached_property
    def affinity_error(self) -> str:
        """Why the pod's affinity does not parse, or nothing."""
        names = {"pod_affinity": "AffinityTerms", "pod_anti_affinity": "AntiAffinityTerms"}
        found = [
            f"{kind}{names[field]}: {error}"
            for kind, index in (("required", 1), ("preferred", 2))
            for field in names
            if (error := _terms(self.task.pod, field)[index])
        ]
        return found[0] if len(found) == 1 else f"[{', '.join(found)}]" if found else ""

    @cached_property
    def node_affinity(self) -> RequiredNodeAffinity:
        """What the pod requires of its node."""
        return required_node_affinity(self.task.pod)

    @cached_property
    def tolerations(self) -> tuple[tuple[str, str, str, str], ...]:
        """The tolerations as a key for memos."""
        return tuple((t.key, t.operator, t.value, t.effect) for t in self.task.pod.spec.tolerations)


@lru_cache(maxsize=1024)
def counts(name: str) -> bool:
    """Whether kube-scheduler counts a resource of that name."""
    return name in COUNTED or resources.is_scalar(name)


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """Host ports of sidecars and containers; no IP means all, no protocol TCP."""
    running = (*(c for c in pod.spec.init_containers if c.is_sidecar), *pod.spec.containers)
    return tuple(
        HostPort(port.host_ip or ANY_IP, port.protocol or "TCP", port.host_port)
        for container in running
        for port in container.ports
        if port.host_port > 0
    )


def _terms(pod: Pod, field: str) -> tuple[tuple[AffinityTerm, ...], str, str]:
    """Parsed required terms, why they do not parse, why the preferred ones do not."""
    stated = getattr(pod.spec.affinity, field)
    namespace = pod.metadata.namespace
    required: tuple[AffinityTerm, ...] = ()
    required_error = preferred_error = ""
    try:
        required = tuple(affinity_term(term, namespace) for term in stated.required)
    except SelectorError as error:
        required_error = str(error)
    try:
        for weighted in stated.preferred:
            affinity_term(weighted.pod_affinity_term, namespace)
    except SelectorError as error:
        preferred_error = str(error)
    return required, required_error, preferred_error
