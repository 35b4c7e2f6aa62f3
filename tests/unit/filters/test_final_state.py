"""Final states: is there an order in which the placed tasks could have been placed?"""

from __future__ import annotations

from typing import Any

from cpsched.filters import FILTERS, Args, ClusterState, final_state_failures, legal_order
from cpsched.filters.order import Order
from cpsched.instance import Task
from tests.unit.filters import build_devices
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of
from tests.unit.filters.build_volumes import WAIT, claim, using, volume
from tests.unit.filters.build_wishes import away, constraint, near, spread, term

NODES = [node_json(f"{zone}{i}", {"host": f"{zone}{i}", "zone": zone}) for zone in "xyz" for i in (1, 2)]
NAMES = tuple(FILTERS)
A, B = {"app": "a"}, {"app": "b"}


def tasks(*pods: tuple[str, dict[str, Any]]) -> list[tuple[Task, str]]:
    """(node, pod JSON) pairs as tasks with their nodes."""
    return [(task_of(raw, number), node) for number, (node, raw) in enumerate(pods)]


def failures(
    cluster: ClusterState, placements: list[tuple[Task, str]], names: tuple[str, ...] = NAMES
) -> dict[str, str]:
    """Who is refused after the decision, by whom; checked against the search over all tasks at once."""
    order = legal_order(cluster, placements, names, Args())
    for task, node in placements:
        cluster.add(task, node)
    before = {name: list(state.tasks) for name, state in cluster.nodes.items()}
    found = list(final_state_failures(cluster, [task for task, _ in placements], names, Args()))
    assert before == {name: state.tasks for name, state in cluster.nodes.items()}
    assert (order.order is None) == bool(found)
    return {task.name: status.plugin for task, _, status in found}


def test_mutual_company_needs_one_to_begin() -> None:
    pods = [pod_json(name, "", A, **near(term(app="a"))) for name in "pq"]
    assert failures(cluster_of(NODES), tasks(("x1", pods[0]), ("x2", pods[1]))) == {}
    apart = failures(cluster_of(NODES), tasks(("x1", pods[0]), ("y1", pods[1])))
    assert set(apart.values()) == {"InterPodAffinity"}


def test_circular_company_is_none() -> None:
    needs_b, needs_a = pod_json("p", "", A, **near(term(app="b"))), pod_json("q", "", B, **near(term(app="a")))
    found = failures(cluster_of(NODES), tasks(("x1", needs_b), ("x1", needs_a)))
    assert found == {"p": "InterPodAffinity", "q": "InterPodAffinity"}
    for pod in (needs_a, needs_b):
        pod["spec"] |= spread(constraint("host", 9))
    assert set(failures(cluster_of(NODES), tasks(("x1", needs_b), ("x1", needs_a)))) == {"p", "q"}


def test_company_may_be_placed_in_the_same_decision() -> None:
    guest, host = pod_json("p", "", B, **near(term(app="a"))), pod_json("q", "", A)
    assert failures(cluster_of(NODES), tasks(("x1", guest), ("x2", host))) == {}
    assert failures(cluster_of(NODES), tasks(("x1", guest), ("y1", host))) == {"p": "InterPodAffinity"}


def test_the_first_may_go_before_a_match_elsewhere() -> None:
    """Among all others p has no company, but it could have been placed before q."""
    first, other = pod_json("p", "", A, **near(term(app="a"))), pod_json("q", "", A)
    assert failures(cluster_of(NODES), tasks(("x1", first), ("y1", other))) == {}
    settled = cluster_of(NODES, [pod_json("r", "y1", A)])
    assert failures(settled, tasks(("x1", first))) == {"p": "InterPodAffinity"}


def test_anti_affinity_holds_in_any_order() -> None:
    shy, other = pod_json("p", "", A, **away(term(app="b"))), pod_json("q", "", B)
    found = failures(cluster_of(NODES), tasks(("x1", shy), ("x2", other)))
    assert found == {"p": "InterPodAffinity", "q": "InterPodAffinity"}
    assert failures(cluster_of(NODES), tasks(("x1", shy), ("y2", other))) == {}


def even(name: str, labels: dict[str, str] = A, **stated: Any) -> dict[str, Any]:
    return pod_json(name, "", labels, **spread(constraint(**stated)))


def test_the_emptiest_domain_is_filled_first() -> None:
    cluster = cluster_of(NODES[:4], [pod_json("r", "x1", A)])
    assert failures(cluster, tasks(("x1", even("p")), ("y1", even("q")))) == {}


def test_skew_that_no_order_can_avoid() -> None:
    placements = tasks(("x1", even("p")), ("x2", even("q")), ("x2", even("r")), ("y1", even("s")))
    found = failures(cluster_of(NODES[:4]), placements)
    assert set(found.values()) == {"PodTopologySpread"}


def test_pods_that_do_not_match_themselves_need_the_right_moment() -> None:
    """q must go to x before p raises the count there; among all others it fails."""
    cluster = cluster_of(NODES[:4])
    raises, stranger = pod_json("p", "", A), even("q", B, skew=0 + 1)
    late = [("x1", raises), ("x2", pod_json("r", "", A)), ("x1", stranger)]
    assert failures(cluster, tasks(*late)) == {}


def test_pods_without_the_constraint_may_fill_the_domain_afterwards() -> None:
    crowd = [("x1", pod_json("q", "", A)), ("x2", pod_json("r", "", A))]
    assert failures(cluster_of(NODES[:4]), tasks(("x1", even("p")), *crowd)) == {}
    settled = cluster_of(NODES[:4], [pod_json(name, "x1", A) for name in "qr"])
    assert failures(settled, tasks(("x1", even("p")))) == {"p": "PodTopologySpread"}


def test_spread_and_affinity_together() -> None:
    """p and q spread over hosts, and each needs company: the plain pod comes first."""
    both = {**near(term(app="b")), **spread(constraint("host"))}
    pods = [pod_json(name, "", A, **both) for name in "pq"]
    fine = [("x1", pods[0]), ("x2", pods[1]), ("x1", pod_json("r", "", B))]
    assert failures(cluster_of(NODES[:2]), tasks(*fine)) == {}
    assert set(failures(cluster_of(NODES[:2]), tasks(*fine[:2]))) == {"p", "q"}


def test_static_filters_and_ports_are_tested_against_all_others() -> None:
    port = {"containers": [{"name": "c", "ports": [{"hostPort": 80}]}]}
    found = failures(cluster_of(NODES), tasks(("x1", pod_json("p", **port)), ("x1", pod_json("q", **port))))
    assert found == {"p": "NodePorts", "q": "NodePorts"}
    picky = pod_json("p", nodeSelector={"zone": "y"})
    assert failures(cluster_of(NODES), tasks(("x1", picky))) == {"p": "NodeAffinity"}


def test_only_enabled_filters_are_asked() -> None:
    huge = pod_json("p", containers=[{"name": "c", "resources": {"requests": {"cpu": "99"}}}])
    assert failures(cluster_of(NODES), tasks(("x1", huge))) == {"p": "NodeResourcesFit"}
    assert failures(cluster_of(NODES), tasks(("x1", huge)), ("NodeAffinity",)) == {}


def test_volumes_are_booked_in_turn() -> None:
    claims = [claim("c"), claim("d", size="1Gi")]
    pods = [("x1", pod_json("p", **using("c"))), ("y1", pod_json("q", **using("d")))]
    small, large = volume("small", size="1Gi", zone="x"), volume("large", size="9Gi")
    for volumes, refused in (([large], True), ([large, volume("more", size="5Gi")], False), ([large, small], True)):
        cluster = cluster_of(NODES, PersistentVolumeClaim=claims, PersistentVolume=volumes, StorageClass=[WAIT])
        assert (set(failures(cluster, tasks(*pods)).values()) == {"VolumeBinding"}) is refused


def test_a_volume_order_that_works_is_found() -> None:
    """If q goes first it takes the small volume, since it may be used anywhere; p first leaves it for q."""
    claims = [claim("c", size="1Gi"), claim("d", size="1Gi")]
    volumes = [volume("here", size="1Gi", zone="x"), volume("anywhere", size="2Gi")]
    pods = [("y1", pod_json("p", **using("c"))), ("x1", pod_json("q", **using("d")))]
    cluster = cluster_of(NODES, PersistentVolumeClaim=claims, PersistentVolume=volumes, StorageClass=[WAIT])
    assert failures(cluster, tasks(*pods)) == {}


def picking(name: str, *allowed: str) -> dict[str, Any]:
    selector = {"matchExpressions": [{"key": "id", "operator": "In", "values": list(allowed)}]}
    return claim(name, size="1Gi", selector=selector)


def test_what_is_booked_depends_on_the_order() -> None:
    """p and q both like A best. If q takes it, p takes B, and nothing is left for r, which has to wait for q."""
    volumes = [volume(n, size=f"{i}Gi", metadata={"labels": {"id": n}}) for i, n in enumerate("ABC", start=1)]
    claims = [picking("p", "A", "B"), picking("q", "A", "C"), picking("r", "B")]
    cluster = cluster_of(NODES, PersistentVolumeClaim=claims, PersistentVolume=volumes, StorageClass=[WAIT])
    guest = pod_json("r", "", B, **near(term(app="q")), **using("r"))
    pods = [pod_json("q", "", {"app": "q"}, **using("q")), pod_json("p", **using("p")), guest]
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        assert failures(cluster.copy(), tasks(*(("x1", pods[number]) for number in order))) == {}


def test_devices_are_booked_in_turn() -> None:
    claims = [build_devices.claim(name, build_devices.request()) for name in "cd"]
    pods = [("x1", pod_json(f"p{name}", resourceClaims=[{"name": name, "resourceClaimName": name}])) for name in "cd"]
    for devices, passes in ((["1"], False), (["1", "2"], True)):
        slices = [build_devices.slice_of(*map(build_devices.device, devices), node="x1")]
        cluster = cluster_of(NODES, ResourceClaim=claims, ResourceSlice=slices, DeviceClass=[build_devices.CLASS])
        assert (failures(cluster, tasks(*pods)) == {}) is passes


def test_attached_volume_must_come_before_the_node_is_full() -> None:
    """An attached volume that no task uses counts twice when its pod comes, so that pod has to come first."""
    pvs = [{"metadata": {"name": n}, "spec": {"csi": {"driver": "d", "volumeHandle": n}}} for n in ("v1", "v2")]
    claims = [claim("c1", bound="v1"), claim("c2", bound="v2")]
    attached = {"attacher": "d", "nodeName": "x1", "source": {"persistentVolumeName": "v1"}}
    cluster = cluster_of(
        NODES,
        PersistentVolumeClaim=claims,
        PersistentVolume=pvs,
        CSINode=[{"metadata": {"name": "x1"}, "spec": {"drivers": [{"name": "d", "allocatable": {"count": 2}}]}}],
        VolumeAttachment=[{"metadata": {"name": "t"}, "spec": attached}],
    )
    placements = tasks(("x1", pod_json("p", **using("c2"))), ("x1", pod_json("q", **using("c1"))))
    assert failures(cluster, placements) == {}
    order = legal_order(cluster_without(cluster, placements), placements, ("NodeVolumeLimits",), Args()).order
    assert order is not None
    assert [task.name for task in order] == ["q", "p"]


def cluster_without(cluster: ClusterState, placements: list[tuple[Task, str]]) -> ClusterState:
    copy = cluster.copy()
    for task, _ in placements:
        copy.remove(task)
    return copy


def test_who_is_stuck_is_stated_with_the_reason() -> None:
    placements = tasks(("y1", pod_json("p", "", B, **near(term(app="a")))), ("x1", pod_json("q", "", A)))
    found = legal_order(cluster_of(NODES), placements, NAMES, Args())
    assert found.order is None
    assert not found.exhausted
    ((task, node, status),) = found.stuck
    assert (task.name, node, status.plugin) == ("p", "y1", "InterPodAffinity")


def test_an_exhausted_search_falls_back_to_all_others(monkeypatch: Any) -> None:
    monkeypatch.setattr("cpsched.filters.order.WORK", -1000)
    pods = [pod_json(name, "", A, **near(term(app="a"))) for name in "pq"]
    placements = tasks(("x1", pods[0]), ("x2", pods[1]))
    assert legal_order(cluster_of(NODES), placements, NAMES, Args()) == Order(None, (), exhausted=True)
    cluster = cluster_of(NODES)
    for task, node in placements:
        cluster.add(task, node)
    assert not list(final_state_failures(cluster, [task for task, _ in placements], NAMES, Args()))


def test_many_alike_pods_need_no_search() -> None:
    nodes = [node_json(f"n{i}", {"zone": f"z{i % 7}", "host": f"n{i}"}) for i in range(70)]
    cluster = cluster_of(nodes)
    placements = tasks(*((f"n{i % 70}", even(f"p{i}")) for i in range(350)))
    for task, node in placements:
        cluster.add(task, node)
    assert not list(final_state_failures(cluster, [task for task, _ in placements], NAMES, Args()))


def test_a_node_without_the_key_of_a_later_constraint_refuses_in_any_order() -> None:
    """Among all others it is the first constraint that refuses it: the zone is fuller than the other one."""
    nodes = [
        node_json(name, {"zone": name[0]} | ({"disk": name} if name[1] == "2" else {})) for name in ("x1", "x2", "y2")
    ]
    settled = cluster_of(nodes, [pod_json(name, "x2", A) for name in "rs"])
    pods = [pod_json(name, "", A, **spread(constraint("zone", 1), constraint("disk", 9))) for name in "pq"]
    found = failures(settled, tasks(("x1", pods[0]), ("x1", pods[1])))
    assert found == {"p": "PodTopologySpread", "q": "PodTopologySpread"}
