"""PodGroups as Volcano's controllers make them, and what their members ask for in all.

Mirrors `pkg/controllers/podgroup/pg_controller_handler.go` and `pkg/controllers/util/util.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cpsched.amounts import exact
from cpsched.instance import GROUP_ANNOTATION
from cpsched.objects.base import Metadata
from cpsched.objects.groups import PodGroup
from cpsched.objects.pod import Pod, PodSpec
from cpsched.requests import volcano_requests
from cpsched.workloads.plan import Owner, Surroundings, Template

VOLCANO = "volcano"
QUEUE = "scheduling.volcano.sh/queue-name"
MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
DEFAULT_QUEUE = "default"
_PREFIX = "volcano.sh/"
_OWN = (
    "volcano.sh/preemptable",
    "volcano.sh/cooldown-time",
    "volcano.sh/revocable-zone",
    "volcano.sh/jdb-min-available",
    "volcano.sh/jdb-max-unavailable",
)
"""Annotations of the pod that its PodGroup takes over."""
_LABELS = _OWN[:2]


def asked_by(parts: Iterable[tuple[int, PodSpec]]) -> dict[str, str]:
    """The sum of what so many pods of each spec ask for, as a resource list."""
    total: dict[str, int] = {}
    for count, spec in parts:
        for name, amount in volcano_requests(Pod.model_validate({"spec": spec})).items():
            total[name] = total.get(name, 0) + count * amount
    return {name: exact(name, amount) for name, amount in total.items()}


def pod_group(owner: Owner, name: str, spec: Mapping[str, Any], around: Surroundings, **metadata: Any) -> PodGroup:
    """A new PodGroup, which waits for enqueue; an unstated queue is the namespace's, else `default`."""
    queue = spec.get("queue") or DEFAULT_QUEUE
    namespace = around.namespaces.get(owner.metadata.namespace)
    if queue == DEFAULT_QUEUE and namespace is not None:
        queue = namespace.metadata.annotations.get(QUEUE, queue)
    stated = {
        "name": name,
        "namespace": owner.metadata.namespace,
        "ownerReferences": [{"kind": owner.kind, "name": owner.name, "uid": owner.uid, "controller": True}],
        **metadata,
    }
    created = owner.metadata.creation_timestamp if around.created is None else around.created
    made = Metadata.model_validate(stated).model_copy(update={"creation_timestamp": created})
    return PodGroup.model_validate({"metadata": made, "spec": {**spec, "queue": queue}, "status": {"phase": "Pending"}})


def grouped(owner: Owner, template: Template, around: Surroundings) -> tuple[Template, tuple[PodGroup, ...]]:
    """The template with the annotation of the PodGroup that all pods of one owner get, and that PodGroup if it is new.

    Only pods of Volcano get one, and none that name a PodGroup themselves.
    """
    meta = template.metadata
    if template.spec.scheduler_name != VOLCANO or meta.annotations.get(GROUP_ANNOTATION):
        return template, ()
    name = f"podgroup-{owner.uid}"
    annotations = {**meta.annotations, GROUP_ANNOTATION: name}
    named = template.model_copy(update={"metadata": meta.model_copy(update={"annotations": annotations})})
    if f"{owner.metadata.namespace}/{name}" in around.groups:
        return named, ()
    return named, (of_pods(owner, name, template, around),)


def of_pods(owner: Owner, name: str, template: Template, around: Surroundings) -> PodGroup:
    """The PodGroup of pods that have none: one pod is enough, unless the owner says how many."""
    least = _min_member(owner.metadata.annotations)
    meta = template.metadata
    inherited = {key: text for key, text in owner.metadata.annotations.items() if key.startswith(_PREFIX)}
    own = {key: meta.annotations[key] for key in _OWN if key in meta.annotations}
    spec: dict[str, Any] = {
        "minMember": least,
        "queue": meta.annotations.get(QUEUE, ""),
        "priorityClassName": template.spec.priority_class_name,
        "minResources": asked_by([(least, template.spec)]),
    }
    if (topology := _topology(meta.annotations)) is not None:
        spec["networkTopology"] = topology
    labels = {key: meta.labels[key] for key in _LABELS if key in meta.labels}
    return pod_group(owner, name, spec, around, annotations={**inherited, **own}, labels=labels)


def _min_member(annotations: Mapping[str, str]) -> int:
    text = annotations.get(MIN_MEMBER, "1")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 11 else 1
    return number if number < 2**31 else 1


def _topology(annotations: Mapping[str, str]) -> dict[str, Any] | None:
    """What the pods' annotations ask of the network."""
    mode = annotations.get("volcano.sh/network-topology-mode")
    tier = annotations.get("volcano.sh/network-topology-highest-tier")
    if mode is None and tier is None:
        return None
    known = mode.lower() if mode is not None and mode.lower() in ("hard", "soft") else "hard"
    number = int(tier) if tier is not None and tier.isascii() and tier.isdecimal() and len(tier) < 10 else None
    return {"mode": known, **({} if number is None else {"highestTierAllowed": number})}
