"""Volcano's cache dump (`kill -USR1`, pkg/scheduler/cache/dumper.go): a row of JSON documents, nodes first, jobs last.

The documents are Go maps of NodeInfo and JobInfo, whose fields have no JSON names; inside are the Kubernetes objects.
In between stand tables of hypernodes, in some releases none. Queues and priority classes are not dumped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cpsched.errors import InputError
from cpsched.importers.raw import Raw, mapping_at, of_kind, text_at
from cpsched.importers.snapshot import Context
from cpsched.parsing import Document

_VOLCANO = "scheduling.volcano.sh/v1beta1"
_DEFAULT_CLASS, DEFAULT_QUEUE = "dump-default-priority", "default"
_ON_ITS_WAY, _RELEASING = (1 << 1, 1 << 3, 1 << 4), 1 << 6
"""Allocated, Binding, Bound; Releasing: numbers of a TaskInfo's Status."""
USED_BY_NODE = __name__
"""Under this key stands in `found_out` of an instance, per node, what Volcano counts in use there."""
_MOST = 2.0**63
_NODE_FIELDS = ("NumaInfo", "NumaSchedulerInfo", "RevocableZone", "OversubscriptionNode", "OfflineJobEvicting")
_JOB_FIELDS = ("Budget", "RevocableZone", "AllocatedHyperNode")


def looks_like(documents: list[Document]) -> bool:
    """One of the documents is a map of NodeInfo or JobInfo."""
    return any(_is_nodes(document.data) or _is_jobs(document.data) for document in _parts(documents))


def translate(documents: list[Document], context: Context) -> Raw:
    """The objects inside, in order of their creation: the dump has lost the order of arrival."""
    nodes: list[Raw] = []
    groups: list[Raw] = []
    pods: dict[tuple[str, str], Raw] = {}
    classes: dict[str, Raw] = {}
    queues: dict[str, None] = {}
    for document in _parts(documents):
        data, file = document.data, document.file
        if not isinstance(data, Mapping):
            raise InputError("no map of nodes or jobs", file=file, right="give the file that kill -USR1 wrote")
        if _is_nodes(data):
            for name, info in _infos(data, file):
                nodes.append(of_kind(mapping_at(info, "Node", file, name), "v1", "Node"))
                _collect(info, file, name, pods)
                context.counted.setdefault(USED_BY_NODE, {})[name] = _amounts(info.get("Used"))
                context.leave(f"NodeInfo.{field}" for field in _NODE_FIELDS if _says(info.get(field)))
        elif _is_jobs(data):
            for name, info in _infos(data, file):
                group = of_kind(mapping_at(info, "PodGroup", file, name), _VOLCANO, "PodGroup")
                group.pop("Version", None)
                groups.append(group)
                _collect(info, file, name, pods)
                _note_class(info, mapping_at(group, "spec", file, name), classes, context)
                queues[text_at(mapping_at(group, "spec", file, name), "queue") or DEFAULT_QUEUE] = None
                context.leave(f"JobInfo.{field}" for field in _JOB_FIELDS if _says(info.get(field)))
        elif data:
            context.report.other_kinds["hypernode table"] += 1
    made = _queues(queues, context, documents[0].file)
    ordered = (*_by_age(nodes), *made, *classes.values(), *_by_age(groups), *_by_age(pods.values()))
    return {"objects": list(ordered)}


def _parts(documents: list[Document]) -> list[Document]:
    """The documents, also if they were put into one array."""
    if len(documents) == 1 and isinstance(documents[0].data, list):
        return [Document(documents[0].file, part) for part in documents[0].data]
    return documents


def _is_nodes(data: Any) -> bool:
    return _is_map_of(data, {"Node", "Tasks", "Idle"})


def _is_jobs(data: Any) -> bool:
    return _is_map_of(data, {"PodGroup", "Tasks", "MinAvailable"})


def _is_map_of(data: Any, fields: set[str]) -> bool:
    if not isinstance(data, Mapping) or not data:
        return False
    first = next(iter(data.values()))
    return isinstance(first, Mapping) and fields <= first.keys()


def _infos(data: Mapping[str, Any], file: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, info in data.items():
        if not isinstance(info, Mapping):
            raise InputError("no NodeInfo or JobInfo", file=file, place=str(name))
        yield str(name), info


def _amounts(used: Any) -> dict[str, int]:
    """A Resource of Volcano: cpu and scalars in thousandths, memory in bytes; pods it counts whole."""
    if not isinstance(used, Mapping):
        return {}
    scalars = used.get("ScalarResources")
    amounts = {
        "cpu": used.get("MilliCPU"),
        "memory": used.get("Memory"),
        **(scalars if isinstance(scalars, Mapping) else {}),
    }
    return {name: int(amount) for name, amount in amounts.items() if isinstance(amount, int | float) and amount < _MOST}


def _says(value: Any) -> bool:
    """Go writes out what is empty: false, an empty text, a structure of such."""
    return any(map(_says, value.values())) if isinstance(value, Mapping) else bool(value)


def _collect(info: Mapping[str, Any], file: str, place: str, pods: dict[tuple[str, str], Raw]) -> None:
    """The pods of a node or a job; one that is both on a node and in a job comes twice and is kept once."""
    tasks = mapping_at(info, "Tasks", file, place)
    for name, task in tasks.items():
        where = f"{place}.Tasks.{name}"
        if not isinstance(task, Mapping):
            raise InputError("no TaskInfo", file=file, place=where)
        pod = of_kind(mapping_at(task, "Pod", file, where), "v1", "Pod")
        metadata = mapping_at(pod, "metadata", file, where)
        spec = mapping_at(pod, "spec", file, where)
        home, status = text_at(task, "NodeName"), task.get("Status")
        if status in _ON_ITS_WAY and home and not spec.get("nodeName"):
            pod["spec"] = {**spec, "nodeName": home}
        if status == _RELEASING and not metadata.get("deletionTimestamp"):
            pod["metadata"] = {**metadata, "deletionTimestamp": metadata.get("creationTimestamp")}
        pods.setdefault((text_at(metadata, "namespace"), text_at(metadata, "name")), pod)


def _note_class(info: Mapping[str, Any], spec: Mapping[str, Any], classes: dict[str, Raw], context: Context) -> None:
    """The priority that Volcano had looked up for the job, as the class it came from."""
    value, name = info.get("Priority"), text_at(spec, "priorityClassName")
    if not isinstance(value, int) or (not name and not value):
        return
    name = name or _DEFAULT_CLASS
    if ("PriorityClass", name) not in context.given:
        made = of_kind({"metadata": {"name": name}, "value": value}, "scheduling.k8s.io/v1", "PriorityClass")
        classes[name] = made | {"globalDefault": True} if name == _DEFAULT_CLASS else made


def _queues(names: Iterable[str], context: Context, file: str) -> list[Raw]:
    missing = [name for name in names if ("Queue", name) not in context.given and name != DEFAULT_QUEUE]
    if not missing:
        return []
    shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
    if not context.lenient:
        right = "kubectl get queues.scheduling.volcano.sh -o json > queues.json, and import with --queues queues.json"
        raise InputError(f"a cache dump holds no queues, and its jobs name {shown}", file=file, right=right)
    context.notes.append(f"queues are not dumped: {shown} taken to be of weight 1")
    return [of_kind({"metadata": {"name": name}, "spec": {"weight": 1}}, _VOLCANO, "Queue") for name in missing]


def _by_age(items: Iterable[Raw]) -> list[Raw]:
    def age(item: Raw) -> tuple[str, str, str]:
        metadata = item.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        return text_at(metadata, "creationTimestamp"), text_at(metadata, "namespace"), text_at(metadata, "name")

    return sorted(items, key=age)
