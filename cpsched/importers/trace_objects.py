"""Tables of workload traces as Kubernetes objects: every row a pod that waits, in the order of the table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cpsched import timestamps
from cpsched.errors import InputError
from cpsched.importers import dlrm, openb
from cpsched.importers.raw import Raw, of_kind
from cpsched.importers.snapshot import Context
from cpsched.importers.tables import header_of

GPU, MODEL, HOST = "nvidia.com/gpu", "gpu-model", "kubernetes.io/hostname"
_OPENB_LEFT = ("pod_phase", "deletion_time", "scheduled_time")
_DLRM_LEFT = ("cpu_limit", "gpu_limit", "rdma_limit", "memory_limit", "disk_limit", "scheduled_time", "deletion_time")
_TABLES = ("*.csv", "*.csv.gz")


def kind_of(path: Path) -> str | None:
    """openb or dlrm: a folder by the names of its files, a file by its header; None for what is no table of theirs."""
    tables = _tables(path)
    if os.path.isdir(path):
        names = [file.name for file in tables]
        starts = {"openb": "openb_node_list_", "dlrm": dlrm.FILE}
        return next((kind for kind, start in starts.items() if any(name.startswith(start) for name in names)), None)
    columns = {column for file in tables for column in header_of(file)}
    if columns >= set(dlrm.COLUMNS):
        return "dlrm"
    return "openb" if columns >= set(openb.NODE_COLUMNS) or columns >= set(openb.POD_COLUMNS) else None


def openb_objects(path: Path, context: Context) -> Raw:
    """Nodes and pods; from a folder with several lists those of all nodes and the default pods."""
    if not os.path.isdir(path):
        raise InputError(
            "one table of openb", file=str(path), right="name the folder with its node list and its pod list"
        )
    nodes = openb.read_nodes(_one_list(path, "openb_node_list_", "all_node"))
    listed = _one_list(path, "openb_pod_list_", "default")
    pods = openb.read_pods(listed)
    shares = sum(pod.gpus > 0 and pod.gpu_milli < 1000 for pod in pods)
    context.note(shares, *(f"pod{s} for a part of a GPU, which is read as a whole one" for s in (" asks", "s ask")))
    _leave(listed, _OPENB_LEFT, len(pods), context)
    return {"objects": [*map(_openb_node, nodes), *map(_openb_pod, pods)]}


def dlrm_objects(path: Path, context: Context) -> Raw:
    """The instances; the trace names no nodes."""
    file = _one_list(path, dlrm.FILE.removesuffix(".csv"), "") if os.path.isdir(path) else path
    rows = dlrm.read_instances(file)
    _leave(file, _DLRM_LEFT, len(rows), context)
    if not any(kind == "Node" for kind, _ in context.given):
        context.notes.append("the trace names no nodes: give some with --queues FILE, or use cpsched generate dlrm")
    return {"objects": [_dlrm_pod(row) for row in rows]}


def _tables(path: Path) -> list[Path]:
    if os.path.isdir(path):
        return sorted(file for pattern in _TABLES for file in path.glob(pattern) if file.is_file())
    return [path] if path.name.endswith((".csv", ".csv.gz")) and os.path.isfile(path) else []


def _one_list(folder: Path, prefix: str, preferred: str) -> Path:
    found = [file for file in _tables(folder) if file.name.startswith(prefix)]
    named = [file for file in found if file.name.removesuffix(".gz") == f"{prefix}{preferred}.csv"]
    if len(found) == 1 or named:
        return (named or found)[0]
    names = ", ".join(file.name for file in found[:3]) or "none"
    right = f"one file, or {prefix}{preferred}.csv among several; there: {names}"
    raise InputError(f"{len(found)} files {prefix}*.csv", file=str(folder), right=right)


def _leave(file: Path, columns: tuple[str, ...], rows: int, context: Context) -> None:
    for column in columns:
        if column in header_of(file):
            context.report.unread[f"{file.name} {column}"] += rows


def _openb_node(node: openb.TraceNode) -> Raw:
    amounts = _amounts(node.cpu_milli, f"{node.memory_mib}Mi", node.gpus) | {"pods": "110"}
    labels = {HOST: node.name, MODEL: node.model or "none"}
    return of_kind(
        {"metadata": {"name": node.name, "labels": labels}, "status": {"allocatable": amounts}}, "v1", "Node"
    )


def _openb_pod(pod: openb.TracePod) -> Raw:
    spec: Raw = {"containers": [_container(_amounts(pod.cpu_milli, f"{pod.memory_mib}Mi", pod.gpus))]}
    if pod.models:
        spec["affinity"] = model_affinity(pod.models)
    labels = {"qos": pod.qos} if pod.qos else {}
    return _pod(pod.name, "openb", labels, pod.created, spec)


def model_affinity(models: tuple[str, ...]) -> Raw:
    """Only nodes whose GPUs are of one of the models."""
    terms = [{"matchExpressions": [{"key": MODEL, "operator": "In", "values": list(models)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _dlrm_pod(row: dlrm.TraceInstance) -> Raw:
    amounts = _amounts(row.cpus * 1000, f"{row.memory_gib}Gi", row.gpus)
    amounts |= {dlrm.RDMA: str(row.rdma), dlrm.DISK: f"{row.disk_gib}Gi"}
    app = f"{row.app}-{row.role.lower()}"
    spec: Raw = {"containers": [_container(amounts)]}
    if row.per_node is not None:
        spec["topologySpreadConstraints"] = [per_node_limit(row.per_node, app)]
    return _pod(row.name, "dlrm", {"app": app, "role": row.role}, row.created, spec)


def per_node_limit(most: int, app: str) -> Raw:
    """So many more of the app than on the emptiest node: the nearest that a pod can say."""
    return {
        "maxSkew": most,
        "topologyKey": HOST,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }


def _amounts(cpu_milli: int, memory: str, gpus: int) -> dict[str, str]:
    amounts = {"cpu": f"{cpu_milli}m", "memory": memory}
    return amounts | {GPU: str(gpus)} if gpus else amounts


def _container(amounts: Mapping[str, str]) -> Raw:
    return {"name": "main", "resources": {"requests": dict(amounts)}}


def _pod(name: str, namespace: str, labels: dict[str, str], created: int | None, spec: Raw) -> Raw:
    metadata: Raw = {"name": name, "namespace": namespace, "uid": name, "labels": labels}
    if created is not None:
        metadata["creationTimestamp"] = timestamps.text(created * 10**9)
    return of_kind({"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}, "v1", "Pod")
