"""Objects that are created, as `kubectl apply` would: workloads with the pods that their controllers make of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cpsched.errors import InputError
from cpsched.importers.kubernetes import Found
from cpsched.importers.raw import Raw
from cpsched.instance import GROUP_ANNOTATION
from cpsched.objects.base import Object
from cpsched.objects.groups import PodGroup, Queue
from cpsched.objects.pod import Pod
from cpsched.what_if.changes import Cluster, counted
from cpsched.workloads.admission import admitted, unknown_class
from cpsched.workloads.claims import with_claims
from cpsched.workloads.expand import Given, expanded, given, surroundings
from cpsched.workloads.groups import VOLCANO, of_pods
from cpsched.workloads.plan import Owner, Template

_MADE_AGAIN = frozenset({"Pod", "PodGroup"})
"""Kinds that cannot be changed once they exist; of others a new spec takes the place of the old one."""
_SERVERS = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation", "selfLink")
"""Metadata that only the API server writes."""


def as_new(raw: Any) -> Any:
    """The object as the API server takes it: its controllers say how it stands."""
    metadata = raw.get("metadata") if isinstance(raw, Mapping) else None
    if not isinstance(metadata, Mapping):
        return raw
    kept: Raw = {key: value for key, value in metadata.items() if key not in _SERVERS}
    found = {**raw, "metadata": kept}
    if given(raw, "", "") is not None or raw.get("kind") in _MADE_AGAIN:
        found.pop("status", None)
    return found


def create(
    cluster: Cluster, option: str, found: Sequence[Found], workloads: Sequence[Given], there: Iterable[Given]
) -> list[str]:
    """Add what one file holds; what is to be known about it besides."""
    names = {(one.workload, one.kind, one.name) for one in there}
    for one in workloads:
        if (one.workload, one.kind, one.name) in names:
            raise _exists(one.title, one.file)
    effects: list[str] = []
    notes: list[str] = []
    places = {(type(item.object), item.object.key): place for place, item in enumerate(cluster.found)}
    for item in found:
        place = places.get((type(item.object), item.object.key))
        title = f"{item.kind} {item.object.key}"
        if place is not None and item.kind in _MADE_AGAIN:
            raise _exists(title, item.file)
        if place is not None:
            cluster.found[place] = replace(item, object=_updated(cluster.found[place].object, item.object))
            effects.append(f"changes {title}")
        elif not isinstance(item.object, Pod):
            cluster.found.append(replace(item, object=_created(item.object, cluster.created)))
            if item.kind in ("Queue", "PodGroup", "Node"):
                effects.append(title)
    made = expanded(workloads, cluster.found, created=cluster.created, submitted=True)
    cluster.found += made.found
    for item in found:
        if isinstance(item.object, Pod):
            cluster.found += _pod(cluster, item, item.object, notes)
            effects.append(f"Pod {item.object.key}")
    effects += [f"{title}, {counted(count, 'pod')}" for title, count in made.made]
    empty = {one.title for one in workloads} - {title for title, _ in made.made}
    effects += [f"{title}, no pods" for title in sorted(empty)]
    cluster.state(option, "; ".join(effects) or "nothing that scheduling reads")
    return [*notes, *made.notes]


def _exists(title: str, file: str) -> InputError:
    right = "give it another name, or leave the one in the input out of it"
    return InputError(f"{title} is in the input already", file=file, place="--submit", right=right)


def _updated(old: Object, new: Object) -> Object:
    """The new one, with what the server keeps of the old one."""
    kept = {"uid": old.metadata.uid, "creation_timestamp": old.metadata.creation_timestamp}
    update: dict[str, Any] = {"metadata": new.metadata.model_copy(update=kept)}
    if isinstance(old, Queue):
        update["status"] = old.status
    return new.model_copy(update=update)


def _created(item: Object, created: int | None) -> Object:
    update: dict[str, Any] = {"metadata": item.metadata.model_copy(update={"creation_timestamp": created})}
    if isinstance(item, PodGroup):
        update["status"] = item.status.model_copy(update={"phase": "Pending"})
    return item.model_copy(update=update)


def _pod(cluster: Cluster, item: Found, pod: Pod, notes: list[str]) -> list[Found]:
    """A pod as it is admitted, with the PodGroup that Volcano's controller makes for one that names none."""
    around = surroundings(cluster.found, cluster.created)
    if (note := unknown_class(pod.spec.priority_class_name, around)) is not None:
        notes.append(f"Pod {pod.key}: {note}")
    template = admitted(Template(metadata=pod.metadata, spec=pod.spec), around)
    metadata = pod.metadata.model_copy(update={"creation_timestamp": cluster.created})
    groups: list[Found] = []
    if template.spec.scheduler_name == VOLCANO and not metadata.annotations.get(GROUP_ANNOTATION):
        owner = Owner("Pod", metadata, metadata.uid)
        group = of_pods(owner, f"podgroup-{owner.uid}", template, around)
        groups = [Found("PodGroup", group, item.file, f"{item.place}: its PodGroup")]
        annotations = {**metadata.annotations, GROUP_ANNOTATION: group.metadata.name}
        metadata = metadata.model_copy(update={"annotations": annotations})
    made = pod.model_copy(update={"metadata": metadata, "spec": template.spec})
    made, claims = with_claims(made, around.claim_templates)
    own = [Found(type(claim).__name__, claim, item.file, item.place) for claim in claims]
    return [*groups, *own, replace(item, object=made)]
