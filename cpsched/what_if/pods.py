"""Pods that are gone, and pods that a drained node evicts: those of controllers are pending again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from cpsched.importers.kubernetes import Found
from cpsched.objects.groups import PodDisruptionBudget
from cpsched.objects.pod import Pod, PodStatus
from cpsched.selectors import SelectorError, label_selector
from cpsched.what_if.changes import Cluster, counted, some
from cpsched.what_if.nodes import mark

_MIRROR = "kubernetes.io/config.mirror"
DAEMONS, MIRRORS, ALONE = "of DaemonSets", "mirror pods", "without a controller, which need --force,"
EVICTED = ""
_GONE = frozenset({"Succeeded", "Failed"})


def remove(cluster: Cluster, name: str) -> None:
    """The pod is not there."""
    item = cluster.found.pop(cluster.index_of(Pod, name, "--without"))
    key = item.object.key
    cluster.state(f"--without {key}", f"pod {key} is gone")


def evict(cluster: Cluster, name: str) -> None:
    """The pod loses its node: its controller makes it again; without a controller it is gone."""
    item = cluster.found.pop(cluster.index_of(Pod, name, "--evict"))
    pod = item.object
    assert isinstance(pod, Pod)
    if _kind(pod) == EVICTED and pod.status.phase not in _GONE:
        cluster.found.append(_made_again(item, cluster.created))
        cluster.state(f"--evict {pod.key}", f"pod {pod.key} is evicted and pending again")
    else:
        cluster.state(f"--evict {pod.key}", f"pod {pod.key} is evicted; no controller makes it again elsewhere")


def drain(cluster: Cluster, name: str) -> None:
    """The node is cordoned; the controllers of the pods on it make them again, elsewhere.

    As `kubectl drain` does, pods of DaemonSets and mirror pods stay. So does a pod without a controller, which
    kubectl evicts only if it is forced to. Budgets hold nothing back here: those that would are named.
    """
    mark(cluster, name, "--drain")
    here = [(item, item.object) for item in cluster.found if isinstance(item.object, Pod)]
    here = [(item, pod) for item, pod in here if pod.spec.node_name == name]
    ended = [item for item, pod in here if pod.status.phase in _GONE or _is_ending(pod)]
    live = [(item, pod) for item, pod in here if not any(item is one for one in ended)]
    kinds = {id(item): _kind(pod) for item, pod in live}
    evicted = [item for item, _ in live if kinds[id(item)] == EVICTED]
    leaving = {id(item) for item in (*evicted, *ended)}
    cluster.found = [item for item in cluster.found if id(item) not in leaving]
    cluster.found += [_made_again(item, cluster.created) for item in evicted]
    keys = [item.object.key for item in evicted]
    parts = [
        f"node {name} takes no new pods",
        f"{counted(len(keys), 'pod')} pending again{': ' * bool(keys)}{some(keys)}",
    ]
    counts = Counter(kinds.values())
    parts += [f"{counts[kind]} {kind} stay" for kind in (DAEMONS, MIRRORS, ALONE) if counts[kind]]
    cluster.state(f"--drain {name}", "; ".join([*parts, *_budgets(cluster, evicted)]))


def _kind(pod: Pod) -> str:
    owner = next((one.kind for one in pod.metadata.owner_references if one.controller), "")
    if owner == "DaemonSet":
        return DAEMONS
    if _MIRROR in pod.metadata.annotations or owner == "Node":
        return MIRRORS
    return EVICTED if owner else ALONE


def _is_ending(pod: Pod) -> bool:
    """Its successor is made already, or none is wanted."""
    return pod.metadata.deletion_timestamp is not None


def _made_again(item: Found, created: int | None) -> Found:
    pod = item.object
    assert isinstance(pod, Pod)
    metadata = pod.metadata.model_copy(update={"creation_timestamp": created or pod.metadata.creation_timestamp})
    spec = pod.spec.model_copy(update={"node_name": ""})
    status = PodStatus(phase="Pending", resourceClaimStatuses=pod.status.resource_claim_statuses)
    return replace(item, object=pod.model_copy(update={"metadata": metadata, "spec": spec, "status": status}))


def _budgets(cluster: Cluster, evicted: list[Found]) -> list[str]:
    """Budgets that allow fewer disruptions than the pods that are evicted."""
    found = []
    for item in cluster.found:
        budget = item.object
        if isinstance(budget, PodDisruptionBudget):
            pods = [one for one in evicted if _covers(budget, one.object)]
            if len(pods) > (allowed := budget.status.disruptions_allowed):
                allows = f"PodDisruptionBudget {budget.key} allows {counted(allowed, 'disruption')}"
                found.append(f"{allows} and covers {len(pods)} of these pods: kubectl drain waits for it")
    return found


def _covers(budget: PodDisruptionBudget, pod: object) -> bool:
    assert isinstance(pod, Pod)
    if budget.metadata.namespace != pod.metadata.namespace:
        return False
    try:
        return label_selector(budget.spec.selector).matches(pod.metadata.labels)
    except SelectorError:
        return False
