"""The kinds of workload, and what makes pods of each; WORKLOADS is the one registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cpsched.workloads import batch_job, daemon_set, job_set, replica_set, stateful_set, training, volcano_job
from cpsched.workloads.plan import Plan, Surroundings


@dataclass(frozen=True)
class Workload:
    """A kind of object whose controller creates pods."""

    shape: type[Any]
    """Read only where its pods are made; it says what its status counts and whether it has ended."""
    plan: Callable[[Any, Surroundings], Plan]
    child: str = ""
    """The kind that it creates in between, which owns the pods."""


WORKLOADS: dict[tuple[str, str], Workload] = {
    ("batch.volcano.sh", "Job"): Workload(volcano_job.VolcanoJob, volcano_job.plan),
    ("batch", "Job"): Workload(batch_job.BatchJob, batch_job.plan),
    ("apps", "Deployment"): Workload(replica_set.Deployment, replica_set.plan_deployment, "ReplicaSet"),
    ("apps", "ReplicaSet"): Workload(replica_set.ReplicaSet, replica_set.plan),
    ("", "ReplicationController"): Workload(replica_set.ReplicaSet, replica_set.plan_controller),
    ("apps", "StatefulSet"): Workload(stateful_set.StatefulSet, stateful_set.plan),
    ("apps", "DaemonSet"): Workload(daemon_set.DaemonSet, daemon_set.plan),
    ("kubeflow.org", "PyTorchJob"): Workload(training.TrainingJob, training.plan_pytorch),
    ("kubeflow.org", "TFJob"): Workload(training.TrainingJob, training.plan_tf),
    ("kubeflow.org", "MPIJob"): Workload(training.TrainingJob, training.plan_mpi),
    ("kubeflow.org", "XGBoostJob"): Workload(training.TrainingJob, training.plan_xgboost),
    ("kubeflow.org", "PaddleJob"): Workload(training.TrainingJob, training.plan_paddle),
    ("jobset.x-k8s.io", "JobSet"): Workload(job_set.JobSet, job_set.plan, "Job"),
}
"""(API group, kind) → how it becomes pods; the version behind the group does not matter for the fields read here."""
