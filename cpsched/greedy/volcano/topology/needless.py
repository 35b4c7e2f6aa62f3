"""Which domains of a row allocate has to try: those left out would change nothing, or come to what is known.

Upstream tries every domain of a row and keeps the one with the highest score. The score does not depend on where in the
domain the tasks go, so of domains that are sure to have room only the best is tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.task_queue import TaskQueue
from cpsched.greedy.volcano.topology.alike import Alike
from cpsched.greedy.volcano.topology.room_count import Counted, RoomCount
from cpsched.greedy.volcano.topology.sub_jobs import SubJob
from cpsched.greedy.volcano.topology.worksheet import Worksheet


@dataclass(frozen=True)
class Tries:
    """The domains to try, in order; with scores, the first one has the highest and is sure to have room."""

    domains: Sequence[str]
    scores: Mapping[str, float] | None = None
    otherwise: Sequence[str] = ()
    """What to try if it has none after all."""


class Needless:
    """Leaves out domains of which it is known what a try would come to."""

    def __init__(self, session: Session):
        self._session, self._alike, self._room = session, Alike(session), RoomCount(session)

    def for_job(self, row: Sequence[str], job: JobState, sheet: Worksheet) -> Tries:
        """The domains to try for a job."""
        distinct = self._alike.distinct(row, (job.sub_jobs[key] for key in sheet.tasks))
        if job.has_policies or len(sheet.tasks) != 1:
            return Tries(distinct)
        ((key, tasks),) = sheet.tasks.items()
        counted = self._room.count(distinct, job, job.sub_jobs[key], tasks)
        if counted is None:
            return Tries(distinct)
        return self._with_best_alone(counted, self._scores_within(counted, job, job.sub_jobs[key], tasks))

    def for_sub_job(self, row: Sequence[str], job: JobState, sub_job: SubJob, tasks: TaskQueue) -> Tries:
        """The domains to try for a sub-job."""
        distinct = self._alike.distinct(row, (sub_job,))
        counted = self._room.count(distinct, job, sub_job, tasks)
        if counted is None:
            return Tries(distinct)
        clear = counted.is_clear and len(counted.sure) > 1
        return self._with_best_alone(counted, self._rated(sub_job, counted) if clear else None)

    def _with_best_alone(self, counted: Counted, scores: Mapping[str, float] | None) -> Tries:
        if not scores:
            return Tries(counted.worth_trying())
        best, last = max(scores, key=lambda name: scores[name]), counted.row[-1]
        # The texts of a last one without room stay.
        return Tries([best, last] if last in counted.hopeless else [best], scores, counted.worth_trying())

    def _rated(self, sub_job: SubJob, counted: Counted) -> Mapping[str, float]:
        return self._session.hyper_node_scores(sub_job, counted.sure)

    def _scores_within(
        self, counted: Counted, job: JobState, sub_job: SubJob, tasks: TaskQueue
    ) -> Mapping[str, float] | None:
        """For every domain of a job the score of the best domain within for its only sub-job; None if one is open."""
        if not counted.is_clear or len(counted.sure) < 2:
            return None
        scores = {}
        for root in counted.sure:
            score = self._score_within(root, job, sub_job, tasks)
            if score is None:
                return None
            scores[root] = score
        return scores

    def _score_within(self, root: str, job: JobState, sub_job: SubJob, tasks: TaskQueue) -> float | None:
        for row in self._session.sub_job_gradient(sub_job, root, "allocate"):
            counted = self._room.count(self._alike.distinct(row, (sub_job,)), job, sub_job, tasks)
            if counted is None or not counted.is_clear:
                return None
            if counted.sure:
                return max(self._rated(sub_job, counted).values())
        return None
