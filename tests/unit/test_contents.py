"""The line of what was read, and when there is nothing to decide."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.contents import contents, nothing_to_decide
from cpsched.engines import run
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.options import Options
from cpsched.snapshot import Snapshot
from tests.dumps import node, pod, with_kind

NODE = with_kind("Node", node("n1"))
GROUP = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {}}


def of(name: str, phase: str, host: str = "n1", **metadata: str) -> dict[str, Any]:
    """A pod in some phase."""
    made = with_kind("Pod", {**pod(name, host), "status": {"phase": phase}})
    return {**made, "metadata": {**made["metadata"], **metadata}}


def test_every_state_is_counted() -> None:
    pods = [of(f"r{number}", "Running") for number in range(1100)]
    pods += [of("b", "Pending"), of("p", "Pending", ""), of("e", "Running", deletionTimestamp="2026-01-01T00:00:00Z")]
    pods += [of("s", "Succeeded"), of("f", "Failed"), of("u", "Unknown")]
    instance = load([NODE, *pods])
    states = "1,100 pods running, 1 bound, 1 pending, 1 ending, 1 in phase Unknown, 2 finished"
    assert contents(instance) == f"1 node, {states}"
    assert contents(instance, load_policy("kube")) == f"1 node, {states}; scheduler kube"


def test_queues_are_counted_that_are_given() -> None:
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}}
    assert contents(load([NODE, queue]), load_policy("volcano")) == "1 node, no pods; 1 queue; scheduler volcano"


def test_an_empty_cluster() -> None:
    assert contents(load([NODE, with_kind("Node", node("n2"))])) == "2 nodes, no pods"
    assert contents(load([of("p", "Pending", "")])) == "no nodes, 1 pod pending"


DECIDED: dict[str, tuple[list[Any], str]] = {
    "an idle cluster": ([NODE, of("r", "Running")], "no pod is pending"),
    "nodes only": ([NODE], "no pod is pending"),
    "pods only": ([of("p", "Pending", "")], "the input has no nodes, 1 pod pending"),
    "a pod of another scheduler": (
        [NODE, with_kind("Queue", {**GROUP, "kind": "Queue", "metadata": {"name": "q"}}), of("p", "Pending", "")],
        "1 pod pending, none of a job that scheduler volcano looks at",
    ),
    "a pod that fits": ([NODE, of("p", "Pending", "")], ""),
    "a pod that fits nowhere": ([with_kind("Node", {**node("n"), "status": {}}), of("p", "Pending", "")], ""),
    "a group that could enter": ([NODE, GROUP], ""),
}


@pytest.mark.parametrize("engine", ["optimal", "volcano"])
@pytest.mark.parametrize(("objects", "reason"), DECIDED.values(), ids=DECIDED.keys())
def test_nothing_to_decide(objects: list[Any], reason: str, engine: str) -> None:
    instance = load(objects)
    policy = load_policy("volcano", instance=instance)
    solution = run(engine, instance, policy, Options())
    assert nothing_to_decide(Snapshot(instance, policy), solution) == reason


def test_a_decision_that_breaks_a_rule_is_never_nothing() -> None:
    instance = load([NODE])
    policy = load_policy("volcano", instance=instance)
    solution = run("volcano", instance, policy, Options())
    wrong = solution.model_copy(update={"binds": {"default/x": "n1"}})
    assert nothing_to_decide(Snapshot(instance, policy), wrong) == ""
