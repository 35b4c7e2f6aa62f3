"""Small clusters for tests, written as Kubernetes objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cpsched.greedy.outcomes import First
from cpsched.greedy.volcano import Options, Replay, replay
from cpsched.greedy.volcano.engine import PLUGINS
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.trace import SessionTrace
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for

Object = dict[str, Any]


def stamp(second: int) -> str:
    return f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}Z"


def node(name: str, cpu: str = "4", pods: int = 10, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
    allocatable = {"cpu": cpu, "memory": "64Gi", "pods": str(pods)}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": spec,
        "status": {"allocatable": allocatable},
    }


def pod(
    name: str,
    job: str,
    cpu: str = "1",
    on: str = "",
    role: str = "",
    second: int = 0,
    metadata: Any = None,
    **spec: Any,
) -> Object:
    annotations = {"scheduling.k8s.io/group-name": job} | ({"volcano.sh/task-spec": role} if role else {})
    meta = {"name": name, "namespace": "ns", "uid": f"ns-{name}", "creationTimestamp": stamp(second)}
    extra = dict(metadata or {})
    annotations |= extra.pop("annotations", {})
    phase = extra.pop("phase", "Running" if on else "Pending")
    status = {"phase": phase} | extra.pop("status", {})
    requests = {"cpu": cpu} if cpu else {}
    own = {"containers": [{"name": "main", "resources": {"requests": requests}}], **spec} | (
        {"nodeName": on} if on else {}
    )
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {**meta, "annotations": annotations, **extra},
        "spec": own,
        "status": status,
    }


def group(
    name: str, minimum: int = 1, queue: str = "q", phase: str = "Inqueue", second: int = 0, **spec: Any
) -> Object:
    annotations = spec.pop("annotations", {})
    metadata = {"name": name, "namespace": "ns", "creationTimestamp": stamp(second), "annotations": annotations}
    return {
        "kind": "PodGroup",
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "metadata": metadata,
        "spec": {"minMember": minimum, "queue": queue, **spec},
        "status": {"phase": phase},
    }


def queue(name: str = "q", second: int = 0, annotations: Mapping[str, str] | None = None, **spec: Any) -> Object:
    return {
        "kind": "Queue",
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "metadata": {"name": name, "creationTimestamp": stamp(second), "annotations": dict(annotations or {})},
        "spec": {"weight": 1, **spec},
        "status": {"state": "Open"},
    }


def priority_class(name: str, value: int) -> Object:
    return {"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {"name": name}, "value": value}


def conf(actions: str, *tiers: Iterable[str | Mapping[str, Any]], **configurations: Any) -> dict[str, Any]:
    """Tiers of plugins by name, or as mappings where flags or arguments matter."""
    listed = [{"plugins": [{"name": one} if isinstance(one, str) else dict(one) for one in tier]} for tier in tiers]
    entries = [{"name": name, "arguments": arguments} for name, arguments in configurations.items()]
    return {"actions": actions, "tiers": listed, "configurations": entries}


def run(objects: Iterable[Object], configuration: Mapping[str, Any], options: Options | None = None) -> Replay:
    instance = load(list(objects), lenient=True)
    return replay(instance, policy_for(load_model("volcano"), configuration), options)


def opened(objects: Iterable[Object], configuration: Mapping[str, Any]) -> Session:
    instance = load(list(objects), lenient=True)
    session = Session(instance, policy_for(load_model("volcano"), configuration), First(), SessionTrace())
    session.open(PLUGINS)
    return session
