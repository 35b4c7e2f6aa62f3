"""How long the Volcano mirror needs for one cycle over a tree of HyperNodes full of gangs: a fresh process per run."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

RACK, BLOCK, HALL = 16, 64, 256
"""Nodes under a HyperNode of tier 1, 2 and 3; tier 4 has them all."""
GANGS, SMALLEST, LARGEST = 200, 8, 64
SIZES = (256, 1024)
FILLS = (0.0, 0.5)

CONF: dict[str, Any] = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [
        {"plugins": [{"name": "priority"}, {"name": "gang"}, {"name": "conformance"}]},
        {
            "plugins": [
                {"name": name} for name in ("overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack")
            ]
            + [
                {
                    "name": "network-topology-aware",
                    "arguments": {"weight": 10, "hypernode.binpack.resources": "nvidia.com/gpu"},
                }
            ]
        },
    ],
}

MEASURED = """
import resource, sys, time
from cpsched.greedy.volcano import decide
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.benchmark.topology import CONF, session
instance = load(session(int(sys.argv[1]), float(sys.argv[2]), 1))
policy = policy_for(load_model("volcano"), CONF)
wall, cpu = time.perf_counter(), time.process_time()
found = decide(instance, policy)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
pending = sum(not task.node for task in instance.tasks.values())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(wall, cpu, peak, pending, len(found.binds), len({instance.tasks[key].group for key in found.binds}))
"""


def session(nodes: int, fill: float, seed: int) -> list[dict[str, Any]]:
    """Nodes with 8 GPUs in racks, blocks and halls, pods that run, and 200 gangs, half of them hard, half soft."""
    chance = random.Random(seed)
    objects: list[dict[str, Any]] = [_node(number) for number in range(nodes)]
    objects += [_domain(tier, size, number) for tier, size in _tiers(nodes) for number in range(nodes // size)]
    objects += [{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", **_named("q", None)}]
    for number in range(nodes):
        for place in range(8):
            if chance.random() < fill:
                objects += [_group(f"r{number}-{place}", 1, None, "Running"), _pod(f"r{number}-{place}", 0, 1, number)]
    for number in range(GANGS):
        size, gpus = chance.randint(SMALLEST, LARGEST), chance.choice((1, 1, 2, 4, 8))
        hard = {"mode": "hard", "highestTierAllowed": chance.choice((1, 2, 3))}
        objects.append(_group(f"g{number}", size, hard if number % 2 else {"mode": "soft"}, "Inqueue"))
        objects += [_pod(f"g{number}", index, gpus, None) for index in range(size)]
    return objects


def _tiers(nodes: int) -> list[tuple[int, int]]:
    return [(1, RACK), (2, BLOCK), (3, HALL), (4, nodes)]


def _named(name: str, namespace: str | None = "ns") -> dict[str, Any]:
    metadata = {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"metadata": metadata | ({"namespace": namespace} if namespace else {})}


def _node(number: int) -> dict[str, Any]:
    room = {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": "8", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", **_named(f"n{number}", None), "status": {"allocatable": room}}


def _domain(tier: int, size: int, number: int) -> dict[str, Any]:
    if tier == 1:
        names = [("Node", f"n{number * size + place}") for place in range(size)]
    else:
        below = dict(_tiers(size))[tier - 1]
        names = [("HyperNode", f"t{tier - 1}-{number * (size // below) + place}") for place in range(size // below)]
    members = [{"type": kind, "selector": {"exactMatch": {"name": name}}} for kind, name in names]
    spec = {"tier": tier, "members": members}
    return {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", **_named(f"t{tier}-{number}", None)} | {
        "spec": spec
    }


def _group(name: str, size: int, topology: dict[str, Any] | None, phase: str) -> dict[str, Any]:
    spec: dict[str, Any] = {"minMember": size, "queue": "q"}
    if topology is not None:
        spec["networkTopology"] = topology
    kind = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
    return kind | _named(name) | {"spec": spec, "status": {"phase": phase}}


def _pod(group: str, index: int, gpus: int, node: int | None) -> dict[str, Any]:
    requests = {"cpu": str(4 * gpus), "memory": f"{32 * gpus}Gi", "nvidia.com/gpu": str(gpus)}
    pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", **_named(f"{group}-w-{index}")}
    pod["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": group, "volcano.sh/task-spec": "w"}
    pod["spec"] = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    pod["status"] = {"phase": "Pending" if node is None else "Running"}
    if node is not None:
        pod["spec"]["nodeName"] = f"n{node}"
    return pod


def benchmark() -> Table:
    table = Table(
        title=f"topology: one cycle over {GANGS} gangs of {SMALLEST} to {LARGEST} pods in a tree of four tiers",
        caption="target at 1,024 nodes: < 5 s",
        title_justify="left",
    )
    for column in ("nodes", "full", "pending", "bound", "gangs started", "s", "cpu s", "peak MB"):
        table.add_column(column, justify="right")
    for fill in FILLS:
        for nodes in SIZES:
            command = [sys.executable, "-c", MEASURED, str(nodes), str(fill)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            wall, cpu, peak, pending, bound, started = (float(word) for word in printed.split())
            counts = (f"{number:.0f}" for number in (pending, bound, started))
            table.add_row(str(nodes), f"{fill:.0%}", *counts, f"{wall:.2f}", f"{cpu:.2f}", f"{peak / 1024:.0f}")
    return table


def main() -> None:
    Console(width=120).print(benchmark())


if __name__ == "__main__":
    main()
