"""Rules of network topology, sub-groups and gang eviction that few recorded sessions decide, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.greedy.volcano.fit import FitErrors
from cpsched.greedy.volcano.placing import place_tasks
from cpsched.greedy.volcano.search import for_allocation
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement, saved
from cpsched.greedy.volcano.status import Status
from cpsched.topology.tree import TOP
from tests.unit.greedy_volcano.cluster import Object, conf, group, opened, pod, queue
from tests.unit.greedy_volcano.racks import HARD, NEAR, NODES, decided, near, pods, session
from tests.unit.topology.shapes import domain, exact, nodes_of


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

    def test_absurd_tiers_are_stated(self) -> None:
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
