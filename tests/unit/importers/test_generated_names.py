"""Manifests for `kubectl create` say only how names begin: each object gets a name of its own."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.importers.load import load
from cpsched.what_if.changes import Changes

Raw = dict[str, Any]
NODE: Raw = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8", "pods": "20"}}}
SPEC: Raw = {"containers": [{"name": "c"}]}


def pod(**metadata: str) -> Raw:
    return {"kind": "Pod", "metadata": metadata, "spec": SPEC}


def job(**metadata: str) -> Raw:
    return {"kind": "Job", "apiVersion": "batch/v1", "metadata": metadata, "spec": {"template": {"spec": SPEC}}}


SAMPLE = pod(generateName="sample-")


def test_each_has_a_name_of_its_own() -> None:
    loaded = load([SAMPLE, pod(name="sample-1"), NODE, SAMPLE, pod(generateName="sample-", namespace="b")])
    assert sorted(loaded.tasks) == ["b/sample-0", "default/sample-0", "default/sample-1", "default/sample-2"]
    assert loaded.warnings == ()


def test_a_name_that_is_given_stays() -> None:
    """The API server keeps both in what it prints."""
    assert list(load([NODE, pod(name="sample-x7c2v", generateName="sample-")]).tasks) == ["default/sample-x7c2v"]


def test_workloads_have_one_too() -> None:
    assert sorted(load([NODE, job(generateName="j-"), job(generateName="j-")]).tasks) == [
        "default/j-0-0",
        "default/j-1-0",
    ]


def test_what_is_submitted_is_new() -> None:
    changes = Changes(submit=([SAMPLE, SAMPLE, job(generateName="sample-")], [SAMPLE]))
    loaded = load([NODE, pod(name="sample-0")], changes=changes)
    assert sorted(loaded.tasks) == [f"default/sample-{number}" for number in (0, "0-0", 1, 2, 3)]
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    "metadata", [{}, {"generateName": ""}, {"generateName": 7}, {"name": "", "generateName": None}]
)
def test_without_either_it_is_no_object(metadata: Raw) -> None:
    with pytest.raises(InputError, match=r"metadata\.name is missing"):
        load([NODE, {"kind": "Pod", "metadata": metadata, "spec": SPEC}], strict=True)
