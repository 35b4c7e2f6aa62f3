"""The dlrm table: instances of recommendation apps in Alibaba's trace of 2025 (Yang et al., NSDI 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cpsched.importers.tables import Row, read_table, table_in

FILE = "disaggregated_DLRM_trace.csv"
COLUMNS = (
    "instance_sn", "role", "app_name", "cpu_request", "gpu_request", "rdma_request", "memory_request", "disk_request",
    "max_instance_per_node", "creation_time", "scheduled_time", "deletion_time",
)  # fmt: skip
RDMA, DISK = "rdma/hca", "ephemeral-storage"


@dataclass(frozen=True)
class TraceInstance:
    """A row; what was there before the trace began has no creation time, what outlived it no deletion time."""

    name: str
    role: str
    app: str
    cpus: int
    gpus: int
    rdma: int
    memory_gib: int
    disk_gib: int
    per_node: int | None
    """at most so many instances of the app on one node; None is no limit"""
    created: int | None
    scheduled: int | None
    deleted: int | None


def instances(folder: Path) -> list[TraceInstance]:
    """All instances of the trace in this folder."""
    return read_instances(table_in(folder, FILE))


def read_instances(path: Path) -> list[TraceInstance]:
    """All instances of a table."""
    return [_instance(row) for row in read_table(path, COLUMNS)]


def _instance(row: Row) -> TraceInstance:
    limit = row.maybe("max_instance_per_node")
    return TraceInstance(
        name=row.text("instance_sn").replace("_", "-"),
        role=row.text("role"),
        app=row.text("app_name").replace("_", "-"),
        cpus=row.whole("cpu_request"),
        gpus=row.whole("gpu_request"),
        rdma=row.whole("rdma_request"),
        memory_gib=row.whole("memory_request"),
        disk_gib=row.whole("disk_request"),
        per_node=limit if limit is not None and limit > 0 else None,
        created=row.maybe("creation_time"),
        scheduled=row.maybe("scheduled_time"),
        deleted=row.maybe("deletion_time"),
    )
