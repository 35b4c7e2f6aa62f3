"""One scheduling session: the cluster as the actions see and change it; mirrors `framework/session.go`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cpsched.greedy.outcomes import Choices
from cpsched.greedy.volcano import tiers
from cpsched.greedy.volcano.amounts import Amounts
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.hooks import FLAGS, GangEviction, Gradient, Hooks, Purpose, Refusal, Simulation
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import BindRoom, NodeAccount
from cpsched.greedy.volcano.picture import FilterView
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.task_queue import TaskQueue, task_queue
from cpsched.greedy.volcano.tasks import TaskState, comes_before
from cpsched.greedy.volcano.topology.opening import set_out
from cpsched.greedy.volcano.topology.sub_jobs import SubJob
from cpsched.greedy.volcano.trace import SessionTrace
from cpsched.instance import Instance, Queue
from cpsched.policy import PluginConf, Policy
from cpsched.resources import add
from cpsched.solution import Eviction
from cpsched.topology.tree import TOP, Tree

if TYPE_CHECKING:
    from cpsched.greedy.volcano.devices.contract import Books
    from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder

Plugin = Callable[["Session", PluginConf], Hooks]


class Session:
    """Jobs, nodes and queues under the plugins of a policy."""

    def __init__(self, instance: Instance, policy: Policy, choices: Choices, trace: SessionTrace):
        self.instance, self.policy, self.conf = instance, policy, policy.volcano
        self.choices, self.trace = choices, trace
        self.tasks = {key: TaskState(task, task.group or "") for key, task in instance.tasks.items()}
        self.jobs = {
            key: JobState(instance.jobs[key], (self.tasks[task] for task in instance.jobs[key].tasks))
            for key in sorted(instance.jobs)
        }
        self.queues = {name: instance.queues[name] for name in sorted(instance.queues)}
        self.nodes = {node.name: NodeAccount(node, index) for index, node in enumerate(instance.nodes.values())}
        for name, on_node in instance.tasks_by_node.items():
            for task in sorted(on_node, key=lambda task: task.uid):
                self.nodes[name].add(self.tasks[task.key])
        self.node_list = list(self.nodes.values())
        self.bind_room = {name: BindRoom(node) for name, node in self.nodes.items()}
        self.start_index = 0
        self.picture: FilterView | None = None
        self.devices: Books | None = None
        """Who has which shared card, where the plugin deviceshare looks at any."""
        self.bound: dict[str, str] = {}
        self.evictions: dict[str, Eviction] = {}
        self.messages: dict[str, str] = {}
        self.hooks: list[list[tuple[PluginConf, Hooks]]] = []
        self._task_order_is_fixed = False
        self._order_matters: dict[str, bool] = {}
        self._points: dict[str, list[list[Callable[..., Any]]]] = {}
        self._job_order: list[Callable[..., Any]] = []
        self._allocate_handlers: list[Callable[[TaskState], str | None]] = []
        self._deallocate_handlers: list[Callable[[TaskState], None]] = []
        self._watchers: list[Callable[[TaskState], None]] = []
        self.bulk_finder: BulkFinder | None = None
        self.tree = Tree(instance, choices.pick)
        self._nodes_in: dict[str, Sequence[NodeAccount]] = {TOP: self.node_list}
        self.forgotten: set[str] = set()
        """Tasks whose nominated node no longer counts."""
        set_out(self.jobs.values(), self.tree)

    def open(self, plugins: dict[str, Plugin]) -> None:
        """Let every configured plugin look at the session and contribute its functions."""
        by_name: dict[str, Hooks] = {}
        for tier in self.conf.tiers:
            for plugin in tier:
                by_name[plugin.name] = plugins[plugin.name](self, plugin)
        self.hooks = [[(plugin, by_name[plugin.name]) for plugin in tier] for tier in self.conf.tiers]
        for point, flag in FLAGS.items():
            self._points[point] = [
                [
                    function
                    for plugin, hooks in tier
                    if (flag is None or plugin.on(flag)) and (function := getattr(hooks, point)) is not None
                ]
                for tier in self.hooks
            ]
        # Heaps ask this so often that the tiers, which make no difference to orders, are left out.
        self._job_order = [compare for tier in self._points["job_order"] for compare in tier]
        ordering = {p.name for t in self.hooks for p, h in t if h.task_order is not None and p.on("enableTaskOrder")}
        self._task_order_is_fixed = ordering <= {"priority"}
        for point in ("preemptable", "reclaimable"):
            flag = FLAGS[point] or ""
            self._order_matters[point] = any(h.order_matters and p.on(flag) for tier in self.hooks for p, h in tier)
        for hooks in by_name.values():
            if hooks.on_allocate is not None:
                self._allocate_handlers.append(hooks.on_allocate)
            if hooks.on_deallocate is not None:
                self._deallocate_handlers.append(hooks.on_deallocate)

    def close(self) -> None:
        """Let plugins have the last word."""
        for hooks in {id(hooks): hooks for tier in self.hooks for _, hooks in tier}.values():
            if hooks.on_close is not None:
                hooks.on_close()

    def point(self, name: str) -> list[list[Callable[..., Any]]]:
        """The enabled functions of an extension point, tier by tier."""
        return self._points[name]

    @property
    def now(self) -> int:
        """The instance's clock."""
        return self.instance.clock

    @cached_property
    def total(self) -> dict[str, float]:
        """Everything the nodes can give."""
        total: dict[str, float] = {}
        for node in self.node_list:
            total = add(total, node.allocatable)
        return total

    def queue_of(self, task: TaskState) -> Queue:
        """The queue of a task's job."""
        return self.queues[self.jobs[task.job].queue]

    # Orders.

    def compare_jobs(self, left: JobState, right: JobState) -> float:
        """What plugins say about two jobs, without the fallback."""
        return tiers.first_nonzero(self._points["job_order"], left, right)

    def job_before(self, left: JobState, right: JobState) -> bool:
        """JobOrder."""
        for compare in self._job_order:
            if result := compare(left, right):
                return bool(result < 0)
        return (left.created, left.key) < (right.created, right.key)

    def queue_before(self, left: Queue, right: Queue) -> bool:
        """QueueOrder."""
        if result := tiers.first_nonzero(self._points["queue_order"], left, right):
            return result < 0
        return (left.created, left.name) < (right.created, right.name)

    def task_before(self, left: TaskState, right: TaskState) -> bool:
        """TaskOrder."""
        if result := tiers.first_nonzero(self._points["task_order"], left, right):
            return result < 0
        return comes_before(left, right)

    def sub_job_before(self, left: SubJob, right: SubJob) -> bool:
        """SubJobOrder."""
        if result := tiers.first_nonzero(self._points["sub_job_order"], left, right):
            return result < 0
        return (left.match_index, left.key) < (right.match_index, right.key)

    def queue_of_tasks(self, tasks: Iterable[TaskState]) -> TaskQueue:
        """Tasks in TaskOrder."""
        return task_queue(self.task_before, tasks, fixed=self._task_order_is_fixed)

    def victim_queue_before(self, left: Queue, right: Queue, preemptor: Queue) -> bool:
        """VictimQueueOrder: without a plugin's word, the reverse of QueueOrder."""
        if result := tiers.first_nonzero(self._points["victim_queue_order"], left, right, preemptor):
            return result < 0
        return not self.queue_before(left, right)

    def victims_queue(self, victims: Iterable[TaskState], preemptor: TaskState) -> Heap[TaskState]:
        """Victims, the first to go first; the order lives on while others are evicted (`BuildVictimsPriorityQueue`)."""

        def by_job(left: TaskState, right: TaskState) -> bool:
            result = self.compare_jobs(self.jobs[left.job], self.jobs[right.job])
            return result > 0 if result else not self.task_before(left, right)

        def less(left: TaskState, right: TaskState) -> bool:
            if left.job == right.job:
                return not self.task_before(left, right)
            if left.job not in self.jobs or right.job not in self.jobs:
                if left.job not in self.jobs and right.job not in self.jobs:
                    return not self.task_before(left, right)
                return left.job not in self.jobs
            if preemptor.job in self.jobs and self.jobs[left.job].queue != self.jobs[right.job].queue:
                return self.victim_queue_before(self.queue_of(left), self.queue_of(right), self.queue_of(preemptor))
            return by_job(left, right)

        return Heap(less, victims)

    # Votes and gates.

    def is_valid(self, job: JobState) -> bool:
        """JobValid."""
        return tiers.first_refusal(self._points["job_valid"], job) is None

    def is_ready(self, job: JobState) -> bool:
        """JobReady."""
        return tiers.all_agree(self._points["job_ready"], job)

    def is_pipelined(self, job: JobState) -> bool:
        """JobPipelined."""
        return tiers.vote(self._points["job_pipelined"], job)

    def is_sub_job_ready(self, job: JobState, sub_job: SubJob) -> bool:
        """SubJobReady; without policies the job's own readiness."""
        return tiers.all_agree(self._points["sub_job_ready"], sub_job) if job.has_policies else self.is_ready(job)

    def is_sub_job_pipelined(self, job: JobState, sub_job: SubJob) -> bool:
        """SubJobPipelined; without policies the job's own."""
        return tiers.vote(self._points["sub_job_pipelined"], sub_job) if job.has_policies else self.is_pipelined(job)

    def is_starving(self, job: JobState) -> bool:
        """JobStarving."""
        return tiers.first_tier_agrees(self._points["job_starving"], job)

    def may_enqueue(self, job: JobState) -> bool:
        """JobEnqueueable."""
        return tiers.vote(self._points["job_enqueueable"], job)

    def overused(self, queue: Queue) -> Refusal | None:
        """Overused: why the queue gets nothing more."""
        return tiers.first_refusal(self._points["overused"], queue)

    def not_allocatable(self, queue: Queue, task: TaskState) -> Refusal | None:
        """Allocatable, turned round: why the queue may not take the task."""
        return tiers.first_refusal(self._points["allocatable"], queue, task)

    def not_preemptive(self, queue: Queue, request: Amounts) -> Refusal | None:
        """Preemptive, turned round: why the queue may not reclaim for a task or several together."""
        return tiers.first_refusal(self._points["preemptive"], queue, request)

    def evictable(self, eviction: GangEviction, candidates: Sequence[TaskState]) -> list[TaskState]:
        """UnifiedEvictable: whom a gang action may evict."""
        return tiers.victims(self._points["evictable"], _key, eviction, candidates)

    def victims(self, point: str, preemptor: TaskState, candidates: Sequence[TaskState]) -> list[TaskState]:
        """Preemptable or Reclaimable."""
        return tiers.victims(self._points[point], _key, preemptor, candidates)

    def victim_tasks(self, candidates: Sequence[TaskState]) -> list[TaskState]:
        """VictimTasks: all that plugins of one tier name, of the first that names any."""
        for tier in self._points["victim_tasks"]:
            named = {task.key: task for ask in tier for task in ask(candidates)}
            if named:
                return list(named.values())
        return []

    def victim_candidates(self, point: str, tasks: Iterable[TaskState]) -> list[TaskState]:
        """Candidates in upstream's map order, which is a choice only where a plugin's answer depends on it."""
        candidates = list(tasks)
        return self.choices.order(candidates) if len(candidates) > 1 and self._order_matters[point] else candidates

    def job_gradient(self, job: JobState, root: str, purpose: Purpose) -> Gradient:
        """HyperNodeGradientForJob: the first plugin alone decides; without one there is the root."""
        return _gradient(self._points["job_gradient"], job, root, purpose)

    def sub_job_gradient(self, sub_job: SubJob, root: str, purpose: Purpose) -> Gradient:
        """HyperNodeGradientForSubJob."""
        return _gradient(self._points["sub_job_gradient"], sub_job, root, purpose)

    def hyper_node_scores(self, sub_job: SubJob, names: Sequence[str]) -> dict[str, float]:
        """HyperNodeOrder: the sum over plugins."""
        scores = dict.fromkeys(names, 0.0)
        for rate in (rate for tier in self._points["hyper_node_order"] for rate in tier):
            for name, score in rate(sub_job, names).items():
                scores[name] += score
        return scores

    def nodes_in(self, name: str) -> Sequence[NodeAccount]:
        """The nodes of a HyperNode, in the order of the session."""
        found = self._nodes_in.get(name)
        if found is None:
            found = [self.nodes[node] for node in self.tree.nodes.get(name, ())]
            if self.bulk_finder is not None:
                found = self.bulk_finder.subset(found)
            self._nodes_in[name] = found
        return found

    def nominated_node(self, task: TaskState) -> str:
        """The node on which a task is tried first, as an earlier session left it."""
        return "" if task.key in self.forgotten else task.task.pod.status.nominated_node_name

    # Predicates.

    def pre_predicate(self, task: TaskState) -> str | None:
        """PrePredicate: the error, or None."""
        if self.bulk_finder is not None and self.bulk_finder.knows(task):
            self.bulk_finder.prepare(task)
            return None
        return tiers.first_refusal(self._points["pre_predicate"], task)

    def predicate(self, task: TaskState, node: NodeAccount) -> FitError | None:
        """Predicate: everything that speaks against the node, or None."""
        return tiers.first_refusal(self._points["predicate"], task, node)

    def simulations(self, task: TaskState, node: NodeAccount) -> list[tuple[PluginConf, Simulation]]:
        """Every plugin's own picture of a node for trying out victims."""
        return [
            (plugin, hooks.simulate(task, node))
            for tier in self.hooks
            for plugin, hooks in tier
            if hooks.simulate is not None
        ]

    # Events.

    def allocated(self, task: TaskState) -> str | None:
        """Tell plugins that a task has taken room; the last error counts."""
        error = None
        for handle in self._allocate_handlers:
            error = handle(task) or error
        for watch in self._watchers:
            watch(task)
        return error

    def deallocated(self, task: TaskState) -> None:
        """Tell plugins that a task has given room back."""
        for handle in self._deallocate_handlers:
            handle(task)
        for watch in self._watchers:
            watch(task)

    def watch(self, watcher: Callable[[TaskState], None]) -> None:
        """Be called for every event after the plugins."""
        self._watchers.append(watcher)

    # Binding.

    def bind(self, task: TaskState) -> str | None:
        """Hand a task over to the binder (`AddBindTask`); returns what is wrong."""
        error = self.bind_room[task.node].bind(task)
        if error is None:
            self.jobs[task.job].set_status(task, Status.BINDING)
            self.bound[task.key] = task.node
        return error

    def allocate_now(self, task: TaskState, node: NodeAccount) -> str | None:
        """Allocate outside a statement; bind all allocated tasks of the job once it is ready (`Session.Allocate`)."""
        job = self.jobs[task.job]
        job.set_status(task, Status.ALLOCATED)
        task.node = node.name
        if error := node.add(task):
            return error
        self.allocated(task)
        if self.is_ready(job):
            waiting = sorted(job.by_status[Status.ALLOCATED].values(), key=lambda task: task.uid)
            for one in self.choices.order(waiting):
                if error := self.bind(one):
                    return error
        return None


def _gradient(points: Sequence[Sequence[Callable[..., Gradient]]], *asked: Any) -> Gradient:
    for ask in (ask for tier in points for ask in tier):
        return ask(*asked)
    return [[asked[1]]]


def _key(task: TaskState) -> str:
    return task.key
