"""NodeName, NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.filters import Args, Code, Features, feasible, prefilter
from cpsched.objects.affinity import NodeAffinity
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of, verdict, verdicts

TOLERATES_CORDON = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}]


def tainted(name: str, effect: str) -> dict[str, Any]:
    return node_json(name, taints=[{"key": "k", "value": "v", "effect": effect}])


def test_named_node_is_the_only_one() -> None:
    cluster = cluster_of([node_json("a"), node_json("b")])
    task = task_of(pod_json("p", "a"))
    found = verdicts("NodeName", task, cluster)
    assert found["a"].is_success
    assert found["b"].reasons == ("node(s) didn't match the requested node name",)
    assert found["b"].code is Code.UNRESOLVABLE


def test_head_narrows_to_the_named_node() -> None:
    cluster = cluster_of([node_json("a"), node_json("b")])
    task = task_of(pod_json("p", "a"))
    assert prefilter(task, cluster, ["NodeName"], Args()).nodes is None
    assert prefilter(task, cluster, ["NodeName"], Args(Features.of("head"))).nodes == {"a"}


def test_cordon_and_its_toleration() -> None:
    cluster = cluster_of([node_json("a", unschedulable=True)])
    refused = verdict("NodeUnschedulable", task_of(pod_json("p")), cluster, "a")
    assert (refused.code, refused.reasons) == (Code.UNRESOLVABLE, ("node(s) were unschedulable",))
    assert verdict("NodeUnschedulable", task_of(pod_json("p", tolerations=TOLERATES_CORDON)), cluster, "a").is_success


@pytest.mark.parametrize(
    ("effect", "passes"), [("NoSchedule", False), ("NoExecute", False), ("PreferNoSchedule", True)]
)
def test_which_taints_block(effect: str, passes: bool) -> None:
    status = verdict("TaintToleration", task_of(pod_json("p")), cluster_of([tainted("a", effect)]), "a")
    assert status.is_success is passes
    if not passes:
        assert (status.code, status.reasons) == (Code.UNRESOLVABLE, ("node(s) had untolerated taint(s)",))


def test_every_hard_taint_needs_a_toleration() -> None:
    taints = [{"key": "k", "effect": "NoSchedule"}, {"key": "l", "effect": "NoExecute"}]
    cluster = cluster_of([node_json("a", taints=taints)])
    one = [{"key": "k", "operator": "Exists"}]
    assert not verdict("TaintToleration", task_of(pod_json("p", tolerations=one)), cluster, "a").is_success
    both = [*one, {"key": "l", "operator": "Exists", "effect": "NoExecute"}]
    assert verdict("TaintToleration", task_of(pod_json("p", tolerations=both)), cluster, "a").is_success


def named(*values: str, extra: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [v]} for v in values], **(extra or {})}


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def test_terms_that_all_name_nodes_limit_the_search() -> None:
    cluster = cluster_of([node_json(name) for name in "abc"])
    task = task_of(pod_json("p", affinity=affinity(named("a"), named("b"))))
    found = feasible(task, cluster, ["NodeAffinity"], Args())
    assert found.prefiltered.nodes == {"a", "b"}
    outside = found.by_node()["c"]
    assert (outside.code, outside.plugin) == (Code.UNRESOLVABLE, "")
    assert outside.reasons == ("node(s) didn't satisfy plugin(s) [NodeAffinity]",)


def test_one_open_term_leaves_all_nodes() -> None:
    open_term = {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}
    task = task_of(pod_json("p", affinity=affinity(named("a"), open_term)))
    assert prefilter(task, cluster_of([node_json("a")]), ["NodeAffinity"], Args()).nodes is None


def test_terms_that_contradict_themselves() -> None:
    task = task_of(pod_json("p", affinity=affinity(named("a", "b"))))
    status = prefilter(task, cluster_of([node_json("a")]), ["NodeAffinity"], Args()).status
    assert (status.code, status.reasons) == (Code.UNRESOLVABLE, ("pod affinity terms conflict",))


def test_no_terms_match_no_node() -> None:
    task = task_of(pod_json("p", affinity=affinity()))
    assert verdict("NodeAffinity", task, cluster_of([node_json("a")]), "a").code is Code.UNRESOLVABLE


def test_added_affinity_comes_first() -> None:
    term = {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
    added = NodeAffinity.model_validate(affinity(term)["nodeAffinity"])
    cluster = cluster_of([node_json("a"), node_json("b", {"disk": ""})])
    task = task_of(pod_json("p", nodeSelector={"x": "y"}))
    found = verdicts("NodeAffinity", task, cluster, Args(added_affinity=added))
    assert found["a"].reasons == ("node(s) didn't match scheduler-enforced node affinity",)
    assert found["b"].reasons == ("node(s) didn't match Pod's node affinity/selector",)


def test_added_affinity_that_does_not_parse_is_the_users_fault() -> None:
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": []}]}
    added = NodeAffinity.model_validate(affinity(term)["nodeAffinity"])
    with pytest.raises(InputError, match="addedAffinity"):
        prefilter(task_of(pod_json("p")), cluster_of([]), ["NodeAffinity"], Args(added_affinity=added))


def test_skip_without_any_wish() -> None:
    prefiltered = prefilter(task_of(pod_json("p")), cluster_of([node_json("a")]), ["NodeAffinity", "NodePorts"], Args())
    assert prefiltered.skipped == {"NodeAffinity", "NodePorts"}


def ports(*stated: dict[str, Any], init: bool = False, restart: str = "") -> dict[str, Any]:
    containers = [{"name": "c", "ports": list(stated), "restartPolicy": restart}]
    return {"initContainers": containers} if init else {"containers": containers}


@pytest.mark.parametrize(
    ("held", "wanted", "passes"),
    [
        ({"hostPort": 80}, {"hostPort": 80}, False),
        ({"hostPort": 80}, {"hostPort": 81}, True),
        ({"hostPort": 80, "protocol": "UDP"}, {"hostPort": 80}, True),
        ({"hostPort": 80, "hostIP": "1.1.1.1"}, {"hostPort": 80, "hostIP": "2.2.2.2"}, True),
        ({"hostPort": 80, "hostIP": "1.1.1.1"}, {"hostPort": 80, "hostIP": "0.0.0.0"}, False),
        ({"hostPort": 80, "hostIP": "0.0.0.0"}, {"hostPort": 80, "hostIP": "1.1.1.1"}, False),
        ({"hostPort": 80, "hostIP": "::"}, {"hostPort": 80, "hostIP": "1.1.1.1"}, True),
        ({"containerPort": 80}, {"hostPort": 80}, True),
    ],
)
def test_ports_clash(held: dict[str, Any], wanted: dict[str, Any], passes: bool) -> None:
    cluster = cluster_of([node_json("a")], [pod_json("q", "a", **ports(held))])
    status = verdict("NodePorts", task_of(pod_json("p", **ports(wanted))), cluster, "a")
    assert status.is_success is passes
    if not passes:
        reason = "node(s) didn't have free ports for the requested pod ports"
        assert (status.code, status.reasons) == (Code.UNSCHEDULABLE, (reason,))


def test_sidecars_hold_ports_and_other_init_containers_do_not() -> None:
    task = task_of(pod_json("p", **ports({"hostPort": 80})))
    for restart, passes in (("Always", False), ("", True)):
        cluster = cluster_of(
            [node_json("a")], [pod_json("q", "a", **ports({"hostPort": 80}, init=True, restart=restart))]
        )
        assert verdict("NodePorts", task, cluster, "a").is_success is passes


def small(name: str, **allocatable: str) -> dict[str, Any]:
    return {**node_json(name), "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "2", **allocatable}}}


def asks(name: str, node: str = "", **requests: str) -> dict[str, Any]:
    names = {key.replace("__", "/").replace("_", "."): value for key, value in requests.items()}
    return pod_json(name, node, containers=[{"name": "c", "resources": {"requests": names}}])


def test_fit_reports_everything_that_lacks() -> None:
    cluster = cluster_of([small("a")], [asks("q", "a", cpu="600m", memory="600Mi"), asks("r", "a")])
    status = verdict("NodeResourcesFit", task_of(asks("p", cpu="500m", memory="500Mi")), cluster, "a")
    assert status.code is Code.UNSCHEDULABLE
    assert status.reasons == ("Too many pods", "Insufficient cpu", "Insufficient memory")


def test_fit_oversized_request_cannot_be_helped() -> None:
    cluster = cluster_of([small("a")], [asks("q", "a", cpu="1")])
    fits_when_empty, oversized = task_of(asks("p", cpu="1")), task_of(asks("p", cpu="1001m"))
    assert verdict("NodeResourcesFit", fits_when_empty, cluster, "a").code is Code.UNSCHEDULABLE
    assert verdict("NodeResourcesFit", oversized, cluster, "a").code is Code.UNRESOLVABLE


def test_fit_too_many_pods_alone_is_never_unresolvable() -> None:
    cluster = cluster_of([small("a", pods="0")])
    assert verdict("NodeResourcesFit", task_of(asks("p")), cluster, "a").code is Code.UNSCHEDULABLE


def test_fit_zero_requests_are_not_checked() -> None:
    cluster = cluster_of([small("a")], [asks("q", "a", cpu="2")])
    assert verdict("NodeResourcesFit", task_of(asks("p", cpu="0", memory="1Mi")), cluster, "a").is_success


def test_fit_ignores_only_extended_resources() -> None:
    cluster = cluster_of([small("a")])
    task = task_of(asks("p", example_com__gpu="1"))
    assert not verdict("NodeResourcesFit", task, cluster, "a").is_success
    for args in (
        Args(ignored_resources=frozenset({"example.com/gpu"})),
        Args(ignored_resource_groups=frozenset({"example.com"})),
    ):
        assert verdict("NodeResourcesFit", task, cluster, "a", args).is_success
    native = task_of(pod_json("p", containers=[{"name": "c", "resources": {"requests": {"hugepages-2Mi": "2Mi"}}}]))
    args = Args(ignored_resources=frozenset({"hugepages-2Mi"}))
    assert not verdict("NodeResourcesFit", native, cluster, "a", args).is_success


def test_fit_unknown_names_do_not_count() -> None:
    assert verdict("NodeResourcesFit", task_of(asks("p", storage="5Gi")), cluster_of([small("a")]), "a").is_success


def test_fit_leaves_extended_resources_to_device_classes() -> None:
    device_class = {"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}
    task = task_of(asks("p", example_com__gpu="1"))
    nodes = [small("without"), {**small("with"), "status": {"allocatable": {"pods": "2", "example.com/gpu": "1"}}}]
    busy = [asks("q", "with", example_com__gpu="1")]
    cluster = cluster_of(nodes, busy, DeviceClass=[device_class])
    assert verdict("NodeResourcesFit", task, cluster, "without").is_success
    assert not verdict("NodeResourcesFit", task, cluster, "with").is_success
    off = Args(Features(dra_extended_resource=False))
    assert not verdict("NodeResourcesFit", task, cluster, "without", off).is_success


HUGE = "9000000000000000000"


def wants(name: str, amount: str, node: str = "") -> dict[str, Any]:
    return pod_json(name, node, containers=[{"name": "c", "resources": {"requests": {"x.y/z": amount}}}])


def test_fit_is_exact_beyond_64_bits() -> None:
    node = {**node_json("a"), "status": {"allocatable": {"pods": "9", "x.y/z": HUGE}}}
    cluster = cluster_of([node], [wants(name, HUGE, "a") for name in "qrs"])
    status = verdict("NodeResourcesFit", task_of(wants("p", "1")), cluster, "a")
    assert (status.code, status.reasons) == (Code.UNSCHEDULABLE, ("Insufficient x.y/z",))


def test_fit_stays_exact_when_amounts_grow_beyond_64_bits() -> None:
    cluster = cluster_of([{**node_json("a"), "status": {"allocatable": {"pods": "9", "x.y/z": "5"}}}])
    task = task_of(wants("p", "1"))
    assert verdict("NodeResourcesFit", task, cluster, "a").is_success
    for number in (1, 2, 3):
        cluster.add(task_of(wants("q", HUGE), number), "a")
        assert verdict("NodeResourcesFit", task, cluster, "a").reasons == ("Insufficient x.y/z",)
    for task_there in list(cluster.nodes["a"].tasks):
        cluster.remove(task_there)
    assert verdict("NodeResourcesFit", task, cluster, "a").is_success
