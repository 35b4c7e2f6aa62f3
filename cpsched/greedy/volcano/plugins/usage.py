"""usage: nodes by their measured load; mirrors `plugins/usage/usage.go`."""

from __future__ import annotations

from typing import NamedTuple

from cpsched.filters.status import unresolvable
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Task
from cpsched.objects.beside import NodeLoad
from cpsched.objects.pod import Container
from cpsched.policy import PluginConf
from cpsched.policy.nested import Estimator, Thresholds
from cpsched.resources import add, from_quantities, maximum

NAME = "usage"
FRESH = 300
"""Seconds for which a measurement counts."""
_UNMEASURED = frozenset({Status.BOUND, Status.BINDING, Status.ALLOCATED})


class Load(NamedTuple):
    """cpu in milli-cores or as a part of 1, memory in bytes or as a part of 1."""

    cpu: float = 0.0
    memory: float = 0.0


def usage(session: Session, conf: PluginConf) -> Hooks:
    """Keep tasks off loaded nodes, and prefer those with the least load."""
    plugin = NodeLoads(session, conf)
    return Hooks(
        predicate=plugin.check,
        node_order=plugin.score,
        on_allocate=plugin.allocated,
        on_deallocate=plugin.deallocated,
    )


class NodeLoads:
    """What was measured, and what is guessed of the tasks that are not measured yet."""

    def __init__(self, session: Session, conf: PluginConf):
        self._session = session
        arguments = conf.arguments
        self._weight = arguments.integer("usage.weight")
        self._weights = Load(arguments.integer("cpu.weight"), arguments.integer("memory.weight"))
        self._limits: Thresholds = arguments.form("thresholds")
        self._guess: Estimator = arguments.form("estimator")
        self._measured = session.instance.node_usage or {}
        self._guessed: dict[str, Load] = {}
        self._by_task: dict[str, tuple[str, Load]] = {}
        since = session.now - int(arguments.form("metrics.interval"))
        for node in session.node_list:
            fresh = [task for task in node.tasks.values() if _is_unmeasured(task, since)]
            # Upstream walks a map here, and the order counts where the load crosses the threshold of risk.
            for task in session.choices.order(fresh) if len(fresh) > 1 and self._guess.risk_factor > 1 else fresh:
                self.allocated(task)

    def check(self, task: TaskState, node: NodeAccount) -> FitError | None:
        """The measured load alone counts, if it is fresh."""
        load = self._fresh(node)
        if load is None or (load.cpu <= self._limits.cpu and load.memory <= self._limits.memory):
            return None
        kind = "CPU" if load.cpu > self._limits.cpu else "memory"
        return FitError((unresolvable(NAME, f"the {kind} load of the node exceeds the upper limit."),))

    def score(self, task: TaskState, node: NodeAccount) -> float:
        """What is left of the node, the tasks of this session counted by guess."""
        load = self._fresh(node)
        whole = sum(self._weights)
        if load is None or not whole:
            return 0.0
        part = self._part(node, load)
        left = (1 - part.cpu) * self._weights.cpu + (1 - part.memory) * self._weights.memory
        return left / whole * 100 * self._weight

    def allocated(self, task: TaskState) -> None:
        """A task comes; one that comes back is guessed again, though it has been measured."""
        self.deallocated(task)
        node = self._session.nodes.get(task.node)
        if node is not None:
            load = self._estimate(task, node)
            before = self._guessed.get(node.name, Load())
            self._guessed[node.name] = Load(before.cpu + load.cpu, before.memory + load.memory)
            self._by_task[task.key] = (node.name, load)

    def deallocated(self, task: TaskState) -> None:
        """A task goes, with what was guessed of it."""
        if task.key in self._by_task:
            name, load = self._by_task.pop(task.key)
            before = self._guessed[name]
            self._guessed[name] = Load(max(0.0, before.cpu - load.cpu), max(0.0, before.memory - load.memory))

    def _fresh(self, node: NodeAccount) -> NodeLoad | None:
        load = self._measured.get(node.name)
        return load if load is not None and load.age <= FRESH else None

    def _part(self, node: NodeAccount, measured: NodeLoad) -> Load:
        """The load as a part of the node's capacity, which is more than can be allocated."""
        capacity = from_quantities(node.node.node.status.capacity)
        guessed = self._guessed.get(node.name, Load())
        return Load(
            _part(measured.cpu, capacity.get("cpu", 0), guessed.cpu),
            _part(measured.memory, capacity.get("memory", 0), guessed.memory),
        )

    def _estimate(self, task: TaskState, node: NodeAccount) -> Load:
        guess, factor = self._guess, self._factor(node)
        if task.best_effort:
            return Load(guess.be_cpu * factor, guess.be_memory * factor)
        limits = _limits(task.task)

        def amount(name: str) -> float:
            request, limit = task.request[name], limits.get(name, 0)
            limit = max(limit, request)
            return min(
                max((request * guess.request_ratio + (limit - request) * guess.burst_ratio) * factor, 0.0), limit
            )

        return Load(amount("cpu"), amount("memory"))

    def _factor(self, node: NodeAccount) -> float:
        part, whole = self._part(node, self._measured.get(node.name) or NodeLoad()), sum(self._weights)
        load = (part.cpu * self._weights.cpu + part.memory * self._weights.memory) / whole if whole else 0.0
        return self._guess.risk_factor if load >= self._guess.risk_threshold else 1.0


def _part(percent: float, capacity: float, guessed: float) -> float:
    return min(1.0, max(0.0, (percent / 100 * capacity + guessed) / capacity)) if capacity > 0 else 0.0


def _is_unmeasured(task: TaskState, since: int) -> bool:
    if task.status in _UNMEASURED:
        return True
    started = task.task.pod_status.start_time
    return task.status is Status.RUNNING and (started is None or started > since)


def _limits(task: Task) -> dict[str, float]:
    """Limits of the pod: of its containers and sidecars together, but at least what one init container has."""
    spec = task.spec

    def total(containers: list[Container]) -> dict[str, float]:
        found: dict[str, float] = {}
        for one in containers:
            found = add(found, from_quantities(one.resources.limits))
        return found

    lasting = [*spec.containers, *(one for one in spec.init_containers if one.is_sidecar)]
    limits = total(lasting)
    for one in spec.init_containers:
        if not one.is_sidecar:
            limits = maximum(limits, from_quantities(one.resources.limits))
    return limits
