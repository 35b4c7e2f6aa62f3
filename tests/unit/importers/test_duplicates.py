"""Objects given twice: in a cluster the newer one counts, and it is stated; in a case names are unique."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.importers.kubernetes import ReadReport
from cpsched.importers.load import load
from tests.dumps import node, with_kind

TWICE, REPLACED = "objects given twice", "objects whose names others have"


def state(cpu: int, **metadata: Any) -> dict[str, Any]:
    """A node of so many CPUs; metadata that is None is left out."""
    made = with_kind("Node", node("n"))
    kept = {**made["metadata"], **metadata}
    made["metadata"] = {key: value for key, value in kept.items() if value is not None}
    return {**made, "status": {"allocatable": {"cpu": str(cpu)}}}


MANIFEST = {"uid": None, "resourceVersion": None}
OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"


@pytest.mark.parametrize(
    ("first", "second", "cpu", "what"),
    [
        (state(4), state(4), 4, TWICE),
        (state(4), state(8), 8, TWICE),
        (state(4, resourceVersion="10"), state(8, resourceVersion="9"), 4, TWICE),
        (state(4, resourceVersion="9"), state(8, resourceVersion="10"), 8, TWICE),
        (state(4, **MANIFEST), state(4, **MANIFEST), 4, TWICE),
        (state(4, **MANIFEST), state(8, **MANIFEST), 8, REPLACED),
        (state(4), state(8, **MANIFEST), 4, TWICE),
        (state(4, **MANIFEST), state(8), 8, TWICE),
        (state(4, uid="a", creationTimestamp=NEW), state(8, uid="b", creationTimestamp=OLD), 4, REPLACED),
        (state(4, uid="a", creationTimestamp=OLD), state(8, uid="b", creationTimestamp=NEW), 8, REPLACED),
        (state(4, uid="a", resourceVersion="10"), state(8, uid="b", resourceVersion="9"), 4, REPLACED),
        (state(4, resourceVersion="x"), state(8, resourceVersion="y"), 8, TWICE),
    ],
)
def test_the_newer_of_two_counts(first: dict[str, Any], second: dict[str, Any], cpu: int, what: str) -> None:
    report = ReadReport()
    instance = load([first, with_kind("Node", node("other")), second], report=report)
    assert list(instance.nodes) == ["n", "other"]
    assert instance.nodes["n"].node.status.allocatable == {"cpu": str(cpu)}
    [(output, _, count, places)] = report.aside.rows("input")
    assert (output, count, places) == (what, 1, "Node n")
    assert len(instance.warnings) == 1
    with pytest.raises(InputError, match="Node n: given twice; names are unique"):
        load([first, second], strict=True)


def test_three_of_a_kind_are_two_too_many() -> None:
    instance = load([state(4), state(4, resourceVersion="99"), state(8)])
    assert instance.nodes["n"].node.status.allocatable == {"cpu": "4"}
    assert instance.warnings == ("input: set aside: 2 objects given twice (Node n; Node n)",)


def test_pods_whose_uid_was_made_up_are_compared_by_what_was_given() -> None:
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {}}
    report = ReadReport()
    load([pod, {**pod, "metadata": {"name": "p", "uid": "u", "resourceVersion": "3"}}], report=report)
    assert [row[0] for row in report.aside.rows("input")] == [TWICE]
