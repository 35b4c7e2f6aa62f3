"""Tiny sessions for the oracle: a few nodes, jobs and queues, and every rule somewhere among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from cpsched.snapshot import Snapshot
from tests.judge import conf, snapshot_of

Raw = dict[str, Any]
Override = Callable[[DrawFn], Any]


@dataclass(frozen=True)
class Tiny:
    """A tiny session: a compact instance under a model, with its configuration and changed rules."""

    source: Raw
    model: str
    conf: Raw | None
    rules: Raw | None = None

    def snapshot(self) -> Snapshot:
        """The session as it opens."""
        return snapshot_of(self.source, model=self.model, conf=self.conf, rules=self.rules)


def one_in(draw: DrawFn, chances: int) -> bool:
    """Seldom true; the usual is what examples shrink to."""
    return draw(st.integers(1, chances)) == chances


PRIORITIES = (10, 100, 1000)
QUEUES = ("left", "right")
ACTIONS = ("enqueue", "allocate", "preempt", "reclaim", "backfill")
_ANTI = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "kubernetes.io/hostname"}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SPREAD = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "a"}},
}
_WISHES: tuple[Raw, ...] = (
    {"nodeSelector": {"disk": "ssd"}},
    {"tolerations": [{"operator": "Exists"}]},
    {"ports": [{"containerPort": 80, "hostPort": 80}]},
    {"affinity": {"podAntiAffinity": {_REQUIRED: [_ANTI]}}},
    {"affinity": {"podAffinity": {_REQUIRED: [_ANTI]}}},
    {"topologySpreadConstraints": [_SPREAD]},
)
"""What a pod may want of its node or its neighbours."""


def _kube_conf(**plugins: Any) -> Raw:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": plugins}],
    }


_KUBE_CONFS = (
    None,
    None,
    None,
    _kube_conf(postFilter={"disabled": [{"name": "DefaultPreemption"}]}),
    _kube_conf(filter={"disabled": [{"name": "TaintToleration"}, {"name": "NodePorts"}]}),
)

_LEAVING = {"deletionTimestamp": "2026-01-01T11:00:00Z"}
_MODELS = ("volcano", "volcano", "volcano", "volcano-fair", "volcano-near", "kube", "kube", "throughput")


@st.composite
def tiny_sessions(
    draw: DrawFn, model: str | None = None, *, wishes: bool = True, most_pending: int = 4, most_running: int = 5
) -> Tiny:
    """Up to three nodes, three running and three waiting jobs, with few enough tasks for an exhaustive search."""
    model = draw(st.sampled_from(_MODELS)) if model is None else model
    nodes = [_tiny_node(draw, number) for number in range(draw(st.integers(1, 3)))]
    if len(nodes) == 3:
        most_pending = min(most_pending, 3)
    contested = not one_in(draw, 2)
    used = {node["name"]: 0 for node in nodes}
    jobs: list[Raw] = []
    for number in range(draw(st.sampled_from([3, 2, 2, 1] if contested else [3, 2, 1, 0]))):
        jobs += _running_job(draw, f"r{number}", used, most_running - _tasks_of(jobs), wishes, contested)
    for node in nodes:
        # Little idle room makes evictions worth their while.
        node["allocatable"]["cpu"] = used[node["name"]] + (0 if contested else draw(st.integers(0, 1)))
    started = len(jobs)
    for number in range(draw(st.integers(1, 3))):
        jobs += _waiting_job(draw, f"w{number}", most_pending - _tasks_of(jobs[started:]), wishes, contested)
    source: Raw = {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "now": "2026-01-01T12:00:00Z",
        "nodes": nodes,
        "priorityClasses": {f"p{value}": value for value in PRIORITIES},
        "jobs": draw(st.permutations(jobs)),
    }
    if draw(st.booleans()):
        source["budgets"] = [
            {"name": "b", "selector": {"matchLabels": {"app": "a"}}, "disruptionsAllowed": draw(st.integers(0, 1))}
        ]
    if model == "kube":
        source["queues"] = [{"name": name} for name in QUEUES]
        return Tiny(source, model, draw(st.sampled_from(_KUBE_CONFS)))
    settings_of_queues, configured = draw(tiny_configurations())
    source["queues"] = settings_of_queues
    return Tiny(source, model, configured, draw(_rules(model)))


def _tasks_of(jobs: list[Raw]) -> int:
    return sum(task["replicas"] for job in jobs for task in job["tasks"])


def _tiny_node(draw: DrawFn, number: int) -> Raw:
    node: Raw = {
        "name": f"n{number}",
        "allocatable": {"cpu": 0, "pods": draw(st.sampled_from([10, 10, 10, 2])), "memory": "4Gi"},
    }
    if one_in(draw, 4):
        node["labels"] = {"disk": "ssd"}
    if one_in(draw, 8):
        node["taints"] = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    return node


def _job_fields(draw: DrawFn, priorities: tuple[int, ...]) -> Raw:
    fields: Raw = {"queue": draw(st.sampled_from(["left", "left", "right"]))}
    if not one_in(draw, 5):
        fields["priorityClassName"] = f"p{draw(st.sampled_from(priorities))}"
    return fields


def _task_fields(draw: DrawFn, wishes: bool) -> Raw:
    cpu = draw(st.sampled_from([0, 1, 1, 1, 2, 2]))
    fields: Raw = {"requests": {"cpu": cpu}} if cpu else {}
    if one_in(draw, 5):
        fields.setdefault("requests", {})["memory"] = draw(st.sampled_from(["1Gi", "3Gi"]))
    if draw(st.booleans()):
        fields["labels"] = {"app": draw(st.sampled_from(["a", "b"]))}
    if wishes and one_in(draw, 6):
        fields |= draw(st.sampled_from(_WISHES))
    return fields


def _running_job(draw: DrawFn, name: str, used: dict[str, int], most: int, wishes: bool, contested: bool) -> list[Raw]:
    tasks: list[Raw] = []
    for number in range(min(most, draw(st.integers(1, 2)))):
        task = _task_fields(draw, wishes)
        node = draw(st.sampled_from(sorted(used)))
        used[node] += task.get("requests", {}).get("cpu", 0)
        task |= {"role": f"t{number}", "replicas": 1, "running": node}
        task["startTime"] = f"2026-01-01T0{draw(st.integers(0, 3))}:00:00Z"
        task |= draw(st.sampled_from([{}] * 8 + [{"preemptable": False}, _LEAVING]))
        tasks.append(task)
    minimum = 0 if contested else draw(st.sampled_from([0, 0, 1, 2]))
    fields = _job_fields(draw, (10,) if contested else (10, 100, 1000))
    return [{"name": name, "minMember": minimum, "tasks": tasks, **fields}] if tasks else []


def _waiting_job(draw: DrawFn, name: str, most: int, wishes: bool, contested: bool) -> list[Raw]:
    if most < 1:
        return []
    replicas = draw(st.integers(1, min(2, most)))
    tasks = [{"role": "t", "replicas": replicas, **_task_fields(draw, wishes)}]
    tasks[0] |= draw(st.sampled_from([{}] * 5 + [{"preemptionPolicy": "Never"}, {"schedulingGates": [{"name": "g"}]}]))
    if replicas < most and one_in(draw, 3):
        tasks.append({"role": "other", "replicas": 1, **_task_fields(draw, wishes)})
    minimum = draw(st.sampled_from([1, 1, 2] if contested else [0, 1, 1, 2]))
    job: Raw = {
        "name": name,
        "minMember": minimum,
        "tasks": tasks,
        **_job_fields(draw, (1000, 100) if contested else (1000, 100, 10)),
    }
    if one_in(draw, 5):
        job["minTaskMember"] = {"t": 1, "other": draw(st.integers(0, 1))}
    if one_in(draw, 3):
        job["phase"] = "Pending"
        job["minResources"] = {"cpu": draw(st.integers(0, 4))}
    return [job]


@st.composite
def tiny_configurations(draw: DrawFn) -> tuple[list[Raw], Raw]:
    """Queues left and right with what the share plugin reads, and a volcano-scheduler.conf with flags at random."""
    share = draw(st.sampled_from(["proportion", "proportion", "capacity", "tree", ""]))
    queues = [_tiny_queue(draw, name, share) for name in QUEUES]
    if share == "tree":
        queues = [{"name": "root"}, {"name": "dept", "parent": "root"}, *queues]
    plugins: list[Raw] = [{"name": "priority"}, {"name": "gang"}, {"name": "conformance"}, {"name": "predicates"}]
    plugins += [{"name": name} for name in ("overcommit", "pdb") if one_in(draw, 3)]
    if share:
        plugins.append(
            {"name": "capacity" if share == "tree" else share, **({"enableHierarchy": True} if share == "tree" else {})}
        )
    flags = ["enablePreemptable", "enableReclaimable", "enableJobReady", "enableJobPipelined", "enableJobStarving"]
    for plugin in plugins:
        for flag in [*flags, "enableJobEnqueued", "enabledAllocatable"]:
            if one_in(draw, 25):
                plugin[flag] = False
    actions = [action for action in ACTIONS if not one_in(draw, 10)] or ["allocate"]
    cut = draw(st.sampled_from([len(plugins)] * 3 + [3]))
    return queues, conf(", ".join(actions), *plugins[:cut], tiers=[plugins[cut:]] if cut < len(plugins) else [])


def _tiny_queue(draw: DrawFn, name: str, share: str) -> Raw:
    queue: Raw = {"name": name, "weight": draw(st.integers(1, 3))}
    amounts = st.integers(0, 4).map(lambda cpu: {"cpu": cpu})
    if share in ("capacity", "tree"):
        queue |= draw(st.fixed_dictionaries({}, optional={"deserved": amounts, "guarantee": amounts}))
    if one_in(draw, 4):
        queue["capability"] = draw(amounts)
    if share == "tree":
        queue["parent"] = draw(st.sampled_from(["root", "dept"]))
    queue |= draw(st.sampled_from([{}] * 8 + [{"reclaimable": False}, {"state": "Closed"}]))
    return queue


@st.composite
def _rules(draw: DrawFn, model: str) -> Raw | None:
    if not one_in(draw, 3):
        return None
    options: dict[str, SearchStrategy[str]] = {
        "protect.gang": st.sampled_from(["keep", "whole", "off"]),
        "protect.guarantee": st.sampled_from(["on", "off"]),
        "charge": st.sampled_from(["on", "off"]),
        "gang": st.sampled_from(["on", "off"]),
        "enqueue": st.just("off"),
    }
    if model != "throughput":
        options["eviction.scope"] = st.just("cluster")
    return draw(st.fixed_dictionaries({}, optional=options))


def decisions_of(session: Snapshot) -> SearchStrategy[Raw]:
    """Any decision that names existing tasks and nodes, feasible or not."""
    waiting = [task.key for job in session.jobs.values() for task in job.pending]
    sitting = [task.key for task in session.instance.tasks.values() if task.node]
    places = st.sampled_from(list(session.instance.nodes))

    @st.composite
    def made(draw: DrawFn) -> Raw:
        placed = draw(st.dictionaries(st.sampled_from(waiting), places)) if waiting else {}
        bound = {key for key in placed if draw(st.booleans())}
        return {
            "binds": {key: node for key, node in placed.items() if key in bound},
            "reserves": {key: node for key, node in placed.items() if key not in bound},
            "evicted": draw(st.lists(st.sampled_from(sitting), unique=True)) if sitting else [],
        }

    return made()
