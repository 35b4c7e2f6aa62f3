"""Find the domain for a job and its parts by trying them out, nearest first; mirrors `allocateForJob` of allocate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from cpsched.greedy.volcano.finder import Test
from cpsched.greedy.volcano.hooks import Refusal
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.placing import place_tasks
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Operation, Statement, saved
from cpsched.greedy.volcano.task_queue import TaskQueue
from cpsched.greedy.volcano.topology.needless import Needless, Tries
from cpsched.greedy.volcano.topology.nomination import from_nomination
from cpsched.greedy.volcano.topology.recorder import Recorder
from cpsched.greedy.volcano.topology.sub_jobs import SubJob
from cpsched.greedy.volcano.topology.worksheet import Worksheet
from cpsched.topology.tree import TOP

T = TypeVar("T")


@dataclass(frozen=True)
class _Found:
    """What a try in a domain came to, undone and ready to be done again."""

    operations: list[Operation]
    left: Worksheet
    score: float


class DomainAllocation:
    """Tries for one job."""

    def __init__(self, session: Session, job: JobState, recorder: Recorder, test: Test, needless: Needless):
        self._session, self._job, self._recorder, self._test = session, job, recorder, test
        self._needless, self._is_last = needless, True

    def job(self, sheet: Worksheet) -> Statement | None:
        """The operations in the best domain of the first row that has any; `sheet` keeps what is left."""
        session, job = self._session, self._job
        if not sheet.sub_jobs:
            return None
        rows = session.job_gradient(job, TOP, "allocate")
        if rows and self._all_refused(sheet):
            job.fit_errors = {}
            return None
        for row in rows:

            def attempt(domain: str, last: str = row[-1]) -> _Found | None:
                self._is_last = domain == last
                return self._try_job(sheet, domain)

            candidates, known = _try_all(self._needless.for_job(row, job, sheet), attempt)
            if not candidates:
                continue
            domain = self._best(known or {name: found.score for name, found in candidates.items()})
            statement = Statement(session)
            if not statement.replay(candidates[domain].operations):
                return None
            sheet.become(candidates[domain].left)
            self._recorder.choose(job, domain)
            session.trace.tell(f"  {job.key} goes to {domain}")
            return statement
        return None

    def _all_refused(self, sheet: Worksheet) -> bool:
        """Whether the queue may take none of the tasks, so that every domain comes to nothing."""
        session, queue = self._session, self._session.queues[self._job.queue]
        refused: dict[tuple[tuple[str, float], ...], Refusal] = {}
        for task in (task for tasks in sheet.tasks.values() for task in tasks):
            if task.ordered_request not in refused:
                refusal = session.not_allocatable(queue, task)
                if refusal is None:
                    return False
                refused[task.ordered_request] = refusal
            session.trace.note(task.key, "allocate", refused[task.ordered_request])
        return not any(sub_job.nominated for sub_job in self._job.sub_jobs.values())

    def _try_job(self, sheet: Worksheet, domain: str) -> _Found | None:
        session, job = self._session, self._job
        job.fit_errors = {}
        before = {key: job.sub_jobs[key].allocated_in for key in sheet.tasks}
        left, statements, score = sheet.clone(), list[Statement](), 0.0
        while left.sub_jobs:
            sub_job = left.sub_jobs.pop()
            statement, rated = self._sub_job(sub_job, left, domain)
            if statement is None or not statement.operations:
                continue
            statements.append(statement)
            score += rated
            if left.tasks[sub_job.key]:
                left.sub_jobs.push(sub_job)
            if session.is_ready(job):
                break
        for key, name in before.items():
            job.sub_jobs[key].allocated_in = name
        found = None
        if statements and (session.is_ready(job) or session.is_pipelined(job)):
            found = _Found(saved(statements), left, score)
        for statement in statements:
            statement.discard()
        return found

    def _sub_job(self, sub_job: SubJob, sheet: Worksheet, root: str) -> tuple[Statement | None, float]:
        """The operations in the best domain within `root`, and its score."""
        session, job, tasks = self._session, self._job, sheet.tasks[sub_job.key]
        if not tasks:
            return None, 0.0
        if sub_job.nominated:
            statement = from_nomination(session, job, sub_job, tasks, root, self._recorder, self._test)
            if statement is not None:
                return statement, 0.0
        for row in session.sub_job_gradient(sub_job, root, "allocate"):

            def attempt(domain: str, last: str = row[-1]) -> tuple[list[Operation], TaskQueue] | None:
                job.forget_fit_errors(sub_job)
                left = tasks.clone()
                # Of all tries only the last leaves texts.
                detailed = session.trace.wanted or (self._is_last and domain == last)
                placed = place_tasks(session, job, sub_job, left, domain, self._test, detailed=detailed)
                if placed is None or not placed.operations:
                    return None
                found = saved([placed]), left
                placed.discard()
                return found

            candidates, scores = _try_all(self._needless.for_sub_job(row, job, sub_job, tasks), attempt)
            if candidates:
                return self._take(sub_job, sheet, root, candidates, scores)
        return None, 0.0

    def _take(
        self,
        sub_job: SubJob,
        sheet: Worksheet,
        root: str,
        candidates: Mapping[str, tuple[list[Operation], TaskQueue]],
        known: Mapping[str, float] | None,
    ) -> tuple[Statement | None, float]:
        session = self._session
        scores = known or session.hyper_node_scores(sub_job, list(candidates))
        domain = self._best(scores)
        operations, left = candidates[domain]
        statement = Statement(session)
        if not statement.replay(operations):
            return None, 0.0
        sub_job.allocated_in = session.tree.common(sub_job.allocated_in, domain)
        sheet.tasks[sub_job.key] = left
        self._recorder.choose_part(self._job, root, sub_job.key, sub_job.allocated_in)
        return statement, scores[domain]

    def _best(self, scores: Mapping[str, float]) -> str:
        """A domain of the highest score; which of several is random upstream."""
        top = max(scores.values())
        equal = [name for name, score in scores.items() if score == top]
        return equal[self._session.choices.pick(len(equal))]


def _try_all(tries: Tries, attempt: Callable[[str], T | None]) -> tuple[dict[str, T], Mapping[str, float] | None]:
    """What the tries come to, with the scores of all domains where the best alone was tried."""
    found = {domain: one for domain in tries.domains if (one := attempt(domain)) is not None}
    if tries.scores is None or tries.domains[0] in found:
        return found, tries.scores
    # Something else than room is in the way, such as the queue's limit.
    return {domain: one for domain in tries.otherwise if (one := attempt(domain)) is not None}, None
