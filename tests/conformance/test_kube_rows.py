"""Upstream's own tables about preemption (data/kube.json.gz), release HEAD; the filters' rows have their own test."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cpsched.filters.status import Code, Status
from cpsched.greedy.kube import Options, decide
from cpsched.greedy.kube.candidates import candidates_wanted, find_candidates, pick_one
from cpsched.greedy.kube.dry_run import DryRun, select_victims
from cpsched.greedy.kube.extenders import ExtenderError
from cpsched.greedy.kube.pdb import Budgets
from cpsched.greedy.kube.podgroups import GroupVictims, select_on_domain
from cpsched.greedy.kube.preemption import call_extenders, ineligible, preempt
from cpsched.greedy.kube.statuses import NodeStatuses
from cpsched.greedy.kube.victims import Unit, Victims, terminating_by_preemption
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.conformance.kube_worlds import (
    Counter,
    dry_run,
    eligibility,
    framework_of,
    instance_of,
    statuses_of,
    task_of,
    victim_order,
    world_of,
)

DATA = Path(__file__).parent / "data"
ROWS = json.loads(gzip.decompress((DATA / "kube.json.gz").read_bytes()))
ISSUES = [row for row in json.loads(gzip.decompress((DATA / "issues.json.gz").read_bytes())) if row["policy"] == "kube"]


def rows(kind: str) -> Any:
    found = [row for row in ROWS if row["kind"] == kind]
    return pytest.mark.parametrize("row", found, ids=[f"{row['line']}" for row in found])


def names(tasks: Any) -> list[str]:
    return sorted(task.name for task in tasks)


@rows("pick_one_node")
def test_pick_one_node(row: dict[str, Any]) -> None:
    given = row["input"]
    if "candidates" in given:
        tasks = {name: tuple(map(task_of, one["pods"])) for name, one in given["candidates"].items()}
        victims = {name: Victims(tasks[name], one["numPDBViolations"]) for name, one in given["candidates"].items()}
        containers = {name: sum(len(t.pod.spec.containers) for t in one.tasks) for name, one in victims.items()}
        assert pick_one(victims, [lambda name: -containers[name]]) in row["expect"]["nodeAnyOf"]
        return
    world = world_of(given, given["pod"])
    dry = dry_run(world, framework_of(given["filterPlugins"]), task_of(given["pod"]))
    nodes = [node["metadata"]["name"] for node in given["nodes"]]
    found = find_candidates(dry, nodes, 0, len(nodes))
    assert pick_one(found.victims) in row["expect"]["nodeAnyOf"]


@rows("dry_run")
def test_dry_run(row: dict[str, Any]) -> None:
    given, expect = row["input"], row["expect"]
    if "preemptors" in given:
        _check_cycles(given, expect)
        return
    pod = given.get("pod") or given["preemptor"]
    hooks: dict[str, Any] = {}
    if "eligibility" in given:
        hooks["eligible"] = eligibility(given["eligibility"])
    if "victimOrder" in given:
        hooks["order"] = victim_order(given["victimOrder"])
    dry = dry_run(world_of(given, pod), framework_of(given["filterPlugins"]), task_of(pod), **hooks)
    if "candidates" in expect:
        nodes = [node["metadata"]["name"] for node in given["nodes"]]
        found = find_candidates(dry, nodes, 0, len(nodes))
        assert {name: names(one.tasks) for name, one in found.victims.items()} == expect["candidates"]
        return
    node = given.get("mainNode") or given["nodes"][0]["metadata"]["name"]
    answer = select_victims(dry, dry.world.snapshot.cluster.nodes[node])
    if isinstance(answer, Status):
        assert answer.code.value == expect["status"]["code"]
        return
    assert expect.get("status", {"code": "Success"})["code"] == "Success"
    if "victimOrder" in given:
        assert [task.name for task in answer.tasks] == expect["victims"]
    else:
        assert names(answer.tasks) == sorted(expect["victims"])
        assert answer.violations == expect["numPDBViolations"]


def _check_cycles(given: dict[str, Any], expect: dict[str, Any]) -> None:
    plugins = given.get("filterPlugins") or []
    refuses = any(name.startswith(("FakeFilter", "FalseFilter")) for name in plugins)
    nodes = sorted(node["metadata"]["name"] for node in given["nodes"])
    for cycle, pod in enumerate(given["preemptors"]):
        counter = Counter(refuses)
        framework = counter.put_first(framework_of(plugins, given.get("args")))
        select = _first_pod(given["selectVictimsStub"]["numViolatingVictim"]) if "selectVictimsStub" in given else None
        dry = dry_run(world_of(given, pod, plain=True), framework, task_of(pod), select=select)
        offset = given.get("offsets", [0] * 9)[cycle]
        wanted = candidates_wanted(len(nodes), framework.profile.args.default_preemption)
        found = find_candidates(dry, nodes, offset, given.get("numCandidates", wanted))
        ours = [
            {
                "node": name,
                "victims": names(found.victims[name].tasks),
                "numPDBViolations": found.victims[name].violations,
            }
            for name in sorted(found.victims)
        ]
        assert ours == expect["candidatesPerCycle"][cycle]
        if "filterCallsPerCycle" in expect:
            assert counter.calls == expect["filterCallsPerCycle"][cycle]


def _first_pod(violations: int) -> Any:
    return lambda dry, node: Victims((node.tasks[0],), violations)


def _broken_hooks(dry: DryRun, node: Any) -> Victims | Status:
    """The table's plugin whose hooks fail on marked nodes."""
    if node.labels.get("error") == "true":
        text = f'running RemovePod on PreFilter plugin "test-plugin": failed to remove pod: {dry.task.name}'
        return Status(Code.ERROR, (text,))
    return select_victims(dry, node)


class FakeExtender:
    """Upstream's stand-in: lets only some nodes through."""

    def __init__(self, stated: dict[str, Any]):
        self.conf = SimpleNamespace(preempt_verb="preempt", ignorable=stated.get("ignorable", False))
        self._interested = stated.get("interested", True)
        self._predicates = stated["predicates"]

    def is_interested(self, task: Any) -> bool:
        return self._interested

    def process_preemption(self, task: Any, victims: Any, nodes: Any) -> dict[str, Victims]:
        allowed = {"Node1PredicateExtender": {"node1"}, "FalsePredicateExtender": set()}
        kept = dict(victims)
        for predicate in self._predicates:
            if predicate in allowed:
                kept = {name: one for name, one in kept.items() if name in allowed[predicate]}
        return kept


@rows("preempt")
def test_preempt(row: dict[str, Any]) -> None:
    given, expect = row["input"], row["expect"]
    pod = given.get("pod") or given["preemptor"]
    world = world_of(given, pod, resize_preemption="features" in given)
    world.extenders = tuple(FakeExtender(one) for one in given.get("extenders", ()))
    select = _broken_hooks if "note" in given else None
    dry = dry_run(world, framework_of(given["filterPlugins"]), task_of(pod), select=select)
    outcome = preempt(dry, statuses_of(given["filteredNodesStatuses"]))
    result = None if outcome.nominate is None else {"nominatedNodeName": outcome.nominate}
    assert result == expect["result"]
    if "status" in expect:
        ours = {"code": outcome.code.value, "reasons": [f"preemption: {outcome.message}"]}
        assert ours == expect["status"]
    if "victims" in expect:
        assert names(outcome.victims.tasks if outcome.victims else ()) == sorted(expect["victims"])


@rows("eligible")
def test_eligible(row: dict[str, Any]) -> None:
    given = row["input"]
    world, task = world_of(given, given["pod"]), task_of(given["pod"])
    if task.pod.status.nominated_node_name:
        world.nominated[task.key] = task.pod.status.nominated_node_name
    nominated = task.pod.status.nominated_node_name
    statuses = NodeStatuses({nominated: Status(Code.UNSCHEDULABLE)})
    assert (not ineligible(world, task, statuses)) == row["expect"]["eligible"]


@rows("pdb_filter")
def test_pdb_filter(row: dict[str, Any]) -> None:
    units = [tuple(map(task_of, victim["pods"])) for victim in row["input"]["victims"]]
    counts = Budgets(instance_of(row["input"]).budgets).violations(units, "head")
    pairs = list(zip(units, counts, strict=True))
    violating = [{"pods": [t.name for t in unit], "violateCount": count} for unit, count in pairs if count]
    assert violating == row["expect"]["violating"]
    assert [[t.name for t in unit] for unit, count in pairs if not count] == row["expect"]["nonViolating"]


@rows("more_important")
def test_more_important(row: dict[str, Any]) -> None:
    units = []
    for side in ("a", "b"):
        stated = row["input"][side]
        pods = [{"metadata": {"name": f"p{number}"}, "status": {}} for number in range(max(stated["numPods"], 1))]
        if stated["earliestStartTime"]:
            pods[0]["status"] = {"startTime": stated["earliestStartTime"]}
        units.append(Unit(tuple(map(task_of, pods))[: stated["numPods"]], stated["priority"], stated["type"]))
    more, less = units
    assert (more.importance < less.importance) == row["expect"]["aMoreImportant"]


@rows("terminating_by_preemption")
def test_terminating_by_preemption(row: dict[str, Any]) -> None:
    assert terminating_by_preemption(task_of(row["input"]["pod"])) == row["expect"]["result"]


class TableExtender:
    """An extender that answers as the row says."""

    def __init__(self, stated: dict[str, Any]):
        self.conf = SimpleNamespace(
            preempt_verb="preempt" if stated["supportsPreemption"] else "", ignorable=stated["ignorable"]
        )
        self._stated = stated

    def is_interested(self, task: Any) -> bool:
        return True

    def process_preemption(self, task: Any, victims: Any, nodes: Any) -> dict[str, Victims]:
        if self._stated["returnsError"]:
            raise ExtenderError("it fails")
        return {name: Victims((), 0) for name in victims} if self._stated["returnsNoVictims"] else dict(victims)


@rows("call_extenders")
def test_call_extenders(row: dict[str, Any]) -> None:
    given, expect = row["input"], row["expect"]
    world = world_of({})
    world.extenders = tuple(map(TableExtender, given["extenders"]))
    victims = {
        one["node"]: Victims(tuple(task_of({"metadata": {"name": name}}) for name in one["victims"]), 0)
        for one in given["candidates"]
    }
    task = task_of({"metadata": {"name": "preemptor"}})
    if expect["statusCode"] == "Error":
        with pytest.raises(ExtenderError):
            call_extenders(world, task, victims)
        return
    remaining = call_extenders(world, task, victims)
    ours = [{"node": name, "victims": [t.name for t in one.tasks]} for name, one in remaining.items()]
    assert ours == expect["candidates"]


class SizeDomain:
    """The table's cluster: nodes hold so many units of size, pods go round-robin to the first node with room."""

    def __init__(self, given: dict[str, Any]):
        self.names = [node["metadata"]["name"] for node in given["nodes"]]
        self.room = dict(given["nodeCapacities"])
        self.tasks = [task_of(pod) for pod in given["preemptor"]["pods"]]
        self.at_least = given["preemptor"]["podGroup"]["spec"].get("minCount", 1)

    def remove(self, unit: Unit) -> None:
        for task in unit.tasks:
            self.room[task.node] += size(task)

    def add(self, unit: Unit) -> None:
        for task in unit.tasks:
            self.room[task.node] -= size(task)

    def place(self) -> Any:
        room, last, found = dict(self.room), -1, []
        for task in self.tasks:
            for step in range(1, len(self.names) + 1):
                turn = (last + step) % len(self.names)
                if room[self.names[turn]] >= size(task):
                    room[self.names[turn]] -= size(task)
                    found.append((task, self.names[turn]))
                    last = turn
                    break
        return found if len(found) >= self.at_least else Status(Code.UNSCHEDULABLE)

    def holds(self, placements: Any) -> bool:
        room = dict(self.room)
        for task, node in placements:
            room[node] -= size(task)
        return all(room[node] >= 0 for _, node in placements)


def size(task: Any) -> int:
    return int(task.labels.get("size", "1"))


@rows("gang_preempt")
def test_gang_preempt(row: dict[str, Any]) -> None:
    given, expect = row["input"], row["expect"]
    world = world_of(given)
    nodes = world.snapshot.nodes
    domain = SizeDomain(given)
    every_task = [task for node in nodes for task in node.tasks]
    for task in every_task:
        domain.room[task.node] -= size(task)
    groups = world.groups
    units = [Unit((t,), t.pod_priority) for t in every_task] if groups is None else groups.units(every_task, nodes)
    priority = given["preemptor"]["podGroup"]["spec"]["priority"]
    answer = select_on_domain(domain, units, priority, world.budgets)
    if isinstance(answer, Status):
        assert answer.code.value == expect["statusCode"]
        return
    assert isinstance(answer, GroupVictims)
    assert expect["statusCode"] == "Success"
    assert names(answer.victims.tasks) == sorted(expect["victims"])
    assert answer.disrupted_groups == expect["numPodGroupDisruptions"]
    assert answer.victims.violations == expect["numPDBViolations"]


@pytest.mark.parametrize("row", ISSUES, ids=[row["id"] for row in ISSUES])
def test_named_defects(row: dict[str, Any]) -> None:
    """The scheduler's own decision on defects that people have reported; pod groups only where a row has some."""
    instance, expect = load(row["objects"], lenient=True), row["expect_heuristic"]
    version = "head" if instance.workload_groups else "1.36"
    policy = policy_for(load_model("kube"), row["conf"], kube_version=version)
    solution = decide(instance, policy, Options(pod_groups=bool(instance.workload_groups)))
    assert solution.binds == expect["binds"]
    assert solution.pipelined == expect["pipelined"]
    assert sorted(solution.evicted) == sorted(expect["evicted"])
