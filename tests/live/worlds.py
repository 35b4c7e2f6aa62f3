"""Random nodes and pods, drawn from one seed, for the real scheduler to decide about."""

from __future__ import annotations

import random
from typing import Any

Raw = dict[str, Any]
ZONES = ("z1", "z2", "z3")
APPS = ("api", "batch", "web")
DEDICATED = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}


def nodes(draw: random.Random) -> list[tuple[str, Raw, Raw, list[Raw]]]:
    """(name, labels, allocatable, taints) of six to eight nodes in three zones."""
    found = []
    for number in range(draw.randint(6, 8)):
        labels = {"topology.kubernetes.io/zone": draw.choice(ZONES), "disk": draw.choice(["hdd", "ssd"])}
        gpus = draw.choice([0, 0, 4])
        amounts = {"cpu": str(draw.choice([4, 8, 16])), "memory": f"{draw.choice([8, 16, 32])}Gi", "pods": "20"}
        if gpus:
            amounts["nvidia.com/gpu"] = str(gpus)
        found.append((f"node-{number}", labels, amounts, [DEDICATED] if gpus and draw.random() < 0.5 else []))
    return found


def pod(draw: random.Random, name: str, node: str = "") -> Raw:
    """A pod with some wishes; one with a node sits there."""
    app = draw.choice(APPS)
    requests = {"cpu": f"{draw.choice([250, 500, 1000, 2000, 3500])}m", "memory": f"{draw.choice([256, 512, 2048])}Mi"}
    spec: Raw = {"containers": [{"name": "main", "image": f"example.com/{app}:1", "resources": {"requests": requests}}]}
    if node:
        spec["nodeName"] = node
    else:
        spec |= _wishes(draw, app)
        if draw.random() < 0.2:
            requests["nvidia.com/gpu"] = "1"
            spec["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": "1"}
            spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    metadata = {"name": name, "namespace": "default", "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _wishes(draw: random.Random, app: str) -> Raw:
    """Wishes that no later pod can fulfil: who finds no place at first finds none at all.

    All have the same priority: woken up, the scheduler may decide about the first pod before it hears of the others.
    """
    same = {"labelSelector": {"matchLabels": {"app": app}}}
    spec: Raw = {"affinity": {}}
    if draw.random() < 0.3:
        spec["nodeSelector"] = {"disk": draw.choice(["hdd", "ssd"])}
    if draw.random() < 0.3:
        term = {**same, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"]["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    if draw.random() < 0.3:
        wanted = [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [draw.choice(ZONES)]}]
        preferred = [{"weight": draw.randint(1, 100), "preference": {"matchExpressions": wanted}}]
        spec["affinity"]["nodeAffinity"] = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    if draw.random() < 0.3:
        rule = {**same, "maxSkew": 1, "topologyKey": draw.choice(["topology.kubernetes.io/zone", "disk"])}
        spec["topologySpreadConstraints"] = [{**rule, "whenUnsatisfiable": "ScheduleAnyway"}]
    return spec
