"""Extended resources that device classes stand for; mirrors `dynamicresources/extendeddynamicresources.go`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cpsched import quantity
from cpsched.filters.devices import IMPLICIT_RESOURCE
from cpsched.objects.devices import DeviceClass, DeviceRequest, ResourceClaim
from cpsched.objects.pod import Container, Pod

CLAIM_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"


def is_mappable(name: str) -> bool:
    """Whether a class can stand for the resource at all."""
    return name.startswith(IMPLICIT_RESOURCE) or ("/" in name and "kubernetes.io/" not in name)


def existing_claim(pod: Pod, claims: Iterable[ResourceClaim]) -> ResourceClaim | None:
    """The claim an earlier attempt made for the pod's extended resources."""
    for claim in claims:
        if claim.metadata.annotations.get(CLAIM_ANNOTATION) == "true":
            owners = claim.metadata.owner_references
            if any(o.controller and o.uid == pod.metadata.uid and o.name == pod.metadata.name for o in owners):
                return claim
    return None


def requests(pod: Pod, names: Iterable[str], classes: Mapping[str, DeviceClass]) -> list[DeviceRequest]:
    """Device requests that stand for the resources: per long-lived container, plus the most an init container lacks."""
    made: list[DeviceRequest] = []
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    passing = {i for i, c in enumerate(pod.spec.init_containers) if not c.is_sidecar}
    for name in sorted(names):
        lasting = [0 if i in passing else _amount(c, name) for i, c in enumerate(containers)]
        extra, largest = 0, 0
        for i in sorted(passing):
            # An init container may use what containers after it will hold.
            lacking = _amount(containers[i], name) - sum(lasting[i:])
            if lacking > extra:
                extra, largest = lacking, i
        counts = [(largest, extra)] if extra else []
        counts += [(i, amount) for i, amount in enumerate(lasting) if amount]
        made += [_request(i, containers[i], name, amount, classes[name]) for i, amount in counts]
    return sorted(made, key=lambda request: request.name)


def _amount(container: Container, name: str) -> int:
    return quantity.whole(container.resources.requests.get(name, "0"))


def _request(index: int, container: Container, name: str, amount: int, device_class: DeviceClass) -> DeviceRequest:
    place = sorted(container.resources.requests).index(name)
    exactly = {"deviceClassName": device_class.metadata.name, "allocationMode": "ExactCount", "count": amount}
    return DeviceRequest.model_validate({"name": f"container-{index}-request-{place}", "exactly": exactly})
