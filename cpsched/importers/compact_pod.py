"""A task of the compact form as a Pod: pod-spec fields keep their names, the rest is shorthand."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cpsched.errors import InputError
from cpsched.importers.sizes import MOST_MADE
from cpsched.instance import GROUP_ANNOTATION, ID_ANNOTATION
from cpsched.objects.pod import PodSpec, PodStatus

if TYPE_CHECKING:
    from cpsched.importers.compact import CompactJob

Raw = dict[str, Any]

_METADATA = {"labels", "annotations", "creationTimestamp", "deletionTimestamp", "uid", "ownerReferences"}
_SHORTHAND = {"name", "namespace", "role", "replicas", "requests", "limits", "ports", "image", "preemptable", "running"}
_SPEC = {info.alias or name for name, info in PodSpec.model_fields.items()}
_STATUS = {info.alias or name for name, info in PodStatus.model_fields.items()}
_UNREAD_SPEC = {
    "activeDeadlineSeconds", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks",
    "ephemeralContainers", "hostAliases", "hostIPC", "hostPID", "hostUsers", "hostname", "imagePullSecrets", "os",
    "readinessGates", "restartPolicy", "runtimeClassName", "securityContext", "serviceAccount", "serviceAccountName",
    "setHostnameAsFQDN", "shareProcessNamespace", "subdomain",
}  # fmt: skip
"""Pod-spec fields that may be pasted along and have no bearing on scheduling."""
TASK_FIELDS = _METADATA | _SHORTHAND | _SPEC | _STATUS | _UNREAD_SPEC


def pod_object(
    job: CompactJob, index: int, task: Raw, running: Mapping[str, str], file: str
) -> Iterator[tuple[str, Raw]]:
    """(task id, Pod) for each replica of a compact task."""
    place = f"job {job.name} tasks[{index}]"
    _reject_unknown(task, file, place)
    role = _text(task, "role", file, place) or f"task{index}" * (index > 0) or "task"
    replicas = replicas_of(task, file, place)
    nodes = _nodes(task.get("running"), replicas, file, place)
    named = _text(task, "name", file, place)
    if named and replicas != 1:
        raise InputError(
            f"name {named} with {replicas} replicas", file=file, place=place, right="a named task has one replica"
        )
    for number in range(replicas):
        namespace = _text(task, "namespace", file, place)
        task_id = f"{namespace}/{named}" if named and namespace else f"{job.name}/{named or f'{role}-{number}'}"
        node = nodes[number] or running.get(task_id, "")
        name = named or f"{job.name}-{role}-{number}"
        yield task_id, _pod(job, task, role, task_id, name, namespace or job.namespace, node)


def replicas_of(task: Raw, file: str, place: str) -> int:
    """How many pods a compact task makes."""
    replicas = task.get("replicas", 1)
    if isinstance(replicas, bool) or not isinstance(replicas, int) or not 0 <= replicas <= MOST_MADE:
        right = f"replicas is a number from 0 to {MOST_MADE}"
        raise InputError(f"replicas is {replicas!r}", file=file, place=place, right=right)
    return replicas


def _pod(job: CompactJob, task: Raw, role: str, task_id: str, name: str, namespace: str, node: str) -> Raw:
    metadata: Raw = {key: task[key] for key in _METADATA if key in task}
    metadata |= {"name": name, "namespace": namespace}
    metadata.setdefault("uid", f"{namespace}-{name}")
    key = f"{namespace}/{name}"
    annotations = {GROUP_ANNOTATION: job.name, "volcano.sh/task-spec": role, **(task.get("annotations") or {})}
    if task_id != key:
        annotations[ID_ANNOTATION] = task_id
    if "preemptable" in task:
        annotations["volcano.sh/preemptable"] = str(task["preemptable"]).lower()
    metadata["annotations"] = annotations
    spec: Raw = {key: task[key] for key in _SPEC if key in task}
    spec.setdefault("containers", [_container(task)])
    if node:
        spec["nodeName"] = node
    if job.priorityClassName:
        spec.setdefault("priorityClassName", job.priorityClassName)
    status: Raw = {key: task[key] for key in _STATUS if key in task}
    status.setdefault("phase", "Running" if spec.get("nodeName") else "Pending")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def _container(task: Raw) -> Raw:
    container: Raw = {"name": "main", "resources": {key: task[key] for key in ("requests", "limits") if key in task}}
    return container | {key: task[key] for key in ("ports", "image") if key in task}


def _nodes(stated: Any, replicas: int, file: str, place: str) -> list[str]:
    if stated is None:
        return [""] * replicas
    nodes = [stated] * replicas if isinstance(stated, str) else stated
    if not isinstance(nodes, list) or not all(isinstance(node, str) for node in nodes) or len(nodes) > replicas:
        right = f"running is a node's name, or a list of at most {replicas} of them"
        raise InputError("running does not say where the replicas are", file=file, place=place, right=right)
    return nodes + [""] * (replicas - len(nodes))


def _reject_unknown(task: Raw, file: str, place: str) -> None:
    for key in task:
        if key not in TASK_FIELDS:
            close = difflib.get_close_matches(str(key), sorted(TASK_FIELDS), n=1)
            right = (
                f"did you mean {close[0]}?"
                if close
                else "tasks take pod-spec fields, requests, replicas, role, running"
            )
            raise InputError(f"unknown field {key}", file=file, place=place, right=right)
    for key in ("annotations", "labels"):
        if not isinstance(task.get(key, {}), dict):
            raise InputError(f"{key} is not a mapping", file=file, place=place)


def _text(task: Raw, key: str, file: str, place: str) -> str:
    value = task.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{key} is {value!r}", file=file, place=place, right=f"{key} is a text")
    return value
