"""How fast the kube mirror is: one pass over a large cluster, and the filters for one pod."""

from __future__ import annotations

import time
from typing import Any

from cpsched.greedy.kube import Options, replay
from cpsched.greedy.kube.engine import open_world
from cpsched.greedy.kube.filtering import filter_all
from cpsched.importers.load import load
from cpsched.instance import Instance
from cpsched.policy import Policy, load_model, policy_for

NODES, RUNNING, PENDING = 1_000, 10_000, 1_000


def main() -> None:
    """Print a table of seconds; nothing is checked."""
    policy = policy_for(load_model("kube"), None)
    print(f"{NODES} nodes, {RUNNING} running pods, {PENDING} pending pods")
    print(f"{'cluster':<30}{'s':>7}{'cpu s':>7}{'bound':>7}{'nominated':>11}{'evicted':>9}   (target: < 5 s)")
    for name, running_cpu in (
        ("half empty: all fit", 400),
        ("three quarters full: some fit", 650),
        ("full: all preempt", 800),
    ):
        instance = cluster(running_cpu)
        wall, cpu = time.perf_counter(), time.process_time()
        run = replay(instance, policy, Options())
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        counts = f"{len(run.binds):>7}{len(run.nominations):>11}{len(run.evictions):>9}"
        print(f"{name:<30}{wall:>7.2f}{cpu:>7.2f}{counts}")
    print(f"filters of one pod on {NODES} nodes: {filter_milliseconds(cluster(400), policy):.3f} ms   (target: < 2 ms)")


def filter_milliseconds(instance: Instance, policy: Policy, rounds: int = 50) -> float:
    """PreFilters and filters for one pod on all nodes, nothing dynamic but room."""
    world, frameworks = open_world(instance, policy, Options())
    framework = next(iter(frameworks.values()))
    task = next(task for task in instance.tasks.values() if not task.node)
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        pre = framework.pre_filter(task, world.snapshot.cluster)
        filter_all(world, framework, task, pre)
        best = min(best, time.perf_counter() - start)
    return best * 1_000


def cluster(running_cpu_milli: int) -> Instance:
    """Ten running pods per node in ten zones, pending pods of three priorities."""
    objects: list[dict[str, Any]] = []
    for number in range(NODES):
        labels = {"kubernetes.io/hostname": f"n{number}", "topology.kubernetes.io/zone": f"z{number % 10}"}
        capacity = {"cpu": "8", "memory": "32Gi", "pods": "110"}
        objects.append(item("Node", {"name": f"n{number}", "labels": labels}, {}, {"allocatable": capacity}))
    for number in range(RUNNING):
        spec = pod_spec(running_cpu_milli, number % 3 * 10) | {"nodeName": f"n{number % NODES}"}
        start = f"2026-01-01T00:{number % 60:02}:{number // 60 % 60:02}Z"
        status = {"phase": "Running", "startTime": start}
        objects.append(item("Pod", pod_metadata("running", number), spec, status))
    for number in range(PENDING):
        objects.append(
            item("Pod", pod_metadata("pending", number), pod_spec(1_000 + number % 25 * 40, 100 + number % 3), {})
        )
    return load(objects, lenient=True)


def item(kind: str, metadata: dict[str, Any], spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    """One API object."""
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def pod_metadata(kind: str, number: int) -> dict[str, Any]:
    """A pod's name and the labels of one of fifty applications."""
    created = f"2026-01-02T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    labels = {"app": f"app-{number % 50}"}
    return {"name": f"{kind}-{number}", "namespace": "default", "labels": labels, "creationTimestamp": created}


def pod_spec(cpu_milli: int, priority: int) -> dict[str, Any]:
    """One container."""
    requests = {"cpu": f"{cpu_milli}m", "memory": "1Gi"}
    return {"priority": priority, "containers": [{"name": "c", "image": "app:1", "resources": {"requests": requests}}]}


if __name__ == "__main__":
    main()
