"""Hypothesis strategies: instances that reach every field, and tiny ones that an exhaustive search can decide."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from pydantic import BaseModel

from cpsched import timestamps
from cpsched.importers.compact import CompactInstance, CompactNode, CompactQueue
from cpsched.objects import CLUSTER_WIDE, KINDS
from cpsched.objects.base import Quantities, Quantity, Time
from cpsched.objects.pod import PodSpec, PodStatus
from tests.judge import conf

Raw = dict[str, Any]
Override = Callable[[DrawFn], Any]

GROUP = "scheduling.k8s.io/group-name"
names = st.sampled_from(["a", "b", "c", "x-1"])
keys = st.sampled_from(["app", "zone", "kubernetes.io/hostname", "example.com/k"])
labels = st.dictionaries(keys, names, max_size=2)
quantities = st.sampled_from(["0", "1", "2", "500m", "64Mi", "1Gi", "1.5", "1e3"])
resource_lists = st.dictionaries(
    st.sampled_from(["cpu", "memory", "pods", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi"]),
    quantities,
    max_size=3,
)
times = st.integers(1_767_225_600, 1_767_312_000).map(lambda second: timestamps.text(second * 10**9))
plain_values = st.one_of(st.booleans(), st.integers(0, 9), names)

_TEXTS: dict[str, SearchStrategy[str]] = {
    "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Equal"]),
    "effect": st.sampled_from(["", "NoSchedule", "PreferNoSchedule", "NoExecute"]),
    "topologyKey": keys,
    "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
    "restartPolicy": st.sampled_from(["", "Always"]),
    "protocol": st.sampled_from(["", "TCP", "UDP"]),
    "state": st.sampled_from(["", "Open", "Closed"]),
    "schedulerName": st.sampled_from(["", "volcano", "default-scheduler"]),
}
"""Text fields for which not every word makes sense."""


@dataclass(frozen=True)
class Shapes:
    """JSON values for a shape: any subset of its fields, each by its type; `overrides` by dotted path of JSON names."""

    overrides: Mapping[str, Override] = field(default_factory=dict)
    thirds: int = 1
    """How many thirds of the fields are set; with all three nothing is left empty."""

    def value(self, draw: DrawFn, shape: type[BaseModel], path: str = "") -> Raw:
        """A mapping that the shape accepts."""
        content: Raw = {}
        for name, info in shape.model_fields.items():
            alias = info.alias or name
            place = f"{path}.{alias}".removeprefix(".")
            if place in self.overrides:
                made = self.overrides[place](draw)
                if made is not None:
                    content[alias] = made
            elif info.is_required() or self._reaches_below(place) or draw(st.integers(1, 3)) > 3 - self.thirds:
                content[alias] = self._of_type(draw, info.annotation, alias, place, info.metadata)
        return content

    @property
    def least(self) -> int:
        """How many items a list has at least."""
        return int(self.thirds == 3)

    def _reaches_below(self, place: str) -> bool:
        return any(path.startswith(f"{place}.") for path in self.overrides)

    def _of_type(self, draw: DrawFn, kind: Any, alias: str, path: str, metadata: list[Any]) -> Any:
        if kind == Time:
            return draw(times)
        if kind == Quantity:
            return draw(quantities)
        if kind == Quantities:
            return draw(resource_lists) or {"cpu": "1"}
        if hasattr(kind, "__metadata__"):
            return self._of_type(draw, get_args(kind)[0], alias, path, [*metadata, *kind.__metadata__])
        if get_origin(kind) in (Union, types.UnionType):
            options = [option for option in get_args(kind) if option is not type(None)]
            return self._of_type(draw, draw(st.sampled_from(options)), alias, path, metadata)
        return self._of_plain_type(draw, kind, alias, path, metadata)

    def _of_plain_type(self, draw: DrawFn, kind: Any, alias: str, path: str, metadata: list[Any]) -> Any:
        origin, arguments = get_origin(kind), get_args(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return self.value(draw, kind, path)
        if origin is tuple:
            return [self._of_type(draw, arguments[0], alias, path, []) for _ in range(draw(st.integers(self.least, 2)))]
        if origin is dict:
            return {
                key: self._of_type(draw, arguments[1], alias, path, [])
                for key in draw(st.lists(keys, min_size=self.least, max_size=2, unique=True))
            }
        if origin is Literal:
            return draw(st.sampled_from(arguments))
        if kind is float:
            return draw(st.floats(0, 100, allow_nan=False))
        if kind is bool:
            return draw(st.sampled_from([True, False][: 2 - self.least]))
        if kind is int:
            least = next((limit.ge for limit in metadata if isinstance(limit, Ge)), 0)
            most = next((limit.le for limit in metadata if isinstance(limit, Le)), 9)
            return draw(st.integers(max(least, -9 + 10 * self.least), min(most, 9)))
        if kind is str:
            return draw(_TEXTS.get(alias, names))
        return draw(plain_values)


def chosen(values: list[str], *, also: str | None = None) -> Override:
    """One of the values; with `also` that one too, as when nothing is named."""
    options = [*values, *([] if also is None else [also])]
    return lambda draw: draw(st.sampled_from(options)) if options else None


def _metadata(name: str, namespace: str, annotations: Override | None = None) -> dict[str, Override]:
    overrides: dict[str, Override] = {
        "metadata.name": lambda draw: name,
        "metadata.namespace": lambda draw: namespace,
        "metadata.labels": lambda draw: draw(labels),
        "metadata.uid": lambda draw: draw(st.sampled_from(["", f"uid-{name}"])),
    }
    return overrides if annotations is None else {**overrides, "metadata.annotations": annotations}


_PLACED = (("", "Node"), ("", "Pod"), ("scheduling.volcano.sh", "Queue"), ("scheduling.volcano.sh", "PodGroup"))
"""Kinds that refer to each other."""


@st.composite
def kubernetes_objects(draw: DrawFn) -> list[Raw]:
    """Objects of every kind the importer knows, with references that hold."""
    nodes = [f"n{i}" for i in range(draw(st.integers(0, 3)))]
    queues = [f"q{i}" for i in range(draw(st.integers(0, 3)))]
    groups = [(draw(names), f"g{i}") for i in range(draw(st.integers(0, 2)))]
    objects = [_object(draw, "", "Node", _metadata(name, "")) for name in nodes]
    for number, name in enumerate(queues):
        parents = chosen(["root", *queues[:number]], also="")
        objects.append(_object(draw, "scheduling.volcano.sh", "Queue", _metadata(name, "") | {"spec.parent": parents}))
    for namespace, name in groups:
        overrides = _metadata(name, namespace) | {"spec.queue": chosen(queues, also="")}
        objects.append(_object(draw, "scheduling.volcano.sh", "PodGroup", overrides))
        objects.append(_pod(draw, f"{name}-0", namespace, nodes, name))
    objects += [_pod(draw, f"p{i}", draw(names), nodes, None, queues) for i in range(draw(st.integers(0, 2)))]
    others = [(group, kind) for group, kind in KINDS if (group, kind) not in _PLACED]
    for number, (group, kind) in enumerate(draw(st.lists(st.sampled_from(others), max_size=2))):
        objects.append(draw(objects_of_kind(group, kind, f"o{number}")))
    return draw(st.permutations(objects))


@st.composite
def objects_of_kind(draw: DrawFn, group: str, kind: str, name: str = "o") -> Raw:
    """One object with few, most or all of its fields; what it refers to need not exist."""
    overrides = _metadata(name, "" if kind in CLUSTER_WIDE else draw(names))
    if kind == "Event":
        overrides = {**overrides, "reason": lambda draw: "FailedScheduling"}  # no other reason is read
    return _object(draw, group, kind, overrides, draw(st.integers(1, 3)))


def _object(draw: DrawFn, group: str, kind: str, overrides: Mapping[str, Override], thirds: int = 1) -> Raw:
    content = Shapes(overrides, thirds).value(draw, KINDS[group, kind])
    return {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind, **content}


def _pod(
    draw: DrawFn, name: str, namespace: str, nodes: list[str], group: str | None, queues: list[str] | None = None
) -> Raw:
    annotations: Raw = {} if group is None else {GROUP: group}
    annotations |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "volcano.sh/task-spec": names,
                "volcano.sh/preemptable": st.sampled_from(["true", "false", "maybe"]),
                "volcano.sh/task-priority": st.sampled_from(["5", "high"]),
            },
        )
    )
    if queues:
        annotations["scheduling.volcano.sh/queue-name"] = draw(st.sampled_from(queues))
    node = draw(st.sampled_from([*nodes, ""]))
    phases = ["", "Pending", "Succeeded", "Failed", "Unknown", *(["Running"] if node else [])]
    overrides: dict[str, Override] = _metadata(name, namespace, lambda draw: annotations) | {
        "spec.nodeName": lambda draw: node,
        "status.phase": lambda draw: draw(st.sampled_from(phases)),
        "metadata.uid": lambda draw: draw(st.sampled_from(["", f"uid-{namespace}-{name}"])),
    }
    return _object(draw, "", "Pod", overrides)


_CLASS = {"name": "low", "value": 1, "preemptionPolicy": "Never", "globalDefault": True}


@st.composite
def compact_instances(draw: DrawFn) -> Raw:
    """The compact form with every field of it, and any field of a pod's spec or status in its tasks."""
    nodes = [
        Shapes({"name": lambda draw, i=i: f"n{i}"}).value(draw, CompactNode) for i in range(draw(st.integers(1, 2)))
    ]
    node_names = [
        name
        for node in nodes
        for name in (
            [node["name"]] if "replicas" not in node else [f"{node['name']}-{i}" for i in range(node["replicas"])]
        )
    ]
    queues = [f"q{i}" for i in range(draw(st.integers(0, 2)))]
    jobs = [_compact_job(draw, f"j{i}", queues, node_names) for i in range(draw(st.integers(0, 2)))]
    waiting = [
        f"{job['name']}/{task.get('role') or ('task' if place == 0 else f'task{place}')}-{number}"
        for job in jobs
        for place, task in enumerate(job["tasks"])
        if "name" not in task
        for number in range(task.get("replicas", 1))
        if task.get("phase") in (None, "Running")
    ]
    free = (
        st.dictionaries(st.sampled_from(waiting), st.sampled_from(node_names), max_size=2)
        if waiting and node_names
        else st.just({})
    )
    overrides: dict[str, Override] = {
        "nodes": lambda draw: nodes,
        "queues": lambda draw: [_compact_queue(draw, name, queues[:number]) for number, name in enumerate(queues)],
        "jobs": lambda draw: jobs,
        "running": lambda draw: draw(free),
        "priorityClasses": lambda draw: draw(st.one_of(st.none(), st.just({"low": 1}), st.just([_CLASS]))),
        "budgets.name": lambda draw: "b",
        "budgets": lambda draw: draw(st.one_of(st.none(), st.just([_budget(draw)]))),
        "sharding.nodes": lambda draw: draw(st.lists(st.sampled_from(node_names), max_size=2)) if node_names else [],
        "hyperNodes": lambda draw: draw(st.lists(_hyper_node(node_names), max_size=1)),
        "conf": lambda draw: draw(st.one_of(st.none(), st.just(conf("allocate", "gang")))),
        "objects": lambda draw: [_object(draw, "", "Namespace", _metadata("ns", ""))],
        "recipe": lambda draw: draw(st.one_of(st.none(), st.just({"seed": 1}))),
        "apiVersion": lambda draw: "cpsched/v1",
        "kind": lambda draw: "Instance",
    }
    return Shapes(overrides).value(draw, CompactInstance)


def _compact_queue(draw: DrawFn, name: str, above: list[str]) -> Raw:
    return Shapes({"name": lambda draw: name, "parent": chosen(above, also="root")}).value(draw, CompactQueue)


def _hyper_node(nodes: list[str]) -> st.SearchStrategy[Raw]:
    every = {"type": "Node", "selector": {"regexMatch": {"pattern": "."}}}
    optional = {
        "tierName": st.sampled_from(["rack", ""]),
        "nodes": st.just(nodes[:1]),
        "hyperNodes": st.just(["s1"]),
        "members": st.just([every]),
    }
    return st.fixed_dictionaries({"name": st.just("s"), "tier": st.integers(0, 2)}, optional=optional)


def _budget(draw: DrawFn) -> Raw:
    made = {"name": "b", "selector": {"matchLabels": draw(labels)}}
    optional = {
        "namespace": names,
        "disruptionsAllowed": st.integers(0, 2),
        "disruptedPods": st.lists(names, max_size=2, unique=True),
    }
    return made | draw(st.fixed_dictionaries({}, optional=optional))


_TOPOLOGY = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["hard", "soft", ""]),
        "highestTierAllowed": st.integers(0, 3),
        "highestTierName": st.sampled_from(["rack", ""]),
    },
)


def _compact_job(draw: DrawFn, name: str, queues: list[str], nodes: list[str]) -> Raw:
    tasks = [_compact_task(draw, name, number, nodes) for number in range(draw(st.integers(1, 2)))]
    # A job of which every pod is another scheduler's has no tasks, which a case may not have.
    tasks[0].pop("schedulerName", None)
    policy = st.fixed_dictionaries(
        {"name": st.just("g")},
        optional={
            "labelSelector": st.just({"matchLabels": {"app": "x"}}),
            "matchLabelKeys": st.just(["app"]),
            "subGroupSize": st.integers(1, 2),
            "minSubGroups": st.integers(0, 2),
            "networkTopology": _TOPOLOGY,
        },
    )
    optional = {
        "namespace": names,
        "minMember": st.integers(0, 3),
        "minTaskMember": st.dictionaries(names, st.integers(0, 2), max_size=1),
        "minResources": resource_lists,
        "networkTopology": _TOPOLOGY,
        "subGroupPolicy": st.lists(policy, max_size=1),
        "priorityClassName": st.sampled_from(["low", "none"]),
        "phase": st.sampled_from(["", "Pending", "Inqueue", "Running", "Unknown"]),
        "labels": labels,
        "annotations": st.just({"sla-waiting-time": "1h"}),
        "creationTimestamp": times,
        "queue": st.sampled_from([*queues, ""]),
    }
    return {"name": name, "tasks": tasks} | draw(st.fixed_dictionaries({}, optional=optional))


def _compact_task(draw: DrawFn, job: str, number: int, nodes: list[str]) -> Raw:
    shapes = Shapes({"nodeName": lambda draw: None, "phase": lambda draw: None, "containers": lambda draw: None})
    task = {**shapes.value(draw, PodSpec), **shapes.value(draw, PodStatus)}
    optional: dict[str, SearchStrategy[Any]] = {
        "requests": resource_lists,
        "limits": resource_lists,
        "ports": st.just([{"containerPort": 80, "hostPort": 80}]),
        "image": names,
        "preemptable": st.booleans(),
        "labels": labels,
        "annotations": st.just({"example.com/note": "x"}),
        "creationTimestamp": times,
        "deletionTimestamp": times,
        "ownerReferences": st.just([{"kind": "Job", "name": "o", "uid": "u", "controller": True}]),
        "dnsPolicy": st.just("Default"),
    }
    if draw(st.booleans()):
        optional["name"] = st.just(f"{job}-named{number}")
    else:
        optional["role"] = st.just(f"role{number}")
        optional["replicas"] = st.integers(min(1, 1 - number), 2)
    task |= draw(st.fixed_dictionaries({}, optional=optional))
    if nodes and draw(st.booleans()):
        task["running"] = draw(st.sampled_from(nodes))
    elif draw(st.booleans()):
        task["phase"] = draw(st.sampled_from(["Pending", "Succeeded", "Failed", "Unknown"]))
    return task


# --- tiny instances that an exhaustive search decides at once ---------------------------------------------------------
