"""VolumeBinding: bound, delayed, matched, provisioned."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.filters import FILTERS, Args, ClusterState, Code, Status, prefilter
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of, verdict
from tests.unit.filters.build_volumes import WAIT, claim, using, volume

NAME = "VolumeBinding"
NODES = [node_json("a", {"zone": "x"}), node_json("b", {"zone": "y"})]
DYNAMIC = {**WAIT, "metadata": {"name": "dynamic"}, "provisioner": "d"}
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"


def cluster(claims: list[dict[str, Any]], volumes: list[dict[str, Any]] | None = None, **others: Any) -> ClusterState:
    return cluster_of(
        NODES, PersistentVolumeClaim=claims, PersistentVolume=volumes or [], StorageClass=[WAIT, DYNAMIC], **others
    )


def at(node: str, state: ClusterState, *names: str) -> Status:
    return verdict(NAME, task_of(pod_json("p", **using(*names))), state, node)


def test_bound_claim_ties_the_task_to_the_volumes_nodes() -> None:
    state = cluster([claim("c", bound="pv")], [volume("pv", zone="x")])
    assert at("a", state, "c").is_success
    refused = at("b", state, "c")
    assert (refused.code, refused.reasons) == (
        Code.UNRESOLVABLE,
        ("node(s) didn't match PersistentVolume's node affinity",),
    )


def test_bound_claim_without_its_volume() -> None:
    reason = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    assert at("a", cluster([claim("c", bound="gone")]), "c").reasons == (reason,)


def deleting(name: str) -> dict[str, Any]:
    return claim(name, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([deleting("c")], 'persistentvolumeclaim "c" is being deleted'),
        (
            [claim("c", bound="pv", status={"phase": "Lost"})],
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "pv"',
        ),
        ([claim("c", storage_class="unknown")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("c", volumeName="preset")], "pod has unbound immediate PersistentVolumeClaims"),
    ],
)
def test_claims_that_refuse_the_task_at_once(claims: list[dict[str, Any]], reason: str) -> None:
    status = at("a", cluster(claims), "c")
    assert (status.code, status.reasons) == (Code.UNRESOLVABLE, (reason,))


def test_binding_mode_unset_is_an_error() -> None:
    unset = {"metadata": {"name": "unset"}, "provisioner": "d"}
    state = cluster_of(NODES, PersistentVolumeClaim=[claim("c", storage_class="unset")], StorageClass=[unset])
    status = at("a", state, "c")
    assert (status.code, status.reasons) == (Code.ERROR, ('VolumeBindingMode not set for StorageClass "unset"',))


def test_ephemeral_volume_waits_for_its_claim_and_must_own_it() -> None:
    task = task_of(pod_json("p", volumes=[{"name": "v", "ephemeral": {}}]))
    missing = verdict(NAME, task, cluster([]), "a")
    assert missing.reasons == ('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"',)
    foreign = verdict(NAME, task, cluster([claim("p-v")]), "a")
    assert foreign.reasons == ("PVC default/p-v was not created for pod default/p (pod is not owner)",)
    owners = [{"kind": "Pod", "name": "p", "uid": task.uid, "controller": True}]
    own = cluster([claim("p-v", metadata={"ownerReferences": owners})], [volume("pv")])
    assert verdict(NAME, task, own, "a").is_success


def test_skip_without_claims() -> None:
    task = task_of(pod_json("p", volumes=[{"name": "v", "emptyDir": {}}]))
    assert prefilter(task, cluster([]), [NAME], Args()).skipped == {NAME}


def test_delayed_claim_needs_a_volume_at_the_node() -> None:
    state = cluster([claim("c")], [volume("pv", zone="x")])
    assert at("a", state, "c").is_success
    assert at("b", state, "c").reasons == (NO_VOLUME,)


@pytest.mark.parametrize(
    "unfit",
    [
        volume("pv", size="4Gi"),
        volume("pv", phase="Bound"),
        volume("pv", volumeMode="Block"),
        volume("pv", accessModes=["ReadOnlyMany"]),
        volume("pv", storageClassName="other"),
        volume("pv", volumeAttributesClassName="gold"),
        volume("pv", claimRef={"namespace": "default", "name": "other"}),
        volume("pv", claimRef={"namespace": "default", "name": "c", "uid": "older"}),
        volume("pv", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
    ],
)
def test_volumes_that_do_not_fit(unfit: dict[str, Any]) -> None:
    assert at("a", cluster([claim("c")], [unfit]), "c").reasons == (NO_VOLUME,)


def test_selector_of_the_claim() -> None:
    picky = claim("c", selector={"matchLabels": {"disk": "ssd"}})
    assert not at("a", cluster([picky], [volume("pv")]), "c").is_success
    assert at("a", cluster([picky], [volume("pv", metadata={"labels": {"disk": "ssd"}})]), "c").is_success


def test_a_volume_promised_to_the_claim_decides() -> None:
    """Even where another volume would do, the promised one must be reachable."""
    promised = volume("pv", zone="x", claimRef={"namespace": "default", "name": "c", "uid": "uid-c"}, phase="Released")
    state = cluster([claim("c")], [promised, volume("free")])
    assert at("a", state, "c").is_success
    assert at("b", state, "c").reasons == (NO_VOLUME,)


def choice(state: ClusterState, node: str, *names: str) -> dict[str, str]:
    task = task_of(pod_json("p", **using(*names)))
    own = FILTERS[NAME].prefilter(task, state, Args()).state
    assert FILTERS[NAME].filter(own, task, state.nodes[node], state).is_success
    return {key: name for name, key in own.choice_by_node[node].bindings}


def test_small_claims_take_the_smallest_volumes() -> None:
    volumes = [volume("large", size="10Gi"), volume("small", size="5Gi"), volume("middle", size="7Gi")]
    state = cluster([claim("big", size="6Gi"), claim("little", size="1Gi")], volumes)
    assert choice(state, "a", "big", "little") == {"default/little": "small", "default/big": "middle"}
    tight = cluster([claim("big", size="6Gi"), claim("little", size="1Gi")], [volumes[0], volumes[2]])
    assert choice(tight, "a", "big", "little") == {"default/little": "middle", "default/big": "large"}


def test_one_volume_serves_one_claim_of_the_task() -> None:
    state = cluster([claim("c"), claim("d")], [volume("pv")])
    assert at("a", state, "c", "d").reasons == (NO_VOLUME,)


def test_reserved_volumes_are_gone_until_given_back() -> None:
    state = cluster([claim("c"), claim("d")], [volume("pv")])
    first, second = (task_of(pod_json(n, **using(c)), i) for i, (n, c) in enumerate((("p", "c"), ("q", "d"))))
    own = FILTERS[NAME].prefilter(first, state, Args()).state
    FILTERS[NAME].filter(own, first, state.nodes["a"], state)
    reserve = FILTERS[NAME].reserve
    assert reserve is not None
    undo = reserve(own, first, state.nodes["a"], state)
    assert verdict(NAME, second, state, "a").reasons == (NO_VOLUME,)
    assert verdict(NAME, first, state, "a").is_success
    undo()
    assert verdict(NAME, second, state, "a").is_success


def test_provisioning() -> None:
    state = cluster([claim("c", storage_class="dynamic")])
    assert at("a", state, "c").is_success
    task = task_of(pod_json("p", **using("c")))
    own = FILTERS[NAME].prefilter(task, state, Args()).state
    FILTERS[NAME].filter(own, task, state.nodes["a"], state)
    reserve = FILTERS[NAME].reserve
    assert reserve is not None
    reserve(own, task, state.nodes["a"], state)
    assert at("a", state, "c").is_success
    assert at("b", state, "c").reasons == (NO_VOLUME,)


def test_allowed_topologies() -> None:
    only_x = {**DYNAMIC, "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["x"]}]}]}
    state = cluster_of(NODES, PersistentVolumeClaim=[claim("c", storage_class="dynamic")], StorageClass=[only_x])
    assert at("a", state, "c").is_success
    assert at("b", state, "c").reasons == (NO_VOLUME,)


def capacity(amount: str, zone: str = "x", **stated: Any) -> dict[str, Any]:
    topology = {"nodeTopology": {"matchLabels": {"zone": zone}}}
    return {
        "metadata": {"name": f"cap-{zone}-{amount}"},
        "storageClassName": "dynamic",
        **topology,
        "capacity": amount,
        **stated,
    }


@pytest.mark.parametrize(
    ("capacities", "passes"),
    [
        ([], False),
        ([capacity("5Gi")], True),
        ([capacity("4Gi")], False),
        ([capacity("9Gi", "y")], False),
        ([capacity("9Gi", maximumVolumeSize="4Gi")], False),
        ([capacity("1Gi", maximumVolumeSize="5Gi")], True),
        ([{**capacity("9Gi"), "storageClassName": "other"}], False),
        ([{**capacity("9Gi"), "nodeTopology": None}], False),
    ],
)
def test_reported_capacity(capacities: list[dict[str, Any]], passes: bool) -> None:
    drivers = [{"metadata": {"name": "d"}, "spec": {"storageCapacity": True}}]
    state = cluster([claim("c", storage_class="dynamic")], CSIDriver=drivers, CSIStorageCapacity=capacities)
    status = at("a", state, "c")
    assert status.is_success is passes
    if not passes:
        assert (status.code, status.reasons) == (Code.UNRESOLVABLE, ("node(s) did not have enough free storage",))


def test_capacity_is_not_asked_for_unless_the_driver_reports_it() -> None:
    drivers = [{"metadata": {"name": "d"}, "spec": {"storageCapacity": False}}]
    assert at("a", cluster([claim("c", storage_class="dynamic")], CSIDriver=drivers), "c").is_success


def test_each_claims_capacity_is_looked_at_alone() -> None:
    drivers = [{"metadata": {"name": "d"}, "spec": {"storageCapacity": True}}]
    claims = [claim(name, storage_class="dynamic") for name in "cd"]
    state = cluster(claims, CSIDriver=drivers, CSIStorageCapacity=[capacity("5Gi")])
    assert at("a", state, "c", "d").is_success


def test_bound_and_unbound_reasons_come_together() -> None:
    state = cluster([claim("c", bound="pv"), claim("d")], [volume("pv", zone="x", phase="Bound")])
    assert at("b", state, "c", "d").reasons == ("node(s) didn't match PersistentVolume's node affinity", NO_VOLUME)


def test_migrated_in_tree_volumes_use_the_drivers_zone_key() -> None:
    zone = "topology.kubernetes.io/zone"
    term = {"matchExpressions": [{"key": zone, "operator": "In", "values": ["x"]}]}
    disk = {"awsElasticBlockStore": {"volumeID": "vol-1"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}
    nodes = [node_json("a", {"topology.ebs.csi.aws.com/zone": "x"}), node_json("b", {zone: "x"})]
    annotation = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
    for migrated, expected in (("a", {"a", "b"}), ("b", set[str]())):
        state = cluster_of(
            nodes,
            PersistentVolumeClaim=[claim("c", bound="pv")],
            PersistentVolume=[volume("pv", **disk)],
            CSINode=[{"metadata": {"name": n, "annotations": annotation if n == migrated else {}}} for n in "ab"],
        )
        assert {node for node in "ab" if at(node, state, "c").is_success} == expected


def test_migrated_volume_without_affinity_takes_its_zone_label() -> None:
    disk = {"metadata": {"labels": {"topology.kubernetes.io/zone": "x__y"}}, "gcePersistentDisk": {"pdName": "d"}}
    annotation = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd"}
    nodes = [node_json("a", {"topology.gke.io/zone": "y"}), node_json("b", {"topology.gke.io/zone": "z"})]
    state = cluster_of(
        nodes,
        PersistentVolumeClaim=[claim("c", bound="pv")],
        PersistentVolume=[volume("pv", **disk)],
        CSINode=[{"metadata": {"name": name, "annotations": annotation}} for name in "ab"],
    )
    assert {node for node in "ab" if at(node, state, "c").is_success} == {"a"}
