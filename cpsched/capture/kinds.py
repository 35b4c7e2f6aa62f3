"""What is asked for: of the kinds that decisions read those that this cluster has."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.capture.kubectl import Kubectl
from cpsched.errors import InputError
from cpsched.objects import FORMER_GROUPS, KINDS, UNREAD_VERSIONS
from cpsched.objects.base import Object
from cpsched.objects.event import Event
from cpsched.workloads.registry import WORKLOADS

Kind = tuple[str, str]
"""(API group, kind) as in KINDS."""

_READ: dict[Kind, tuple[type[Object], ...]] = {kind: (shape,) for kind, shape in KINDS.items() if shape is not Event}
"""Events say nothing that conditions of pods do not say, and there are many of them."""
TAKEN: dict[Kind, tuple[type[Object], ...]] = _READ | {
    kind: (*_READ.get(kind, ()), workload.shape) for kind, workload in WORKLOADS.items()
}
"""Kinds that are asked for, with the shapes that read them: of workloads pods are made that do not exist yet, and some
are read by schedulers too."""
NEEDED = (("", "Node"), ("", "Pod"))
"""Without these there is nothing to decide."""


@dataclass(frozen=True)
class Resource:
    """A resource of the cluster, as kubectl names it."""

    name: str
    group: str
    kind: Kind

    @property
    def full_name(self) -> str:
        """`pods`, `queues.scheduling.volcano.sh`."""
        return f"{self.name}.{self.group}" if self.group else self.name


@dataclass(frozen=True)
class Discovery:
    """What there is to ask for."""

    resources: tuple[Resource, ...]
    complaints: tuple[str, ...] = ()
    """What discovery could not find out: an API service that is down."""

    @property
    def missing(self) -> list[str]:
        """Complaints about groups of kinds that were not found: they may be there all the same."""
        there = {one.kind for one in self.resources}
        groups = {group for group, name in TAKEN if group and (group, name) not in there}
        return [f"what kubectl says: {line}" for line in self.complaints if any(one in line for one in groups)]

    @property
    def absent(self) -> tuple[str, ...]:
        """Kinds that schedulers read and the cluster does not have."""
        there = {one.kind for one in self.resources}
        return tuple(title(kind) for kind in _READ if kind not in there)


def title(kind: Kind) -> str:
    """`Pod`, `Queue.scheduling.volcano.sh`."""
    group, name = kind
    return f"{name}.{group}" if group else name


def known_kind(api_version: str, kind: str) -> Kind | None:
    """The kind in TAKEN of an object that says this of itself."""
    group = api_version.rpartition("/")[0]
    known = (FORMER_GROUPS.get(group, group), kind)
    return known if known in TAKEN else None


def discover(kubectl: Kubectl) -> Discovery:
    """Ask which resources can be listed; InputError without an answer."""
    reading = kubectl.read("api-resources", "--verbs=list", "--no-headers")
    found: dict[Kind, Resource] = {}
    for line in reading.text.splitlines():
        columns = line.split()
        # NAME SHORTNAMES APIVERSION NAMESPACED KIND; the second may be empty.
        if len(columns) < 4 or columns[-2] not in ("true", "false"):
            continue
        name, version, kind = columns[0], columns[-3], columns[-1]
        known = known_kind(version, kind)
        if known is not None and version not in UNREAD_VERSIONS:
            resource = Resource(name, version.rpartition("/")[0], known)
            is_former = resource.group in FORMER_GROUPS
            if known not in found or not is_former:
                found[known] = resource
    if not all(kind in found for kind in NEEDED):
        if reading.failed:
            raise reading.error()
        raise InputError("lists no nodes and pods among the kinds of this cluster", file=kubectl.program)
    return Discovery(tuple(found[kind] for kind in TAKEN if kind in found), reading.complaints)
