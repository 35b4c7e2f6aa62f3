"""What gangpreempt and gangreclaim have in common: for every starving job a domain, victims in bundles, and a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from cpsched.greedy.volcano.amounts import Amounts, fits, give
from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.hooks import GangEviction, Refusal
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.bundles import Bundle, bundles_of, surviving, total
from cpsched.greedy.volcano.topology.plan import Planner, left_to_place
from cpsched.instance import PREEMPTABLE, Queue
from cpsched.topology.tree import TOP


@dataclass(frozen=True)
class GangAction:
    """In what the two actions differ."""

    name: Literal["gangpreempt", "gangreclaim"]
    overused: Callable[[Session, Queue], Refusal | None]
    """Why a queue gets nothing at all."""
    refused: Callable[[Session, Queue, Amounts], Refusal | None]
    """Why a queue may not evict for so much."""
    may_go: Callable[[Session, JobState, TaskState, JobState], bool]
    """Whether a task of another job is a candidate for a job."""
    order: Callable[[Session, JobState, Amounts, list[Bundle]], list[Bundle]]
    """Bundles in the order in which they are added."""


def run(session: Session, action: GangAction) -> None:
    """Every queue once, every starving job of it once."""
    starving: dict[str, Heap[JobState]] = {}
    names: dict[str, None] = {}
    for job in session.jobs.values():
        if job.is_pending or not session.is_valid(job):
            continue
        names[job.queue] = None
        if session.is_starving(job):
            starving.setdefault(job.queue, Heap(session.job_before)).push(job)
    queues = Heap(session.queue_before, (session.queues[name] for name in names))
    while queues:
        queue = queues.pop()
        jobs = starving.get(queue.name)
        if refusal := action.overused(session, queue):
            session.trace.tell(f"{action.name}: queue {queue.name} is passed over: {refusal.text()}")
            for task in (task for job in jobs or () for task in job.pending()):
                session.trace.note(task.key, action.name, refusal)
            continue
        while jobs:
            job = jobs.pop()
            session.trace.tell(f"{action.name}: queue {queue.name}: job {job.key}")
            _Service(session, action, job).serve(queue)


class _Service:
    """One job's turn."""

    def __init__(self, session: Session, action: GangAction, job: JobState):
        self._session, self._action, self._job = session, action, job
        self._arguments = session.conf.configurations[action.name]

    def serve(self, queue: Queue) -> None:
        """Evict and reserve; keep it if the job is pipelined then, for whatever reason."""
        statement = Statement(self._session)
        domains = self._fill(statement, queue)
        if not self._session.is_pipelined(self._job):
            self._session.trace.tell(f"  {self._job.key} is undone: its gang stays incomplete")
            statement.discard()
            return
        statement.commit()
        for key, domain in domains.items():
            self._job.sub_jobs[key].nominated = domain

    def _fill(self, statement: Statement, queue: Queue) -> dict[str, str]:
        session, job = self._session, self._job
        groups = left_to_place(session, job).ordered()
        tasks = [task for group in (groups[:1] if session.is_ready(job) else groups) for task in group]
        if not tasks:
            return {}
        need = total(tasks)
        if refusal := self._action.refused(session, queue, need):
            for task in tasks:
                session.trace.note(task.key, self._action.name, refusal)
            return {}
        planner = Planner(session, job, self._action.name)
        for domain in self._domains():
            for victims in self._attempts(domain, need):
                plan = planner.plan(domain, victims)
                if plan is not None and statement.replay(plan.operations):
                    session.trace.tell(f"  {len(victims)} pods in {domain} go for {job.key}")
                    return plan.domains
        for task in tasks:
            session.trace.note(task.key, self._action.name, "in no domain do victims make enough room")
        return {}

    def _domains(self) -> list[str]:
        """Where the job may go, the widest domain first; only a job that is not bound falls back to the cluster."""
        session, job = self._session, self._job
        rows = session.job_gradient(job, TOP, "evict")
        names = list(dict.fromkeys(name for row in rows for name in row))[: self._arguments.integer("maxDomains")]
        return names or ([] if job.binding_topology else [TOP])

    def _attempts(self, domain: str, need: Amounts) -> Iterable[list[TaskState]]:
        """Growing sets of victims, from the first that is enough on paper; never none."""
        nodes = self._session.nodes_in(domain)
        available: Amounts = {}
        for node in nodes:
            give(available, node.idle)
            give(available, node.releasing)
        victims: list[TaskState] = []
        for bundle in self._bundles(nodes, need):
            victims += bundle.tasks
            for task in bundle.tasks:
                give(available, task.request)
            if fits(need, available):
                yield list(victims)

    def _bundles(self, nodes: Sequence[NodeAccount], need: Amounts) -> list[Bundle]:
        session, job = self._session, self._job
        by_job: dict[str, list[TaskState]] = {}
        for task in (task for node in nodes for task in node.tasks.values()):
            other = session.jobs.get(task.job)
            if other is None or not task.preemptable or not _willing(other):
                continue
            if self._action.may_go(session, job, task, other):
                by_job.setdefault(task.job, []).append(task)
        bundles = [bundle for key, tasks in by_job.items() for bundle in bundles_of(session.jobs[key], tasks)]
        ordered = self._action.order(session, job, need, bundles)
        candidates = [task for bundle in ordered for task in bundle.tasks]
        allowed = session.evictable(GangEviction(self._action.name, job), candidates) if candidates else []
        left = self._action.order(session, job, need, surviving(ordered, allowed))
        return [one for one in left if not one.whole or self._arguments.boolean("allowWholeBundle")]


def _willing(job: JobState) -> bool:
    """A job that says nothing lets its tasks go."""
    metadata = job.job.group.metadata
    stated = PREEMPTABLE in metadata.annotations or PREEMPTABLE in metadata.labels
    return job.job.preemptable or not stated
