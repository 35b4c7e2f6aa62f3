"""Seeded tiny sessions in which rules of Volcano's other plugins bind: groups, cards, CPUs, loads, quotas."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from cpsched.snapshot import Snapshot
from tests.judge import conf, snapshot_of

Raw = dict[str, Any]
NOW = "2026-01-01T12:00:00Z"
PRIORITIES = {"low": 10, "mid": 100, "high": 1000}
TYPES = ("NVIDIA-A100", "NVIDIA-T4", "MLU-370")


class Session:
    """Objects that a kind adds to, and the plugins that go with them."""

    def __init__(self, r: random.Random):
        self.r = r
        self.nodes: list[Raw] = []
        self.pods: list[Raw] = []
        self.others: list[Raw] = []
        self.plugins: list[Raw] = []
        self.queues: list[Raw] = []
        self.usage: Raw | None = None
        self.actions = r.choice(["allocate, preempt", "allocate, preempt, reclaim", "allocate, backfill", "allocate"])

    def node(
        self, name: str, *, cpu: int = 12, labels: Raw | None = None, notes: Raw | None = None, **more: int
    ) -> None:
        """A node with room enough, unless stated otherwise."""
        room = {"cpu": str(cpu), "memory": "64Gi", "pods": "20", **{key: str(value) for key, value in more.items()}}
        metadata = {"name": name, "labels": labels or {}, "annotations": notes or {}}
        self.nodes.append(_made("v1", "Node", metadata, status={"allocatable": room, "capacity": room}))

    def job(self, name: str, *pods: Raw, minimum: int = 1, queue: str = "q0", level: str = "low", **spec: Any) -> None:
        """A PodGroup and its pods; those with a node run there."""
        phase = spec.pop("phase", "Running" if any("node" in pod for pod in pods) else "Inqueue")
        stated = {"minMember": minimum, "queue": queue, "priorityClassName": level, **spec}
        group = _made("scheduling.volcano.sh/v1beta1", "PodGroup", _named(name), spec=stated, status={"phase": phase})
        self.others.append(group)
        for number, pod in enumerate(pods):
            self.pods.append(_pod(f"{name}-{number}", name, level, **pod))

    def snapshot(self, *, rules: dict[str, str] | None = None) -> Snapshot:
        """The session under the model volcano."""
        classes = [
            _made("scheduling.k8s.io/v1", "PriorityClass", {"name": name}, value=value)
            for name, value in PRIORITIES.items()
        ]
        queues = self.queues or [queue("q0"), queue("q1")]
        plugins = [*self.plugins, *({"name": name} for name in ("priority", "gang", "predicates", "proportion"))]
        objects = [*self.nodes, *classes, *queues, *self.others, *self.pods]
        stated: Raw = {"kind": "Instance", "apiVersion": "cpsched/v1", "now": NOW, "objects": objects}
        if self.usage is not None:
            stated["nodeUsage"] = self.usage
        return snapshot_of(stated, conf=conf(self.actions, *plugins), rules=rules)


def queue(name: str, *, notes: Raw | None = None, **spec: Any) -> Raw:
    """An open queue."""
    metadata = {"name": name, "annotations": notes or {}}
    stated = {"weight": 1, **spec}
    return _made("scheduling.volcano.sh/v1beta1", "Queue", metadata, spec=stated, status={"state": "Open"})


def _named(name: str) -> Raw:
    return {"name": name, "namespace": "ns", "creationTimestamp": "2026-01-01T00:00:00Z"}


def _made(version: str, kind: str, metadata: Raw, **fields: Any) -> Raw:
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def _pod(name: str, group: str, level: str, **stated: Any) -> Raw:
    containers = [
        {"name": f"c{number}", "resources": {"requests": {"cpu": "1", **asked}, "limits": asked}}
        for number, asked in enumerate(stated.get("asks", [{}]))
    ]
    notes = {"scheduling.k8s.io/group-name": group, **stated.get("notes", {})}
    metadata = {**_named(name), "uid": name, "annotations": notes, "labels": stated.get("labels", {})}
    if stated.get("leaving"):
        metadata["deletionTimestamp"] = "2026-01-01T11:59:00Z"
    spec = {"containers": containers, "priority": PRIORITIES[level], "priorityClassName": level}
    status: Raw = {"phase": "Pending"}
    if "node" in stated:
        spec["nodeName"] = stated["node"]
        status = {"phase": "Running", "startTime": "2026-01-01T10:00:00Z", "conditions": stated.get("conditions", [])}
    return _made("v1", "Pod", metadata, spec=spec, status=status)


def _waiting(s: Session, pods: Callable[[], Raw], most: int = 4) -> None:
    """One or two jobs that wait, with up to so many pods."""
    left = s.r.randint(2, most)
    for number in range(2):
        count = left if number else s.r.randint(1, left)
        left -= count
        if count:
            minimum = s.r.choice([1, count])
            level, where = s.r.choice(["mid", "high", "high"]), s.r.choice(["q0", "q0", "q1"])
            alike = pods() if s.r.random() < 0.5 else None
            s.job(f"w{number}", *(alike or pods() for _ in range(count)), minimum=minimum, level=level, queue=where)


def groups(r: random.Random) -> Session:
    """Nodes in groups, queues with rules about them, in a tree or not, and limits."""
    s = Session(r)
    for number in range(r.choice([2, 3])):
        name = r.choice(["a", "a", "b", None])
        labels = {} if name is None else {"volcano.sh/nodegroup-name": name}
        s.node(f"n{number}", cpu=r.choice([1, 2, 3]), labels=labels)
    hierarchy = r.random() < 0.4
    plugin: Raw = {"name": "nodegroup", "arguments": {"strict": r.choice([True, False])}}
    s.plugins.append({**plugin, "enableHierarchy": True} if hierarchy else plugin)
    for name in ("q0", "q1"):
        notes, spec = {}, {}
        if r.random() < 0.5:
            cpus = r.choice(["1", "2", "1500m"])
            notes["volcano.sh/nodegroup-resource-limits"] = f'{{"{r.choice("aab")}": {{"cpu": "{cpus}"}}}}'
        if r.random() < 0.8:
            spec["affinity"] = _affinity(r)
        s.queues.append(queue(name, notes=notes, **spec, **({"parent": "dept"} if hierarchy else {})))
    if hierarchy:
        s.queues.append(queue("dept", parent="root", affinity=_affinity(r)))
        s.queues.append(queue("root"))
    _running(s, lambda node: {})
    _waiting(s, dict)
    return s


def _affinity(r: random.Random) -> Raw:
    required, preferred = (f"{kind}DuringSchedulingIgnoredDuringExecution" for kind in ("required", "preferred"))
    affinity: Raw = {}
    for key, chance in (("nodeGroupAffinity", 0.7), ("nodeGroupAntiAffinity", 0.4)):
        for kind in (required, preferred):
            if r.random() < chance:
                affinity.setdefault(key, {})[kind] = r.sample(["a", "b"], r.choice([1, 1, 2]))
    return affinity


def _running(s: Session, notes: Callable[[str], Raw], most: int = 3, **pod: Any) -> None:
    for number in range(s.r.randint(0, most)):
        node = s.r.choice(s.nodes)["metadata"]["name"]
        stated = {**pod, **notes(node), "node": node, "leaving": s.r.random() < 0.15}
        minimum = s.r.choice([0, 0, 1])
        s.job(f"r{number}", stated, minimum=minimum, level=s.r.choice(["low", "mid"]), queue=s.r.choice(["q0", "q1"]))


def memory_cards(r: random.Random) -> Session:
    """Cards by memory: small and large wishes that do not lie across two cards."""
    s = Session(r)
    for number in range(r.choice([1, 2])):
        count = r.choice([1, 2, 2, 3])
        notes = {"volcano.sh/gpu-unhealthy-ids": "0"} if r.random() < 0.2 else {}
        s.node(f"n{number}", notes=notes, **{"volcano.sh/gpu-memory": 10 * count, "volcano.sh/gpu-number": count})
    s.plugins.append({"name": "deviceshare", "arguments": {"deviceshare.GPUSharingEnable": True}})

    def wish() -> Raw:
        return {"asks": [{"volcano.sh/gpu-memory": str(r.choice([3, 4, 5, 6, 7, 10]))}]}

    _running(s, lambda _: {**wish(), "notes": {"volcano.sh/gpu-index": str(r.choice([0, 0, 1, 2]))}})
    _waiting(s, wish)
    return s


def whole_cards(r: random.Random) -> Session:
    """Cards by number."""
    s = Session(r)
    for number in range(r.choice([1, 2])):
        count = r.choice([1, 2, 3])
        s.node(f"n{number}", **{"volcano.sh/gpu-memory": 10 * count, "volcano.sh/gpu-number": 4})
    s.plugins.append({"name": "deviceshare", "arguments": {"deviceshare.GPUNumberEnable": True}})

    def wish() -> Raw:
        return {"asks": [{"volcano.sh/gpu-number": str(r.choice([1, 1, 2, 3]))}]}

    held = ["0", "1", "0,1", "1,2", "2", "3", "0,3"]
    _running(s, lambda _: {"asks": [{}], "notes": {"volcano.sh/gpu-index": r.choice(held)}})
    _waiting(s, wish)
    return s


def virtual_cards(r: random.Random) -> Session:
    """Virtual cards: sharers, memory and cores, types and ids, exclusive rules and groups that spread."""
    s = Session(r)
    for number in range(r.choice([1, 1, 2])):
        count, sharers = r.choice([1, 2, 2, 3]), r.choice([1, 2, 3, 4])
        cards = [f"GPU-{number}{card},{sharers},10,{r.choice(TYPES[:2])},true,hami-core" for card in range(count)]
        sizes = {"vgpu-number": sharers * count, "vgpu-memory": 10 * count, "vgpu-cores": 100 * count}
        more = {f"volcano.sh/{key}": value for key, value in sizes.items()}
        s.node(f"n{number}", notes={"volcano.sh/node-vgpu-register": ":".join([*cards, ""])}, **more)
    rules = [{"app": "x"}, {"app": "y", "tier": "t"}] if r.random() < 0.5 else []
    arguments = {"deviceshare.VGPUEnable": True, "deviceshare.GPUExclusiveRules": rules}
    s.plugins.append({"name": "deviceshare", "arguments": arguments})

    def labels() -> Raw:
        return r.choice([{}, {"app": "x"}, {"app": "y", "tier": "t"}, {"app": "y"}])

    def one() -> Raw:
        asked = {"volcano.sh/vgpu-number": str(r.choice([1, 1, 1, 2]))} if r.random() < 0.8 else {}
        if not asked or r.random() < 0.8:
            asked["volcano.sh/vgpu-memory"] = str(r.choice([2, 3, 5, 6, 10]))
        if r.random() < 0.5:
            asked["volcano.sh/vgpu-cores"] = str(r.choice([30, 40, 50, 60, 100]))
        return asked

    def pod() -> Raw:
        notes: Raw = {}
        if r.random() < 0.25:
            notes["volcano.sh/vgpu-podgroup-policy"] = "spread"
        if r.random() < 0.1:
            key = r.choice(["nvidia.com/use-gputype", "nvidia.com/nouse-gputype"])
            notes[key] = "t4"
        if r.random() < 0.1:
            notes[r.choice(["volcano.sh/vgpu-use-gpuuuid", "volcano.sh/vgpu-nouse-gpuuuid"])] = "GPU-00, GPU-11"
        return {"asks": [one() for _ in range(r.choice([1, 1, 1, 2]))], "notes": notes, "labels": labels()}

    def holds(node: str) -> Raw:
        card = f"GPU-{node[1:]}{r.choice([0, 0, 1])}"
        share = f"{card},NVIDIA,{r.choice([2, 3, 5, 10])},{r.choice([0, 0, 30, 50, 60, 100])}:"
        return {"notes": {"volcano.sh/vgpu-ids-new": share}, "labels": labels()}

    _running(s, holds)
    _waiting(s, pod)
    return s


def aligned(r: random.Random) -> Session:
    """Nodes with two or three NUMA nodes of a few CPUs, and pods that want whole ones."""
    s = Session(r)
    policies = ["single-numa-node", "single-numa-node", "restricted", "restricted", "best-effort", "none"]
    for number in range(r.choice([1, 2])):
        count, each, policy = r.choice([2, 2, 3]), r.choice([2, 3, 4]), r.choice(policies)
        s.node(f"n{number}", cpu=count * each)
        places = {str(cpu): {"numa": cpu // each, "socket": cpu // each, "core": cpu} for cpu in range(count * each)}
        free = sorted(r.sample(range(count * each), r.randint(count * each - 2, count * each)))
        spec: Raw = {
            "policies": {"CPUManagerPolicy": r.choice(["static"] * 5 + ["none"]), "TopologyManagerPolicy": policy},
            "numares": {"cpu": {"allocatable": ",".join(map(str, free)), "capacity": count * each}},
            "cpuDetail": places,
        }
        if r.random() < 0.3:
            spec["resReserved"] = {"cpu": "1"}
        if r.random() < 0.9:
            s.others.append(_made("nodeinfo.volcano.sh/v1alpha1", "Numatopology", {"name": f"n{number}"}, spec=spec))
    s.plugins.append({"name": "numa-aware"})

    def pod() -> Raw:
        sizes = [r.choice(["1", "2", "2", "3", "4", "5", "1500m"]) for _ in range(r.choice([1, 1, 2]))]
        asked = [{"cpu": size, "memory": "1Gi"} for size in sizes]
        notes = {"volcano.sh/numa-topology-policy": r.choice(policies)} if r.random() < 0.4 else {}
        return {"asks": asked, "notes": notes}

    _running(s, lambda _: {}, most=1)
    _waiting(s, pod, most=3)
    return s


def loaded(r: random.Random) -> Session:
    """Nodes of which the load was measured."""
    s = Session(r)
    s.usage = {}
    for number in range(r.choice([2, 3])):
        s.node(f"n{number}", cpu=r.choice([1, 2, 2]))
        if r.random() < 0.8:
            load = {"cpu": r.choice([10, 80, 81, 95]), "memory": r.choice([10, 60, 90])}
            s.usage[f"n{number}"] = {**load, "age": r.choice([10, 10, 10, 400])}
    s.plugins.append({"name": "usage", "arguments": {"thresholds": {"cpu": 80, "mem": r.choice([50, 80])}}})
    _running(s, lambda _: {})
    _waiting(s, dict)
    return s


def quotas(r: random.Random) -> Session:
    """Jobs that enter a namespace with quotas, not all together."""
    s = Session(r)
    s.node("n0", cpu=r.choice([2, 3, 4]))
    s.actions = f"enqueue, {s.actions}"
    s.plugins.append({"name": "resourcequota"})
    if r.random() < 0.5:
        s.plugins.append({"name": "overcommit", "arguments": {"overcommit-factor": 1.0}})
    for number in range(r.choice([1, 2])):
        hard = {"cpu": r.choice(["1", "2", "2500m"]), "requests.cpu": r.choice(["1", "2"]), "memory": "3Gi"}
        kept = {key: hard[key] for key in hard if r.random() < 0.7}
        used = {"cpu": r.choice(["0", "500m", "1"])} if r.random() < 0.5 else {}
        status = {"hard": kept, "used": used}
        s.others.append(_made("v1", "ResourceQuota", {"name": f"b{number}", "namespace": "ns"}, status=status))
    for number in range(r.choice([2, 3])):
        least = {r.choice(["cpu", "cpu", "requests.cpu"]): r.choice(["500m", "1", "1500m"]), "memory": "1Gi"}
        stated = {} if r.random() < 0.1 else {"minResources": least}
        s.job(f"w{number}", {}, level=r.choice(["mid", "high"]), phase="Pending", **stated)
    return s


def cooling(r: random.Random) -> Session:
    """Running pods that say for how long they are not to be evicted."""
    s = Session(r)
    s.node("n0", cpu=r.choice([2, 3]))
    s.actions = r.choice(["allocate, preempt", "allocate, preempt, reclaim"])
    flags = r.choice([{}, {}, {"enablePreemptable": False}, {"enableReclaimable": False}])
    s.plugins.append({"name": "cdp", **flags})

    def notes(_: str) -> Raw:
        since = r.choice(["2026-01-01T11:55:00Z", "2026-01-01T10:00:00Z"])
        scheduled = {"type": "PodScheduled", "status": r.choice(["True", "True", "False"]), "lastTransitionTime": since}
        where = r.choice(["notes", "labels"])
        return {where: {"volcano.sh/cooldown-time": r.choice(["10m", "10m", "x"])}, "conditions": [scheduled]}

    _running(s, notes)
    _waiting(s, dict, most=3)
    return s


KINDS: dict[str, Callable[[random.Random], Session]] = {
    "nodegroup": groups,
    "cards by memory": memory_cards,
    "cards by number": whole_cards,
    "virtual cards": virtual_cards,
    "numa": aligned,
    "usage": loaded,
    "quotas": quotas,
    "protect.cooldown": cooling,
}
"""What a kind is about → a session of it."""


def session(kind: str, seed: int) -> Snapshot:
    """The session of that kind and seed."""
    return KINDS[kind](random.Random(f"{kind} {seed}")).snapshot()
