"""What a controller would create for one object: pods of templates, and the PodGroups and claims that go with them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cpsched.objects.base import Metadata, Object, Shape
from cpsched.objects.cluster import Namespace
from cpsched.objects.devices import ResourceClaimTemplate
from cpsched.objects.groups import PodGroup, PriorityClass
from cpsched.objects.node import Node
from cpsched.objects.pod import Pod, PodSpec


class DeniedError(ValueError):
    """What the admission webhook of its project says against an object."""


class Template(Shape):
    """A pod template."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()


@dataclass(frozen=True)
class Owner:
    """The object whose controller creates pods, as their ownerReferences name it."""

    kind: str
    metadata: Metadata
    uid: str

    @classmethod
    def of(cls, kind: str, metadata: Metadata) -> Owner:
        """The owner; a manifest without a uid gets one that is the same every time."""
        return cls(kind, metadata, metadata.uid or f"{kind.lower()}-{metadata.name}")

    @property
    def name(self) -> str:
        """Its name, which names of pods begin with."""
        return self.metadata.name


@dataclass(frozen=True)
class Pods:
    """So many pods of one template, each made when it is asked for by its number."""

    count: int
    template: Template
    make: Callable[[int], Pod]


@dataclass(frozen=True)
class Plan:
    """Everything that is created for one object."""

    pods: tuple[Pods, ...] = ()
    objects: tuple[Object, ...] = ()
    """PodGroups and PersistentVolumeClaims that do not exist yet."""
    notes: tuple[str, ...] = ()
    """What differs from what the controller would do."""

    @property
    def count(self) -> int:
        """How many pods there are."""
        return sum(part.count for part in self.pods)


@dataclass(frozen=True)
class Surroundings:
    """The cluster, as far as controllers and the API server read it when they create pods."""

    classes: Mapping[str, PriorityClass] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()
    groups: Mapping[str, PodGroup] = field(default_factory=dict)
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    claims: frozenset[str] = frozenset()
    claim_templates: Mapping[str, ResourceClaimTemplate] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    """namespace/name of every pod."""
    has_volcano: bool = False
    created: int | None = None
    """When everything is created; None: with its owner."""


def pod(
    owner: Owner,
    template: Template,
    name: str,
    *,
    around: Surroundings,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Pod:
    """A pod of the template, owned by its controller; the template's spec is what the API server made of it."""
    meta = template.metadata
    stated = {
        "name": name,
        "namespace": owner.metadata.namespace,
        "uid": f"{owner.metadata.namespace}-{name}",
        "labels": {**meta.labels, **(labels or {})},
        "annotations": {**meta.annotations, **(annotations or {})},
        "ownerReferences": [{"kind": owner.kind, "name": owner.name, "uid": owner.uid, "controller": True}],
    }
    created = owner.metadata.creation_timestamp if around.created is None else around.created
    metadata = Metadata.model_validate(stated).model_copy(update={"creation_timestamp": created})
    return Pod.model_validate({"metadata": metadata, "spec": template.spec, "status": {"phase": "Pending"}})


class Names:
    """Names that no pod has yet: where a controller draws letters at random, numbers count here."""

    def __init__(self, around: Surroundings, namespace: str, prefix: str):
        names = (f"{prefix}-{number}" for number in itertools.count())
        self._free = (name for name in names if f"{namespace}/{name}" not in around.taken)
        self._found: list[str] = []

    def __getitem__(self, number: int) -> str:
        while len(self._found) <= number:
            self._found.append(next(self._free))
        return self._found[number]
