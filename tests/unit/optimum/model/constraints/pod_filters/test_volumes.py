"""Rows for volumes: exclusive claims and disks, drivers' limits, volumes still to be bound."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.optimum.model.constraints.pod_filters.build_session import Raw, allowed, node, present, waiting

NODES = [node("x1"), node("y1")]
GI = {"requests": {"storage": "1Gi"}}


def obj(kind: str, name: str, group: str = "v1", **fields: Any) -> Raw:
    """An object beside the session's own."""
    space = {"namespace": "default"} if kind == "PersistentVolumeClaim" else {}
    return {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name, **space} | fields.pop("metadata", {}),
        **fields,
    }


def bound(name: str, mode: str = "ReadWriteMany") -> list[Raw]:
    """A claim that is bound to a volume of the driver."""
    done = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    spec = {"volumeName": f"pv-{name}", "accessModes": [mode], "resources": GI}
    volume = {"csi": {"driver": "csi", "volumeHandle": name}, "accessModes": [mode]}
    return [
        obj("PersistentVolumeClaim", name, metadata=done, spec=spec),
        obj("PersistentVolume", f"pv-{name}", spec=volume),
    ]


def limit(count: int, node: str = "x1") -> Raw:
    """What the driver can attach to a node."""
    drivers = [{"name": "csi", "nodeID": node, "allocatable": {"count": count}}]
    return obj("CSINode", node, "storage.k8s.io/v1", spec={"drivers": drivers})


def using(*claims: str) -> Raw:
    """Wishes for claims."""
    return {"volumes": [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]}


def at(**nodes: str) -> dict[str, str]:
    """The first tasks of jobs on nodes."""
    return {f"{job}/t-0": name for job, name in nodes.items()}


class TestRestrictions:
    """VolumeRestrictions."""

    @pytest.mark.parametrize(("mode", "fine"), [("ReadWriteOncePod", False), ("ReadWriteOnce", True)])
    def test_a_claim_for_one_pod_is_used_once_in_the_cluster(self, mode: str, fine: bool) -> None:
        jobs = [waiting("v", **using("c")), waiting("w", **using("c"))]
        assert allowed(NODES, jobs, objects=bound("c", mode), binds=at(v="x1", w="y1")) is fine

    def test_who_uses_it_keeps_it_until_gone(self) -> None:
        objects = bound("c", "ReadWriteOncePod")
        assert not allowed(
            NODES, [present("r", "y1", **using("c")), waiting("w", **using("c"))], objects=objects, binds=at(w="x1")
        )
        jobs = [present("r", "x1", priority=10, cpu=18, **using("c")), waiting("w", cpu=2, **using("c"))]
        assert allowed(NODES, jobs, objects=objects, reserves=at(w="x1"), evicted=["r/t-0"])
        assert not allowed(NODES, jobs, objects=objects, binds=at(w="x1"), evicted=["r/t-0"])

    @pytest.mark.parametrize(
        ("first", "second", "fine"), [(False, False, False), (True, False, False), (True, True, True)]
    )
    def test_a_disk_is_shared_on_a_node_only_for_reading(self, first: bool, second: bool, fine: bool) -> None:
        jobs = [
            waiting(name, volumes=[{"name": "d", "gcePersistentDisk": {"pdName": "p", "readOnly": read_only}}])
            for name, read_only in (("v", first), ("w", second))
        ]
        assert allowed(NODES, jobs, binds=at(v="x1", w="x1")) is fine
        assert allowed(NODES, jobs, binds=at(v="x1", w="y1"))

    def test_a_claim_that_is_not_there_refuses_the_task(self) -> None:
        assert not allowed(NODES, [waiting("w", **using("c"))], binds=at(w="x1"))


class TestLimits:
    """NodeVolumeLimits."""

    @pytest.mark.parametrize(
        ("claims", "count", "fine"),
        [("cd", 1, False), ("cd", 2, True), ("cc", 1, True), ("cde", 2, False), ("cdd", 2, True)],
    )
    def test_distinct_volumes_count(self, claims: str, count: int, fine: bool) -> None:
        jobs = [waiting(f"w{i}", **using(c)) for i, c in enumerate(claims)]
        objects = [limit(count), *(item for c in "cde" for item in bound(c))]
        assert allowed(NODES, jobs, objects=objects, binds={f"w{i}/t-0": "x1" for i in range(len(claims))}) is fine

    @pytest.mark.parametrize(("claim", "fine"), [("c", True), ("d", False)])
    def test_a_volume_that_is_there_is_not_new(self, claim: str, fine: bool) -> None:
        jobs = [present("r", "x1", **using("c")), present("s", "x1", **using("e")), waiting("w", **using(claim))]
        objects = [limit(1), *bound("c"), *bound("d"), *bound("e")]
        assert allowed(NODES, jobs, objects=objects, binds=at(w="x1")) is fine

    def test_a_victims_volumes_count_until_it_is_gone(self) -> None:
        jobs = [present("r", "x1", priority=10, cpu=18, **using("c")), waiting("w", cpu=2, **using("d"))]
        objects = [limit(1), *bound("c"), *bound("d")]
        assert not allowed(NODES, jobs, objects=objects, reserves=at(w="x1"))
        assert allowed(NODES, jobs, objects=objects, reserves=at(w="x1"), evicted=["r/t-0"])
        assert not allowed(NODES, jobs, objects=objects, binds=at(w="x1"), evicted=["r/t-0"])

    def test_a_volume_is_new_once_the_victim_is_gone(self) -> None:
        """The node has too many already, which only those see who bring one more."""
        jobs = [present("r", "x1", priority=10, cpu=18, **using("c")), waiting("w", cpu=2, **using("c"))]
        jobs += [present("s", "x1", cpu=0, **using("d"))]
        objects = [limit(1), *bound("c"), *bound("d")]
        assert allowed(NODES, jobs, objects=objects, reserves=at(w="x1"))
        assert not allowed(NODES, jobs, objects=objects, reserves=at(w="x1"), evicted=["r/t-0"])

    @pytest.mark.parametrize(("count", "fine"), [(1, False), (2, True)])
    def test_what_is_attached_and_unused_counts_twice(self, count: int, fine: bool) -> None:
        spec = {"attacher": "csi", "nodeName": "x1", "source": {"persistentVolumeName": "pv-c"}}
        objects = [limit(count), *bound("c"), obj("VolumeAttachment", "a", "storage.k8s.io/v1", spec=spec)]
        assert allowed(NODES, [waiting("w", **using("c"))], objects=objects, binds=at(w="x1")) is fine


class TestBinding:
    """VolumeBinding."""

    @staticmethod
    def late(*names: str, provisioner: str = "kubernetes.io/no-provisioner") -> list[Raw]:
        """Claims that wait for their pod."""
        fields = {"provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}
        spec = {"storageClassName": "late", "accessModes": ["ReadWriteOnce"], "resources": GI}
        claims = [obj("PersistentVolumeClaim", name, spec=spec) for name in names]
        return [obj("StorageClass", "late", "storage.k8s.io/v1", **fields), *claims]

    @staticmethod
    def local(*nodes: str) -> list[Raw]:
        """Free volumes on these nodes."""
        found = []
        for number, name in enumerate(nodes):
            term = {"matchExpressions": [{"key": "host", "operator": "In", "values": [name]}]}
            spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "late"}
            spec |= {"local": {"path": "/d"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}
            found.append(obj("PersistentVolume", f"l{number}", spec=spec, status={"phase": "Available"}))
        return found

    @pytest.mark.parametrize(
        ("volumes", "fine"), [(["x1"], False), (["x1", "x1"], True), (["x1", "y1"], False), ([], False)]
    )
    def test_every_claim_finds_a_volume_of_its_own(self, volumes: list[str], fine: bool) -> None:
        jobs = [waiting("v", **using("c")), waiting("w", **using("d"))]
        objects = [*self.late("c", "d"), *self.local(*volumes)]
        assert allowed(NODES, jobs, objects=objects, binds=at(v="x1", w="x1")) is fine

    @pytest.mark.parametrize(("where", "fine"), [("x1", True), ("y1", False)])
    def test_a_bound_claim_is_used_where_its_volume_is(self, where: str, fine: bool) -> None:
        claim, volume = bound("c")
        [here] = self.local("x1")
        volume["spec"]["nodeAffinity"] = here["spec"]["nodeAffinity"]
        assert allowed(NODES, [waiting("w", **using("c"))], objects=[claim, volume], binds=at(w=where)) is fine

    def test_volumes_are_made_where_none_is_found(self) -> None:
        jobs = [waiting("v", **using("c")), waiting("w", **using("d"))]
        assert allowed(NODES, jobs, objects=self.late("c", "d", provisioner="csi"), binds=at(v="x1", w="x1"))

    @pytest.mark.parametrize("provisioner", ["csi", "kubernetes.io/no-provisioner"])
    def test_the_first_user_of_a_claim_ties_it_to_its_node(self, provisioner: str) -> None:
        jobs = [waiting("v", **using("c")), waiting("w", **using("c"))]
        objects = self.late("c", provisioner=provisioner)
        objects += [] if provisioner == "csi" else self.local("x1", "y1")
        assert allowed(NODES, jobs, objects=objects, binds=at(v="x1", w="x1"))
        assert not allowed(NODES, jobs, objects=objects, binds=at(v="x1", w="y1"))

    def test_users_of_one_claim_may_share_a_volume_that_both_reach_or_have_one_made(self) -> None:
        volume = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "late"}
        shared = obj("PersistentVolume", "net", spec={**volume, "nfs": {}}, status={"phase": "Available"})
        jobs = [waiting("v", **using("c")), waiting("w", **using("c"))]
        assert allowed(NODES, jobs, objects=[*self.late("c"), shared], binds=at(v="x1", w="y1"))
        made = [*self.late("c", provisioner="csi"), *self.local("x1")]
        assert allowed(NODES, jobs, objects=made, binds=at(v="x1", w="y1"))
