"""Classes: whatever a rule or a level can tell tasks, jobs and victims apart by keeps them apart."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.optimum.model.symmetry import build_classes
from cpsched.snapshot import Snapshot
from tests.judge import cluster, conf, job, pending, running, snapshot_of

Raw = dict[str, Any]
ALL = "enqueue, allocate, preempt, reclaim, backfill"
QUEUES = [{"name": "default"}, {"name": "other"}]
VOLUME = {"volumes": [{"name": "v", "emptyDir": {}}]}
GANG_OFF = {"name": "gang", "enablePreemptable": False, "enableReclaimable": False}


def counted(snapshot: Snapshot) -> list[int]:
    """How many tasks each class has."""
    return sorted(len(one.tasks) for one in build_classes(snapshot).tasks)


@pytest.mark.parametrize(
    ("task", "owner"),
    [
        (pending(2), {}),
        (pending(requests={"memory": "1Gi"}), {}),
        (pending(nodeSelector={"disk": "ssd"}), {}),
        (pending(annotations={"volcano.sh/task-priority": "5"}), {}),
        (pending(labels={"app": "x"}), {}),
        (pending(), {"namespace": "elsewhere"}),
        (pending(), {"queue": "other"}),
        (pending(), {"priority": 100}),
        (pending(), {"minMember": 0}),
    ],
)
def test_tasks_that_differ(task: Raw, owner: Raw) -> None:
    """In one thing, whatever it is: what is asked, wished, who asks, how urgently, and where from."""
    plain = pending(priority=10)
    jobs = [job("a", plain, priority=10), job("b", plain, priority=10)]
    other = job("c", {**task, "priority": 10}, **{"priority": 10, **owner})
    assert counted(snapshot_of(cluster(*jobs, other, queues=QUEUES))) == [1, 2]


def test_tasks_with_things_of_their_own() -> None:
    assert counted(snapshot_of(cluster(job("a", pending(replicas=3, **VOLUME))))) == [1, 1, 1]


@pytest.mark.parametrize("owner", ["default-a-task-0", "default-a-task-2"])
def test_one_for_whom_a_claim_was_made(owner: str) -> None:
    """For its extended resources: the pod itself names none."""
    metadata = {
        "name": "c",
        "namespace": "default",
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": owner.removeprefix("default-"),
                "uid": owner,
                "controller": True,
            }
        ],
    }
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {}}
    snapshot = snapshot_of(cluster(job("a", pending(replicas=3)), objects=[claim]))
    assert counted(snapshot) == [1, 2]
    assert len(set(snapshot.identities.values())) == 2


@pytest.mark.parametrize(("roles", "expected"), [({}, [2]), ({"x": 1, "y": 1}, [1, 1])])
def test_roles_count_where_they_have_minima(roles: Raw, expected: list[int]) -> None:
    tasks = [pending(role="x"), pending(role="y")]
    assert counted(snapshot_of(cluster(job("a", *tasks, minMember=2, minTaskMember=roles)))) == expected


@pytest.mark.parametrize(("when", "expected"), [("DoNotSchedule", [1, 2]), ("ScheduleAnyway", [3])])
def test_owners_count_where_the_scheduler_spreads_by_them(when: str, expected: list[int]) -> None:
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when}
    arguments = {"defaultingType": "List", "defaultConstraints": [spread]}
    shown = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": arguments}]}],
    }
    owners = [[{"kind": "ReplicaSet", "name": name, "controller": True}] for name in ("a", "a", "b")]
    jobs = [job(f"j{number}", pending(ownerReferences=owner)) for number, owner in enumerate(owners)]
    assert counted(snapshot_of(cluster(*jobs), model="kube", conf=shown)) == expected


def same_jobs(*jobs: Raw, **fields: Any) -> list[int]:
    """How many jobs each class has."""
    shown = conf(ALL, "priority", "gang", "predicates", "overcommit", "capacity")
    return sorted(len(one) for one in build_classes(snapshot_of(cluster(*jobs, **fields), conf=shown)).jobs)


@pytest.mark.parametrize(
    "stated",
    [
        {"minMember": 1},
        {"phase": "Running"},
        {"phase": "Inqueue", "minResources": {"cpu": 1}},
    ],
)
def test_jobs_that_differ(stated: Raw) -> None:
    jobs = [job(name, pending(replicas=2), **{"minMember": 2, "phase": "Inqueue"}) for name in ("a", "b")]
    assert same_jobs(*jobs) == [2]
    assert same_jobs(*jobs, {**job("c", pending(replicas=2), minMember=2, phase="Inqueue"), **stated}) == [1, 2]


@pytest.mark.parametrize("cpu", [1, 2])
def test_jobs_that_announce_something_else(cpu: int) -> None:
    asking = [(1, "a"), (1, "b"), (cpu, "c")]
    jobs = [job(name, pending("100m"), phase="Pending", minResources={"cpu": least}) for least, name in asking]
    assert same_jobs(*jobs) == ([3] if cpu == 1 else [1, 2])


def test_jobs_whose_limits_differ() -> None:
    """One has waited long enough to be let past overcommit."""
    shown = conf(ALL, "gang", {"name": "sla", "arguments": {"sla-waiting-time": "1h"}}, tiers=[["overcommit"]])
    stated = {"phase": "Pending", "minResources": {"cpu": 1}}
    created = {"a": "2026-01-01T00:00:00Z", "b": "2026-01-01T01:30:00Z", "c": "2026-01-01T01:45:00Z"}
    jobs = [job(name, pending(), creationTimestamp=since, **stated) for name, since in created.items()]
    snapshot = snapshot_of(cluster(*jobs, now="2026-01-01T02:00:00Z"), conf=shown)
    assert sorted(one.jobs for one in build_classes(snapshot).jobs) == [("default/a",), ("default/b", "default/c")]


@pytest.mark.parametrize(
    "tasks",
    [
        [pending(), pending(2)],
        [pending(), pending(role="done", phase="Succeeded")],
        [pending(), pending(role="later", schedulingGates=[{"name": "g"}])],
    ],
)
def test_jobs_of_more_than_one_kind_stand_alone(tasks: list[Raw]) -> None:
    assert same_jobs(*(job(name, *tasks, minMember=1) for name in ("a", "b"))) == [1, 1]


def test_jobs_with_minima_per_role_stand_alone() -> None:
    jobs = [job(name, pending(role="x"), minMember=1, minTaskMember={"x": 1}) for name in ("a", "b")]
    assert same_jobs(*jobs) == [1, 1]


def victims(*old: Raw, levels: list[str] | None = None, gang: Any = "gang", **fields: Any) -> list[int]:
    """How many victims each group has, were a task important to come."""
    new = [job("new", pending(), priority=1000), job("far", pending(), priority=1000, queue="other")]
    shown = conf(ALL, "priority", gang, "predicates", "capacity")
    source = cluster(*old, *new, **{"queues": QUEUES, "nodes": {"n1": 9, "n2": 9}, **fields})
    found = build_classes(snapshot_of(source, conf=shown, levels=levels)).victims
    return sorted(len(group.tasks) for group in found)


START = {"startTime": "2026-01-01T00:00:00Z"}
SAME_ROLE = {"volcano.sh/task-spec": "task"}


@pytest.mark.parametrize(
    "stated",
    [
        {"labels": {"app": "x"}},
        {"annotations": {**SAME_ROLE, "volcano.sh/task-priority": "5"}},
        {"annotations": {"volcano.sh/task-spec": "other"}},
        {"priority": 7},
        {"requests": {"cpu": 2}},
        {"running": "n2"},
        {"ports": [{"containerPort": 80, "hostPort": 80}]},
    ],
)
def test_victims_that_differ(stated: Raw) -> None:
    alike, third = running(replicas=2, **START), running(annotations=SAME_ROLE, **START)
    assert victims(job("old", alike, third, minMember=0, priority=10)) == [3]
    assert victims(job("old", alike, {**third, **stated}, minMember=0, priority=10)) == [1, 2]


def test_who_may_not_be_evicted_is_no_victim() -> None:
    spared = running(annotations=SAME_ROLE, preemptable=False, **START)
    assert victims(job("old", running(replicas=2, **START), spared, minMember=0, priority=10)) == [2]


def test_victims_that_are_disrupted_already_are_stated_apart() -> None:
    budget = {
        "name": "b",
        "selector": {"matchLabels": {"app": "x"}},
        "disruptionsAllowed": 1,
        "disruptedPods": ["old-task-0"],
    }
    old = job("old", running(replicas=3, labels={"app": "x"}, **START), minMember=0, priority=10)
    assert victims(old) == [3]
    assert victims(old, budgets=[budget]) == [1, 2]


@pytest.mark.parametrize(
    ("namespace", "rank"),
    [("kube-system", "p10"), ("default", "system-cluster-critical"), ("default", "system-node-critical")],
)
def test_what_is_critical_to_the_system_is_no_victim(namespace: str, rank: str) -> None:
    old = job("old", running(priority=10, priorityClassName=rank), priority=10, minMember=0, namespace=namespace)
    source = cluster(old, job("new", pending(), priority=1000), nodes=9)
    for plugins, expected in ((["conformance"], 0), ([], 1)):
        shown = conf("allocate, preempt", "priority", "gang", *plugins)
        assert len(build_classes(snapshot_of(source, conf=shown)).victims) == expected


class TestSeveralJobs:
    """Victims of several jobs are one group where no task minds how much of each goes."""

    quiet = ("jobs_admitted", "victim_count")

    def two(self, *more: Raw, least: int = 1, **other: Any) -> list[Raw]:
        """Two jobs of one running task each."""
        stated, old = {"priority": 10, "minMember": least}, running(priority=10, priorityClassName="p10", **START)
        return [job("a", old, *more, **stated), job("b", old, *more, **{**stated, **other})]

    def test_together(self) -> None:
        assert victims(*self.two(), gang=GANG_OFF, levels=[*self.quiet]) == [2]

    @pytest.mark.parametrize("other", [{"priority": 50}, {"queue": "other"}, {"namespace": "elsewhere"}])
    def test_rank_queue_and_namespace_count(self, other: Raw) -> None:
        assert victims(*self.two(**other), gang=GANG_OFF, levels=[*self.quiet]) == [1, 1]

    def test_gangs_that_are_guarded_or_counted_stand_alone(self) -> None:
        spare = running(priority=10, priorityClassName="p10", annotations=SAME_ROLE, **START)
        assert victims(*self.two(spare), levels=[*self.quiet]) == [2, 2]
        assert victims(*self.two(), gang=GANG_OFF, levels=[*self.quiet, "gangs_broken"]) == [1, 1]

    def test_jobs_that_could_grow_stand_alone(self) -> None:
        assert victims(*self.two(pending(9)), gang=GANG_OFF, levels=[*self.quiet]) == [1, 1]

    @pytest.mark.parametrize(("done", "expected"), [(0, []), (1, []), (2, [2]), (3, [2])])
    def test_who_has_done_enough_may_lose_the_rest(self, done: int, expected: list[int]) -> None:
        over = [pending(role="done", replicas=done, phase="Succeeded")] if done else []
        assert victims(*self.two(*over, least=2)) == expected

    def test_an_action_that_is_not_configured_guards_no_task(self) -> None:
        gang = {"name": "gang", "enablePreemptable": False}
        shown = conf("allocate, preempt", "priority", gang)
        source = cluster(*self.two(), job("new", pending(), priority=1000), nodes=9)
        found = build_classes(snapshot_of(source, conf=shown, levels=[*self.quiet])).victims
        assert [len(group.tasks) for group in found] == [2]


@pytest.mark.parametrize(
    ("actions", "expected", "best_effort"),
    [
        ("allocate", (True, True), (False, False)),
        ("backfill", (False, False), (True, False)),
        ("preempt", (False, True), (False, True)),
        ("reclaim", (False, True), (False, True)),
    ],
)
def test_what_actions_can_do(actions: str, expected: tuple[bool, bool], best_effort: tuple[bool, bool]) -> None:
    for cpu, able in ((1, expected), (None, best_effort)):
        [one] = build_classes(snapshot_of(cluster(job("a", pending(cpu), phase="Running")), conf=conf(actions))).tasks
        assert (one.may_bind, one.may_reserve) == able


@pytest.mark.parametrize(("cpu", "nodes"), [(1, ()), (None, ("n1",))])
def test_closed_queues_and_missing_shares_leave_room_only_for_those_who_ask_for_nothing(
    cpu: int | None, nodes: tuple[str, ...]
) -> None:
    closed = [{"name": "default", "state": "Closed"}]
    [one] = build_classes(snapshot_of(cluster(job("a", pending(cpu)), queues=closed))).tasks
    assert one.nodes == nodes
    tree = conf(ALL, "gang", {"name": "capacity", "enableHierarchy": True})
    without_root = snapshot_of(cluster(job("a", pending(cpu)), queues=[{"name": "default"}]), conf=tree)
    assert without_root.shares_refused
    assert build_classes(without_root).tasks[0].nodes == nodes
