"""What the API server writes into the spec of every pod that is created: scheduler, priority, tolerations."""

from __future__ import annotations

from typing import Any

from cpsched.importers.defaults import ApiDefaults
from cpsched.objects.affinity import Toleration
from cpsched.objects.groups import PriorityClass
from cpsched.objects.pod import Pod, PodSpec
from cpsched.workloads.plan import Surroundings, Template

DEFAULT_SCHEDULER = "default-scheduler"
_SYSTEM = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""PriorityClasses that every API server has, also where a dump leaves them out."""
_CONDITIONS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def admitted(template: Template, around: Surroundings) -> Template:
    """The template as it stands in the pods that are made of it.

    Mirrors the defaults of the API, and the admission plugins Priority and DefaultTolerationSeconds.
    """
    spec = template.spec
    update: dict[str, Any] = {"tolerations": (*spec.tolerations, *_tolerations(spec)), "node_name": spec.node_name}
    if not spec.scheduler_name:
        update["scheduler_name"] = DEFAULT_SCHEDULER
    name, value, policy = _priority(spec, around)
    update |= {"priority_class_name": name, "priority": value}
    if not spec.preemption_policy and policy == "Never":
        update["preemption_policy"] = "Never"
    pod = Pod.model_validate({"spec": spec.model_copy(update=update)})
    pod = pod.model_copy(update={"metadata": template.metadata})
    return template.model_copy(update={"spec": ApiDefaults({}).filled_in(pod).spec})


def unknown_class(name: str, around: Surroundings) -> str | None:
    """A note about a PriorityClass that the input lacks; the API server would refuse the pod."""
    if not name or name in around.classes or name in _SYSTEM:
        return None
    return f"PriorityClass {name} is not in the input: priority 0 is used; the API server refuses a pod without it"


def priority_of(name: str, around: Surroundings) -> int:
    """The value of a PriorityClass, 0 if there is none."""
    return around.classes[name].value if name in around.classes else _SYSTEM.get(name, 0)


def _priority(spec: PodSpec, around: Surroundings) -> tuple[str, int, str]:
    name = spec.priority_class_name
    default = _default_class(around)
    if not name and default is not None:
        return default.metadata.name, default.value, default.preemption_policy
    if name in around.classes:
        return name, around.classes[name].value, around.classes[name].preemption_policy
    return name, _SYSTEM.get(name, spec.priority or 0), ""


def _default_class(around: Surroundings) -> PriorityClass | None:
    """Of several global defaults the lowest counts, as in the API server."""
    return min((one for one in around.classes.values() if one.global_default), key=lambda one: one.value, default=None)


def _tolerations(spec: PodSpec) -> list[Toleration]:
    """Five minutes on a node that is lost, unless the pod says for itself."""
    return [
        Toleration.model_validate({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
        for key in _CONDITIONS
        if not any(one.key in ("", key) and one.effect in ("", "NoExecute") for one in spec.tolerations)
    ]
