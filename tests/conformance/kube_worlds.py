"""From the unit-level rows of upstream's tables to worlds that the kube mirror works on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cpsched.filters.contract import Filter, PreFilterResult
from cpsched.filters.status import SUCCESS, Code, Status, unschedulable
from cpsched.greedy.kube.dry_run import DryRun
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.groups import Group, Groups, is_all
from cpsched.greedy.kube.options import Options
from cpsched.greedy.kube.snapshot import Snapshot
from cpsched.greedy.kube.statuses import NodeStatuses
from cpsched.greedy.kube.victims import Unit
from cpsched.greedy.kube.world import World
from cpsched.importers.load import load
from cpsched.instance import Instance, Task
from cpsched.policy import load_model, policy_for

KINDS = {"pods": "v1/Pod", "nodes": "v1/Node", "pdbs": "policy/v1/PodDisruptionBudget"}
UNMIRRORED = frozenset({"skip-on-deferred"})
"""A filter of one table that skips the pod it is asked about."""


def with_now(value: Any) -> Any:
    """The row's objects with NOW replaced by a time."""
    if isinstance(value, dict):
        return {key: with_now(one) for key, one in value.items()}
    if isinstance(value, list):
        return [with_now(one) for one in value]
    return "2026-01-01T00:00:00Z" if value == "NOW" else value


def instance_of(row: dict[str, Any], extra_pods: tuple[dict[str, Any], ...] = ()) -> Instance:
    objects = []
    taken: set[tuple[str, str]] = set()
    for field, kind in KINDS.items():
        group, _, name = kind.rpartition("/")
        for number, item in enumerate(with_now(row.get(field) or [])):
            item = {"apiVersion": group, "kind": name, **item}
            item.setdefault("metadata", {}).setdefault("name", f"{field}-{number}")
            objects.append(item)
            taken.add((field, item["metadata"]["name"]))
    for pod in with_now(list(extra_pods)):
        if ("pods", pod["metadata"]["name"]) not in taken:
            objects.append({"apiVersion": "v1", "kind": "Pod", **pod})
    return load(objects, lenient=True)


def task_of(pod: dict[str, Any]) -> Task:
    """A pod of a row, whether or not one of its name is in the cluster."""
    (task,) = load([{"apiVersion": "v1", "kind": "Pod", **with_now(pod)}], lenient=True).tasks.values()
    return task


def groups_of(row: dict[str, Any]) -> Groups | None:
    if not (row.get("features") or {}).get("EnableGenericWorkload") and "podGroups" not in row:
        return None
    found = {}
    for kind, field in (("podgroup", "podGroups"), ("compositepodgroup", "compositePodGroups")):
        for item in row.get(field) or ():
            namespace, spec = item["metadata"].get("namespace") or "default", item.get("spec", {})
            parent = spec.get("parentCompositePodGroupName")
            above = ("compositepodgroup", namespace, parent) if parent else None
            key = (kind, namespace, item["metadata"]["name"])
            found[key] = Group(key, spec.get("priority") or 0, is_all(spec.get("disruptionMode")), above)
    return Groups(found)


def world_of(row: dict[str, Any], *preemptors: dict[str, Any], **options: Any) -> World:
    instance = instance_of(row, preemptors)
    world = World(instance, "head", Options(**options), Snapshot(instance), groups=groups_of(row))
    for task in instance.tasks.values():
        if task.pod.status.nominated_node_name:
            world.nominated[task.key] = task.pod.status.nominated_node_name
    return world


def framework_of(names: list[str], args: dict[str, Any] | None = None) -> Framework:
    """A profile with these filters; upstream's stand-ins fail or pass everywhere."""
    real = [name for name in names if "Filter" not in name and name not in UNMIRRORED]
    enabled = [{"name": name} for name in ("PrioritySort", *real, "DefaultPreemption", "DefaultBinder")]
    conf = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {"multiPoint": {"enabled": enabled, "disabled": [{"name": "*"}]}},
                "pluginConfig": [{"name": "DefaultPreemption", "args": preemption_args(args)}],
            }
        ],
    }
    profile = policy_for(load_model("kube"), conf, kube_version="head").kube.profiles[0]
    return Framework.of(profile, "head")


def preemption_args(args: dict[str, Any] | None) -> dict[str, Any]:
    return {name[0].lower() + name[1:]: value for name, value in (args or {}).items()}


class Counter:
    """Counts how often the filters run; may refuse every node, as upstream's FakeFilter."""

    def __init__(self, refuses: bool):
        self.calls, self._refuses = 0, refuses

    def check(self, state: Any, task: Task, node: Any, cluster: Any) -> Status:
        self.calls += 1
        return unschedulable("FakeFilter", "refused") if self._refuses else SUCCESS

    def put_first(self, framework: Framework) -> Framework:
        one = Filter("FakeFilter", lambda task, cluster, args: PreFilterResult(), self.check)
        return replace(framework, filters=(one, *framework.filters))


def dry_run(world: World, framework: Framework, task: Task, **hooks: Any) -> DryRun:
    pre = framework.pre_filter(task, world.snapshot.cluster)
    return DryRun(world, framework, task, pre, world.budgets, **hooks)


def statuses_of(stated: dict[str, Any]) -> NodeStatuses:
    explicit = {name: status_of(one) for name, one in stated["nodes"].items()}
    return NodeStatuses(explicit, status_of(stated["absent"]))


def status_of(stated: dict[str, Any]) -> Status:
    return Status(Code(stated["code"]), tuple(stated["reasons"]))


def eligibility(stated: dict[str, Any]) -> Any:
    """The rules that upstream's table puts in the place of IsEligiblePod."""
    args = stated["args"]
    return {
        "victimLabelsAreEligible": lambda node, unit, task: all(t.labels.get(args[0]) == args[1] for t in unit.tasks),
        "nodeNameIsEligible": lambda node, unit, task: node.name == args[0],
        "priorityBelowThresholdCannotPreempt": lambda node, unit, task: task.pod_priority >= args[0],
        "priorityAboveThresholdCannotBePreempted": lambda node, unit, task: unit.priority <= args[0],
    }[stated["rule"]]


def victim_order(text: str) -> Any:
    """The orders that upstream's table puts in the place of MoreImportantVictim."""
    keys = {
        "earlier start = more important": lambda unit: unit.start,
        "lower pod name = more important": lambda unit: unit.tasks[0].name,
        "standalone pod more important than group, else default": lambda unit: (unit.kind != "pod", unit.importance),
        "lower pod group name more important, else default": lambda unit: (group_name(unit), unit.importance),
    }
    return lambda units: sorted(units, key=keys[text])


def group_name(unit: Unit) -> str:
    return unit.tasks[0].pod.spec.scheduling_group.pod_group_name
