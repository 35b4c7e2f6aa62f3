"""No-goods exclude what the filters saw and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.optimum.model.constraints import CONSTRAINTS
from cpsched.optimum.model.decode import encode
from cpsched.optimum.model.interactions import Interactions
from cpsched.optimum.model.nogoods import exclude_refused
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.model.variables import Expr, value_in
from cpsched.snapshot import Snapshot
from tests.judge import broken, cluster, decide, snapshot_of
from tests.oracle.points import admits
from tests.unit.optimum.model.constraints.pod_filters.build_session import Raw, node, present, waiting

EVEN = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "a"}},
        }
    ]
}
BINDS = {"w/t-0": "x1", "w/t-1": "x1"}
STRANGER = {"s/t-0": "y1"}


@pytest.fixture
def session() -> Snapshot:
    """Two who spread over zones, a helper that counts, a stranger, and two who can be evicted."""
    running = [present(f"r{i}", f"{zone}1", "c", priority=10, cpu=9) for i, zone in enumerate("yx")]
    jobs = [*running, waiting("w", 2, **EVEN), waiting("v"), waiting("s", 1, "b")]
    return snapshot_of(cluster(*jobs, nodes=[node("x1"), node("y1")]), model="kube")


def after(monkeypatch: pytest.MonkeyPatch, snapshot: Snapshot, **refused: Any) -> SessionModel:
    """A Program without rows for filters that has learned from one refused decision."""
    monkeypatch.setitem(CONSTRAINTS, "filters", lambda *_: None)
    program, decision = SessionModel(snapshot), decide(snapshot, refused)
    assert broken(decision) == {"filters"}
    assert admits(program, decision)
    values = {variable.index: count for variable, count in encode(program.variables, decision).items()}
    known = [values.get(index, 0) for index in range(len(program.cp.proto.variables))]

    def value(expr: Expr) -> int:
        return value_in(expr, known)

    exclude_refused(program, decision, value)
    return program


@pytest.mark.parametrize(
    ("changed", "fine"),
    [
        ({}, False),
        ({"reserves": BINDS, "binds": {}}, False),
        ({"binds": BINDS | STRANGER}, False),
        ({"binds": {"w/t-0": "x1"}, "reserves": {"w/t-1": "x1"} | STRANGER, "evicted": ["r0/t-0"]}, False),
        ({"binds": {"w/t-0": "x1"}}, True),
        ({"binds": {"w/t-0": "x1", "w/t-1": "y1"}}, True),
        ({"binds": BINDS | {"v/t-0": "y1"}}, True),
    ],
)
def test_the_end_is_the_same_whether_one_starts_or_waits(
    monkeypatch: pytest.MonkeyPatch, session: Snapshot, changed: Raw, fine: bool
) -> None:
    program = after(monkeypatch, session, binds=BINDS)
    decision = decide(session, {"binds": BINDS} | changed)
    assert admits(program, decision) is fine
    assert fine is (not broken(decision))


HELPED = {"binds": BINDS, "reserves": {"v/t-0": "y1"}}


@pytest.mark.parametrize(
    ("changed", "fine"),
    [
        ({}, False),
        ({"evicted": ["r1/t-0"]}, False),
        ({"reserves": {"v/t-0": "y1"} | STRANGER}, False),
        ({"reserves": STRANGER}, False),
        ({"evicted": []}, True),
        ({"binds": BINDS | {"v/t-0": "y1"}, "reserves": STRANGER}, True),
    ],
)
def test_beside_victims_no_task_sees_who_waits_and_without_any_all_do(
    monkeypatch: pytest.MonkeyPatch, session: Snapshot, changed: Raw, fine: bool
) -> None:
    program = after(monkeypatch, session, **HELPED, evicted=["r0/t-0"])
    assert admits(program, decide(session, {**HELPED, "evicted": ["r0/t-0"], **changed})) is fine


def test_in_the_end_it_matters_who_makes_way(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [present("r", "x1", priority=10, cpu=18), waiting("w", cpu=2, **EVEN)]
    snapshot = snapshot_of(cluster(*jobs, nodes=[node("x1"), node("y1")]), model="kube")
    program = after(monkeypatch, snapshot, reserves={"w/t-0": "x1"})
    assert not admits(program, decide(snapshot, {"reserves": {"w/t-0": "x1"}}))
    assert admits(program, decide(snapshot, {"reserves": {"w/t-0": "x1"}, "evicted": ["r/t-0"]}))


def test_tasks_that_devices_serve_as_extended_resources_depend_on_each_other() -> None:
    gpu = {"requests": {"cpu": 1, "example.com/gpu": 1}}
    jobs = [waiting("v") | {"tasks": [gpu]}, waiting("w", priority=50) | {"tasks": [gpu]}, waiting("s", priority=10)]
    served: Raw = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"extendedResourceName": "example.com/gpu"},
    }
    for objects, company in (([served], 2), ([], 1)):
        snapshot = snapshot_of(cluster(*jobs, nodes=[node("x1")], objects=objects), model="kube")
        program = SessionModel(snapshot)
        first = next(one for one in program.variables.classes.tasks if "example.com/gpu" in one.representative.requests)
        assert len(Interactions(snapshot, program.variables.classes).component_of(first.representative)[0]) == company
