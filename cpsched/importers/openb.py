"""The openb tables: nodes and pods of Alibaba's GPU cluster trace v2023 (Weng et al., USENIX ATC 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cpsched.importers.tables import Row, read_table, table_in

NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
POD_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu")


@dataclass(frozen=True)
class TraceNode:
    """A row of a node list."""

    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    model: str


@dataclass(frozen=True)
class TracePod:
    """A row of a pod list; the resampled lists lack models, quality of service and times."""

    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    gpu_milli: int
    models: tuple[str, ...]
    qos: str
    created: int | None
    deleted: int | None
    scheduled: int | None


def node_list(folder: Path, name: str = "all_node") -> list[TraceNode]:
    """The nodes of `openb_node_list_NAME.csv`."""
    return read_nodes(table_in(folder, f"openb_node_list_{name}.csv"))


def pod_list(folder: Path, name: str = "default") -> list[TracePod]:
    """The pods of `openb_pod_list_NAME.csv`."""
    return read_pods(table_in(folder, f"openb_pod_list_{name}.csv"))


def read_nodes(path: Path) -> list[TraceNode]:
    """All nodes of a table."""
    return [_node(row) for row in read_table(path, NODE_COLUMNS)]


def read_pods(path: Path) -> list[TracePod]:
    """All pods of a table."""
    return [_pod(row) for row in read_table(path, POD_COLUMNS)]


def _node(row: Row) -> TraceNode:
    return TraceNode(
        row.text("sn"), row.whole("cpu_milli"), row.whole("memory_mib"), row.whole("gpu"), row.text("model")
    )


def _pod(row: Row) -> TracePod:
    share = row.maybe("gpu_milli")
    return TracePod(
        name=row.text("name"),
        cpu_milli=row.whole("cpu_milli"),
        memory_mib=row.whole("memory_mib"),
        gpus=row.whole("num_gpu"),
        gpu_milli=1000 if share is None else share,
        models=tuple(model for model in row.text("gpu_spec").split("|") if model),
        qos=row.text("qos"),
        created=row.maybe("creation_time"),
        deleted=row.maybe("deletion_time"),
        scheduled=row.maybe("scheduled_time"),
    )
