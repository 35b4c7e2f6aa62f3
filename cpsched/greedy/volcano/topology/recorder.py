"""Which HyperNodes allocate chose, to be noted once a job starts; mirrors `actions/allocate/recorder.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.jobs import JobState
from cpsched.topology.tree import Tree


class Recorder:
    """Choices per job, and per sub-job for every HyperNode that was tried for the job."""

    def __init__(self, tree: Tree):
        self._tree = tree
        self._job: dict[str, str] = {}
        self._sub_jobs: dict[tuple[str, str], dict[str, str]] = {}

    def choose(self, job: JobState, domain: str) -> None:
        """The HyperNode for a job."""
        self._job[job.key] = domain

    def choose_part(self, job: JobState, domain: str, sub_job: str, part: str) -> None:
        """The HyperNode for a sub-job, had its job this domain."""
        self._sub_jobs.setdefault((job.key, domain), {})[sub_job] = part

    def commit(self, job: JobState) -> None:
        """Widen what job and sub-jobs hold by the choices; nominations are redeemed."""
        domain = self._job.get(job.key)
        if domain is None:
            return
        job.allocated_in = self._tree.common(job.allocated_in, domain)
        for key, part in self._sub_jobs.get((job.key, domain), {}).items():
            sub_job = job.sub_jobs[key]
            sub_job.allocated_in = self._tree.common(sub_job.allocated_in, part)
            sub_job.nominated = ""
