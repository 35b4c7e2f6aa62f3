"""What a plugin may contribute to a session; mirrors the functions registered in `framework/session_plugins.go`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from cpsched.amounts import shown
from cpsched.greedy.volcano.amounts import Amounts
from cpsched.greedy.volcano.fast.plugin_bulk import Bulk
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Queue

PERMIT, ABSTAIN, REJECT = 1, 0, -1


@dataclass(frozen=True, slots=True)
class Refusal:
    """A gate that says no where upstream says nothing: which plugin, which rule, and the amounts that decide."""

    plugin: str
    rule: str
    amounts: tuple[tuple[str, float, float], ...] = ()
    """name, what would be held, what may be held."""

    def text(self) -> str:
        """One line for the reader."""
        return f"{self.plugin}: {self.rule}{self._numbers()}"

    def _numbers(self) -> str:
        pairs = (f"{name} {shown(name, held)} of {shown(name, limit)}" for name, held, limit in self.amounts)
        return f" ({', '.join(pairs)})" if self.amounts else ""


if TYPE_CHECKING:
    from cpsched.greedy.volcano.topology.sub_jobs import SubJob

Victims = Callable[[TaskState, Sequence[TaskState]], tuple[list[TaskState], int]]


class GangEviction(NamedTuple):
    """What a gang action asks plugins about (`EvictionContext`)."""

    action: Literal["gangpreempt", "gangreclaim"]
    job: JobState


Purpose = Literal["allocate", "evict"]
Gradient = list[list[str]]
"""HyperNodes row by row; every row is tried before the next."""
Evictable = Callable[[GangEviction, Sequence[TaskState]], tuple[list[TaskState], int]]


class Simulation(Protocol):
    """A plugin's own picture of one node while victims are tried out (`Simulate…Fn`)."""

    def add(self, other: TaskState) -> bool:
        """A task comes back; False is an error."""

    def remove(self, other: TaskState) -> bool:
        """A task goes; False is an error."""

    def allocatable(self) -> bool:
        """Whether the queue may take the task."""

    def predicate(self) -> bool:
        """Whether the node would do."""


@dataclass(frozen=True)
class Hooks:
    """The functions of one plugin; None where it has nothing to say."""

    job_order: Callable[[JobState, JobState], int] | None = None
    queue_order: Callable[[Queue, Queue], float] | None = None
    task_order: Callable[[TaskState, TaskState], int] | None = None
    victim_queue_order: Callable[[Queue, Queue, Queue], int] | None = None
    preemptable: Victims | None = None
    reclaimable: Victims | None = None
    overused: Callable[[Queue], Refusal | None] | None = None
    preemptive: Callable[[Queue, Amounts], Refusal | None] | None = None
    allocatable: Callable[[Queue, TaskState], Refusal | None] | None = None
    job_valid: Callable[[JobState], str | None] | None = None
    job_ready: Callable[[JobState], bool] | None = None
    job_pipelined: Callable[[JobState], int] | None = None
    job_starving: Callable[[JobState], bool] | None = None
    sub_job_order: Callable[[SubJob, SubJob], int] | None = None
    sub_job_ready: Callable[[SubJob], bool] | None = None
    sub_job_pipelined: Callable[[SubJob], int] | None = None
    hyper_node_order: Callable[[SubJob, Sequence[str]], Mapping[str, float]] | None = None
    job_gradient: Callable[[JobState, str, Purpose], Gradient] | None = None
    sub_job_gradient: Callable[[SubJob, str, Purpose], Gradient] | None = None
    evictable: Evictable | None = None
    """Victims of the gang actions (`UnifiedEvictable`)."""
    victim_tasks: Callable[[Sequence[TaskState]], list[TaskState]] | None = None
    """Whom shuffle evicts."""
    job_enqueueable: Callable[[JobState], int] | None = None
    job_enqueued: Callable[[JobState], None] | None = None
    pre_predicate: Callable[[TaskState], str | None] | None = None
    predicate: Callable[[TaskState, NodeAccount], FitError | None] | None = None
    node_order: Callable[[TaskState, NodeAccount], float] | None = None
    batch_node_order: Callable[[TaskState, Sequence[NodeAccount]], Mapping[str, float]] | None = None
    simulate: Callable[[TaskState, NodeAccount], Simulation] | None = None
    on_allocate: Callable[[TaskState], str | None] | None = None
    on_deallocate: Callable[[TaskState], None] | None = None
    on_close: Callable[[], None] | None = None
    bulk: Bulk | None = None
    """The same for all nodes at once; None if filters or scores can be asked for single nodes only."""
    order_matters: bool = False
    """Whether the victims it names depend on the order of the candidates."""


FLAGS: dict[str, str | None] = {
    "job_order": "enableJobOrder",
    "queue_order": "enableQueueOrder",
    "task_order": "enableTaskOrder",
    "victim_queue_order": None,
    "preemptable": "enablePreemptable",
    "reclaimable": "enableReclaimable",
    "overused": "enabledOverused",
    "preemptive": "enablePreemptive",
    "allocatable": "enabledAllocatable",
    "job_valid": None,
    "job_ready": "enableJobReady",
    "job_pipelined": "enableJobPipelined",
    "job_starving": "enableJobStarving",
    "sub_job_order": "enabledSubJobOrder",
    "sub_job_ready": "enabledSubJobReady",
    "sub_job_pipelined": "enabledSubJobPipelined",
    "hyper_node_order": "enabledHyperNodeOrder",
    "job_gradient": "enabledHyperNodeGradient",
    "sub_job_gradient": "enabledHyperNodeGradient",
    "evictable": None,
    "victim_tasks": "enabledVictim",
    "job_enqueueable": "enableJobEnqueued",
    "job_enqueued": "enableJobEnqueued",
    "pre_predicate": "enablePredicate",
    "predicate": "enablePredicate",
    "node_order": "enableNodeOrder",
    "batch_node_order": "enableNodeOrder",
}
"""The flag that switches an extension point of a plugin; None where it is always on."""
