"""Seeded tiny sessions in which tasks look at each other: spread, affinity, volumes or devices on three nodes."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from tests.judge import PRIORITIES, conf
from tests.oracle.sessions import Contest

Raw = dict[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
APPS = ("a", "a", "a", "b")


def neighbourly(seed: int, family: str) -> Contest:
    """Two or three nodes in up to three zones, up to four running and four waiting tasks that mind their neighbours."""
    r = random.Random(f"{family} {seed}")
    model = r.choice(["volcano", "volcano", "kube", "kube", "throughput"])
    names = [f"n{number}" for number in range(r.choice([2, 3, 3]))]
    used = dict.fromkeys(names, 0)
    spare = r.choice([(0, 0, 1), (0, 1, 1, 2, 3)])
    make = FAMILIES[family](r, names)
    jobs = [_running(r, make, number, used) for number in range(r.randint(0, 4))]
    left = r.choice([2, 3, 3, 4] if len(names) < 3 else [2, 3, 3])
    for number in range(r.choice([1, 2, 2, 3])):
        size = r.randint(1, left) if left > 0 else 0
        left -= size
        jobs += [_waiting(r, make, number, size)] if size else []
    source: Raw = {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "now": "2026-01-01T12:00:00Z",
        "nodes": [_node(r, name, used[name] + r.choice(spare)) for name in names],
        "priorityClasses": {f"p{value}": value for value in PRIORITIES},
        "jobs": jobs,
        "objects": make.objects,
    }
    if model == "kube":
        return Contest(source, model, None)
    switches = ("NodeAffinityEnable", "TaintTolerationEnable", "NodePortsEnable")
    off = {f"predicate.{name}": "false" for name in switches if r.random() < 0.1}
    predicates = {"name": "predicates", "arguments": off}
    return Contest(source, model, conf("allocate, preempt, backfill", "priority", "gang", predicates))


class Wishes(ABC):
    """What tasks of a family ask for, and the objects that they name."""

    def __init__(self, r: random.Random, nodes: list[str]):
        self.r, self.nodes = r, nodes
        self.objects: list[Raw] = []

    @abstractmethod
    def of(self, *, running: bool) -> Raw:
        """One task's wishes."""

    def labels(self) -> Raw:
        """Labels that the wishes of others may mean."""
        return {"app": self.r.choice(APPS)} | self.r.choice([{}, {"version": self.r.choice("12")}])


class Spread(Wishes):
    """Hard spread constraints, some of them two, over zones and hosts."""

    def of(self, *, running: bool) -> Raw:
        """Most waiting tasks are constrained; running ones only count."""
        if running or self.r.random() < 0.25:
            return {}
        keys = self.r.choice([["zone"], ["zone"], ["host"], ["zone", "host"], ["zone", "zone"]])
        found: Raw = {"topologySpreadConstraints": [self._constraint(key) for key in keys]}
        if self.r.random() < 0.15:
            found["nodeSelector"] = {"zone": self.r.choice("xy")}
        if self.r.random() < 0.2:
            found["tolerations"] = [{"key": "t", "operator": "Exists"}]
        return found

    def _constraint(self, key: str) -> Raw:
        r = self.r
        found: Raw = {
            "maxSkew": r.choice([1, 1, 1, 2]),
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": r.choice(APPS)}},
        }
        found |= r.choice([{}] * 4 + [{"minDomains": r.choice([2, 3, 4])}])
        found |= r.choice([{}] * 4 + [{"matchLabelKeys": ["version"]}])
        found |= r.choice([{}] * 6 + [{"nodeAffinityPolicy": "Ignore"}, {"nodeTaintsPolicy": "Honor"}])
        return found | r.choice([{}] * 15 + [{"labelSelector": {}}, {"labelSelector": None}])


class Affinity(Wishes):
    """Affinity, anti-affinity and ports."""

    def of(self, *, running: bool) -> Raw:
        """Mostly affinity."""
        r = self.r
        if r.random() < (0.8 if running else 0.25):
            return {}
        if r.random() < 0.1:
            return {"ports": [{"containerPort": 80, "hostPort": 80}]}
        near = [self._term() for _ in range(r.choice([1, 1, 1, 2]))] if r.random() < 0.8 else []
        apart = [self._term()] if not near or r.random() < 0.1 else []
        return {"affinity": {"podAffinity": {REQUIRED: near}, "podAntiAffinity": {REQUIRED: apart}}}

    def _term(self) -> Raw:
        selector = {"matchLabels": {"app": self.r.choice(APPS)}}
        return {"labelSelector": selector, "topologyKey": self.r.choice(["zone", "zone", "host"])}


class Volumes(Wishes):
    """Claims with a limited driver, claims for one pod only, volumes still to be bound, and disks."""

    def __init__(self, r: random.Random, nodes: list[str]):
        super().__init__(r, nodes)
        self.objects += [
            _object(
                "StorageClass",
                "late",
                provisioner="kubernetes.io/no-provisioner",
                volumeBindingMode="WaitForFirstConsumer",
            ),
            _object("StorageClass", "made", provisioner="csi", volumeBindingMode="WaitForFirstConsumer"),
        ]
        for node in nodes:
            count = {"allocatable": {"count": r.choice([1, 1, 2, 2, 3])}} if r.random() < 0.85 else {}
            drivers = [{"name": "csi", "nodeID": node, **count}]
            self.objects.append(_object("CSINode", node, spec={"drivers": drivers}))
        self.claims = [self._claim(f"c{number}") for number in range(4)]
        for number in range(r.randint(0, 2)):
            spec: Raw = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "late"}
            spec |= {"local": {"path": "/x"}, "nodeAffinity": {"required": _on(r.choice(nodes))}}
            self.objects.append(_object("PersistentVolume", f"local{number}", spec=spec, status={"phase": "Available"}))
        if r.random() < 0.2:
            source = {"persistentVolumeName": "pv-c0"}
            spec = {"attacher": "csi", "nodeName": r.choice(nodes), "source": source}
            self.objects.append(_object("VolumeAttachment", "attached", spec=spec))

    def of(self, *, running: bool) -> Raw:
        """Up to two volumes."""
        r = self.r
        stated: list[Raw] = [
            {"persistentVolumeClaim": {"claimName": name}} for name in r.sample(self.claims, r.choice([0, 1, 1, 1, 2]))
        ]
        if r.random() < 0.15:
            stated.append({"gcePersistentDisk": {"pdName": "disk", "readOnly": r.random() < 0.5}})
        return {"volumes": [{"name": f"v{i}", **one} for i, one in enumerate(stated)]} if stated else {}

    def _claim(self, name: str) -> str:
        kind = self.r.choice(["bound", "bound", "bound", "late", "made", "made"])
        mode = self.r.choice(["ReadWriteOnce"] * 3 + ["ReadWriteOncePod"])
        spec: Raw = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": kind}
        done: Raw = {}
        if kind == "bound":
            spec["volumeName"] = f"pv-{name}"
            done = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
            handle = {"csi": {"driver": "csi", "volumeHandle": name}, "accessModes": [mode]}
            self.objects.append(_object("PersistentVolume", f"pv-{name}", spec=handle))
        self.objects.append(_object("PersistentVolumeClaim", name, metadata=done, spec=spec))
        return name


class Devices(Wishes):
    """Resource claims, most of them one per pod, over a few devices of two models."""

    def __init__(self, r: random.Random, nodes: list[str]):
        super().__init__(r, nodes)
        self.made = 0
        self.objects.append(_object("DeviceClass", "gpu", spec={}))
        big = [{"cel": {"expression": "device.attributes['d'].model == 'big'"}}]
        self.objects.append(_object("DeviceClass", "big", spec={"selectors": big}))
        for node in (*nodes, ""):
            held = [self._device(f"g{number}") for number in range(r.choice([0, 1, 1, 2, 2]) if node else 1)]
            if held and (node or r.random() < 0.3):
                place: Raw = {"nodeName": node} if node else {"allNodes": True}
                pool = {"name": node or "net", "generation": 1, "resourceSliceCount": 1}
                spec = {"driver": "d", "pool": pool, "devices": held, **place}
                self.objects.append(_object("ResourceSlice", f"slice-{node}", spec=spec))
        self.shared = self._claim()

    def of(self, *, running: bool) -> Raw:
        """A claim of its own, or the shared one."""
        if running or self.r.random() < 0.15:
            return {}
        names = [self._claim()] if self.r.random() < 0.85 else [self.shared]
        names += [self._claim()] if self.r.random() < 0.1 else []
        return {"resourceClaims": [{"name": name, "resourceClaimName": name} for name in names]}

    def _device(self, name: str) -> Raw:
        found: Raw = {"name": name, "attributes": {"model": {"string": self.r.choice(["big", "small"])}}}
        return found | self.r.choice([{}] * 9 + [{"taints": [{"key": "t", "effect": "NoSchedule"}]}])

    def _claim(self) -> str:
        r, name = self.r, f"claim{self.made}"
        self.made += 1
        one = {"deviceClassName": r.choice(["gpu", "gpu", "big"]), "count": r.choice([1, 1, 1, 2])}
        one |= r.choice([{}] * 12 + [{"allocationMode": "All", "count": None}, {"adminAccess": True}])
        request: Raw = {"name": "r", "exactly": one}
        if r.random() < 0.1:
            ways = [{"name": "x", "deviceClassName": "big"}, {"name": "y", "deviceClassName": "gpu", "count": 2}]
            request = {"name": "r", "firstAvailable": ways}
        self.objects.append(_object("ResourceClaim", name, spec={"devices": {"requests": [request]}}))
        return name


FAMILIES: dict[str, Callable[[random.Random, list[str]], Wishes]] = {
    "spread": Spread,
    "affinity": Affinity,
    "volumes": Volumes,
    "devices": Devices,
}
_GROUPS = {
    "StorageClass": "storage.k8s.io/v1",
    "CSINode": "storage.k8s.io/v1",
    "VolumeAttachment": "storage.k8s.io/v1",
    "DeviceClass": "resource.k8s.io/v1",
    "ResourceClaim": "resource.k8s.io/v1",
    "ResourceSlice": "resource.k8s.io/v1",
}


def _object(kind: str, name: str, *, metadata: Raw | None = None, **fields: Any) -> Raw:
    space = {"namespace": "default"} if kind in ("PersistentVolumeClaim", "ResourceClaim") else {}
    return {
        "apiVersion": _GROUPS.get(kind, "v1"),
        "kind": kind,
        "metadata": {"name": name, **space, **(metadata or {})},
        **fields,
    }


def _on(node: str) -> Raw:
    wanted = {"key": "host", "operator": "In", "values": [node]}
    return {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}


def _node(r: random.Random, name: str, cpu: int) -> Raw:
    labels = {"host": name} | ({"zone": r.choice("xxyyz")} if r.random() < 0.93 else {})
    found: Raw = {"name": name, "labels": labels, "allocatable": {"cpu": cpu, "pods": 9}}
    return found | ({"taints": [{"key": "t", "effect": "NoSchedule"}]} if r.random() < 0.1 else {})


def _running(r: random.Random, make: Wishes, number: int, used: dict[str, int]) -> Raw:
    node = r.choice(sorted(used))
    used[node] += 1
    task = {"role": "t", "replicas": 1, "requests": {"cpu": 1}, "labels": make.labels(), "running": node}
    task |= make.of(running=True)
    if r.random() < 0.06:
        task["deletionTimestamp"] = "2026-01-01T11:59:00Z"
    return {
        "name": f"r{number}",
        "minMember": 0,
        "priorityClassName": r.choice(["p10", "p10", "p1000"]),
        "tasks": [task],
    }


def _waiting(r: random.Random, make: Wishes, number: int, size: int) -> Raw:
    task = {"role": "t", "requests": {"cpu": 1}, "labels": make.labels(), **make.of(running=False)}
    alone = "resourceClaims" in task or (size > 1 and r.random() < 0.2)
    tasks = [task | {"replicas": 1 if alone else size}]
    if alone:
        others = [make.of(running=False) for _ in range(size - 1)]
        tasks += [{**_plain(task), "role": f"t{i}", "replicas": 1, **more} for i, more in enumerate(others)]
    job: Raw = {"name": f"w{number}", "minMember": r.choice([1, 1, size]), "tasks": tasks}
    return job | {"priorityClassName": r.choice(["p100", "p100", "p10"])}


def _plain(task: Raw) -> Raw:
    return {key: task[key] for key in ("requests", "labels")}
