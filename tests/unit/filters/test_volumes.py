"""VolumeRestrictions, NodeVolumeLimits, VolumeZone: no recorded rows, so each rule has a case of its own."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.filters import Args, Code, Features, Status, add_task, chosen, first_failure, prefilter, remove_task
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of, verdict

NODE = node_json("a")


def volumes(*stated: dict[str, Any]) -> dict[str, Any]:
    return {"volumes": [{"name": f"v{i}", **one} for i, one in enumerate(stated)]}


def claim_volume(name: str) -> dict[str, Any]:
    return {"persistentVolumeClaim": {"claimName": name}}


def claim(
    name: str, volume: str = "", *modes: str, storage_class: str | None = None, **metadata: Any
) -> dict[str, Any]:
    spec: dict[str, Any] = {"volumeName": volume, "accessModes": list(modes)}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def csi_volume(name: str, handle: str = "", driver: str = "d") -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"csi": {"driver": driver, "volumeHandle": handle or name}}}


GCE, GCE_RO = {"gcePersistentDisk": {"pdName": "x"}}, {"gcePersistentDisk": {"pdName": "x", "readOnly": True}}
AWS, AWS_RO = ({"awsElasticBlockStore": {"volumeID": "x", "readOnly": ro}} for ro in (False, True))
ISCSI = {"iscsi": {"iqn": "x", "targetPortal": "t"}}
ISCSI_RO = {"iscsi": {"iqn": "x", "readOnly": True}}
RBD = {"rbd": {"monitors": ["m", "n"], "pool": "p", "image": "i"}}
RBD_RO = {"rbd": {**RBD["rbd"], "readOnly": True}}


@pytest.mark.parametrize(
    ("held", "wanted", "passes"),
    [
        (GCE, GCE, False),
        (GCE_RO, GCE, False),
        (GCE_RO, GCE_RO, True),
        (GCE, {"gcePersistentDisk": {"pdName": "y"}}, True),
        (AWS, AWS, False),
        (AWS_RO, AWS_RO, False),
        (ISCSI, ISCSI, False),
        (ISCSI_RO, ISCSI_RO, True),
        (RBD, {"rbd": {**RBD["rbd"], "monitors": ["n", "o"]}}, False),
        (RBD, {"rbd": {**RBD["rbd"], "monitors": ["o"]}}, True),
        (RBD, {"rbd": {**RBD["rbd"], "image": "j"}}, True),
        (RBD_RO, RBD_RO, True),
        (AWS, GCE, True),
    ],
)
def test_disks_that_cannot_be_shared(held: dict[str, Any], wanted: dict[str, Any], passes: bool) -> None:
    cluster = cluster_of([NODE], [pod_json("q", "a", **volumes(held))])
    status = verdict("VolumeRestrictions", task_of(pod_json("p", **volumes(wanted))), cluster, "a")
    assert status.is_success is passes
    if not passes:
        assert (status.code, status.reasons) == (Code.UNSCHEDULABLE, ("node(s) had no available disk",))


def exclusive_cluster() -> Any:
    return cluster_of(
        [NODE, node_json("b")],
        [pod_json("q", "b", **volumes(claim_volume("c")))],
        PersistentVolumeClaim=[claim("c", "pv", "ReadWriteOncePod"), claim("d", "pv2", "ReadWriteOncePod")],
    )


def test_exclusive_claim_in_use_refuses_every_node() -> None:
    cluster = exclusive_cluster()
    status = verdict("VolumeRestrictions", task_of(pod_json("p", **volumes(claim_volume("c")))), cluster, "a")
    assert status.code is Code.UNSCHEDULABLE
    assert "ReadWriteOncePod" in status.reasons[0]
    free = prefilter(task_of(pod_json("p", **volumes(claim_volume("d")))), cluster, ["VolumeRestrictions"], Args())
    assert free.skipped == {"VolumeRestrictions"}


def test_exclusive_claim_is_freed_by_evicting_its_user() -> None:
    cluster, filters = exclusive_cluster(), chosen(["VolumeRestrictions"])
    task = task_of(pod_json("p", **volumes(claim_volume("c"))))
    prefiltered = prefilter(task, cluster, ["VolumeRestrictions"], Args())
    user, node = cluster.nodes["b"].tasks[0], cluster.nodes["b"]
    trial = prefiltered.clone(filters)
    remove_task(trial, filters, task, user, node)
    assert first_failure(task, node.clone(), cluster, trial, filters).is_success
    add_task(trial, filters, task, user, node)
    assert not first_failure(task, node, cluster, trial, filters).is_success
    assert prefiltered.states["VolumeRestrictions"].conflicts == 1


def test_missing_claim_is_refused_at_once() -> None:
    task = task_of(pod_json("p", **volumes(claim_volume("none"))))
    status = verdict("VolumeRestrictions", task, cluster_of([NODE]), "a")
    assert (status.code, status.reasons) == (Code.UNRESOLVABLE, ('persistentvolumeclaim "none" not found',))


def csi_node(limit: int | None = 1, driver: str = "d", **metadata: Any) -> dict[str, Any]:
    allocatable = {} if limit is None else {"allocatable": {"count": limit}}
    return {"metadata": {"name": "a", **metadata}, "spec": {"drivers": [{"name": driver, **allocatable}]}}


def limits(pods: list[dict[str, Any]], wanted: list[dict[str, Any]], **objects: Any) -> Status:
    args = objects.pop("args", None)
    cluster = cluster_of([NODE], pods, **objects)
    return verdict("NodeVolumeLimits", task_of(pod_json("p", **volumes(*wanted))), cluster, "a", args)


CLAIMS = [claim(name, f"pv-{name}") for name in "cde"]
VOLUMES = [csi_volume(f"pv-{name}") for name in "cde"]
BASE = {"PersistentVolumeClaim": CLAIMS, "PersistentVolume": VOLUMES}


def test_limit_counts_volumes_of_pods_on_the_node() -> None:
    container = [pod_json("q", "a", **volumes(claim_volume("c")))]
    full = limits(container, [claim_volume("d")], CSINode=[csi_node(1)], **BASE)
    assert (full.code, full.reasons) == (Code.UNSCHEDULABLE, ("node(s) exceed max volume count",))
    assert limits(container, [claim_volume("d")], CSINode=[csi_node(2)], **BASE).is_success


def test_a_shared_volume_counts_once() -> None:
    container = [pod_json("q", "a", **volumes(claim_volume("c")))]
    assert limits(container, [claim_volume("c")], CSINode=[csi_node(1)], **BASE).is_success
    twice = [claim_volume("d"), claim_volume("d")]
    assert limits([], twice, CSINode=[csi_node(1)], **BASE).is_success


@pytest.mark.parametrize("csi_nodes", [[], [csi_node(None)], [csi_node(0, "other")]])
def test_no_limit_known_means_no_limit(csi_nodes: list[dict[str, Any]]) -> None:
    assert limits([], [claim_volume("c"), claim_volume("d")], CSINode=csi_nodes, **BASE).is_success


def attachment(volume: str, attacher: str = "d") -> dict[str, Any]:
    spec = {"attacher": attacher, "nodeName": "a", "source": {"persistentVolumeName": volume}}
    return {"metadata": {"name": f"att-{volume}"}, "spec": spec}


def test_attachments_count_too_but_not_twice() -> None:
    attached = {"VolumeAttachment": [attachment("pv-c")]}
    assert not limits([], [claim_volume("d")], CSINode=[csi_node(1)], **attached, **BASE).is_success
    container = [pod_json("q", "a", **volumes(claim_volume("c")))]
    assert limits(container, [claim_volume("d")], CSINode=[csi_node(2)], **attached, **BASE).is_success
    assert limits(
        [], [claim_volume("d")], CSINode=[csi_node(1)], VolumeAttachment=[attachment("pv-c", "")], **BASE
    ).is_success


def test_a_wanted_volume_attached_but_unused_counts_twice() -> None:
    attached = {"VolumeAttachment": [attachment("pv-c")]}
    assert not limits([], [claim_volume("c")], CSINode=[csi_node(1)], **attached, **BASE).is_success
    assert limits([], [claim_volume("c")], CSINode=[csi_node(2)], **attached, **BASE).is_success


def test_unbound_claims_count_by_their_class() -> None:
    objects = {
        "PersistentVolumeClaim": [
            claim("c", storage_class="s"),
            claim("d", storage_class="s"),
            claim("e", storage_class="t"),
        ],
        "StorageClass": [{"metadata": {"name": "s"}, "provisioner": "d"}],
    }
    assert not limits([], [claim_volume("c"), claim_volume("d")], CSINode=[csi_node(1)], **objects).is_success
    assert limits([], [claim_volume("c"), claim_volume("e")], CSINode=[csi_node(1)], **objects).is_success


def test_a_claim_with_an_unknown_volume_counts_by_its_class() -> None:
    objects = {
        "PersistentVolumeClaim": [claim("c", "gone", storage_class="s"), claim("d", "gone2", storage_class="s")],
        "StorageClass": [{"metadata": {"name": "s"}, "provisioner": "d"}],
    }
    assert not limits([], [claim_volume("c"), claim_volume("d")], CSINode=[csi_node(1)], **objects).is_success


def test_missing_claims_of_the_task_and_of_others() -> None:
    status = limits([], [claim_volume("none")], CSINode=[csi_node(1)])
    expected = 'looking up PVC default/none: persistentvolumeclaim "none" not found'
    assert (status.code, status.reasons) == (Code.UNRESOLVABLE, (expected,))
    other = [pod_json("q", "a", **volumes(claim_volume("none")))]
    assert limits(other, [claim_volume("c")], CSINode=[csi_node(1)], **BASE).is_success


EBS = "ebs.csi.aws.com"


def test_in_tree_volumes_count_for_their_driver_once_the_node_has_a_csi_node() -> None:
    aws = [{"awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}}]
    container = [pod_json("q", "a", **volumes({"awsElasticBlockStore": {"volumeID": "vol-2"}}))]
    assert not limits(container, aws, CSINode=[csi_node(1, EBS)]).is_success
    assert limits(container, aws).is_success
    same = [pod_json("q", "a", **volumes({"awsElasticBlockStore": {"volumeID": "vol-1"}}))]
    assert limits(same, aws, CSINode=[csi_node(1, EBS)]).is_success


def test_in_tree_classes_and_volumes_are_translated() -> None:
    objects = {
        "PersistentVolumeClaim": [claim("c", storage_class="s"), claim("d", "pv")],
        "StorageClass": [{"metadata": {"name": "s"}, "provisioner": "kubernetes.io/aws-ebs"}],
        "PersistentVolume": [{"metadata": {"name": "pv"}, "spec": {"awsElasticBlockStore": {"volumeID": "vol-1"}}}],
    }
    both = [claim_volume("c"), claim_volume("d")]
    assert not limits([], both, CSINode=[csi_node(1, EBS)], **objects).is_success
    assert limits([], both, CSINode=[csi_node(2, EBS)], **objects).is_success


def ephemeral(owner: str) -> dict[str, Any]:
    owners = [{"kind": "Pod", "name": "p", "uid": owner, "controller": True}]
    return claim("p-v0", "pv-c", ownerReferences=owners)


def test_ephemeral_claims_must_be_the_pods_own() -> None:
    uid = task_of(pod_json("p")).uid
    own = limits(
        [], [{"ephemeral": {}}], CSINode=[csi_node(1)], PersistentVolumeClaim=[ephemeral(uid)], PersistentVolume=VOLUMES
    )
    assert own.is_success
    foreign = limits([], [{"ephemeral": {}}], CSINode=[csi_node(1)], PersistentVolumeClaim=[ephemeral("x")])
    assert foreign.code is Code.ERROR
    assert foreign.reasons == ("PVC default/p-v0 was not created for pod default/p (pod is not owner)",)


def test_head_refuses_nodes_without_a_driver_that_asks_for_it() -> None:
    driver = {"metadata": {"name": "d"}, "spec": {"preventPodSchedulingIfMissing": True}}
    head = Args(Features.of("head"))
    missing = limits([], [claim_volume("c")], CSIDriver=[driver], args=head, **BASE)
    assert (missing.code, missing.reasons) == (Code.UNSCHEDULABLE, ("d CSI driver is not installed on the node",))
    assert limits([], [claim_volume("c")], CSIDriver=[driver], args=Args(), **BASE).is_success
    assert limits([], [claim_volume("c")], CSIDriver=[driver], CSINode=[csi_node(1)], args=head, **BASE).is_success


def test_head_asks_no_driver_for_inline_disks_of_nodes_without_a_csi_node() -> None:
    driver = {"metadata": {"name": EBS}, "spec": {"preventPodSchedulingIfMissing": True}}
    disk = [{"awsElasticBlockStore": {"volumeID": "vol-1"}}]
    head = Args(Features.of("head"))
    assert limits([], disk, CSIDriver=[driver], args=head).is_success
    assert not limits([], disk, CSIDriver=[driver], CSINode=[csi_node(1, "other")], args=head).is_success


def test_limits_skip_pods_without_such_volumes() -> None:
    task = task_of(pod_json("p", **volumes({"emptyDir": {}})))
    assert prefilter(task, cluster_of([NODE]), ["NodeVolumeLimits"], Args()).skipped == {"NodeVolumeLimits"}


ZONE, BETA = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"


def zoned(node_labels: dict[str, str], volume_labels: dict[str, str]) -> Status:
    cluster = cluster_of(
        [node_json("a", node_labels)],
        PersistentVolumeClaim=[claim("c", "pv")],
        PersistentVolume=[{"metadata": {"name": "pv", "labels": volume_labels}}],
    )
    return verdict("VolumeZone", task_of(pod_json("p", **volumes(claim_volume("c")))), cluster, "a")


@pytest.mark.parametrize(
    ("node", "volume", "passes"),
    [
        ({ZONE: "x"}, {ZONE: "x"}, True),
        ({ZONE: "y"}, {ZONE: "x"}, False),
        ({ZONE: "y"}, {ZONE: "x__y"}, True),
        ({ZONE: "x"}, {BETA: "x"}, True),
        ({BETA: "x"}, {ZONE: "x"}, False),
        ({}, {ZONE: "x"}, True),
        ({"topology.kubernetes.io/region": "r"}, {ZONE: "x"}, False),
        ({ZONE: "x"}, {ZONE: "x__"}, True),
    ],
)
def test_zones(node: dict[str, str], volume: dict[str, str], passes: bool) -> None:
    status = zoned(node, volume)
    assert status.is_success is passes
    if not passes:
        assert (status.code, status.reasons) == (Code.UNRESOLVABLE, ("node(s) had no available volume zone",))


@pytest.mark.parametrize(
    ("stated", "objects", "reason"),
    [
        ([], {}, 'persistentvolumeclaim "c" not found'),
        ([claim("c", "gone")], {}, 'persistentvolume "gone" not found'),
        ([claim("c", storage_class="s")], {}, 'storageclass.storage.k8s.io "s" not found'),
        (
            [claim("c", storage_class="s")],
            {"StorageClass": [{"metadata": {"name": "s"}, "volumeBindingMode": "Immediate"}]},
            "PersistentVolume had no name",
        ),
    ],
)
def test_zone_of_claims_that_are_not_ready(stated: Any, objects: Any, reason: str) -> None:
    cluster = cluster_of([NODE], PersistentVolumeClaim=stated, **objects)
    status = verdict("VolumeZone", task_of(pod_json("p", **volumes(claim_volume("c")))), cluster, "a")
    assert (status.code, status.reasons) == (Code.UNRESOLVABLE, (reason,))
