"""Kubernetes' Job: `parallelism` pods at a time until `completions` are done; mirrors `pkg/controller/job`."""

from __future__ import annotations

from pydantic import Field

from cpsched.objects.base import INT32_MAX, Condition, Items, Object, Shape
from cpsched.objects.pod import Pod
from cpsched.workloads.admission import admitted, unknown_class
from cpsched.workloads.groups import grouped
from cpsched.workloads.plan import Names, Owner, Plan, Pods, Surroundings, Template, pod

INDEXED = "Indexed"
_INDEX = "batch.kubernetes.io/job-completion-index"


class JobSpec(Shape):
    """How many pods, and of what."""

    template: Template = Template()
    parallelism: int | None = Field(None, ge=0, le=INT32_MAX)
    completions: int | None = Field(None, ge=0, le=INT32_MAX)
    completion_mode: str = ""
    suspend: bool = False


class JobStatus(Shape):
    """What its controller counts."""

    active: int = 0
    succeeded: int = 0
    failed: int = 0
    conditions: Items[Condition] = ()


class BatchJob(Object):
    """A batch Job."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def counted(self) -> int:
        """How many of its pods are there, by its status."""
        return self.status.active

    @property
    def ended(self) -> bool:
        """Whether it makes no more pods."""
        return any(one.type in ("Complete", "Failed") and one.status == "True" for one in self.status.conditions)


def size(spec: JobSpec, succeeded: int = 0) -> int:
    """How many pods run at a time: no more than are still needed."""
    if spec.suspend:
        return 0
    at_a_time = 1 if spec.parallelism is None else spec.parallelism
    wanted = 1 if spec.completions is None and spec.parallelism is None else spec.completions
    return at_a_time if wanted is None else min(at_a_time, max(0, wanted - succeeded))


def plan(job: BatchJob, around: Surroundings) -> Plan:
    """The pods it starts with."""
    spec, owner = job.spec, Owner.of("Job", job.metadata)
    if spec.suspend:
        return Plan(notes=("it is suspended: it makes no pods",))
    count = size(spec, job.status.succeeded)
    template, groups = grouped(owner, admitted(_labelled(job, owner), around), around)
    namespace = job.metadata.namespace
    indexed = spec.completion_mode == INDEXED
    names = Names(around, namespace, owner.name)

    def make(number: int) -> Pod:
        if not indexed:
            return pod(owner, template, names[number], around=around)
        index = {_INDEX: str(number)}
        name = Names(around, namespace, f"{owner.name}-{number}")[0]
        return pod(owner, template, name, around=around, labels=index, annotations=index)

    notes = [note for note in [unknown_class(spec.template.spec.priority_class_name, around)] if note]
    return Plan((Pods(count, template, make),), groups if count else (), tuple(notes))


def _labelled(job: BatchJob, owner: Owner) -> Template:
    """The template with the labels that the API server gives it."""
    labels = {"job-name": owner.name, "controller-uid": owner.uid}
    labels |= {f"batch.kubernetes.io/{key}": value for key, value in labels.items()}
    meta = job.spec.template.metadata
    return job.spec.template.model_copy(update={"metadata": meta.model_copy(update={"labels": meta.labels | labels})})
