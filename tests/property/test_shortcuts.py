"""Every shortcut of the judge and of the classes gives the answer of the plain question it stands for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings

from cpsched import requests, resources
from cpsched.check import Decision, charging, violations
from cpsched.explain.lifting import Lifted
from cpsched.explain.requirements import Requirement
from cpsched.filters import FILTERS, feasible
from cpsched.importers.load import load
from cpsched.objectives import level_plan, value_of, vector
from cpsched.objects.pod import PodSpec
from cpsched.optimum import said
from cpsched.optimum.levels import steps_of
from cpsched.optimum.program import Program
from cpsched.resources import less_equal_partly_for_zero_filtered
from cpsched.snapshot import Snapshot
from cpsched.snapshot.predicates import NOT_IN_SHARD, Predicates
from cpsched.snapshot.rights import actions_against, is_above_share
from cpsched.solution import Eviction
from tests.judge import cluster, conf, job, pending, running, snapshot_of
from tests.oracle.sessions import contest, entering
from tests.strategies import kubernetes_objects

SEEDS = range(60)
ALL = "enqueue, allocate, preempt, reclaim, backfill"


def sessions() -> Iterator[Snapshot]:
    """Small sessions in which something is contested, under every rule."""
    for seed in SEEDS:
        yield contest(seed).snapshot()
        yield entering(seed).snapshot()
        yield mixed(seed)


def mixed(seed: int) -> Snapshot:
    """Jobs that run and wait at once, tasks of every rank and shape, some of them leaving, on nodes not for all."""
    r = random.Random(seed)

    def tasks(kind, count, **fields):
        for number in range(count):
            wishes = [
                {},
                {},
                {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
                {"nodeSelector": {"disk": "ssd"}},
            ]
            rank = {"annotations": {"volcano.sh/task-priority": r.choice(["1", "5", "9"])}}
            asked = {"requests": {"memory": "1Gi"}} if r.random() < 0.3 else {}
            yield kind(
                r.choice([None, 1, 2]), role=f"{kind.__name__}{number}", **rank, **asked, **r.choice(wishes), **fields
            )

    def one(number):
        leaving = {"deletionTimestamp": "2026-01-01T11:00:00Z"} if r.random() < 0.2 else {}
        there = tasks(running, r.choice([0, 1, 2, 3]), node=r.choice(["n1", "n2"]), **leaving)
        queue, priority = r.choice(["left", "left", "right"]), r.choice([10, 100])
        waiting = list(tasks(pending, r.choice([0, 1, 2])))
        given_up = {"preemptionPolicy": "Never"} if r.random() < 0.2 else {}
        members = [*there, *({**task, **given_up} for task in waiting)] or [pending()]
        return job(f"j{number}", *members, minMember=r.choice([0, 1, len(members)]), priority=priority, queue=queue)

    nodes = [
        {"name": "n1", "allocatable": {"cpu": 6, "memory": "4Gi", "pods": 20}, "labels": {"disk": "ssd"}},
        {"name": "n2", "allocatable": {"cpu": 4, "memory": "2Gi", "pods": 20}},
        {"name": "n3", "allocatable": {"cpu": 4, "pods": 20}, "taints": [{"key": "gpu", "effect": "NoSchedule"}]},
    ]
    deserved = [{"cpu": 1, "memory": r.choice(["1Gi", "3Gi"])}, {"cpu": r.choice([1, 5]), "memory": "1Gi"}]
    queues = [{"name": name, "deserved": share} for name, share in zip(("left", "right"), deserved, strict=True)]
    told = conf(
        ALL,
        "priority",
        {"name": "gang", "enablePreemptable": False},
        "predicates",
        r.choice(["capacity", "proportion"]),
    )
    return snapshot_of(cluster(*map(one, range(6)), nodes=nodes, queues=queues), conf=told)


def decisions(snapshot: Snapshot, count: int = 6) -> Iterator[Decision]:
    """Anything goes: placed anywhere, evicted by anybody, running tasks placed again."""
    r = random.Random(len(snapshot.instance.tasks))
    tasks, nodes = snapshot.instance.tasks.values(), list(snapshot.instance.nodes)
    for _ in range(count):
        binds: dict[str, str] = {}
        reserves: dict[str, str] = {}
        evictions: list[Eviction] = []
        for task in tasks:
            fate = r.random()
            if task.node and fate < 0.6:
                evictions.append(Eviction(task=task.key, action=r.choice(["", "", "preempt", "reclaim"])))
            if fate > (0.9 if task.node else 0.2):
                (binds if fate < 0.4 else reserves)[task.key] = r.choice(nodes)
        owners = [snapshot.job_of(snapshot.instance.tasks[key]) for key in (*binds, *reserves)]
        entered = frozenset(owner.key for owner in owners if owner is not None and owner.is_pending)
        yield Decision(snapshot, binds, reserves, tuple(evictions), entered)


class TestRights:
    """Who may evict whom."""

    def test_rights_by_kind(self):
        """A kind of task and a kind of victim have the rights of each of their pairs."""
        for snapshot in sessions():
            free = next(iter(snapshot.jobs))
            for one in (snapshot, Lifted(snapshot, free, [Requirement("eviction", "")])):
                tasks = one.instance.tasks.values()
                for task in tasks:
                    for victim in tasks:
                        assert one.rights.actions(task, victim) == tuple(actions_against(one, task, victim))

    def test_one_task_of_every_kind(self):
        """Those left out have the rights of one that was chosen."""
        for snapshot in sessions():
            tasks = list(snapshot.instance.tasks.values())
            chosen = snapshot.rights.claimants(tasks)
            rights = [[tuple(actions_against(snapshot, one, victim)) for victim in tasks] for one in chosen]
            for task in tasks:
                assert [tuple(actions_against(snapshot, task, victim)) for victim in tasks] in rights

    def test_rights_of_a_decision(self):
        """Victims that share their answer would get the same one each on its own."""
        for snapshot in sessions():
            for decision in decisions(snapshot):
                expected = {item.task: plain_rights(decision, item) for item in decision.evictions}
                assert {key: list(pairs) for key, pairs in decision.rights.static.items()} == expected
                for key, pairs in expected.items():
                    held = [pair for pair in pairs if plain_holds(decision, key, *pair)]
                    assert list(decision.rights.by_victim[key]) == held
                    by_preempt = "preempt" in {action for _, action in pairs}
                    assert decision.rights.action(key) == ("preempt" if by_preempt else "reclaim" if pairs else None)

    def test_one_more_of_another_shape(self):
        """Left is above its share in cpu alone: one more victim that holds cpu would be given back, no other."""
        old = job("old", running(4), running(None, requests={"memory": "1Gi"}), priority=10, minMember=0, queue="left")
        new = [job("boss", pending(1), priority=100, queue="left"), job("taker", pending(1), queue="right")]
        rights = claimed(cluster(old, *new, nodes=TWO_RESOURCES, queues=shares(left=1, right=5))).rights
        by = {key: [owner(task) for task, _ in pairs] for key, pairs in rights.by_victim.items()}
        assert by == {"old/task-0": ["boss", "taker"], "old/task1-0": ["boss"]}

    def test_claims_by_queue(self):
        """Two queues ask for the same, and only one of them stays within its share."""
        old = job("old", running(4), priority=10, minMember=0, queue="left")
        more = job("more", running(2), priority=10, minMember=0, queue="far")
        new = [job("near", pending(1), queue="right"), job("late", pending(1), queue="far")]
        for order in (new, new[::-1]):
            queues = shares(left=1, right=5, far=1)
            decision = claimed(cluster(old, more, *order, nodes=TWO_RESOURCES, queues=queues), but="more")
            assert [[owner(task) for task, _ in pairs] for pairs in decision.rights.by_victim.values()] == [["near"]]

    def test_given_back(self):
        """Shapes that are taken at once are those that would be taken one by one, in the same order."""
        lengths = set()
        for snapshot in sessions():
            for decision in decisions(snapshot):
                for queue, victims in decision.rights.reclaimed.items():
                    found = decision.rights.given_back(queue, victims)
                    assert found == plain_given_back(snapshot, queue, victims)
                    lengths.add((len(found), len(victims)))
        assert any(0 < some < most for some, most in lengths)

    def test_given_back_in_turn(self):
        """Once a large one is back, the small one that was asked first goes before the other large one."""
        old = job("old", running(1), running(4, 2), priority=10, minMember=0, queue="left")
        taker = job("taker", pending(1), queue="right")
        decision = claimed(cluster(old, taker, nodes=TWO_RESOURCES, queues=shares(left=3, right=5)))
        small, one, other = decision.victims
        found = decision.rights.given_back("left", [small, one, other])
        assert (
            found == [one.key, small.key, other.key] == plain_given_back(decision.snapshot, "left", [small, one, other])
        )

    def test_for_whom_by_victim(self):
        """The job that a victim goes for is looked for among those entitled to it, not to the one before."""
        old = job("old", running(4), running(None, requests={"memory": "1Gi"}), priority=10, minMember=0, queue="left")
        new = [job("boss", pending(1), priority=100, queue="left"), job("taker", pending(1), queue="right")]
        decision = claimed(cluster(old, *new, nodes=TWO_RESOURCES, queues=shares(left=1, right=5)))
        gone = tuple(item.model_copy(update={"for_job": "default/taker"}) for item in decision.evictions)
        found = [item.subject for item in violations(replace(decision, evictions=gone)) if item.rule == "eviction"]
        assert found == ["old/task1-0"]

    def test_asked_by_shape(self):
        """What a queue is asked for is what all its tasks ask for, not only the first."""
        new = job("new", pending(1), pending(None, requests={"memory": "3Gi"}), minMember=1, queue="left")
        queues = [{"name": "left", "capability": {"cpu": 4, "memory": "2Gi"}}]
        decision = claimed(cluster(new, nodes=TWO_RESOURCES, queues=queues))
        found = [item.message for item in violations(decision) if item.rule == "queue"]
        assert found == ["holds more memory than its capability"]


TWO_RESOURCES = [{"name": "n1", "allocatable": {"cpu": 8, "memory": "8Gi", "pods": 20}}]


def shares(**cpus):
    """Queues with so much cpu deserved, and more memory than anybody holds."""
    return [{"name": name, "deserved": {"cpu": cpu, "memory": "6Gi"}} for name, cpu in cpus.items()]


def claimed(source, but=""):
    """Everybody who waits is placed on the one node, and all who run go, but one job."""
    snapshot = snapshot_of(source, conf=conf(ALL, "priority", "gang", "capacity"))
    tasks = snapshot.instance.tasks.values()
    gone = [Eviction(task=task.key) for task in tasks if task.node and owner(task) != but]
    return Decision(snapshot, {}, {task.key: "n1" for task in tasks if not task.node}, tuple(gone))


def owner(task):
    """The name of the task's job."""
    return task.group.split("/")[1]


def plain_given_back(snapshot, queue, victims):
    """Whoever finds the queue above its share goes last, then the next; shapes in the order of their first victim."""
    held = dict(snapshot.shares[queue].allocated) if queue in snapshot.shares else {}
    for victim in victims:
        held = {name: held.get(name, 0) - victim.requests.get(name, 0) for name in {**held, **victim.requests}}
    waiting: dict = {}
    for victim in victims:
        waiting.setdefault(tuple(sorted(victim.requests.items())), []).append(victim)
    found = []
    while True:
        for left in filter(None, waiting.values()):
            with_it = resources.add(held, left[0].requests)
            if is_above_share(snapshot, queue, left[0], with_it):
                held = with_it
                found.append(left.pop(0).key)
                break
        else:
            return found


def plain_rights(decision, eviction):
    """The rights against one victim, pair by pair."""
    snapshot = decision.snapshot
    victim = snapshot.instance.tasks[eviction.task]
    everywhere = snapshot.policy.rules.eviction_scope == "cluster"
    return [
        (task, action)
        for node, tasks in decision.placed_by_node.items()
        if everywhere or node == victim.node
        for task in tasks
        for action in actions_against(snapshot, task, victim)
        if eviction.action in ("", action)
    ]


def plain_holds(decision, key, task, action):
    """Whether a right holds once shares are looked at: the two sides of a reclaim, asked for this pair alone."""
    if action == "preempt":
        return True
    snapshot, rights = decision.snapshot, decision.rights
    victim = snapshot.instance.tasks[key]
    queue, other = snapshot.queue_of(victim).name, snapshot.queue_of(task)
    together = list(rights.reclaimed.get(queue, []))
    if rights.action(key) != "reclaim":
        together.append(victim)
    if key not in rights.given_back(queue, together) or other is None or other.name not in snapshot.shares:
        return False
    shares, after = snapshot.shares, decision.allocated_after
    if snapshot.policy.share_plugin == "proportion":
        asked = [name for name, amount in task.requests.items() if amount > 0 and name != "pods"]
        return all(after[other.name].get(name, 0) <= shares[other.name].deserved.get(name, 0) for name in asked)
    line = shares[other.name].ancestors[:0:-1]
    reach = snapshot.policy.plugin("capacity").arguments.integer("ancestorReclaimLevel")
    return any(
        less_equal_partly_for_zero_filtered(after[name], shares[name].deserved, task.requests)
        for name in (other.name, *line[:reach])
    )


class TestCharging:
    """Nodes that are alike are charged once."""

    @pytest.mark.parametrize("seed", range(60))
    def test_each_node_on_its_own(self, seed):
        """Six nodes, some of them alike: the verdict on each is that of a search of its own."""
        decision = crowded(seed)
        missing = {n: short for n in decision.victims_by_node if (short := charging._missing(decision, n))}
        expected = [
            nodes[0]
            for nodes in charging._components(decision, missing)
            if not charging._Search(decision, nodes, missing).succeeds
        ]
        assert [node for node, _ in charging.uncharged_nodes(decision)] == expected

    def test_whoever_pays_counts(self):
        """Two nodes lack the same and lose the same, but on one the small task is entitled, on the other the large."""
        entitled = {"n1": 1, "n2": 3}
        jobs = [job(f"old-{n}", running(2, 2, node=n), priority=10, minMember=0) for n in entitled]
        for n, cpu in entitled.items():
            jobs += [job(f"a-{n}", pending(cpu), priority=100), job(f"b-{n}", pending(4 - cpu), priority=10)]
        snapshot = snapshot_of(cluster(*jobs, nodes=dict.fromkeys(entitled, 4)), conf=conf(ALL, "priority", "gang"))
        tasks = snapshot.instance.tasks
        placed = {key: key.split("/")[0][-2:] for key, task in tasks.items() if not task.node}
        gone = tuple(Eviction(task=key) for key, task in tasks.items() if task.node)
        assert list(charging.uncharged_nodes(Decision(snapshot, {}, placed, gone))) == [("n1", True)]

    def test_one_payer_or_two(self):
        """Each of two victims has one payer like the other's; where it is the same one, it cannot need both."""
        both = {"n1": ("left", "right"), "n2": ("left", "left")}
        jobs = []
        for n, queues in both.items():
            for number, queue in enumerate(queues):
                rank = (10, 50)[number]
                jobs.append(job(f"old{number}-{n}", running(2, node=n), priority=rank, minMember=0, queue=queue))
            jobs += [job(f"new-{queue}-{n}", pending(2), priority=100, queue=queue) for queue in ("left", "right")]
        told = conf("enqueue, allocate, preempt", "priority", "gang")
        source = cluster(*jobs, nodes=dict.fromkeys(both, 4), queues=[{"name": "left"}, {"name": "right"}])
        snapshot = snapshot_of(source, conf=told)
        tasks = snapshot.instance.tasks
        placed = {key: key.split("/")[0][-2:] for key, task in tasks.items() if not task.node}
        gone = tuple(Eviction(task=key) for key, task in tasks.items() if task.node)
        assert list(charging.uncharged_nodes(Decision(snapshot, {}, placed, gone))) == [("n2", True)]

    def test_both_verdicts_occur(self):
        """And one decision often has both, on nodes that are not alike."""
        found = [(len(list(charging.uncharged_nodes(d))), len(d.victims_by_node)) for d in map(crowded, range(60))]
        assert any(0 < refused < nodes for refused, nodes in found)


def crowded(seed: int) -> Decision:
    """Full nodes on which small and large tasks of one queue make room for those of another and of their own."""
    r = random.Random(seed)
    actions = r.choice(["enqueue, allocate, preempt, backfill", "enqueue, allocate, reclaim, backfill", ALL])
    rules = {"eviction.scope": "cluster"} if seed % 4 == 0 else None
    names = [f"n{number}" for number in range(3 if rules or actions == ALL else 12)]
    sizes = {name: r.choice([(2, 2), (1, 3), (1, 1, 2)]) for name in names}
    ranks, asked = r.choice([(10,), (10, 50)]), r.choice([(1, 2), (1, 2, 3)])
    jobs = [
        job(f"old-{name}-{i}", running(cpu, node=name), priority=r.choice(ranks), minMember=0, queue="left")
        for name, cpus in sizes.items()
        for i, cpu in enumerate(cpus)
    ]
    where = {}
    for name in names:
        for i in range(r.choice([1, 2, 3])):
            queue, priority = r.choice(["right", "left"]), r.choice([10, 50, 100])
            jobs.append(job(f"new-{name}-{i}", pending(r.choice(asked)), priority=priority, queue=queue))
            where[f"new-{name}-{i}"] = name
    queues = [{"name": "left"}, {"name": "right", "weight": 5}]
    told = conf(actions, "priority", "gang", "predicates", "proportion")
    nodes = {name: sum(cpus) + r.choice([0, 0, 1]) for name, cpus in sizes.items()}
    snapshot = snapshot_of(cluster(*jobs, nodes=nodes, queues=queues), conf=told, rules=rules)
    tasks = snapshot.instance.tasks
    placed = {key: where[key.split("/")[0]] for key, task in tasks.items() if not task.node}
    gone = [Eviction(task=key) for key, task in tasks.items() if task.node and r.random() < 0.7]
    return Decision(snapshot, {}, placed, tuple(gone))


class TestPlaces:
    """Where tasks may be."""

    def test_static_filters(self):
        """Wishes stand for the task, and nodes with nobody on them for the cluster."""
        for snapshot in sessions():
            predicates = snapshot.predicates
            for task in snapshot.instance.tasks.values():
                assert predicates.refused(task) == plain_refusals(predicates, task)

    @settings(max_examples=60)
    @given(kubernetes_objects())
    def test_static_filters_of_any_pods(self, objects):
        """Tolerations, affinity, volumes and named nodes too."""
        predicates = snapshot_of(objects, model="kube").predicates
        for task in predicates.instance.tasks.values():
            assert predicates.refused(task) == plain_refusals(predicates, task)

    def test_room_to_come(self):
        """Where nothing leaves it is the room of today, in a dict of its own."""
        for snapshot in sessions():
            for node, room in snapshot.future_idle.items():
                assert room == snapshot._less(node, releasing=True)
                assert room is not snapshot.idle[node]


def plain_refusals(predicates: Predicates, task):
    """What the static filters say in the cluster as it is."""
    static = [name for name in predicates.names(task) if FILTERS[name].is_static]
    verdicts = feasible(task, predicates.cluster, static, predicates.args(task)).by_node()
    refused = {node: status for node, status in verdicts.items() if not status.is_success}
    return refused | dict.fromkeys(predicates._other_shards, NOT_IN_SHARD)


class TestPods:
    """What is read off pods."""

    @settings(max_examples=60)
    @given(kubernetes_objects())
    def test_requests(self, objects):
        """Many pods state the same; the sum is that of their own containers."""
        for task in load(objects).tasks.values():
            total = requests._pod_total(task.pod, resources.from_quantities)
            total["pods"] = total.get("pods", 0) + 1
            requests._apply_pod_level(total, task.pod, resources.from_quantities)
            overhead = resources.from_quantities(task.pod.spec.overhead)
            assert task.requests == requests._added(total, overhead)
            assert list(task.requests) == list(requests._added(total, overhead))

    @settings(max_examples=60)
    @given(kubernetes_objects())
    def test_what_pods_state(self, objects):
        """Two pods state the same exactly if they are written the same."""
        specs = [task.pod.spec for task in load(objects).tasks.values()] + [PodSpec()]
        for fields in (said._WISHES, said._NEIGHBOURHOOD):
            written = [spec.model_dump_json(include=set(fields)) for spec in specs]
            stated = [said._stated(spec, fields) for spec in specs]
            for i, one in enumerate(stated):
                assert [one == other for other in stated] == [written[i] == other for other in written]


class TestOnce:
    """A decision is judged once."""

    def test_measures(self):
        """A step that was asked about one decision measures the next anew."""
        for seed in range(10):
            snapshot = mixed(seed)
            v = Program(snapshot).variables
            for level in level_plan(snapshot):
                kept = steps_of(v, *level)
                for decision in decisions(snapshot, 4):
                    fresh = [step.measure(decision) for step in steps_of(v, *level)]
                    assert [step.measure(decision) for step in kept] == fresh

    def test_second_answers(self):
        """They are those of a decision that nobody asked before, and no list is handed out twice."""
        for snapshot in sessions():
            for decision in decisions(snapshot, 2):
                first = violations(decision)
                first.append(None)
                anew = replace(decision)
                assert violations(decision) == violations(anew) == first[:-1]
                assert (
                    vector(decision) == vector(anew) == [value_of(decision, *level) for level in level_plan(snapshot)]
                )
