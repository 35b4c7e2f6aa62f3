"""Rules of network topology, sub-groups and gang eviction that few recorded sessions decide, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.greedy.volcano import Replay
from cpsched.greedy.volcano.fast.board import Board
from cpsched.greedy.volcano.fit import FitErrors
from cpsched.greedy.volcano.placing import place_tasks
from cpsched.greedy.volcano.search import for_allocation
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement, saved
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.topology.alike import Alike
from cpsched.greedy.volcano.topology.bundles import bundles_of
from cpsched.greedy.volcano.topology.plan import Planner
from cpsched.topology.tree import TOP
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, opened, pod, priority_class, queue, run
from tests.unit.topology.shapes import domain, exact, nodes_of

RACKS = [
    domain("s0", 1, nodes_of("n0", "n1")),
    domain("s1", 1, nodes_of("n2", "n3")),
    domain("b", 2, exact("s0", "s1")),
]
NODES = [node(f"n{number}") for number in range(4)]
NEAR = "network-topology-aware"
PLUGINS = ("priority", "gang", "predicates", NEAR)
HARD = {"mode": "hard", "highestTierAllowed": 1}


def pods(job: str, count: int, **spec: Any) -> list[Object]:
    return [pod(f"{job}-w-{number}", job, **spec) for number in range(count)]


def session(*objects: Object, actions: str = "allocate", plugins: tuple[Any, ...] = PLUGINS) -> Session:
    return opened([*NODES, *RACKS, queue(), *objects], conf(actions, plugins))


def decided(*objects: Object, actions: str = "allocate", plugins: Any = PLUGINS, **arguments: Any) -> Replay:
    return run([*NODES, *RACKS, queue(), *objects], conf(actions, plugins, **arguments))


def near(**arguments: Any) -> tuple[Any, ...]:
    return ("priority", "gang", "predicates", {"name": NEAR, "arguments": arguments})


class TestGradient:
    @pytest.mark.parametrize(
        ("limit", "rows"), [(1, [["s0", "s1"]]), (2, [["s0", "s1"], ["b"]]), (3, [["s0", "s1"], ["b"], [TOP]]), (0, [])]
    )
    def test_rows_go_upwards_to_the_limit(self, limit: int, rows: list[list[str]]) -> None:
        found = session(group("a", networkTopology=HARD | {"highestTierAllowed": limit}), *pods("a", 1))
        assert found.job_gradient(found.jobs["ns/a"], TOP, "allocate") == rows

    def test_for_evictions_they_go_downwards_and_are_cut_from_the_front(self) -> None:
        hard = group("a", networkTopology=HARD | {"highestTierAllowed": 3})
        key = "hypernode.gradient.evict.max-hypernodes"
        for most, rows in ((8, [[TOP], ["b"], ["s0", "s1"]]), (3, [[TOP], ["b"], ["s1"]]), (2, [[TOP], ["b"]])):
            found = session(hard, *pods("a", 1), plugins=near(**{key: most}))
            assert found.job_gradient(found.jobs["ns/a"], TOP, "evict") == rows

    def test_a_domain_must_have_room_now_or_later_for_all_that_is_pending(self) -> None:
        full = [group("r", phase="Running"), *(pod(f"r-w-{n}", "r", cpu="4", on=f"n{n}") for n in (0, 1))]
        job = group("a", networkTopology=HARD)
        found = session(*full, job, *pods("a", 1))
        assert found.sub_job_gradient(found.jobs["ns/a"].sub_jobs["ns/a"], TOP, "allocate") == [["s1"]]
        assert found.sub_job_gradient(found.jobs["ns/a"].sub_jobs["ns/a"], TOP, "evict") == [["s0", "s1"]]

    def test_what_terminates_counts_as_room(self) -> None:
        going = {"deletionTimestamp": "2026-01-01T01:00:00Z"}
        full = [pod(f"r-w-{n}", "r", cpu="4", on=f"n{n}", metadata=going) for n in range(4)]
        found = session(group("r", phase="Running"), *full, group("a", networkTopology=HARD), *pods("a", 1))
        assert found.sub_job_gradient(found.jobs["ns/a"].sub_jobs["ns/a"], TOP, "allocate") == [["s0", "s1"]]

    def test_the_jobs_need_is_its_min_resources(self) -> None:
        job = group("a", networkTopology=HARD, minResources={"cpu": "9"})
        found = session(job, *pods("a", 1))
        assert found.job_gradient(found.jobs["ns/a"], TOP, "allocate") == []

    def test_beside_what_runs_neither_room_nor_other_domains_are_looked_at(self) -> None:
        job = group("a", phase="Running", networkTopology=HARD, minResources={"cpu": "99"})
        found = session(job, pod("a-w-0", "a", on="n3"), pod("a-w-1", "a"))
        assert found.jobs["ns/a"].allocated_in == "s1"
        assert found.job_gradient(found.jobs["ns/a"], TOP, "allocate") == [["s1"]]
        assert found.job_gradient(found.jobs["ns/a"], "s0", "allocate") == []
        assert found.job_gradient(found.jobs["ns/a"], "s1", "allocate") == [["s1"]]

    def test_a_job_that_is_spread_too_far_has_no_rows(self) -> None:
        job = group("a", phase="Running", networkTopology=HARD)
        found = session(job, pod("a-w-0", "a", on="n0"), pod("a-w-1", "a", on="n3"), pod("a-w-2", "a"))
        assert found.jobs["ns/a"].allocated_in == "b"
        assert found.job_gradient(found.jobs["ns/a"], TOP, "allocate") == []

    @pytest.mark.parametrize("plugins", [("gang", "predicates"), ({"name": NEAR, "enabledHyperNodeGradient": False},)])
    def test_without_the_plugin_the_root_is_the_one_domain(self, plugins: tuple[Any, ...]) -> None:
        found = session(group("a", networkTopology=HARD), *pods("a", 1), plugins=plugins)
        assert found.job_gradient(found.jobs["ns/a"], TOP, "evict") == [[TOP]]


class TestScores:
    @staticmethod
    def rated(found: Session, task: str, names: tuple[str, ...] = ("n0", "n1", "n2", "n3")) -> dict[str, float]:
        (rate,) = [ask for tier in found.point("batch_node_order") for ask in tier]
        scores: Mapping[str, float] = rate(found.tasks[task], [found.nodes[name] for name in names])
        return {name: round(score, 6) for name, score in scores.items()}

    def test_pods_with_topology_are_drawn_to_where_the_group_is(self) -> None:
        job = group("a", phase="Running", networkTopology={"mode": "soft"})
        found = session(job, pod("a-w-0", "a", on="n0"), pod("a-w-1", "a"), plugins=(NEAR,))
        found.tasks["ns/a-w-1"].here = "s0"
        # Of several best nodes each gets the part of the group that is on its leaf.
        assert self.rated(found, "ns/a-w-1") == {"n0": 150, "n1": 150, "n2": 50, "n3": 50}
        assert self.rated(found, "ns/a-w-1", ("n1", "n2")) == {"n1": 100, "n2": 50}

    def test_a_group_that_is_nowhere_is_drawn_nowhere(self) -> None:
        found = session(group("a", networkTopology=HARD), *pods("a", 1), plugins=(NEAR,))
        assert self.rated(found, "ns/a-w-0") == {}

    def test_a_node_without_leaf_gets_nothing(self) -> None:
        racks = [domain("s0", 1, nodes_of("n0")), domain("b", 2, [*exact("s0"), *nodes_of("n1")])]
        objects = [*NODES[:2], *racks, queue(), group("a", networkTopology=HARD), *pods("a", 1)]
        found = opened(objects, conf("allocate", (NEAR,)))
        found.tasks["ns/a-w-0"].here = "b"
        assert self.rated(found, "ns/a-w-0", ("n0", "n1")) == {"n0": 50, "n1": 0}

    def test_other_pods_go_where_domains_are_full_the_nearest_counting_most(self) -> None:
        there = [group("r", phase="Running"), pod("r-w-0", "r", cpu="3", on="n0")]
        arguments = {"hypernode.binpack.normal-pod.fading": 0.5, "hypernode.binpack.memory": 0, "weight": 3}
        plugins = ({"name": NEAR, "arguments": arguments},)
        found = session(*there, group("a"), *pods("a", 1), plugins=plugins)
        # Tiers 1 to 3 weigh 1, 0.5, 0.25; with the pod s0 is 4/8 full, s1 1/8, b and the top 4/16.
        assert self.rated(found, "ns/a-w-0")["n0"] == round(300 * (0.5 + 0.5 / 4 + 0.25 / 4) / 1.75, 6)
        assert self.rated(found, "ns/a-w-0")["n2"] == round(300 * (0.125 + 0.5 / 4 + 0.25 / 4) / 1.75, 6)

    def test_a_tier_without_domain_counts_as_full(self) -> None:
        racks = [domain("s0", 1, nodes_of("n0")), domain("c", 3, nodes_of("n0"))]
        arguments = {"hypernode.binpack.normal-pod.fading": 0, "hypernode.binpack.memory": 0}
        plugins = ({"name": NEAR, "arguments": arguments},)
        found = opened([*NODES[:2], *racks, queue(), group("a"), *pods("a", 1)], conf("allocate", plugins))
        # 0 to the 0th is 1: only tier 1 counts, and n1 is in none of it.
        assert self.rated(found, "ns/a-w-0", ("n0", "n1")) == {"n0": 25, "n1": 100}

    def test_the_score_of_other_pods_can_be_switched_off(self) -> None:
        plugins = ({"name": NEAR, "arguments": {"hypernode.binpack.normal-pod.enable": False}},)
        assert self.rated(session(group("a"), *pods("a", 1), plugins=plugins), "ns/a-w-0") == {}

    def test_what_does_not_fit_the_domain_scores_0(self) -> None:
        found = session(group("a", 9, networkTopology=HARD), *pods("a", 9), plugins=(NEAR,))
        assert found.hyper_node_scores(found.jobs["ns/a"].sub_jobs["ns/a"], ["s0", "b"])["s0"] == 0

    def test_of_equally_full_domains_the_one_with_more_of_the_group_wins(self) -> None:
        there = [group("r", phase="Running"), pod("r-w-0", "r", on="n2")]
        job = group("a", 2, phase="Running", networkTopology={"mode": "soft"})
        found = session(*there, job, pod("a-w-0", "a", on="n0"), pod("a-w-1", "a"), plugins=(NEAR,))
        scores = found.hyper_node_scores(found.jobs["ns/a"].sub_jobs["ns/a"], ["s0", "s1"])
        assert scores["s0"] - scores["s1"] == pytest.approx(50)

    def test_resources_count_only_if_they_are_listed(self) -> None:
        for listed, score in (("", 0.0), ("pods", 6.25)):
            arguments = {f"hypernode.binpack.{name}": 0 for name in ("cpu", "memory")}
            plugins = ({"name": NEAR, "arguments": arguments | {"hypernode.binpack.resources": listed}},)
            found = session(group("a", networkTopology=HARD), *pods("a", 1), plugins=plugins)
            scores = found.hyper_node_scores(found.jobs["ns/a"].sub_jobs["ns/a"], ["b", "s0"])
            assert scores["b"] == pytest.approx(score * 0.4)

    def test_absurd_tiers_are_said(self) -> None:
        far = domain("far", 2_000_000_000, nodes_of("n3"))
        with pytest.raises(InputError, match="every number between"):
            session(far, group("a"), *pods("a", 1))


class TestSubJobs:
    POLICY = {"name": "w", "matchLabelKeys": ["part"], "subGroupSize": 2, "minSubGroups": 1}

    def parts(self, *numbers: str) -> list[Object]:
        return [pod(f"a-w-{n}", "a", metadata={"labels": {"part": part}}) for n, part in enumerate(numbers)]

    def test_saved_operations_done_again_leave_the_former_entry(self) -> None:
        found = session(group("a"), *pods("a", 1), plugins=("gang",))
        job, task, statement = found.jobs["ns/a"], found.tasks["ns/a-w-0"], Statement(found)
        assert statement.pipeline(task, found.nodes["n0"], after_eviction=True)
        copies = saved([statement])
        statement.discard()
        again = Statement(found)
        assert again.replay(copies)
        sub_job = job.sub_jobs["ns/a"]
        assert (job.waiting, len(job.by_status[Status.PENDING])) == (1, 0)
        assert [sub_job.count(Status.PIPELINED), sub_job.count(Status.PENDING)] == [1, 1]
        assert sub_job.pending() == [task]
        assert sub_job.min_resources()["cpu"] == 1000
        assert job.tasks[task.key] is not task
        assert job.tasks[task.key].after_eviction

    def test_a_second_placement_of_such_a_task_takes_its_reservation_with_it(self) -> None:
        found = session(group("a"), *pods("a", 1), plugins=("gang",))
        job, task, statement = found.jobs["ns/a"], found.tasks["ns/a-w-0"], Statement(found)
        assert statement.pipeline(task, found.nodes["n0"], after_eviction=False)
        copies = saved([statement])
        statement.discard()
        assert statement.replay(copies)
        assert not Statement(found).allocate(task, found.nodes["n0"])
        assert found.nodes["n0"].pipelined.get("cpu") == 0
        assert (task.status, job.by_status[Status.PIPELINED]) == (Status.PENDING, {})

    def test_groups_are_ordered_by_number_then_name(self) -> None:
        spread = group("a", 2, subGroupPolicy=[self.POLICY | {"subGroupSize": 1}])
        found = session(spread, *self.parts("10", "9", "x"), plugins=())
        ordered = sorted(found.jobs["ns/a"].sub_jobs.values(), key=lambda one: one.match_index)
        assert [one.key for one in ordered] == ["ns/a/w-x", "ns/a/w-9", "ns/a/w-10"]
        assert found.sub_job_before(ordered[1], ordered[2])

    def test_priority_orders_groups_by_their_highest_task(self) -> None:
        high = pod("a-w-9", "a", priority=7, metadata={"labels": {"part": "9"}})
        found = session(group("a", subGroupPolicy=[self.POLICY]), *self.parts("1"), high)
        jobs = found.jobs["ns/a"].sub_jobs
        assert found.sub_job_before(jobs["ns/a/w-9"], jobs["ns/a/w-1"])

    def test_too_few_groups_make_the_job_invalid(self) -> None:
        few = group("a", 1, subGroupPolicy=[self.POLICY | {"minSubGroups": 2}])
        assert decided(few, *self.parts("1", "1")).solution.binds == {}
        assert len(decided(few, *self.parts("1", "1", "2", "2")).solution.binds) == 4

    def test_a_failed_task_does_not_end_a_group(self) -> None:
        big = pod("a-big-0", "a", role="big", cpu="9", priority=5, metadata={"labels": {"part": "1"}})
        needed = {"minTaskMember": {"big": 1}}
        for policies, goes_on in (([self.POLICY | {"subGroupSize": 1}], True), ([], False)):
            job = group("a", 1, subGroupPolicy=policies, **needed)
            state = session(job, big, *self.parts("1")).jobs["ns/a"]
            state.fit_errors["ns/a-big-0"] = FitErrors()
            assert state.need_continue(state.sub_job_of["ns/a-big-0"]) is goes_on

    def test_only_nodes_of_the_domain_are_nominated(self) -> None:
        job = group("a", networkTopology=HARD)
        for name, placed in (("n1", "n1"), ("n3", "n0")):
            found = session(job, pod("a-w-0", "a", metadata={"status": {"nominatedNodeName": name}}))
            state = found.jobs["ns/a"]
            sub_job = state.sub_jobs["ns/a"]
            tasks = found.queue_of_tasks(sub_job.pending())
            assert place_tasks(found, state, sub_job, tasks, "s0", for_allocation(found)) is not None
            assert found.tasks["ns/a-w-0"].node == placed

    def test_topology_waits_for_the_tree_soft_topology_too(self) -> None:
        second = domain("x", 2, exact("s0"))
        for topology, bound in (({"mode": "soft"}, 0), (None, 1)):
            job = group("a", **({"networkTopology": topology} if topology else {}))
            assert len(decided(second, job, *pods("a", 1)).solution.binds) == bound

    def test_what_runs_is_located_only_in_a_whole_tree(self) -> None:
        job = group("a", phase="Running", networkTopology=HARD)
        running = [job, pod("a-w-0", "a", on="n0"), pod("a-w-1", "a")]
        assert session(*running).jobs["ns/a"].allocated_in == "s0"
        assert session(domain("x", 2, exact("s0")), *running).jobs["ns/a"].allocated_in == ""


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
        board, found.board = found.board, None
        errors = _Hopeless({"n0", "n1"})
        job.fit_errors["ns/p-w-0"] = errors  # type: ignore[assignment]
        plan = Planner(found, job, "gangpreempt").plan(TOP, [])
        assert plan is not None
        assert plan.operations[0].task.node == "n2"
        assert Planner(found, job, "gangpreempt").plan("s0", []) is None
        errors.names |= {"n2", "n3"}
        assert Planner(found, job, "gangpreempt").plan("s0", []) is not None
        found.board = board

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
        found.board = Board.over(found)
        assert found.board is not None
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
