"""Features of pods: a difference anywhere that matters gives another number."""

from __future__ import annotations

from typing import Any

import pytest

import cpsched
from cpsched.objects.pod import PodSpec
from cpsched.optimum.model.features import FeatureIds
from tests.judge import cluster

Raw = dict[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
AWAY = {"podAntiAffinity": {REQUIRED: [{"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "zone"}]}}
SPREAD = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
PORT = [{"containerPort": 80, "hostPort": 80}]
SIDECAR = {"initContainers": [{"name": "side", "ports": PORT, "restartPolicy": "Always"}]}
ENDS = {"initContainers": [{"name": "side", "ports": PORT}]}
LISTENS = {"containers": [{"name": "main", "ports": PORT}]}
CLAIM = {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}
VOLUME = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}]}
NEIGHBOURLY: list[Raw] = [{"affinity": AWAY}, {"topologySpreadConstraints": SPREAD}, LISTENS, SIDECAR, CLAIM, VOLUME]


def spec(**stated: Any) -> PodSpec:
    """A spec that says nothing else."""
    return PodSpec.model_validate({"containers": [{"name": "main"}], **stated})


@pytest.mark.parametrize(
    "stated",
    [
        *NEIGHBOURLY,
        {"nodeSelector": {"disk": "ssd"}},
        {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
        {"schedulerName": "other"},
        {"priority": 5},
        {"preemptionPolicy": "Never"},
        {"schedulingGates": [{"name": "g"}]},
    ],
)
def test_every_wish_counts(stated: Raw) -> None:
    output = FeatureIds()
    assert output.placement(spec(**stated)) != output.placement(spec())
    assert output.placement(spec(**stated)) == output.placement(spec(**stated))


@pytest.mark.parametrize("stated", [*NEIGHBOURLY, {"priority": 5}, {"priorityClassName": "system-node-critical"}])
def test_all_that_neighbours_and_victims_are_known_by_counts(stated: Raw) -> None:
    output = FeatureIds()
    assert output.interaction(spec(**stated)) != output.interaction(spec())
    assert output.interaction(spec(**stated)) == output.interaction(spec(**stated))


@pytest.mark.parametrize("ask", [FeatureIds.placement, FeatureIds.interaction])
def test_a_word_beside_other_wishes_counts(ask: Any) -> None:
    output = FeatureIds()
    assert len({ask(output, spec(affinity=AWAY, priority=rank)) for rank in (0, 5)}) == 2
    assert len({ask(output, spec(**LISTENS, affinity=affinity)) for affinity in ({}, AWAY)}) == 2


@pytest.mark.parametrize("ask", [FeatureIds.placement, FeatureIds.interaction])
def test_init_containers_that_end_hold_no_port(ask: Any) -> None:
    output = FeatureIds()
    assert ask(output, spec(**ENDS)) == ask(output, spec()) != ask(output, spec(**SIDECAR))


@pytest.mark.parametrize(("stated", "own"), [({}, False), ({"affinity": AWAY}, False), (CLAIM, True), (VOLUME, True)])
def test_claims_and_volumes_are_a_pods_own(stated: Raw, own: bool) -> None:
    output = FeatureIds()
    assert (output.placement(spec(**stated)) in output.private) is own


def pod(name: str, priority: int, node: str = "", **stated: Any) -> Raw:
    """A pod of one CPU."""
    main = {"name": "main", "resources": {"requests": {"cpu": "1"}}, "ports": stated.pop("ports", [])}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [main], "priority": priority, "nodeName": node, **stated},
        "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"} if node else {"phase": "Pending"},
    }


@pytest.mark.parametrize(("plain", "busy"), [("a", "b"), ("b", "a")])
def test_the_one_whose_sidecar_holds_the_port_makes_way(plain: str, busy: str) -> None:
    pods = [pod(plain, 0, "n1"), pod(busy, 0, "n1", **SIDECAR), pod("new", 1000, ports=PORT)]
    found = cpsched.solve(cpsched.load(cluster(nodes=2, objects=pods)), model="kube", workers=1)
    assert found.evicted == {f"default/{busy}"}
    assert found.pipelined == {"default/new": "n1"}


@pytest.mark.parametrize(("ends", "stays"), [("a", "b"), ("b", "a")])
def test_the_one_whose_init_container_ends_needs_no_port(ends: str, stays: str) -> None:
    pods = [pod("old", 0, "n1", ports=PORT), pod(ends, 0, **ENDS), pod(stays, 0, **SIDECAR)]
    found = cpsched.solve(cpsched.load(cluster(nodes=4, objects=pods)), model="kube", workers=1)
    assert found.binds == {f"default/{ends}": "n1"}
