"""numa-aware and rescheduling: rules that no recorded row notices."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.greedy.volcano import replay
from cpsched.hardware.cpus import NodeCpus
from cpsched.importers.load import load
from cpsched.objects.numa import Numatopology
from cpsched.policy import load_model, policy_for
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, opened, pod, queue

POLICY = "volcano.sh/numa-topology-policy"


def topology(places: list[tuple[int, int, int]], free: str, policy: str = "single-numa-node") -> Object:
    detail = {str(n): {"numa": numa, "socket": socket, "core": core} for n, (numa, socket, core) in enumerate(places)}
    return {
        "kind": "Numatopology",
        "apiVersion": "nodeinfo.volcano.sh/v1alpha1",
        "metadata": {"name": "n0"},
        "spec": {
            "policies": {"CPUManagerPolicy": "static", "TopologyManagerPolicy": policy},
            "numares": {"cpu": {"allocatable": free, "capacity": len(places)}},
            "cpuDetail": detail,
        },
    }


def guaranteed(name: str, cpu: str) -> Object:
    amounts = {"cpu": cpu, "memory": "1Gi"}
    containers = [{"name": "main", "resources": {"requests": amounts, "limits": amounts}}]
    metadata = {"annotations": {POLICY: "single-numa-node"}}
    return pod(name, "a", metadata=metadata, containers=containers)


def test_no_eviction_fixes_a_numa_refusal() -> None:
    two = topology([(0, 0, 0), (0, 0, 1), (1, 1, 2), (1, 1, 3)], "0,2")
    objects = [node("n0"), two, queue(), group("a"), guaranteed("a-0", "2")]
    session = opened(objects, conf("allocate", ("gang", "numa-aware")))
    found = session.predicate(session.tasks["ns/a-0"], session.nodes["n0"])
    assert found is not None
    assert found.unresolvable
    assert list(found.reasons) == ["container main cannot be assigned by numa"]


@pytest.mark.parametrize(("free", "taken"), [("1,2,3", {1, 3}), ("0,1,3", {0, 1}), ("2,3", {2, 3})])
def test_a_core_is_whole_if_a_cpu_of_its_number_is_free(free: str, taken: set[int]) -> None:
    """CPUs 0 and 2 are core 0, 1 and 3 core 1: where CPU 0 is free core 0 is taken first, though half of it is gone."""
    cpus = NodeCpus(Numatopology.model_validate(topology([(0, 0, 0), (0, 0, 1)] * 2, free, "best-effort")))
    assert cpus.assign([("main", 2)]) == (frozenset(taken), None)


def test_more_numa_nodes_than_a_kubelet_aligns_are_an_error() -> None:
    many = Numatopology.model_validate(topology([(number, 0, number) for number in range(20)], "0-19"))
    with pytest.raises(InputError, match="a node with 20 NUMA nodes"):
        NodeCpus(many)


def shuffled(load_of: dict[str, Any], *objects: Object, **arguments: Any) -> set[str]:
    params = {"thresholds": {"cpu": 20, "memory": 20}, "targetThresholds": {"cpu": 50, "memory": 50}}
    strategies = [{"name": "lowNodeUtilization", "params": params}]
    plugin = {"name": "rescheduling", "arguments": {"metricsPeriod": "10m", "strategies": strategies, **arguments}}
    usage = {name: {"cpu": cpu, "memory": 0} for name, cpu in load_of.items()}
    instance = load([queue(), group("a"), *objects], lenient=True, node_usage=usage)
    policy = policy_for(load_model("volcano"), conf("shuffle", ("gang", plugin)))
    return set(replay(instance, policy).solution.evicted)


def sized(name: str, **spec: Any) -> Object:
    made = node(name, **spec)
    made["status"]["capacity"] = made["status"]["allocatable"]
    return made


def test_a_cordoned_node_is_no_place_to_move_to() -> None:
    running = pod("a-0", "a", on="n0")
    assert shuffled({"n0": 90, "n1": 5}, sized("n0"), sized("n1"), running) == {"ns/a-0"}
    assert shuffled({"n0": 90, "n1": 5}, sized("n0"), sized("n1", unschedulable=True), running) == set()


def test_a_load_that_equals_the_target_does_not_stop_it() -> None:
    """75 percent less one core of four is 50, which is the target; the second pod still goes."""
    pods = [pod("a-0", "a", on="n0"), pod("a-1", "a", on="n0"), pod("a-2", "a", on="n0")]
    assert len(shuffled({"n0": 75, "n1": 5}, sized("n0"), sized("n1", cpu="40"), *pods)) == 2


def test_pods_without_promises_go_before_guaranteed_ones() -> None:
    amounts = {"cpu": "1", "memory": "1Gi"}
    containers = [{"name": "main", "resources": {"requests": amounts, "limits": amounts}}]
    pods = [pod("a-0", "a", on="n0", containers=containers), pod("a-1", "a", on="n0")]
    assert shuffled({"n0": 60, "n1": 5}, sized("n0"), sized("n1", cpu="40"), *pods) == {"ns/a-1"}


def test_other_periods_than_ten_minutes_have_no_loads() -> None:
    running = pod("a-0", "a", on="n0")
    assert shuffled({"n0": 90, "n1": 5}, sized("n0"), sized("n1"), running, metricsPeriod="5m") == set()


def test_an_interval_that_is_no_text_ends_the_scheduler() -> None:
    with pytest.raises(InputError, match="stops the scheduler"):
        shuffled({}, interval=5)
