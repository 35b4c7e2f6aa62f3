"""Properties: the batch path is the plain loop, hooks are a recount, and the order search is exact."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cpsched.filters import (
    FILTERS,
    Args,
    ClusterState,
    add_task,
    chosen,
    feasible,
    final_state_failures,
    first_failure,
    legal_order,
    prefilter,
)
from cpsched.filters.coupling import placed_task
from cpsched.filters.shortcuts import order_does_not_matter
from cpsched.instance import Task
from tests.unit.filters.build import cluster_of, task_of

NAMES = tuple(FILTERS)
SLOW = settings(max_examples=80)

apps = st.sampled_from(["a", "b"])
keys = st.sampled_from(["zone", "host"])
selectors = st.one_of(
    apps.map(lambda app: {"matchLabels": {"app": app}}),
    st.just({}),
    st.just({"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
)
terms = st.builds(lambda key, selector: {"topologyKey": key, "labelSelector": selector}, keys, selectors)
constraints = st.builds(
    lambda key, selector, skew, domains, policy: {
        "topologyKey": key,
        "labelSelector": selector,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule",
        "minDomains": domains,
        "nodeTaintsPolicy": policy,
    },
    keys,
    selectors,
    st.integers(1, 2),
    st.integers(1, 3),
    st.sampled_from(["Ignore", "Honor"]),
)
amounts = st.sampled_from(["0", "1", "3", "4000000000000000000", "8000000000000000000"])


@st.composite
def nodes(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        labels = {"host": f"n{number}", "zone": draw(st.sampled_from(["x", "y"])), "disk": draw(apps)}
        for key in draw(st.sets(st.sampled_from(["zone", "host"]), max_size=1)):
            del labels[key]
        effect = draw(st.sampled_from(["", "NoSchedule", "NoExecute", "PreferNoSchedule"]))
        taints = [{"key": "k", "value": "v", "effect": effect}] if effect else []
        allocatable = {"cpu": "4", "x.y/z": draw(amounts), "pods": str(draw(st.integers(0, 4)))}
        found.append(
            {
                "metadata": {"name": f"n{number}", "labels": labels},
                "spec": {"taints": taints, "unschedulable": draw(st.booleans())},
                "status": {"allocatable": allocatable},
            }
        )
    return found


@st.composite
def pods(draw: st.DrawFn, node: str = "") -> dict[str, Any]:
    affinity = {
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": draw(st.lists(terms, max_size=2))},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": draw(st.lists(terms, max_size=1))},
    }
    requests = {"cpu": str(draw(st.integers(0, 3))), "x.y/z": draw(amounts)}
    port = draw(st.sampled_from([0, 0, 80]))
    metadata: dict[str, Any] = {"namespace": draw(st.sampled_from(["default", "other"])), "labels": {"app": draw(apps)}}
    if draw(st.integers(0, 5)) == 0:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {
        "metadata": metadata,
        "spec": {
            "nodeName": node,
            "nodeSelector": {"disk": draw(apps)} if draw(st.booleans()) else {},
            "tolerations": [{"operator": "Exists"}] if draw(st.booleans()) else [],
            "affinity": affinity,
            "topologySpreadConstraints": draw(st.lists(constraints, max_size=2)),
            "containers": [{"name": "c", "resources": {"requests": requests}, "ports": [{"hostPort": port}]}],
        },
    }


@st.composite
def clusters(draw: st.DrawFn) -> ClusterState:
    stated = draw(nodes())
    names = [node["metadata"]["name"] for node in stated]
    running = draw(st.lists(st.sampled_from(names).flatmap(pods), max_size=6))
    return cluster_of(
        stated, [{**pod, "metadata": {**pod["metadata"], "name": f"q{i}"}} for i, pod in enumerate(running)]
    )


@SLOW
@given(clusters(), pods())
def test_batch_path_says_what_the_plain_loop_says(cluster: ClusterState, raw: dict[str, Any]) -> None:
    task = task_of(raw)
    batch = feasible(task, cluster, NAMES, Args())
    plain = prefilter(task, cluster, NAMES, Args())
    assert plain.status.is_success
    for name, node in cluster.nodes.items():
        assert batch.by_node()[name] == first_failure(task, node, cluster, plain, chosen(NAMES))
    assert batch.passing == [name for name, status in batch.by_node().items() if status.is_success]


@SLOW
@given(clusters(), pods(), pods(), st.integers(0, 3))
def test_adding_and_removing_leaves_no_trace(
    cluster: ClusterState, raw: dict[str, Any], other: dict[str, Any], number: int
) -> None:
    task, guest = task_of(raw), task_of(other, 1)
    name = list(cluster.nodes)[number % len(cluster.nodes)]
    ports = set(cluster.nodes[name].ports)
    before = feasible(task, cluster, NAMES, Args()).by_node()
    cluster.add(guest, name)
    cluster.remove(guest)
    if cluster.nodes[name].ports == ports:
        assert feasible(task, cluster, NAMES, Args()).by_node() == before


@SLOW
@given(clusters(), pods(), pods(), st.integers(0, 3))
def test_hooks_are_a_recount(cluster: ClusterState, raw: dict[str, Any], other: dict[str, Any], number: int) -> None:
    """Telling the states that a task comes is counting again with it, where no special rule says otherwise."""
    other["metadata"].pop("deletionTimestamp", None)
    counts_everyone = any(not c["labelSelector"] for c in raw["spec"]["topologySpreadConstraints"])
    task, guest = task_of(raw), task_of(other, 1)
    node = list(cluster.nodes.values())[number % len(cluster.nodes)]
    names = ("PodTopologySpread", "InterPodAffinity")
    filters = chosen(names)
    hooked = prefilter(task, cluster, names, Args())
    add_task(hooked, filters, task, guest, node)
    cluster.add(guest, node.name)
    counted = prefilter(task, cluster, names, Args())
    for one in filters:
        if one.name in hooked.skipped or (counts_everyone and one.name == "PodTopologySpread"):
            continue
        for place in cluster.node_list:
            left = one.filter(hooked.states[one.name], task, place, cluster)
            assert left == one.filter(counted.states[one.name], task, place, cluster)


def can_be_placed(cluster: ClusterState, order: tuple[tuple[Task, str], ...], names: tuple[str, ...]) -> bool:
    """Place the tasks one after another, each tested when its turn comes."""
    placed = []
    for task, node in order:
        prefiltered = prefilter(task, cluster, names, Args())
        status = prefiltered.status
        if status.is_success:
            status = first_failure(task, cluster.nodes[node], cluster, prefiltered, chosen(names))
        if not status.is_success:
            break
        cluster.add(task, node)
        placed.append(task)
    for task in placed:
        cluster.remove(task)
    return len(placed) == len(order)


@SLOW
@given(clusters(), st.lists(st.tuples(pods(), st.integers(0, 3)), min_size=1, max_size=4))
def test_final_state_is_legal_iff_some_order_is(
    cluster: ClusterState, stated: list[tuple[dict[str, Any], int]]
) -> None:
    names = ("TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity")
    for raw, _ in stated:
        raw["metadata"].pop("deletionTimestamp", None)
    places = list(cluster.nodes)
    placements = [(task_of(raw, i), places[number % len(places)]) for i, (raw, number) in enumerate(stated)]
    expected = any(can_be_placed(cluster, order, names) for order in permutations(placements))
    assert (legal_order(cluster, placements, names, Args()).order is not None) == expected
    for task, node in placements:
        cluster.add(task, node)
    found = list(final_state_failures(cluster, [task for task, _ in placements], names, Args()))
    assert (not found) == expected


@st.composite
def alike(draw: st.DrawFn) -> tuple[ClusterState, list[tuple[Task, str]]]:
    """Pods that share one constraint, some of which do not match it, over a cluster with matching pods."""
    zones = draw(st.integers(2, 3))
    stated = [{"metadata": {"name": f"n{i}", "labels": {"zone": f"z{i}"}}} for i in range(zones)]
    running = [{"metadata": {"labels": {"app": "a"}}, "spec": {"nodeName": f"n{i}"}} for i in draw(_places(zones, 4))]
    shared = {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "a"}},
        "maxSkew": draw(st.integers(1, 2)),
        "whenUnsatisfiable": "DoNotSchedule",
        "minDomains": draw(st.integers(1, 4)),
    }
    placements = []
    for number, place in enumerate(draw(_places(zones, 5))):
        raw = {"metadata": {"labels": {"app": draw(apps)}}, "spec": {"topologySpreadConstraints": [shared]}}
        placements.append((task_of(raw, number), f"n{place}"))
    return cluster_of(stated, running), placements


def _places(zones: int, most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, zones - 1), max_size=most)


@SLOW
@given(alike())
def test_one_shared_constraint_needs_no_search(case: tuple[ClusterState, list[tuple[Task, str]]]) -> None:
    cluster, placements = case
    names = ("PodTopologySpread",)
    expected = any(can_be_placed(cluster, order, names) for order in permutations(placements))
    for task, node in placements:
        cluster.add(task, node)
    group = [placed_task(task, node, cluster, names, Args()) for task, node in placements]
    assert not group or order_does_not_matter(group, cluster)
    assert (not list(final_state_failures(cluster, [task for task, _ in placements], names, Args()))) == expected
