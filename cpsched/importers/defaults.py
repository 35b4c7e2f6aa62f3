"""What the API server fills in when a pod is created; raw manifests need it, a dump already has it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from cpsched.objects.affinity import PodAffinity, PodAffinityTerm
from cpsched.objects.base import LabelRequirement, LabelSelector
from cpsched.objects.groups import PriorityClass
from cpsched.objects.pod import Container, Pod, PodSpec


class ApiDefaults:
    """Requests from limits, host ports of hostNetwork, label keys merged, priority from the class."""

    def __init__(self, classes: Mapping[str, PriorityClass]):
        self._classes = classes
        self._known: dict[Hashable, tuple[PodSpec, PodSpec]] = {}

    def filled_in(self, pod: Pod) -> Pod:
        """The pod with its defaults; pods that shared their spec still do."""
        spec, labels = pod.spec, pod.metadata.labels
        key = (id(spec), frozenset(labels.items()))
        if key not in self._known:
            self._known[key] = (spec, _filled_in(spec, labels, self._classes))
        found = self._known[key][1]
        return pod if found is spec else pod.model_copy(update={"spec": found})


def _filled_in(spec: PodSpec, labels: Mapping[str, str], classes: Mapping[str, PriorityClass]) -> PodSpec:
    update: dict[str, Any] = {}
    for field in ("containers", "init_containers"):
        containers = getattr(spec, field)
        if any(_lacks(container, spec.host_network) for container in containers):
            update[field] = tuple(_completed(container, spec.host_network) for container in containers)
    if spec.priority_class_name in classes and spec.priority is None:
        update["priority"] = classes[spec.priority_class_name].value
        if not spec.preemption_policy and classes[spec.priority_class_name].preemption_policy == "Never":
            update["preemption_policy"] = "Never"
    affinity = spec.affinity
    for field in ("pod_affinity", "pod_anti_affinity"):
        if any(term.match_label_keys or term.mismatch_label_keys for term in _terms(getattr(affinity, field))):
            affinity = affinity.model_copy(update={field: _with_label_keys(getattr(affinity, field), labels)})
            update["affinity"] = affinity
    return spec.model_copy(update=update) if update else spec


def _lacks(container: Container, host_network: bool) -> bool:
    resources = container.resources
    missing = resources.limits and any(name not in resources.requests for name in resources.limits)
    return bool(missing) or (host_network and any(not port.host_port for port in container.ports))


def _completed(container: Container, host_network: bool) -> Container:
    resources, ports = container.resources, container.ports
    resources = resources.model_copy(update={"requests": {**resources.limits, **resources.requests}})
    if host_network:
        ports = tuple(port.model_copy(update={"host_port": port.host_port or port.container_port}) for port in ports)
    return container.model_copy(update={"resources": resources, "ports": ports})


def _terms(affinity: PodAffinity) -> Iterable[PodAffinityTerm]:
    return (*affinity.required, *(weighted.pod_affinity_term for weighted in affinity.preferred))


def _with_label_keys(affinity: PodAffinity, labels: Mapping[str, str]) -> PodAffinity:
    required = tuple(_merged(term, labels) for term in affinity.required)
    preferred = tuple(
        w.model_copy(update={"pod_affinity_term": _merged(w.pod_affinity_term, labels)}) for w in affinity.preferred
    )
    return affinity.model_copy(update={"required": required, "preferred": preferred})


def _merged(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    """matchLabelKeys as In, mismatchLabelKeys as NotIn with the pod's own value; once, however often it is applied."""
    if term.label_selector is None:
        return term
    expressions = list(term.label_selector.match_expressions)
    for operator, keys in (("In", term.match_label_keys), ("NotIn", term.mismatch_label_keys)):
        for key in keys:
            if key in labels:
                wanted = LabelRequirement.model_validate({"key": key, "operator": operator, "values": [labels[key]]})
                if wanted not in expressions:
                    expressions.append(wanted)
    selector: LabelSelector = term.label_selector.model_copy(update={"match_expressions": tuple(expressions)})
    return term.model_copy(update={"label_selector": selector})
