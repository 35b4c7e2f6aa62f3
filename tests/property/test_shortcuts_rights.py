"""Who may evict whom: every shortcut gives the answer of the plain question it stands for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cpsched import resources
from cpsched.explanation.lifting import Lifted
from cpsched.explanation.requirements import Requirement
from cpsched.resources import less_equal_partly_for_zero_filtered
from cpsched.rules import Decision, violations
from cpsched.snapshot.rights import actions_against, is_above_share
from cpsched.solution import Eviction
from tests.contested import ALL, decisions, sessions
from tests.judge import cluster, conf, job, pending, running, snapshot_of


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

    @pytest.mark.parametrize("scope", ["node", "cluster"])
    def test_one_more_of_another_shape(self, scope):
        """Left is above its share in cpu alone: one more victim that holds cpu would be given back, no other."""
        old = job("old", running(4), running(None, requests={"memory": "1Gi"}), priority=10, minMember=0, queue="left")
        new = [job("boss", pending(1), priority=100, queue="left"), job("taker", pending(1), queue="right")]
        source = cluster(old, *new, nodes=TWO_RESOURCES, queues=shares(left=1, right=5))
        rights = claimed(source, scope=scope).rights
        by = {key: [owner(task) for task, _ in pairs] for key, pairs in rights.by_victim.items()}
        assert by == {"old/task-0": ["boss", "taker"], "old/task1-0": ["boss"]}

    def test_one_more_of_another_queue(self):
        """Of two queues that hold the same only left is above its share, and one more of its victims is given back."""
        old = [job(f"old-{name}", running(2), priority=10, minMember=0, queue=name) for name in ("left", "right")]
        new = [job(f"boss-{name}", pending(1), priority=100, queue=name) for name in ("left", "right")]
        for order in (old, old[::-1]):
            queues = shares(left=1, right=3, far=5)
            source = cluster(*order, *new, job("taker", pending(1), queue="far"), nodes=TWO_RESOURCES, queues=queues)
            by = {owner(task): pairs for task, pairs in with_tasks(claimed(source).rights)}
            assert [owner(task) for task, _ in by["old-left"]] == ["boss-left", "boss-right", "taker"]
            assert [owner(task) for task, _ in by["old-right"]] == ["boss-right"]

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
        """All that may go last at once are those that would go one by one."""
        lengths = set()
        for snapshot in sessions():
            for decision in decisions(snapshot):
                for queue, victims in decision.rights.reclaimed.items():
                    found = decision.rights.given_back(queue, victims)
                    assert found == plain_given_back(snapshot, queue, victims)
                    lengths.add((len(found), len(victims)))
        assert any(0 < some < most for some, most in lengths)

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
    """Queues with so much cpu deserved, and more memory than any task holds."""
    return [{"name": name, "deserved": {"cpu": cpu, "memory": "6Gi"}} for name, cpu in cpus.items()]


def with_tasks(rights):
    """Each victim with those who may evict it."""
    return [(rights.snapshot.instance.tasks[key], pairs) for key, pairs in rights.by_victim.items()]


def claimed(source, but="", scope="node"):
    """Every task that waits is placed on the one node, and all who run go, but one job."""
    rules = {"eviction.scope": scope}
    snapshot = snapshot_of(source, conf=conf(ALL, "priority", "gang", "capacity"), rules=rules)
    tasks = snapshot.instance.tasks.values()
    gone = [Eviction(task=task.key) for task in tasks if task.node and owner(task) != but]
    return Decision(snapshot, {}, {task.key: "n1" for task in tasks if not task.node}, tuple(gone))


def owner(task):
    """The name of the task's job."""
    return task.group.split("/")[1]


def plain_given_back(snapshot, queue, victims):
    """A victim that finds the queue above its share goes last, then the next."""
    held = dict(snapshot.shares[queue].allocated) if queue in snapshot.shares else {}
    for victim in victims:
        held = {name: held.get(name, 0) - victim.requests.get(name, 0) for name in {**held, **victim.requests}}
    waiting, found = list(victims), set()
    while True:
        for victim in waiting:
            with_it = resources.add(held, victim.requests)
            if is_above_share(snapshot, queue, victim, with_it):
                held = with_it
                found.add(victim.key)
                waiting.remove(victim)
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
