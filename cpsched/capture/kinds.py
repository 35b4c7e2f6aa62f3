"""What is asked for: of the kinds that decisions read those that this cluster has."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.capture.kubectl import Kubectl
from cpsched.errors import InputError
from cpsched.objects import FORMER_GROUPS, KINDS, UNREAD_VERSIONS
from cpsched.objects.base import Object
from cpsched.objects.event import Event
from cpsched.workloads.volcano_job import VolcanoJob

Kind = tuple[str, str]
"""(API group, kind) as in KINDS."""

TAKEN: dict[Kind, type[Object]] = {kind: shape for kind, shape in KINDS.items() if shape is not Event}
TAKEN["batch.volcano.sh", "Job"] = VolcanoJob
"""Kinds that are asked for. Events say nothing that conditions of pods do not say, and there are many of them. Of
workloads, Volcano's Job alone makes its pods only after a scheduler has let it in: until then its templates are all."""
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
        """Kinds that the cluster does not have."""
        there = {one.kind for one in self.resources}
        return tuple(title(kind) for kind in TAKEN if kind not in there)


def title(kind: Kind) -> str:
    """`Pod`, `Queue.scheduling.volcano.sh`."""
    group, name = kind
    return f"{name}.{group}" if group else name


def shape_of(api_version: str, kind: str) -> tuple[Kind, type[Object]] | None:
    """The kind in TAKEN of an object that says this of itself."""
    group = api_version.rpartition("/")[0]
    known = (FORMER_GROUPS.get(group, group), kind)
    return (known, TAKEN[known]) if known in TAKEN else None


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
        known = shape_of(version, kind)
        if known is not None and version not in UNREAD_VERSIONS:
            resource = Resource(name, version.rpartition("/")[0], known[0])
            is_former = resource.group in FORMER_GROUPS
            if known[0] not in found or not is_former:
                found[known[0]] = resource
    if not all(kind in found for kind in NEEDED):
        if reading.failed:
            raise reading.error()
        raise InputError("lists no nodes and pods among the kinds of this cluster", file=kubectl.program)
    return Discovery(tuple(found[kind] for kind in TAKEN if kind in found), reading.complaints)
