"""What a pod asks for, summed over its containers as Volcano and as kube-scheduler do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from cpsched import quantity, resources
from cpsched.objects.base import Quantities
from cpsched.objects.pod import Container, ContainerStatus, Pod

Amounts = dict[str, int]
Stated = tuple[tuple[tuple[str, str], ...], ...]


def volcano_requests(pod: Pod) -> Mapping[str, int]:
    """The request in Volcano's units (cpu milli, memory bytes, pods 1, the rest milli); mirrors `api/pod_info.go`.

    Pods that state the same mostly get the very same vector.
    """
    plain = _plain_requests(pod)
    if plain is not None:
        return _volcano_total(plain)
    total = _pod_total(pod, resources.from_quantities)
    total["pods"] = total.get("pods", 0) + 1
    _apply_pod_level(total, pod, resources.from_quantities)
    return _added(total, resources.from_quantities(pod.spec.overhead))


def kube_requests(pod: Pod) -> Amounts:
    """The request in kube-scheduler's units (cpu milli, the rest whole); mirrors component-helpers `PodRequests`."""
    return _in_kube_units(_kube_total(pod, _nano_amounts))


def kube_nonzero_requests(pod: Pod, default_cpu_milli: int = 100, default_memory: int = 200 * 2**20) -> Amounts:
    """cpu and memory with the scheduler's stand-ins for containers that ask for none; used by scores only.

    A pod that states requests of its own gets a stand-in only for what neither it nor its containers ask for.
    """
    stand_in = {"cpu": default_cpu_milli * 10**6, "memory": default_memory * 10**9}
    missing = stand_in
    if any(_counts_for_pods(name) for name in pod.spec.resources.requests):
        asked = _kube_total(pod, _nano_amounts)
        missing = {name: amount for name, amount in stand_in.items() if name not in asked}
    total = _kube_total(pod, lambda requests: {**missing, **_nano_amounts(requests)})
    return _in_kube_units({name: total.get(name, 0) for name in stand_in})


def _plain_requests(pod: Pod) -> Stated | None:
    """What the containers state, of a pod whose request that alone decides."""
    spec, status = pod.spec, pod.status
    if spec.init_containers or spec.resources.requests or spec.overhead or status.container_statuses:
        return None
    return tuple([tuple(container.resources.requests.items()) for container in spec.containers])


@lru_cache(maxsize=1 << 12)
def _volcano_total(stated: Stated) -> Amounts:
    """The request of such a pod; many state the same."""
    total: Amounts = {}
    for requests in stated:
        total = _added(total, resources.from_quantities(dict(requests)))
    total["pods"] = total.get("pods", 0) + 1
    return total


def _kube_total(pod: Pod, amounts: Callable[[Mapping[str, str]], Amounts]) -> Amounts:
    total = _pod_total(pod, amounts)
    _apply_pod_level(total, pod, _nano_amounts)
    return _added(total, _nano_amounts(pod.spec.overhead))


def _in_kube_units(nano: Amounts) -> Amounts:
    return {name: -(-amount // (10**6 if name == "cpu" else 10**9)) for name, amount in nano.items()}


def _nano_amounts(requests: Mapping[str, str]) -> Amounts:
    return {name: quantity.nano(value) for name, value in requests.items()}


def _pod_total(pod: Pod, amounts: Callable[[Mapping[str, str]], Amounts]) -> Amounts:
    """Containers and sidecars together, but at least what the init phase needs at its widest."""
    held = {status.name: status for status in (*pod.status.container_statuses, *pod.status.init_container_statuses)}
    infeasible = any(c.type == "PodResizePending" and c.reason == "Infeasible" for c in pod.status.conditions)
    total: Amounts = {}
    for container in pod.spec.containers:
        total = _added(total, amounts(_container_requests(container, held, infeasible)))
    sidecars: Amounts = {}
    widest: Amounts = {}
    for container in pod.spec.init_containers:
        if container.is_sidecar:
            asked = amounts(_container_requests(container, held, infeasible))
            total, sidecars = _added(total, asked), _added(sidecars, asked)
            widest = _widest(widest, sidecars)
        else:
            widest = _widest(widest, _added(amounts(container.resources.requests), sidecars))
    return _widest(total, widest)


def _container_requests(container: Container, held: Mapping[str, ContainerStatus], infeasible: bool) -> Quantities:
    """The larger of what is asked, allocated and in use, while an in-place resize is under way."""
    status = held.get(container.name) if held else None
    if status is None or status.resources is None:
        return container.resources.requests
    lists = [status.resources.requests, status.allocated_resources]
    if not infeasible:
        lists.insert(0, container.resources.requests)
    names: Iterable[str] = dict.fromkeys(name for values in lists for name in values)
    return {name: max((values[name] for values in lists if name in values), key=quantity.nano) for name in names}


def _apply_pod_level(total: Amounts, pod: Pod, amounts: Callable[[Mapping[str, str]], Amounts]) -> None:
    for name, amount in amounts(pod.spec.resources.requests).items():
        if _counts_for_pods(name):
            total[name] = amount


def _counts_for_pods(name: str) -> bool:
    """Whether a pod may state a request for it as a whole (`IsSupportedPodLevelResource`)."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def _added(left: Amounts, right: Amounts) -> Amounts:
    total = dict(left)
    for name, amount in right.items():
        total[name] = total.get(name, 0) + amount
    return total


def _widest(left: Amounts, right: Amounts) -> Amounts:
    widest = dict(left)
    for name, amount in right.items():
        if amount > widest.get(name, 0) or name not in widest:
            widest[name] = amount
    return widest
