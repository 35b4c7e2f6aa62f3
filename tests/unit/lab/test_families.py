"""Every family shows what its name says, and every engine can decide it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import cpsched
from cpsched.importers.policy import load_policy
from cpsched.instance import Instance, Status
from cpsched.lab.families import FAMILIES
from cpsched.lab.families.contended import CLASSES
from cpsched.lab.families.shared_cards import WHOLE
from cpsched.lab.generate import generate
from cpsched.rules.cards import loads_on
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution

TRACES = Path(__file__).parents[2] / "traces"
GPU = "nvidia.com/gpu"
SMALL: dict[str, dict[str, Any]] = {
    "contended": {"nodes": 4, "gangs": 3, "running_per_node": 4, "largest_gang": 10},
    "gpu-pool": {"nodes": 4},
    "kai-reclaim": {"nodes": 2},
    "spread-heavy": {"nodes_per_zone": 1, "replicas": 3},
    "priority-matters": {"nodes": 3, "pods_per_node": 3},
    "gpu-share": {"nodes": 2, "cards_per_node": 2},
    "numa": {"nodes": 2, "cpus": 4},
    "openb": {"nodes": 8, "pods": 24},
    "dlrm": {"instances": 20, "cpu_nodes": 3, "gpu_nodes": 2, "limits": "none"},
}
SEEDS = (1, 2, 3)


def raw(name: str, seed: int = 1, **parameters: Any) -> dict[str, Any]:
    return generate(name, parameters, seed=seed, trace=TRACES / name)


def solved(instance: Instance, engine: str = "optimal", model: str = "volcano") -> Solution:
    return cpsched.solve(instance, model=model, engine=engine, deterministic=True, time_limit=20)


def values(solution: Solution) -> dict[str, Any]:
    return {level.label: level.value for level in solution.levels}


def first_difference(one: Solution, other: Solution) -> str:
    mine, theirs = values(one), values(other)
    return next((label for label in mine if mine[label] != theirs[label]), "")


def idle(instance: Instance, resource: str) -> dict[str, int]:
    left = {name: node.allocatable.get(resource, 0) for name, node in instance.nodes.items()}
    for name, tasks in instance.tasks_by_node.items():
        left[name] -= sum(task.requests.get(resource, 0) for task in tasks)
    return left


def wanted(instance: Instance, resource: str) -> int:
    waiting = (task for task in instance.tasks.values() if task.status is Status.PENDING)
    return sum(task.requests.get(resource, 0) for task in waiting)


@pytest.mark.parametrize("name", FAMILIES)
def test_both_mirrors_and_the_optimum_decide_it(name: str) -> None:
    instance = cpsched.load(raw(name, **SMALL.get(name, {})))
    # A configuration of Volcano is no answer to what kube-scheduler would do.
    for model in ("volcano", "kube") if instance.conf is None else ("volcano",):
        heuristic, best = solved(instance, model, model), solved(instance, "optimal", model)
        assert best.status.value in ("optimal", "feasible")
        assert not best.findings
        assert heuristic.levels


@pytest.mark.parametrize("seed", SEEDS)
def test_contended_asks_for_more_than_is_idle(seed: int) -> None:
    instance = cpsched.load(raw("contended", seed))
    assert any(wanted(instance, r) > sum(idle(instance, r).values()) for r in ("cpu", "memory", GPU))
    assert len({job.priority for job in instance.jobs.values()}) >= 3
    assert {job.priority for job in instance.jobs.values()} <= set(CLASSES.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_gpu_pool_is_of_one_shape(seed: int) -> None:
    instance = cpsched.load(raw("gpu-pool", seed, placement="first-fit", fill=80, nodes=20))
    assert len({tuple(node.allocatable.items()) for node in instance.nodes.values()}) == 1
    held = sum(t.requests[GPU] for t in instance.tasks.values() if t.node)
    assert 0.7 <= held / sum(node.allocatable[GPU] for node in instance.nodes.values()) <= 0.85
    assert len({task.requests[GPU] for task in instance.tasks.values()}) > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_gang_heavy_gangs_are_large_whole_and_too_many(seed: int) -> None:
    instance = cpsched.load(raw("gang-heavy", seed, gangs=20))
    gangs = [job for job in instance.jobs.values() if job.key.startswith("default/gang")]
    assert all(len(job.tasks) >= 4 for job in gangs)
    assert sum(job.min_available == len(job.tasks) for job in gangs) >= len(gangs) * 0.6
    assert wanted(instance, "cpu") > sum(idle(instance, "cpu").values())
    best = solved(cpsched.load(raw("gang-heavy", seed)))
    assert 0 < len(best.binds) + len(best.pipelined) < wanted(instance, "cpu") / 2000


@pytest.mark.parametrize("seed", SEEDS)
def test_queue_borrowing_is_settled_by_reclaim(seed: int) -> None:
    instance = cpsched.load(raw("queue-borrowing", seed))
    shares = Snapshot(instance, load_policy("volcano", instance=instance)).shares
    assert shares["borrower"].allocated[GPU] > shares["borrower"].deserved[GPU]
    for engine in ("volcano", "optimal"):
        evictions = solved(instance, engine).evictions
        assert evictions
        assert {one.action for one in evictions} == {"reclaim"}


@pytest.mark.parametrize("seed", SEEDS)
def test_priority_inversion_leaves_volcano_behind(seed: int) -> None:
    instance = cpsched.load(raw("priority-inversion", seed))
    heuristic, best = solved(instance, "volcano"), solved(instance)
    assert first_difference(heuristic, best) == "jobs_admitted[1000]"
    assert values(heuristic)["jobs_admitted[1000]"] < values(best)["jobs_admitted[1000]"]
    assert not best.evictions


@pytest.mark.parametrize("seed", SEEDS)
def test_pdb_heavy_budgets_bind(seed: int) -> None:
    content = raw("pdb-heavy", seed)
    best = values(solved(cpsched.load(content), model="kube"))
    free = values(solved(cpsched.load({**content, "budgets": []}), model="kube"))
    assert (best["victim_max_priority"], free["victim_max_priority"]) == (50, 10)
    assert best["pdb_violations"] == 0
    lavish = cpsched.load(raw("pdb-heavy", seed, disruptions=100))
    assert values(solved(lavish, model="kube"))["victim_max_priority"] == 10


@pytest.mark.parametrize("kind", ["spreading", "apart", "near"])
def test_spread_heavy_constraints_of_each_kind_bind(kind: str) -> None:
    kinds = {"spreading": 0, "apart": 0, "near": 0, kind: 1}
    content = raw("spread-heavy", nodes_per_zone=1, replicas=6, **kinds)
    bound = len(solved(cpsched.load(content)).binds)
    for job in content["jobs"]:
        for key in ("topologySpreadConstraints", "affinity"):
            job["tasks"][0].pop(key, None)
    assert bound < len(solved(cpsched.load(content)).binds) == 6


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("name", "plugin"), [("gpu-share", "deviceshare"), ("node-groups", "nodegroup"), ("numa", "numa-aware")]
)
def test_less_is_possible_under_the_plugin_of_a_family(name: str, plugin: str, seed: int) -> None:
    content = raw(name, seed)
    best = solved(cpsched.load(content))
    plugins = [one for one in content["conf"]["tiers"][0]["plugins"] if one["name"] != plugin]
    free = {**content, "conf": {**content["conf"], "tiers": [{"plugins": plugins}]}}
    without = solved(cpsched.load(free))
    label = first_difference(best, without)
    assert label.startswith("jobs_admitted")
    assert values(best)[label] < values(without)[label]


def test_gpu_share_leaves_volcano_behind() -> None:
    heuristic, best = (solved(cpsched.load(raw("gpu-share", 4)), engine) for engine in ("volcano", "optimal"))
    assert values(heuristic)["jobs_admitted[1000]"] < values(best)["jobs_admitted[1000]"]
    assert not heuristic.findings


def test_openb_shares_cards() -> None:
    instance = cpsched.load(raw("openb", nodes=8, pods=24, cards="shared"))
    memory = {task.requests.get("volcano.sh/vgpu-memory", 0) for task in instance.tasks.values()}
    assert any(0 < one < 1_000_000 for one in memory)
    assert not any(GPU in task.requests for task in instance.tasks.values())
    snapshot = Snapshot(instance, load_policy("volcano", instance=instance))
    assert snapshot.cards is not None
    held = [loads_on(snapshot, name, frozenset()) for name in snapshot.cards.cards]
    assert any(load.sharers for loads in held for load in loads)
    assert all(load.memory <= WHOLE for loads in held for load in loads)


@pytest.mark.parametrize("seed", SEEDS)
def test_fragmentation_strands_gpus_and_leaves_both_mirrors_behind(seed: int) -> None:
    instance = cpsched.load(raw("fragmentation", seed, small=60))
    left = idle(instance, GPU)
    large = [t for t in instance.tasks.values() if t.status is Status.PENDING and t.requests[GPU] == 4000]
    assert sum(left.values()) >= 4000 * len(large)
    assert sum(room >= 4000 for room in left.values()) < len(large)
    for model in ("volcano", "kube"):
        assert first_difference(solved(instance, model, model), solved(instance, model=model)) == "jobs_admitted[100]"


@pytest.mark.parametrize("seed", SEEDS)
def test_topology_demands_change_what_is_placed_where(seed: int) -> None:
    content = raw("topology", seed, hard=100, grouped=50)
    limits = {job["networkTopology"]["highestTierAllowed"] for job in content["jobs"] if "networkTopology" in job}
    assert limits <= {1, 2}
    assert any("subGroupPolicy" in job for job in content["jobs"])
    near = solved(cpsched.load(content), "volcano").binds
    for job in content["jobs"]:
        job.pop("networkTopology", None)
        job.pop("subGroupPolicy", None)
    assert near != solved(cpsched.load(content), "volcano").binds


@pytest.mark.parametrize("seed", SEEDS)
def test_gang_evict_is_settled_by_the_gang_actions_with_victims_to_spare(seed: int) -> None:
    instance = cpsched.load(raw("gang-evict", seed))
    assert not any(idle(instance, GPU).values())
    found = solved(instance, "volcano")
    assert {one.action for one in found.evictions} == {"gangpreempt", "gangreclaim"}
    assert len(found.evictions) > len(found.pipelined) > 0, "each pod is one GPU"


def test_openb_nodes_in_racks() -> None:
    content = raw("openb", nodes=40, rack=8, hard=100, evict="gangs")
    assert [(one["name"], one["tier"]) for one in content["hyperNodes"]] == [
        *((f"rack{n}", 1) for n in range(5)),
        ("block0", 2),
        ("block1", 2),
    ]
    assert {name for one in content["hyperNodes"] for name in one.get("nodes", ())} == {
        node["name"] for node in content["nodes"]
    }
    assert "gangreclaim" in content["conf"]["actions"]
    waiting = [job for job in content["jobs"] if len(job["tasks"]) > 1 and "running" not in job["tasks"][0]]
    assert any("networkTopology" in job for job in waiting)
    assert "conf" not in raw("openb")


@pytest.mark.parametrize(("nodes", "pods", "priorities", "usage"), [(4, 4, 1, 90), (8, 8, 2, 105), (32, 8, 4, 95)])
def test_priority_matters_is_the_published_cell(nodes: int, pods: int, priorities: int, usage: int) -> None:
    content = raw("priority-matters", 7, nodes=nodes, pods_per_node=pods, priorities=priorities, usage=usage)
    instance = cpsched.load(content)
    assert len(instance.nodes) == nodes
    assert len(instance.tasks) == nodes * pods
    assert {task.pod_priority for task in instance.tasks.values()} == set(range(1, priorities + 1))
    assert {task.status for task in instance.tasks.values()} == {Status.PENDING}
    for resource in ("cpu", "memory"):
        there = sum(node.allocatable[resource] for node in instance.nodes.values())
        assert wanted(instance, resource) / there == pytest.approx(usage / 100, rel=0.01)
    sizes = [task.requests for task in instance.tasks.values()]
    assert all(100 <= one["cpu"] <= 1000 and 100 <= one["memory"] / 10**6 <= 1000 for one in sizes)
    assert all(1 <= job["tasks"][0]["replicas"] <= 4 for job in content["jobs"])


def test_kai_reclaim_is_upstreams_shape() -> None:
    content = raw("kai-reclaim")
    assert len(content["nodes"]) == 500
    kinds = Counter((job["queue"], "running" in job["tasks"][0]) for job in content["jobs"])
    assert kinds == {("q0", True): 4000, ("q1", False): 4000}
    gang = cpsched.load(raw("kai-reclaim", nodes=10, waiting="gang")).jobs["default/large"]
    assert (len(gang.tasks), gang.min_available) == (1, 1)
    best = solved(cpsched.load(raw("kai-reclaim", nodes=2)))
    assert {one.action for one in best.evictions} == {"reclaim"}
    assert len(best.evictions) == len(best.pipelined) == 10, "two thirds of 16 GPUs, whole ones"


def test_openb_keeps_the_traces_names_requests_and_models() -> None:
    instance = cpsched.load(raw("openb", nodes=61, pods=51, pod_list="gpuspec25"))
    rows = (TRACES / "openb" / "openb_pod_list_gpuspec25.csv").read_text().splitlines()[1:]
    assert {f"ns/{row.split(',')[0]}" for row in rows} == set(instance.tasks)
    bound = [task for task in instance.tasks.values() if task.pod.spec.affinity.node_affinity.required]
    assert bound
    for row in rows:
        name, cpu, memory, gpus, _, models, *_ = row.split(",")
        task = instance.tasks[f"ns/{name}"]
        assert (task.requests["cpu"], task.requests.get(GPU, 0)) == (int(cpu), 1000 * int(gpus))
        assert task.requests.get("memory", 0) == int(memory) * 2**20
        if models and task.node:
            assert instance.nodes[task.node].labels["gpu-model"] in models.split("|")


def test_a_moment_of_a_trace_runs_who_ran_then() -> None:
    moment, window = 1_000_000, 500_000
    given = {"instances": 91, "running": "time", "time": moment, "window": window, "gpu_nodes": 50, "cpu_nodes": 50}
    instance = cpsched.load(raw("dlrm", **given))
    header, *rows = (TRACES / "dlrm" / "disaggregated_DLRM_trace.csv").read_text().splitlines()
    names = header.split(",")
    ran, waits = set(), set()
    for row in rows:
        cells = dict(zip(names, row.split(","), strict=True))
        key = "dlrm/" + cells["instance_sn"].replace("_", "-")
        created = float(cells["creation_time"] or -1)
        if cells["deletion_time"] and float(cells["deletion_time"]) <= moment:
            continue
        if created <= moment and float(cells["scheduled_time"] or -1) <= moment:
            ran.add(key)
        elif created <= moment + window:
            waits.add(key)
    assert ran
    assert waits
    assert {key for key, task in instance.tasks.items() if task.node} == ran
    assert {key for key, task in instance.tasks.items() if not task.node} == waits


def test_dlrm_limits_hold_for_who_runs() -> None:
    content = raw("dlrm", instances=91, fill=100, placement="best-fit")
    limited = 0
    for job in content["jobs"]:
        for task in job["tasks"]:
            for constraint in task.get("topologySpreadConstraints", []):
                limited += 1
                homes = Counter(one["running"] for one in job["tasks"] if "running" in one)
                assert max(homes.values(), default=0) <= constraint["maxSkew"]
    assert limited
