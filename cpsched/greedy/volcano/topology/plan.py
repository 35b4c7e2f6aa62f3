"""Evict and reserve in one domain, to see whether the job becomes complete; mirrors `BuildNominationPlanInDomain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.search import Search, choose, for_gang
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Operation, Statement, saved, unplace
from cpsched.greedy.volcano.task_queue import TaskQueue
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.sub_jobs import SubJob
from cpsched.greedy.volcano.topology.worksheet import Worksheet, worksheet
from cpsched.solution import EvictionAction


@dataclass(frozen=True)
class TriedOperations:
    """Operations that were tried and undone, and the HyperNode of every sub-job placed by them."""

    operations: list[Operation]
    domains: dict[str, str]


def left_to_place(session: Session, job: JobState) -> Worksheet:
    """The tasks a gang action places; unlike in allocate no gate of any kind is passed over."""
    return worksheet(session, job, lambda task: not task.gated and not task.best_effort)


class Planner:
    """Plans for one job of one queue."""

    def __init__(self, session: Session, job: JobState, action: EvictionAction):
        self._session, self._job, self._action = session, job, action
        self._cached = session.conf.configurations["allocate"].boolean("predicateErrorCacheEnable")
        self._test = for_gang(session)

    def plan(self, domain: str, victims: Sequence[TaskState]) -> TriedOperations | None:
        """What completes the job in the domain once the victims are gone, None if nothing does; all is undone again."""
        sheet = left_to_place(self._session, self._job)
        if not self._session.nodes_in(domain) or not sheet.sub_jobs:
            return None
        chain: list[Statement] = []
        if victims:
            chain.append(Statement(self._session))
            for victim in victims:
                chain[0].evict(victim, self._action, self._job.key)
        domains = self._place_all(sheet, domain, chain, evicted=bool(victims))
        found = None if domains is None else TriedOperations(saved(chain), domains)
        for statement in reversed(chain):
            statement.discard()
        return found

    def _place_all(
        self, sheet: Worksheet, domain: str, chain: list[Statement], *, evicted: bool
    ) -> dict[str, str] | None:
        """Sub-job after sub-job until the job is pipelined; one only if it was ready before."""
        session, job = self._session, self._job
        was_ready, domains = session.is_ready(job), dict[str, str]()
        while sheet.sub_jobs:
            sub_job = sheet.sub_jobs.pop()
            rows = session.sub_job_gradient(sub_job, domain, "evict") if job.binding_topology else [[domain]]
            for name in (name for row in rows for name in row):
                trial = self._trial(sub_job, sheet.tasks[sub_job.key].clone(), name, evicted=evicted)
                if trial is not None:
                    break
            else:
                return None
            chain.append(trial)
            domains[sub_job.key] = name
            pipelined = session.is_pipelined(job)
            if was_ready or pipelined:
                return domains if pipelined else None
        return None

    def _trial(self, sub_job: SubJob, tasks: TaskQueue, domain: str, *, evicted: bool) -> Statement | None:
        """All the tasks reserved on nodes of the domain, or none."""
        session, job = self._session, self._job
        nodes = session.nodes_in(domain)
        statement, search = Statement(session), Search(session, cached=self._cached)
        while tasks and nodes:
            task = tasks.pop()
            if not self._reserve(statement, search, task, nodes, evicted=evicted):
                statement.discard()
                return None
        ready = session.is_sub_job_ready(job, sub_job) or session.is_sub_job_pipelined(job, sub_job)
        if not statement.operations or not ready:
            statement.discard()
            return None
        return statement

    def _reserve(
        self, statement: Statement, search: Search, task: TaskState, nodes: Sequence[NodeAccount], *, evicted: bool
    ) -> bool:
        session = self._session
        if session.not_allocatable(session.queues[self._job.queue], task):
            return False
        errors = self._job.fit_errors.get(task.key)
        hopeless = errors.unresolvable_nodes() if errors is not None else set()
        if len(hopeless) < len(session.node_list):
            nodes = [node for node in nodes if node.name not in hopeless]
        if not nodes or session.pre_predicate(task) is not None:
            return False
        feasible, _ = search.feasible(task, nodes, self._test)
        node = choose(session, task, feasible) if feasible else None
        if node is None:
            return False
        if not statement.pipeline(task, node, after_eviction=evicted):
            # Upstream rolls back twice, and plugins hear of it twice.
            unplace(session, task)
            return False
        return True
