"""Workloads of an input into pods and PodGroups, where their controllers have not made any yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pydantic import ValidationError

from cpsched.aside import OBJECTS, Aside
from cpsched.errors import InputError
from cpsched.importers.kubernetes import Found, input_error, without_nulls
from cpsched.importers.raw import text_at
from cpsched.importers.sizes import check_size
from cpsched.instance import GROUP_ANNOTATION
from cpsched.objects import FORMER_GROUPS, KINDS
from cpsched.objects.base import Object
from cpsched.objects.cluster import Namespace
from cpsched.objects.devices import ResourceClaimTemplate
from cpsched.objects.groups import PodGroup, PriorityClass, Queue
from cpsched.objects.node import Node
from cpsched.objects.pod import Pod
from cpsched.objects.storage import PersistentVolumeClaim
from cpsched.parsing import tolerated
from cpsched.workloads import held
from cpsched.workloads.claims import with_claims
from cpsched.workloads.job_set import JOB_SET_NAME
from cpsched.workloads.plan import DeniedError, Plan, Surroundings
from cpsched.workloads.registry import WORKLOADS, Workload
from cpsched.workloads.replica_set import POD_TEMPLATE_HASH

MOST_NAMED = 5
"""So many workloads are named in a line."""


@dataclass(frozen=True)
class Given:
    """A workload as it was given, with its place; it is read only if its pods are to be made."""

    workload: Workload
    group: str
    kind: str
    raw: Mapping[str, Any]
    file: str
    place: str

    @property
    def is_only_workload(self) -> bool:
        """Whether schedulers look at nothing of it but its pods; of a ReplicaSet they read the selector too."""
        return (self.group, self.kind) not in KINDS

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its metadata, as given."""
        found = self.raw.get("metadata")
        return found if isinstance(found, Mapping) else {}

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return text_at(self.metadata, "namespace") or "default"

    @property
    def name(self) -> str:
        """Its name, as users call it."""
        return f"{self.namespace}/{text_at(self.metadata, 'name')}"

    @property
    def title(self) -> str:
        """What it is, for people."""
        return f"{self.kind} {self.name}"


PODS_LACKING = __name__
"""Under this key `lacking` stands in `found_out` of an instance."""


@dataclass
class Expanded:
    """What was made, and of what."""

    found: list[Found] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    made: list[tuple[str, int]] = field(default_factory=list)
    """Workloads by title, with how many pods were made of each."""
    lacking: list[tuple[str, int]] = field(default_factory=list)
    """Workloads by title, with how many pods they count that the input lacks."""

    @property
    def summary(self) -> list[str]:
        """A line about all pods that were made, and one about all that are missing."""
        made = "still to be made by controllers, taken as pending here"
        lacking = "that workloads count, missing in the input"
        return [*_counted(self.made, made), *_counted(self.lacking, lacking)]


def _counted(pods: Sequence[tuple[str, int]], what: str) -> list[str]:
    if not pods:
        return []
    count = sum(count for _, count in pods)
    return [f"{count} pod{'' if count == 1 else 's'} {what}: of {_some([title for title, _ in pods])}"]


def _some(titles: Sequence[str]) -> str:
    more = f" and {len(titles) - MOST_NAMED} more" if len(titles) > MOST_NAMED else ""
    return ", ".join(titles[:MOST_NAMED]) + more


def given(raw: Any, file: str, place: str) -> Given | None:
    """The workload, if this object is one."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("kind"), str):
        return None
    group = str(raw.get("apiVersion") or "v1").rpartition("/")[0]
    group = FORMER_GROUPS.get(group, group)
    workload = WORKLOADS.get((group, raw["kind"]))
    spec = raw.get("spec")
    if (group, raw["kind"]) in KINDS and not (isinstance(spec, Mapping) and spec.get("template")):
        # Of a set that is here for its selector only, nothing else is known.
        return None
    return Given(workload, group, raw["kind"], raw, file, place) if workload is not None else None


def expanded(
    workloads: Sequence[Given],
    found: Sequence[Found],
    *,
    aside: Aside | None = None,
    created: int | None = None,
    submitted: bool = False,
    waiting: bool = False,
) -> Expanded:
    """The pods of all workloads that have none.

    Args:
        workloads: in the order in which they were given.
        found: everything else that was read; of pods it tells whose are there already.
        aside: takes workloads that cannot be read; None if that is an error.
        created: when all that is made is created; None: with its owner.
        submitted: make the pods of all, whatever their status says.
        waiting: make the tasks of PodGroups that wait for enqueue, too. Their controller makes no pods before the
            scheduler has let them in, so a session cannot place them.
    """
    around = surroundings(found, created)
    known = _Known(found, workloads)
    result = Expanded()
    plans: list[tuple[str, str, Plan]] = []
    for one in {(one.kind, one.workload, one.name): one for one in workloads}.values():
        if submitted or not known.has_pods(one):
            for plan in tolerated(aside, OBJECTS, partial(_planned, one, around, result, submitted)):
                if waiting or submitted or not _is_held(plan, around):
                    plans.append((one.title, one.file, plan))
    if waiting:
        plans += _waiting(known, plans, around)
    sizes = (
        (part.count, part.template.model_dump(mode="json", exclude_defaults=True))
        for *_, plan in plans
        for part in plan.pods
    )
    by_hand = sum(item.by_hand for item in found)
    check_size([*sizes, (by_hand, "")], plans[0][1] if plans else "input")
    noted: dict[str, list[str]] = {}
    for title, file, plan in plans:
        for note in plan.notes:
            noted.setdefault(note, []).append(title)
        if plan.count:
            result.made.append((title, plan.count))
        result.found += _objects(title, file, plan, around)
    result.notes += [f"{_some(titles)}: {note}" for note, titles in noted.items()]
    return result


def surroundings(found: Iterable[Found], created: int | None) -> Surroundings:
    """The cluster as controllers see it."""
    of: dict[type[Object], dict[str, Any]] = {}
    for item in found:
        of.setdefault(type(item.object), {})[item.object.key] = item.object
    return Surroundings(
        classes=of.get(PriorityClass, {}),
        nodes=tuple(of.get(Node, {}).values()),
        groups=of.get(PodGroup, {}),
        namespaces=of.get(Namespace, {}),
        claims=frozenset(of.get(PersistentVolumeClaim, ())),
        claim_templates=of.get(ResourceClaimTemplate, {}),
        taken=frozenset(of.get(Pod, ())),
        has_volcano=bool(of.get(PodGroup) or of.get(Queue)),
        created=created,
    )


class _Known:
    """Whose pods, Jobs and ReplicaSets are in the input."""

    def __init__(self, found: Sequence[Found], workloads: Sequence[Given]):
        self.found = found
        self.members: set[str] = set()
        self._owners: set[tuple[str, str, str]] = set()
        self._named: set[tuple[str, str]] = set()
        """Owners that are known by names and labels alone: their uid is not stated."""
        for item in found:
            meta = item.object.metadata
            if isinstance(item.object, Pod):
                self._add(meta.namespace, [(one.kind, one.name, one.uid) for one in meta.owner_references])
                sets = [one.name for one in meta.owner_references if one.kind == "ReplicaSet"]
                guessed = [] if meta.owner_references else [*_owners_of_pod(meta.name, meta.labels)]
                sets += [name for kind, name in guessed if kind == "ReplicaSet"]
                guessed += [*_owners_of_owners(sets, meta.labels)]
                self._named |= {(kind, f"{meta.namespace}/{name}") for kind, name in guessed}
                if GROUP_ANNOTATION in meta.annotations:
                    self.members.add(f"{meta.namespace}/{meta.annotations[GROUP_ANNOTATION]}")
        for one in workloads:
            stated = one.metadata.get("ownerReferences")
            owners = [owner for owner in stated if isinstance(owner, Mapping)] if isinstance(stated, list) else []
            self._add(one.namespace, [(text_at(o, "kind"), text_at(o, "name"), text_at(o, "uid")) for o in owners])
            if not owners and one.kind == "ReplicaSet":
                labels = one.metadata.get("labels")
                guesses = _owners_of_owners(
                    [text_at(one.metadata, "name")], labels if isinstance(labels, Mapping) else {}
                )
                self._named |= {(kind, f"{one.namespace}/{name}") for kind, name in guesses}

    def _add(self, namespace: str, owners: Iterable[tuple[str, str, str]]) -> None:
        for kind, name, uid in owners:
            self._owners |= {(kind, f"{namespace}/{name}", ""), (kind, f"{namespace}/{name}", uid)}

    def has_pods(self, one: Given) -> bool:
        """Whether something in the input is its own; a uid tells Volcano's Job from Kubernetes' of the same name."""
        is_stated = (one.kind, one.name, text_at(one.metadata, "uid")) in self._owners
        return is_stated or (one.kind, one.name) in self._named


def _owners_of_pod(name: str, labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Whose a pod is that was exported without its owner: its controller named it after itself, and labelled it."""
    stem = name.rpartition("-")[0]
    if (hashed := labels.get(POD_TEMPLATE_HASH)) and stem.endswith(f"-{hashed}"):
        yield "ReplicaSet", stem
    if "statefulset.kubernetes.io/pod-name" in labels:
        yield "StatefulSet", stem
    elif "controller-revision-hash" in labels:
        yield "DaemonSet", stem
    yield from (("Job", labels[key]) for key in ("batch.kubernetes.io/job-name", "job-name") if key in labels)


def _owners_of_owners(sets: Iterable[str], labels: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What made the ReplicaSets of these names, or the Job of these labels: they are often not in a dump.

    The name of a Deployment's ReplicaSet is that one's and a hash.
    """
    hashed = text_at(labels, POD_TEMPLATE_HASH)
    yield from (
        ("Deployment", name.removesuffix(f"-{hashed}")) for name in sets if hashed and name.endswith(f"-{hashed}")
    )
    if name := text_at(labels, JOB_SET_NAME):
        yield "JobSet", name


def _planned(one: Given, around: Surroundings, result: Expanded, submitted: bool) -> list[Plan]:
    found = _read(one)
    if submitted:
        return [_plan(one, found, around)]
    if found.metadata.deletion_timestamp is not None or found.ended:
        return []
    if found.counted:
        result.lacking.append((one.title, found.counted))
        return []
    return [_plan(one, found, around)]


def _is_held(plan: Plan, around: Surroundings) -> bool:
    """Whether its PodGroup is in the cluster and waits for enqueue."""
    places = (part.make(0).metadata for part in plan.pods if part.count)
    groups = (f"{meta.namespace}/{meta.annotations.get(GROUP_ANNOTATION)}" for meta in places)
    return any(key in around.groups and around.groups[key].status.phase == "Pending" for key in groups)


def _plan(one: Given, found: Any, around: Surroundings) -> Plan:
    try:
        plan: Plan = one.workload.plan(found, around)
    except DeniedError as denied:
        right = "an admission webhook denies such an object"
        raise InputError(str(denied), file=one.file, place=one.title, right=right) from None
    if any(part.count and not part.template.spec.containers for part in plan.pods):
        right = "the API server refuses such an object"
        raise InputError("a pod template without containers", file=one.file, place=one.title, right=right)
    return plan


def _read(one: Given) -> Any:
    shape = one.workload.shape
    if not text_at(one.metadata, "name"):
        raise InputError("metadata.name is missing", file=one.file, place=one.place, right="every object needs a name")
    try:
        found = shape.model_validate(without_nulls(one.raw))
    except ValidationError as error:
        raise input_error(error, file=one.file, place=one.title) from None
    return found.model_copy(update={"metadata": found.metadata.model_copy(update={"namespace": one.namespace})})


def _waiting(
    known: _Known, plans: Sequence[tuple[str, str, Plan]], around: Surroundings
) -> Iterator[tuple[str, str, Plan]]:
    """Plans for PodGroups that wait for enqueue without any pod, now that others have been made."""
    planned = {
        f"{meta.namespace}/{meta.annotations.get(GROUP_ANNOTATION)}"
        for *_, plan in plans
        for part in plan.pods
        if part.count
        for meta in [part.make(0).metadata]
    }
    for item in known.found:
        group = item.object
        if not isinstance(group, PodGroup) or item.by_hand or group.status.phase not in ("", "Pending"):
            continue
        if group.metadata.deletion_timestamp is None and group.key not in known.members | planned:
            yield f"PodGroup {group.key}", item.file, held.plan(group, around)


def _objects(title: str, file: str, plan: Plan, around: Surroundings) -> Iterator[Found]:
    for item in plan.objects:
        yield Found(type(item).__name__, item, file, f"{title}: its {type(item).__name__}")
    for part in plan.pods:
        for number in range(part.count):
            made, claims = with_claims(part.make(number), around.claim_templates)
            place = f"{title}: its pod {made.metadata.name}"
            yield from (Found(type(claim).__name__, claim, file, place) for claim in claims)
            yield Found("Pod", made, file, place)
