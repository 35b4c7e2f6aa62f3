"""A few bytes that ask for more pods than an instance may have: refused before anything is made."""

from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.importers.sizes import MOST_MADE
from tests.unit.workloads.given import owned, submitted, template, vcjob


@pytest.mark.parametrize(
    "workload",
    [
        vcjob(tasks=[{"name": "w", "replicas": 2**31 - 1, "template": template()}]),
        owned("Deployment", "d", spec={"replicas": 2**31 - 1, "template": template()}),
        owned("StatefulSet", "s", spec={"replicas": 2**31 - 1, "template": template()}),
        owned("Job", "j", version="batch/v1", spec={"parallelism": 2**31 - 1, "template": template()}),
        owned(
            "JobSet",
            "js",
            version="jobset.x-k8s.io/v1alpha2",
            spec={
                "replicatedJobs": [{"name": "w", "replicas": 2**31 - 1, "template": {"spec": {"template": template()}}}]
            },
        ),
    ],
    ids=lambda one: f"{one['apiVersion']} {one['kind']}",
)
def test_too_many(workload):
    """Refused before anything is made."""
    with pytest.raises(InputError, match=f"at most {MOST_MADE}"):
        submitted(workload)


def test_one_limit_for_all():
    """Each alone would do."""
    half = [owned("ReplicaSet", name, spec={"replicas": 150_000, "template": template()}) for name in "ab"]
    with pytest.raises(InputError, match="replicas make 300000"):
        submitted(*half)
