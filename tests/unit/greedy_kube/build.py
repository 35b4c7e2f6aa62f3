"""Small clusters for the kube mirror's tests."""

from __future__ import annotations

from typing import Any

from cpsched.greedy.kube import Attempt, Options, Run, replay
from cpsched.importers.load import load
from cpsched.instance import Instance, Task
from cpsched.policy import Policy, load_model, policy_for

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
Object = dict[str, Any]


def node(name: str, cpu: str = "1", *, pods: int = 110, memory: str = "64Gi", **rest: Any) -> Object:
    labels = {HOST: name, **rest.pop("labels", {})}
    status = {"allocatable": {"cpu": cpu, "memory": memory, "pods": str(pods)}, **rest.pop("status", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": rest,
        "status": status,
    }


def pod(name: str, cpu: str = "100m", *, on: str = "", priority: int = 0, start: int | None = 0, **rest: Any) -> Object:
    """`start` counts minutes, None has not started; `nominated`, `going` ("preempted" or "deleted") and spec fields."""
    metadata: Object = {"name": name, "namespace": rest.pop("namespace", "default"), "uid": f"uid-{name}"}
    metadata["labels"] = rest.pop("labels", {})
    metadata["creationTimestamp"] = f"2026-01-02T00:00:{rest.pop('created', 0):02}Z"
    status: Object = {"phase": "Running" if on else "Pending"}
    if on and start is not None:
        status["startTime"] = f"2026-01-01T00:{start:02}:00Z"
    if nominated := rest.pop("nominated", ""):
        status["nominatedNodeName"] = nominated
    if going := rest.pop("going", ""):
        metadata["deletionTimestamp"] = "2026-01-03T00:00:00Z"
        if going == "preempted":
            reason = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
            status["conditions"] = [reason]
    container: Object = {"name": "c", "image": rest.pop("image", "app"), "ports": rest.pop("ports", [])}
    container["resources"] = {"requests": {"cpu": cpu, **rest.pop("requests", {})}} if cpu else {}
    spec: Object = {"schedulerName": "default-scheduler", "priority": priority, "containers": [container], **rest}
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def budget(name: str, allowed: int, match: dict[str, str] | None, **rest: Any) -> Object:
    status = {"disruptionsAllowed": allowed, "disruptedPods": rest.pop("disrupted", {})}
    selector = None if match is None else {"matchLabels": match}
    metadata = {"name": name, "namespace": rest.pop("namespace", "default")}
    kind = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    return {**kind, "metadata": metadata, "spec": {"selector": selector}, "status": status}


def conf(*, plugins: Object | None = None, args: dict[str, Object] | None = None, **rest: Any) -> Object:
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": plugins or {},
        "pluginConfig": [{"name": name, "args": one} for name, one in (args or {}).items()],
    }
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {**kind, "profiles": [profile], **rest}


def instance(*objects: Object) -> Instance:
    return load(list(objects), lenient=True)


def policy(given: Object | None = None, version: str = "1.36") -> Policy:
    return policy_for(load_model("kube"), given, kube_version=version)


def run(*objects: Object, given: Object | None = None, version: str = "1.36", **options: Any) -> Run:
    return replay(instance(*objects), policy(given, version), Options(**options))


def attempt(*objects: Object, **options: Any) -> Attempt:
    """The last attempt of a run with everything recorded."""
    return run(*objects, record=True, **options).attempts[-1]


def both_ways(*objects: Object, **options: Any) -> Attempt:
    """The same, with short cuts and without."""
    quick, plain = attempt(*objects, **options), attempt(*objects, plain=True, **options)
    assert quick.to_dict() == plain.to_dict()
    assert quick.chosen == plain.chosen
    return plain


def victims(*objects: Object, **options: Any) -> list[str]:
    """Who is evicted, by bare name, in the order of importance."""
    chosen = both_ways(*objects, **options).chosen
    return [] if chosen is None else [key.removeprefix("default/") for key in chosen.victims]


def tasks(*objects: Object) -> dict[str, Task]:
    return {task.name: task for task in instance(*objects).tasks.values()}


def anti(match: dict[str, str], key: str = HOST) -> Object:
    """Required anti-affinity."""
    term = {"labelSelector": {"matchLabels": match}, "topologyKey": key}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def near(match: dict[str, str], key: str = HOST) -> Object:
    """Required affinity."""
    term = {"labelSelector": {"matchLabels": match}, "topologyKey": key}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def spread(key: str, match: dict[str, str] | None, skew: int = 1, **rest: Any) -> Object:
    when = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": rest.pop("when", "DoNotSchedule")}
    return {**when, "labelSelector": None if match is None else {"matchLabels": match}, **rest}
