"""A large `kubectl get -o json`: copies of whole pods and nodes as API servers hold them, managedFields and all."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import Any

PODS_PER_NODE = 30
PODS_PER_JOB = 8
QUEUES = 4

_DATA = Path(__file__).parent / "data"
_VOLCANO = "scheduling.volcano.sh/v1beta1"


def cluster(size: int) -> dict[str, Any]:
    """A List of about so many bytes: nodes, queues, gangs and their pods, one pod in five waiting."""
    pod, node = (Template(_compact(_DATA / f"{kind}.json")) for kind in ("pod", "node"))
    jobs = size // (len(pod.template) * PODS_PER_JOB)
    nodes = jobs * PODS_PER_JOB // PODS_PER_NODE + 1
    items = [json.loads(node.substitute(name=f"node-{n}", uid=_uid(n))) for n in range(nodes)]
    items += [_object("Queue", f"q{n}", {"weight": n + 1}, {"state": "Open"}) for n in range(QUEUES)]
    for job in range(jobs):
        spec = {"minMember": PODS_PER_JOB, "queue": f"q{job % QUEUES}"}
        items.append(_object("PodGroup", f"job-{job}", spec, {"phase": "Running" if job % 5 else "Inqueue"}))
        for n in range(job * PODS_PER_JOB, (job + 1) * PODS_PER_JOB):
            names = {"name": f"job-{job}-worker-{n}", "job": f"job-{job}", "uid": _uid(n), "node": f"node-{n % nodes}"}
            items.append(_waiting(json.loads(pod.substitute(names)), waits=job % 5 == 0))
    return {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}


def _waiting(pod: dict[str, Any], waits: bool) -> dict[str, Any]:
    if waits:
        del pod["spec"]["nodeName"]
        pod["status"] = {"phase": "Pending", "qosClass": "Burstable"}
    return pod


def _object(kind: str, name: str, spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "team", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"apiVersion": _VOLCANO, "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def _compact(path: Path) -> str:
    return json.dumps(json.loads(path.read_text(encoding="utf-8")))


def _uid(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"
