"""Small sessions for the rows of filters: what the rows say of a decision, and that the checker says the same."""

from __future__ import annotations

from typing import Any

from cpsched.optimum.model.session_model import SessionModel
from tests.judge import broken, cluster, decide, snapshot_of
from tests.oracle.points import admits

Raw = dict[str, Any]
ZONES = {"x1": "x", "x2": "x", "y1": "y", "z1": "z"}


def node(name: str, zone: str | None = None, **fields: Any) -> Raw:
    """A node with plenty of room; its zone is the first letter of its name."""
    labels = {"host": name} | ({"zone": zone or name[0]} if zone != "" else {})
    return {"name": name, "labels": labels, "allocatable": {"cpu": fields.pop("cpu", 20), "pods": 50}, **fields}


def waiting(name: str, replicas: int = 1, app: str = "a", priority: int = 100, **wishes: Any) -> Raw:
    """A job of tasks that can start one by one: name/t-0, name/t-1, ..."""
    labels = {"app": app} | wishes.pop("labels", {})
    task = {"role": "t", "replicas": replicas, "requests": {"cpu": wishes.pop("cpu", 1)}, "labels": labels, **wishes}
    return {"name": name, "minMember": 1, "priorityClassName": f"p{priority}", "tasks": [task]}


def present(name: str, node: str, app: str = "a", priority: int = 1000, **wishes: Any) -> Raw:
    """A job of one task that runs; of priority 10 it may be evicted."""
    job = waiting(name, 1, app, priority, **wishes)
    job["tasks"][0]["running"] = node
    return job | {"minMember": 0}


def allowed(nodes: list[Raw], jobs: list[Raw], model: str = "kube", conf: Raw | None = None, **stated: Any) -> bool:
    """Whether the rows admit the decision; they must agree with the rule `filters`."""
    source = cluster(*jobs, nodes=nodes, objects=stated.pop("objects", []))
    snapshot = snapshot_of(source, model=model, conf=conf)
    decision = decide(snapshot, stated)
    rules = broken(decision)
    assert rules <= {"filters"}, rules
    found = admits(SessionModel(snapshot), decision)
    assert found == (not rules)
    return found
