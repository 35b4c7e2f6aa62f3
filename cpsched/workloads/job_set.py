"""JobSet: replicated Jobs, each with its own pods; mirrors `pkg/controllers/jobset_controller.go` of its project."""

from __future__ import annotations

import hashlib

from pydantic import Field

from cpsched.importers.sizes import MOST_MADE
from cpsched.objects.base import INT32_MAX, Condition, Items, Metadata, Object, Shape
from cpsched.objects.pod import Pod
from cpsched.workloads import batch_job
from cpsched.workloads.batch_job import INDEXED, BatchJob, JobSpec, size
from cpsched.workloads.plan import Plan, Pods, Surroundings

_KEY = "jobset.sigs.k8s.io/"
JOB_SET_NAME = f"{_KEY}jobset-name"
_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"


class JobTemplate(Shape):
    """What each of its Jobs is."""

    metadata: Metadata = Metadata()
    spec: JobSpec = JobSpec()


class ReplicatedJob(Shape):
    """So many Jobs of one template."""

    name: str = ""
    group_name: str = ""
    replicas: int = Field(1, ge=0, le=INT32_MAX)
    template: JobTemplate = JobTemplate()
    depends_on: Items[Shape] = ()


class StartupPolicy(Shape):
    """Whether its Jobs start in order."""

    startup_policy_order: str = ""


class JobSetSpec(Shape):
    """Its Jobs."""

    replicated_jobs: Items[ReplicatedJob] = ()
    suspend: bool = False
    startup_policy: StartupPolicy = StartupPolicy()


class JobsCount(Shape):
    """Jobs of one template, by state."""

    ready: int = 0
    succeeded: int = 0
    failed: int = 0
    active: int = 0


class JobSetStatus(Shape):
    """What its controller counts."""

    conditions: Items[Condition] = ()
    replicated_jobs_status: Items[JobsCount] = ()


class JobSet(Object):
    """A jobset.x-k8s.io JobSet."""

    spec: JobSetSpec = JobSetSpec()
    status: JobSetStatus = JobSetStatus()

    @property
    def counted(self) -> int:
        """How many Jobs with pods its status says there are."""
        return sum(one.ready + one.succeeded + one.failed + one.active for one in self.status.replicated_jobs_status)

    @property
    def ended(self) -> bool:
        """Whether it makes no more Jobs."""
        return any(one.type in ("Completed", "Failed") and one.status == "True" for one in self.status.conditions)


def plan(job_set: JobSet, around: Surroundings) -> Plan:
    """The pods of all its Jobs at once."""
    if job_set.spec.suspend:
        return Plan(notes=("it is suspended: it makes no pods",))
    # A Job without pods is nothing: so many of them would only take time.
    replicated = [one for one in job_set.spec.replicated_jobs if one.replicas and size(one.template.spec)]
    total = sum(one.replicas * size(one.template.spec) for one in replicated)
    if total > MOST_MADE:
        # Refused before anything is made, by the limit of all instances.
        return Plan((Pods(total, replicated[0].template.spec.template, lambda _: Pod()),))
    plans = [_of_job(job_set, one, index, around) for one in replicated for index in range(one.replicas)]
    notes = dict.fromkeys(note for one in plans for note in one.notes)
    specs = job_set.spec.replicated_jobs
    if job_set.spec.startup_policy.startup_policy_order == "InOrder" or any(one.depends_on for one in specs):
        notes["its Jobs start one after the other, each once the one before it is ready; here all at once"] = None
    marked = [job_set.metadata, *(one.template.metadata for one in specs)]
    if any(_EXCLUSIVE in one.annotations for one in marked):
        notes["its exclusive placement is not built: its Jobs may share a topology domain here"] = None
    objects = tuple(item for one in plans for item in one.objects)
    return Plan(tuple(part for one in plans for part in one.pods), objects, tuple(notes))


def _of_job(job_set: JobSet, replicated: ReplicatedJob, index: int, around: Surroundings) -> Plan:
    meta, template = job_set.metadata, replicated.template
    name = f"{meta.name}-{replicated.name}-{index}"
    marks = _marks(job_set, replicated, index, name)
    of_job = template.metadata.model_copy(
        update={
            "name": name,
            "namespace": meta.namespace,
            "uid": f"{meta.uid}-{replicated.name}-{index}" if meta.uid else "",
            "creation_timestamp": meta.creation_timestamp,
            "labels": template.metadata.labels | marks,
            "annotations": template.metadata.annotations | marks,
        }
    )
    pods = template.spec.template
    of_pods = pods.metadata.model_copy(
        update={"labels": pods.metadata.labels | marks, "annotations": pods.metadata.annotations | marks}
    )
    spec = template.spec.model_copy(
        update={
            "template": pods.model_copy(update={"metadata": of_pods}),
            "completion_mode": template.spec.completion_mode or INDEXED,
        }
    )
    return batch_job.plan(BatchJob.model_validate({"metadata": of_job, "spec": spec}), around)


def _marks(job_set: JobSet, replicated: ReplicatedJob, index: int, name: str) -> dict[str, str]:
    specs = job_set.spec.replicated_jobs
    before = sum(one.replicas for one in specs[: specs.index(replicated)])
    together = [one for one in specs if one.group_name == replicated.group_name]
    in_group = sum(one.replicas for one in together[: together.index(replicated)])
    key = hashlib.sha1(f"{job_set.metadata.namespace}/{name}".encode(), usedforsecurity=False).hexdigest()
    return {
        JOB_SET_NAME: job_set.metadata.name,
        f"{_KEY}jobset-uid": job_set.metadata.uid or f"jobset-{job_set.metadata.name}",
        f"{_KEY}replicatedjob-name": replicated.name,
        f"{_KEY}restart-attempt": "0",
        f"{_KEY}replicatedjob-replicas": str(replicated.replicas),
        f"{_KEY}global-replicas": str(sum(one.replicas for one in specs)),
        f"{_KEY}job-index": str(index),
        f"{_KEY}job-key": key,
        f"{_KEY}job-global-index": str(before + index),
        f"{_KEY}group-name": replicated.group_name,
        f"{_KEY}group-replicas": str(sum(one.replicas for one in together)),
        f"{_KEY}job-group-index": str(in_group + index),
    }
