"""Sessions sampled from the dlrm trace: each app a job of CPU or GPU instances, on nodes of two stated shapes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

from pydantic import Field

from cpsched.errors import InputError
from cpsched.importers.dlrm import DISK, RDMA, TraceInstance, instances
from cpsched.importers.trace_objects import per_node_limit
from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import CLASSES, GPU, Need, NodesLeft, Placement, frame, node, quantities, stamp
from cpsched.lab.families.trace_time import Moment, at_moment

GPU_NODE: Need = (128_000, 1024, 8, 200, 6000)
CPU_NODE: Need = (192_000, 1152, 0, 200, 6000)
"""cpu in thousandths, memory in Gi, GPUs, RDMA, disk in Gi; the trace names no nodes, so these are assumed."""


class Dlrm(Parameters):
    """What is sampled, and by which rules the trace's gaps are filled: it has no nodes, queues or priorities."""

    gpu_nodes: int = Field(4, ge=0, le=5000)
    """nodes of 128 cores, 1 Ti, 8 GPUs, 200 RDMA, 6000 Gi of disk"""
    cpu_nodes: int = Field(8, ge=0, le=5000)
    """nodes of 192 cores, 1152 Gi, 200 RDMA, 6000 Gi of disk"""
    instances: int = Field(60, ge=1, le=100_000)
    """instances drawn from the trace; those of one app and role are one job"""
    running: Literal["share", "time"] = "share"
    """who runs: a share of the jobs, or who ran at a moment of the trace"""
    fill: int = Field(60, ge=0, le=100)
    """percent of the jobs that run, as far as they have room (running=share)"""
    time: int = Field(1_500_000, ge=0, le=20_000_000)
    """the moment, in seconds of the trace (running=time)"""
    window: int = Field(86_400, ge=0, le=20_000_000)
    """seconds: who was created so long after the moment waits (running=time)"""
    placement: Placement = "first-fit"
    """how the running instances were placed"""
    together: int = Field(50, ge=0, le=100)
    """percent of a job's instances, rounded up, that start together or not at all"""
    limits: Literal["spread", "none"] = "spread"
    """max_instance_per_node as a spread constraint (so many more than on the emptiest node), or left out"""
    queues: int = Field(3, ge=1, le=100)
    """queues q0, q1, ... of weight 1, 2, ..., drawn evenly per job"""


Job = tuple[str, list[TraceInstance]]


def read(folder: Path, given: Dlrm) -> list[TraceInstance]:
    """The whole trace."""
    del given
    return instances(folder)


def dlrm(given: Dlrm, draw: Draw, trace: list[TraceInstance]) -> Raw:
    """Instances are drawn, then for each job its priority and its queue; GPU jobs never rank lowest."""
    if given.instances > len(trace):
        raise InputError(f"{given.instances} instances", place="instances", right=f"the trace has {len(trace)}")
    drawn = draw.sample(trace, given.instances)
    if given.running == "time":
        old, new = at_moment(drawn, Moment(given.time, given.window))
        ran = _jobs("old", old)
        jobs = ran + _jobs("new", new)
        running = len(ran)
    else:
        jobs = _jobs("job", drawn)
        draw.shuffle(jobs)
        running = len(jobs) * given.fill // 100
    shapes = {f"gpu{i}": GPU_NODE for i in range(given.gpu_nodes)} | {
        f"cpu{i}": CPU_NODE for i in range(given.cpu_nodes)
    }
    queues = ({"name": f"q{i}", "weight": i + 1} for i in range(given.queues))
    instance = frame((node(name, _amounts(shape)) for name, shape in shapes.items()), queues, CLASSES)
    room = NodesLeft({name: (*shape, 110) for name, shape in shapes.items()})
    for number, job in enumerate(jobs):
        instance["jobs"].append(_job(given, draw, number, job, room if number < running else None))
    return instance


def _jobs(prefix: str, rows: list[TraceInstance]) -> list[Job]:
    by_app: dict[str, list[TraceInstance]] = {}
    for row in rows:
        by_app.setdefault(f"{prefix}-{row.app}-{row.role.lower()}", []).append(row)
    return list(by_app.items())


def _job(given: Dlrm, draw: Draw, number: int, job: Job, room: NodesLeft | None) -> Raw:
    name, rows = job
    priority = draw.choice(["mid", "high"] if rows[0].gpus else list(CLASSES))
    queue = f"q{draw.below(given.queues)}"
    on_node: Counter[str] = Counter()
    tasks = []
    for position, row in enumerate(rows):
        need: Need = (row.cpus * 1000, row.memory_gib, row.gpus, row.rdma, row.disk_gib)
        task: Raw = {"name": row.name, "namespace": "dlrm", "role": row.role.lower(), "labels": {"app": name}}
        task["requests"] = _amounts(need)
        if given.limits == "spread" and row.per_node is not None:
            task["topologySpreadConstraints"] = [per_node_limit(row.per_node, name)]
        among = [home for home in (room.free if room else ()) if row.per_node is None or on_node[home] < row.per_node]
        home = room.place((*need, 1), given.placement, draw, among) if room else None
        if home is not None:
            on_node[home] += 1
            task |= {"running": home, "startTime": stamp(3600 + number * 60 + position)}
        tasks.append(task)
    minimum = max(1, -(-len(rows) * given.together // 100))
    made = {"name": name, "namespace": "dlrm", "queue": queue, "minMember": minimum, "priorityClassName": priority}
    return made | {"creationTimestamp": stamp(number), "tasks": tasks}


def _amounts(need: Need) -> dict[str, str]:
    cpu, memory, gpu, rdma, disk = need
    amounts = quantities(cpu, memory) | {RDMA: str(rdma), DISK: f"{disk}Gi"}
    return amounts | {GPU: str(gpu)} if gpu else amounts
