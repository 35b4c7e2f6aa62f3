"""A session with some requirements of one job lifted: looser rules, and nothing else changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Literal

from cpsched.explanation.requirements import ACTIONS, PROTECTIONS, STATE, Requirement
from cpsched.filters import FILTERS, Args, Status, feasible
from cpsched.filters.state import ClusterState
from cpsched.instance import Instance, Queue, Task
from cpsched.instance import Status as TaskStatus
from cpsched.policy import Policy
from cpsched.policy.model import Rules
from cpsched.policy.policy import AnyAction
from cpsched.shares import Exact, QueueShare
from cpsched.snapshot import Room, SessionJob, Snapshot
from cpsched.snapshot.near import Nearness
from cpsched.snapshot.node_rules import NODE_RULES, NodeRule, node_rules
from cpsched.snapshot.predicates import Predicates


class LiftedPolicy(Policy):
    """A policy without some of its rules."""

    lifted: frozenset[str] = frozenset()

    @classmethod
    def of(cls, policy: Policy, lifted: frozenset[str]) -> LiftedPolicy:
        """The policy without the rules of these keys."""
        return cls(model=policy.model, volcano=policy.volcano, kube=policy.kube, origin=policy.origin, lifted=lifted)

    @property
    def rules(self) -> Rules:
        """The model's rules, as far as they are not lifted."""
        off = {f"protect_{key.removeprefix('protect.')}": "off" for key in PROTECTIONS if key in self.lifted}
        if "charge" in self.lifted:
            off["charge"] = "off"
        if "eviction" in self.lifted:
            off["eviction"] = "on"
        return self.model.rules.model_copy(update=off)

    @property
    def actions(self) -> tuple[str, ...]:
        """The configured actions; all there are, if the rule is lifted."""
        return (*super().actions, *ACTIONS) if "actions" in self.lifted else super().actions

    def evicts(self, action: AnyAction) -> bool:
        """As configured; without the rule `eviction` some task always may."""
        return super().evicts(action) or ("eviction" in self.lifted and action == "preempt")

    @property
    def pending_jobs_enter(self) -> Literal["enqueue", "freely", "never"]:
        """As configured, or freely."""
        if "enqueue" in self.lifted:
            return "freely"
        before = Policy(model=self.model, volcano=self.volcano, kube=self.kube).pending_jobs_enter
        return "freely" if before == "never" and "actions" in self.lifted else before


class _LiftedPredicates(Predicates):
    """The filters with some of them not asked for the tasks of one job."""

    def __init__(self, base: Predicates, tasks: Collection[str], lifted: Collection[Requirement]):
        super().__init__(base.instance, base.policy)
        self._base, self._tasks = base, frozenset(tasks)
        self._left: dict[str, dict[str, Status]] = {}
        self._everywhere = {one.subject for one in lifted if not one.nodes}
        self._nodes = {(one.subject, node) for one in lifted for node in one.nodes}

    def names(self, task: Task) -> tuple[str, ...]:
        """Enabled filters that are not lifted altogether."""
        found = self._base.names(task)
        if task.key not in self._tasks or not self._everywhere:
            return found
        return tuple(name for name in found if name not in self._everywhere)

    def args(self, task: Task) -> Args:
        """Arguments of the filters for the task."""
        return self._base.args(task)

    def refused(self, task: Task) -> dict[str, Status]:
        """Nodes that a filter still refuses."""
        if task.key not in self._tasks:
            return self._base.refused(task)
        found = self._left.get(task.key)
        if found is None:
            found = self._left[task.key] = {}
            for name, by_node in static_refusals(self._base, task).items():
                for node, status in by_node.items():
                    if (name, node) not in self._nodes and name not in self._everywhere:
                        found.setdefault(node, status)
        return found

    @cached_property
    def cluster(self) -> ClusterState:
        """The cluster as the snapshot shows it."""
        return self._base.cluster

    @cached_property
    def any_dynamic(self) -> bool:
        """Whether some pod has a wish that other pods can grant or refuse."""
        return self._base.any_dynamic


def static_refusals(predicates: Predicates, task: Task) -> dict[str, dict[str, Status]]:
    """Per static filter the nodes that it refuses by itself.

    Where a PreFilter turns the task away, no scheduler runs the PreFilters behind it, so they refuse nothing.
    """
    found, is_turned_away = {}, False
    for name in predicates.names(task):
        if not FILTERS[name].is_static and not predicates.any_dynamic:
            continue
        verdicts = feasible(task, predicates.cluster, [name], predicates.args(task))
        turns_away = not verdicts.prefiltered.status.is_success
        refused = {node: status for node, status in verdicts.by_node().items() if not status.is_success}
        if FILTERS[name].is_static and refused and not (turns_away and is_turned_away):
            found[name] = refused
        is_turned_away = is_turned_away or turns_away
    return found


class Lifted(Snapshot):
    """The session as it opens, less some requirements of one job.

    `only` names the jobs that may receive something, None all jobs; `apart` further jobs that no other may stand in
    for; `tasks` leaves of the job's pending tasks only these; `node` leaves of all nodes only this one.
    """

    def __init__(
        self,
        base: Snapshot,
        job: str,
        lifted: Collection[Requirement] = (),
        *,
        only: Collection[str] | None = None,
        apart: Collection[str] = (),
        tasks: Collection[str] | None = None,
        node: str | None = None,
    ):
        self._base, self._only = base, None if only is None else frozenset(only)
        self._lifted = frozenset(lifted)
        self._keys = frozenset(one.key for one in lifted)
        self.policy = LiftedPolicy.of(base.policy, self._keys) if self._keys else base.policy
        self.instance = self._opened(base.instance)
        if node is not None:
            self.instance = replace(self.instance, nodes={node: self.instance.nodes[node]})
        self.job = job
        self.jobs = {**base.jobs, job: self._loosened(base.jobs[job], tasks)}
        self.apart = frozenset({job, *apart})
        self.unrestricted = frozenset({job}) if "eviction" in self._keys else frozenset()

    @cached_property
    def job_by_task(self) -> dict[str, SessionJob]:
        """As in the base; the job's tasks stay its own, also those that are left out."""
        job = self.jobs[self.job]
        return {**self._base.job_by_task, **{task.key: job for task in self._base.jobs[self.job].tasks}}

    def has_siblings(self, job: SessionJob) -> bool:
        """Whether the job has more tasks than one in the base."""
        return self._base.has_siblings(self._base.jobs[job.key])

    def takes_part(self, job: SessionJob) -> bool:
        """Named, and able to take part."""
        return (self._only is None or job.key in self._only) and super().takes_part(job)

    @property
    def shares(self) -> Mapping[str, QueueShare[Exact]]:
        """The base's shares, unlimited where lifted."""
        return self._shares_lifted

    @property
    def shares_refused(self) -> str | None:
        """Why the share plugin lets no job place anything, None if that is lifted."""
        return None if "deserved" in self._keys else self._base.shares_refused

    @cached_property
    def _shares_lifted(self) -> dict[str, QueueShare[Exact]]:
        found = dict(self._base.shares)
        for one in self._lifted:
            queue, _, resource = one.subject.partition("/")
            if one.key == "queue" and resource != STATE:
                enough = {resource: self._enough(resource)}
                share = found[queue]
                found[queue] = replace(
                    share,
                    deserved={**share.deserved, **enough},
                    real_capability={**share.real_capability, **enough},
                )
        return found

    @cached_property
    def predicates(self) -> Predicates:
        """The filters, less those lifted."""
        lifted = [one for one in self._lifted if one.key == "filters"]
        if not lifted:
            return self._base.predicates
        return _LiftedPredicates(self._base.predicates, [task.key for task in self.jobs[self.job].tasks], lifted)

    @cached_property
    def node_rules(self) -> dict[str, NodeRule]:
        """The plugins' rules about nodes; those lifted are not asked of the job's tasks."""
        if not self._keys & NODE_RULES.keys():
            return self._base.node_rules
        tasks = frozenset(task.key for task in self.jobs[self.job].pending)
        return node_rules(self, dict.fromkeys(self._keys, tasks))

    @cached_property
    def nearness(self) -> Nearness:
        """What is to be near what; the job is free of what is lifted."""
        return Nearness(self, (self.job, self._keys))

    @cached_property
    def idle(self) -> dict[str, Room]:
        """Room free today; more than any task can request where capacity is lifted."""
        return self._roomy(self._base.idle)

    @cached_property
    def future_idle(self) -> dict[str, Room]:
        """Room free once what is being released has gone, likewise."""
        return self._roomy(self._base.future_idle)

    def _roomy(self, rooms: dict[str, Room]) -> dict[str, Room]:
        found = dict(rooms)
        for one in self._lifted:
            if one.key == "capacity":
                for node in one.nodes:
                    found[node] = {**found[node], one.subject: float(self._enough(one.subject))}
        return found

    def _enough(self, resource: str) -> int:
        """More than all tasks of the instance ask for together."""
        return 1 + sum(task.requests.get(resource, 0) for task in self.instance.tasks.values())

    def _loosened(self, job: SessionJob, tasks: Collection[str] | None) -> SessionJob:
        if tasks is not None:
            stay = tuple(t for t in job.tasks if t.status is not TaskStatus.PENDING or t.key in tasks)
            job = job.with_tasks(stay)
        if "gang" in self._keys:
            job = job.with_minimum(min(job.min_available, job.ready + 1))
        return job

    def _opened(self, instance: Instance) -> Instance:
        queues = {one.subject.partition("/")[0] for one in self._lifted if one.subject.endswith(f"/{STATE}")}
        if not queues:
            return instance
        opened = {name: _open(queue) if name in queues else queue for name, queue in instance.queues.items()}
        return replace(instance, queues=opened)


def _open(queue: Queue) -> Queue:
    status = queue.queue.status.model_copy(update={"state": "Open"})
    return Queue(queue.queue.model_copy(update={"status": status}))
