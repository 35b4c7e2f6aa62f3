"""Rules of the gang actions, and of domains that are tried once, that few recorded sessions decide, or none."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.topology.alike import Alike
from cpsched.greedy.volcano.topology.bundles import bundles_of
from cpsched.greedy.volcano.topology.plan import Planner
from cpsched.topology.tree import TOP
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, opened, pod, priority_class, queue, run
from tests.unit.greedy_volcano.racks import HARD, NEAR, PLUGINS, decided, pods, session
from tests.unit.topology.shapes import domain, nodes_of


class TestGangActions:
    LOW = priority_class("low", 1)
    HIGH = priority_class("high", 9)

    def victims(self, count: int, *, minimum: int = 1, **spec: Any) -> list[Object]:
        job = group("v", minimum, phase="Running", priorityClassName="low", **spec)
        return [self.LOW, self.HIGH, job, *(pod(f"v-w-{n}", "v", cpu="4", on=f"n{n}") for n in range(count))]

    def starving(self, count: int = 1, minimum: int = 1, cpu: str = "4", **spec: Any) -> list[Object]:
        return [group("p", minimum, priorityClassName="high", second=9, **spec), *pods("p", count, cpu=cpu)]

    def evicted(self, *objects: Object, **more: Any) -> list[str]:
        found = decided(*self.victims(4), *objects, actions="gangpreempt", **more)
        return sorted(found.solution.evicted)

    def test_the_widest_domains_are_tried_and_so_many_at_most(self) -> None:
        # Only s1 can be cleared for its node selector; the walk begins at b.
        job = self.starving(networkTopology=HARD | {"highestTierAllowed": 2})
        job[1]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n3"}
        assert self.evicted(*job, gangpreempt={"maxDomains": 1})[-1] == "ns/v-w-3"
        tight = self.starving(networkTopology=HARD)
        tight[1]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n3"}
        assert self.evicted(*tight, gangpreempt={"maxDomains": 1}) == []
        assert self.evicted(*tight, gangpreempt={"maxDomains": 2}) == ["ns/v-w-2", "ns/v-w-3"]

    def test_whole_bundles_may_be_ruled_out(self) -> None:
        for allowed, gone in ((True, 4), (False, 0)):
            found = decided(
                *self.victims(4, minimum=4),
                *self.starving(),
                actions="gangpreempt",
                gangpreempt={"allowWholeBundle": allowed},
            )
            assert len(found.solution.evicted) == gone

    @pytest.mark.parametrize(("mark", "gone"), [("true", 3), ("false", 0), ("perhaps", 0)])
    def test_a_podgroup_may_refuse(self, mark: str, gone: int) -> None:
        given = self.victims(4, annotations={"volcano.sh/preemptable": mark})
        assert len(decided(*given, *self.starving(), actions="gangpreempt").solution.evicted) == gone

    def test_gated_pods_are_not_demanded(self) -> None:
        gated = self.starving(count=2)
        gated[2]["spec"]["schedulingGates"] = [{"name": "scheduling.volcano.sh/queue-allocation-gate"}]
        found = decided(*self.victims(4), *gated, actions="gangpreempt")
        assert found.solution.pipelined.keys() == {"ns/p-w-0"}

    def test_a_ready_job_asks_for_its_first_group_only(self) -> None:
        policy = {"name": "w", "matchLabelKeys": ["part"], "subGroupSize": 1}
        job = group("p", 1, phase="Running", priorityClassName="high", second=9, subGroupPolicy=[policy])
        there = pod("p-w-0", "p", cpu="0", on="n0", metadata={"labels": {"part": "0"}})
        rest = [pod(f"p-w-{n}", "p", cpu="4", metadata={"labels": {"part": str(n)}}) for n in (1, 2)]
        plugins = ("priority", "predicates", {"name": "gang", "enableJobStarving": False}, NEAR)
        found = decided(*self.victims(4), job, there, *rest, actions="gangpreempt", plugins=plugins)
        assert found.solution.pipelined.keys() == {"ns/p-w-1"}

    def test_an_unbound_job_falls_back_to_the_cluster_a_bound_one_does_not(self) -> None:
        assert len(self.evicted(*self.starving())) == 3
        assert self.evicted(*self.starving(networkTopology=HARD | {"highestTierAllowed": 0})) == []

    def test_gangreclaim_takes_running_pods_of_reclaimable_queues_only(self) -> None:
        other = [queue("o", second=5), queue("closed", second=6, reclaimable=False)]

        def given(where: str, phase: str) -> list[Object]:
            job = group("v", 1, where, phase="Running", priorityClassName="low")
            running = [pod(f"v-w-{n}", "v", cpu="4", on=f"n{n}", metadata={"phase": phase}) for n in range(4)]
            return [self.LOW, self.HIGH, *other, job, *running, *self.starving()]

        for where, phase, gone in (
            ("o", "Running", 3),
            ("o", "Pending", 0),
            ("closed", "Running", 0),
            ("q", "Running", 0),
        ):
            found = decided(*given(where, phase), actions="gangreclaim", plugins=("gang", "predicates"))
            assert len(found.solution.evicted) == gone, (where, phase)

    def test_bundles_keep_roles_and_groups(self) -> None:
        policy = {"name": "w", "matchLabelKeys": ["part"], "subGroupSize": 1, "minSubGroups": 1}
        spec = {"minTaskMember": {"ps": 1}, "subGroupPolicy": [policy]}
        labels = {"labels": {"part": "1"}}
        given = [
            group("v", 1, phase="Running", **spec),
            pod("v-ps-0", "v", role="ps", on="n0", metadata=labels),
            pod("v-w-0", "v", role="w", on="n0"),
            pod("v-w-1", "v", role="w", on="n0", priority=-5),
        ]
        found = session(*given)
        job = found.jobs["ns/v"]
        bundles = bundles_of(job, list(job.tasks.values()))
        assert [(one.whole, [task.key for task in one.tasks]) for one in bundles] == [
            (False, ["ns/v-w-1", "ns/v-w-0"]),
            (True, ["ns/v-ps-0"]),
        ]

    def test_a_gang_that_is_incomplete_goes_as_it_is(self) -> None:
        found = session(group("v", 3, phase="Running"), pod("v-w-0", "v", on="n0"), pod("v-w-1", "v", on="n1"))
        job = found.jobs["ns/v"]
        assert [one.whole for one in bundles_of(job, list(job.tasks.values()))] == [False]

    def test_nodes_that_no_eviction_helps_are_left_out_unless_that_leaves_none(self) -> None:
        found = session(*self.victims(0), *self.starving(cpu="1"), actions="gangpreempt")
        job = found.jobs["ns/p"]
        finder, found.bulk_finder = found.bulk_finder, None
        errors = _Hopeless({"n0", "n1"})
        job.fit_errors["ns/p-w-0"] = errors  # type: ignore[assignment]
        plan = Planner(found, job, "gangpreempt").plan(TOP, [])
        assert plan is not None
        assert plan.operations[0].task.node == "n2"
        assert Planner(found, job, "gangpreempt").plan("s0", []) is None
        errors.names |= {"n2", "n3"}
        assert Planner(found, job, "gangpreempt").plan("s0", []) is not None
        found.bulk_finder = finder

    def test_a_plan_leaves_no_trace_in_accounts(self) -> None:
        found = session(*self.victims(4), *self.starving(), actions="gangpreempt")
        before = {name: dict(account.idle) for name, account in found.nodes.items()}
        victims = [found.tasks["ns/v-w-0"], found.tasks["ns/v-w-1"]]
        plan = Planner(found, found.jobs["ns/p"], "gangpreempt").plan("s0", victims)
        assert plan is not None
        assert plan.domains == {"ns/p": "s0"}
        assert {name: account.idle for name, account in found.nodes.items()} == before
        assert all(task.status is Status.RUNNING for task in victims)
        assert found.tasks["ns/p-w-0"].status is Status.PENDING


class _Hopeless:
    """Errors of an earlier action."""

    def __init__(self, names: set[str]):
        self.names = names

    def unresolvable_nodes(self) -> set[str]:
        return self.names


class TestAlike:
    def given(self, *used: int) -> list[Object]:
        """Three racks of two nodes of 4 cpus with so much in use; a gang of two pods of 2 cpus."""
        racks = [domain(f"s{n}", 1, nodes_of(f"n{2 * n}", f"n{2 * n + 1}")) for n in range(3)]
        there = [pod(f"r-w-{n}", "r", cpu=str(amount), on=f"n{n}") for n, amount in enumerate(used) if amount]
        gang = group("a", 2, networkTopology=HARD)
        nodes = [node(f"n{number}") for number in range(6)]
        return [*nodes, *racks, queue(), group("r", phase="Running"), *there, gang, *pods("a", 2, cpu="2")]

    def tried(self, objects: list[Object]) -> tuple[list[str], dict[str, str]]:
        found = opened(objects, conf("allocate", (*PLUGINS, "nodeorder")))
        found.bulk_finder = BulkFinder.over(found)
        assert found.bulk_finder is not None
        job = found.jobs["ns/a"]
        distinct = Alike(found).distinct(["s0", "s1", "s2"], job.sub_jobs.values())
        return distinct, run(objects, conf("allocate", (*PLUGINS, "nodeorder"))).solution.binds

    def test_of_domains_in_the_same_state_the_first_is_tried_and_the_last(self) -> None:
        assert self.tried(self.given()) == (["s0", "s2"], {"ns/a-w-0": "n0", "ns/a-w-1": "n1"})

    def test_the_same_sums_are_not_the_same_state(self) -> None:
        distinct, binds = self.tried(self.given(1, 3, 2, 2, 4, 4))
        assert distinct == ["s0", "s1", "s2"]
        assert set(binds.values()) == {"n2", "n3"}

    def test_what_no_plain_try_tells_is_tried_everywhere(self) -> None:
        objects = self.given()
        objects[-1]["status"]["nominatedNodeName"] = "n3"
        assert self.tried(objects)[0] == ["s0", "s1", "s2"]
        objects = self.given()
        objects[-1]["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}
        assert self.tried(objects)[0] == ["s0", "s2"]
        near = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
        objects[-1]["spec"]["affinity"] = {
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}
        }
        assert self.tried(objects)[0] == ["s0", "s1", "s2"]
