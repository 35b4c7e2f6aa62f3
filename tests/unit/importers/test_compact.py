"""The compact form: what it expands to, and what it refuses."""

from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.importers.load import load
from cpsched.objects.topology import HyperNode
from tests.judge import cluster, job, pending, running


def error(source):
    """The line a user reads."""
    with pytest.raises(InputError) as caught:
        load(source)
    return str(caught.value)


class TestNodes:
    """One node, or several alike."""

    def test_replicas(self):
        """Numbered from 0, each with its own hostname."""
        nodes = load(cluster(nodes=[{"name": "n", "replicas": 2, "labels": {"zone": "a"}}])).nodes
        assert {name: node.labels for name, node in nodes.items()} == {
            f"n-{i}": {"zone": "a", "kubernetes.io/hostname": f"n-{i}"} for i in range(2)
        }

    def test_one_node_keeps_its_name(self):
        """And a hostname label of its own goes before."""
        (node,) = load(cluster(nodes=[{"name": "n", "labels": {"kubernetes.io/hostname": "h"}}])).nodes.values()
        assert (node.name, node.labels) == ("n", {"kubernetes.io/hostname": "h"})

    def test_fields(self):
        """Taints, the cordon and images are the node's."""
        stated = {
            "name": "n",
            "unschedulable": True,
            "taints": [{"key": "k", "effect": "NoSchedule"}],
            "images": [{"names": ["i"], "sizeBytes": 5}],
        }
        (node,) = load(cluster(nodes=[stated])).nodes.values()
        assert node.node.spec.unschedulable
        assert node.node.spec.taints[0].key == "k"
        assert node.node.status.images[0].size_bytes == 5

    def test_none(self):
        """No replicas, no node."""
        assert load(cluster(nodes=[{"name": "n", "replicas": 0}])).nodes == {}


class TestTasks:
    """Pods from shorthand."""

    def test_ids_and_names(self):
        """job/role-number; the role defaults to task, then task1, task2."""
        tasks = load(cluster(job("a", pending(replicas=2), pending(role="w"), pending()))).tasks
        assert {key: task.name for key, task in tasks.items()} == {
            "a/task-0": "a-task-0",
            "a/task-1": "a-task-1",
            "a/w-0": "a-w-0",
            "a/task2-0": "a-task2-0",
        }

    def test_named_task(self):
        """job/name, or namespace/name where it has both."""
        tasks = load(cluster(job("a", pending(name="x"), pending(name="y", namespace="default")))).tasks
        assert {key: task.name for key, task in tasks.items()} == {"a/x": "x", "default/y": "y"}

    def test_running_as_text_list_and_mapping(self):
        """All replicas on one node, some on each, or by id."""
        source = cluster(
            job("a", running(replicas=2)),
            job("b", pending(replicas=3, running=["n1", "n2"])),
            job("c", pending(replicas=2)),
            nodes={"n1": 9, "n2": 9},
            running={"c/task-1": "n2"},
        )
        nodes = {key: task.node for key, task in load(source).tasks.items() if task.node}
        assert nodes == {
            "a/task-0": "n1",
            "a/task-1": "n1",
            "b/task-0": "n1",
            "b/task-1": "n2",
            "c/task-1": "n2",
        }

    def test_container_shorthand(self):
        """requests, limits, ports and image belong to the one container; stated containers are kept as they are."""
        stated = pending(2, limits={"memory": 5}, ports=[{"hostPort": 80}], image="i")
        (task,) = load(cluster(job("a", stated))).tasks.values()
        (container,) = task.pod.spec.containers
        assert (container.name, container.image, container.ports[0].host_port) == ("main", "i", 80)
        assert task.requests == {"cpu": 2000, "memory": 5, "pods": 1}
        own = {"containers": [{"name": "x", "resources": {"requests": {"cpu": 3}}}]}
        (task,) = load(cluster(job("a", own))).tasks.values()
        assert task.requests["cpu"] == 3000

    def test_priority_class_of_the_job(self):
        """Pods take it over, and its value, unless they state their own."""
        tasks = load(cluster(job("a", pending(), pending(role="b", priorityClassName="p10"), priority=100))).tasks
        assert [task.pod_priority for task in tasks.values()] == [100, 10]

    def test_status_fields(self):
        """Phase, start and nomination are the pod's status."""
        stated = running(startTime="1970-01-01T00:00:01Z", nominatedNodeName="n1")
        (task,) = load(cluster(job("a", stated))).tasks.values()
        assert (task.pod.status.phase, task.pod.status.start_time) == ("Running", 10**9)
        assert task.pod.status.nominated_node_name == "n1"

    def test_pasted_fields_without_bearing(self):
        """Pod-spec fields that scheduling does not read may be pasted along."""
        assert load(cluster(job("a", pending(dnsPolicy="Default", restartPolicy="Never")))).tasks


class TestJobs:
    """PodGroups from jobs."""

    def group(self, *tasks, **fields):
        """The PodGroup made from a job."""
        return load(cluster(job("a", *tasks, **fields))).jobs["default/a"].group

    def test_minimum_defaults_to_all_tasks(self):
        """Replicas counted."""
        assert self.group(pending(replicas=2), pending(role="b")).spec.min_member == 3

    @pytest.mark.parametrize(
        ("tasks", "minimum", "phase"),
        [
            ((pending(),), 1, "Inqueue"),
            ((running(),), 1, "Running"),
            ((running(), pending(role="b")), 2, "Inqueue"),
            ((running(), pending(role="b")), 1, "Running"),
            ((pending(),), 0, "Inqueue"),
        ],
    )
    def test_phase(self, tasks, minimum, phase):
        """Running once its minimum has a node, else in the queue already."""
        assert self.group(*tasks, minMember=minimum).status.phase == phase

    def test_stated_phase(self):
        """A stated phase is kept."""
        assert self.group(pending(), phase="Pending").status.phase == "Pending"


class TestTheRest:
    """Queues, classes, budgets, further objects, settings."""

    def test_priority_classes_as_mapping_or_list(self):
        """Name to value, or with all fields."""
        listed = [{"name": "p", "value": 5, "preemptionPolicy": "Never", "globalDefault": True}]
        assert load(cluster(priorityClasses={"p": 5})).priority_classes["p"].value == 5
        found = load(cluster(priorityClasses=listed)).priority_classes["p"]
        assert (found.value, found.preemption_policy, found.global_default) == (5, "Never", True)

    def test_budget(self):
        """Selector, allowance and pods already disrupted."""
        stated = {"name": "b", "namespace": "ns", "selector": {"matchLabels": {"a": "b"}}, "disruptionsAllowed": 2}
        (budget,) = load(cluster(budgets=[{**stated, "disruptedPods": ["x"]}])).budgets
        assert (budget.key, budget.status.disruptions_allowed, set(budget.status.disrupted_pods)) == ("ns/b", 2, {"x"})
        assert budget.spec.selector.match_labels == {"a": "b"}

    def test_further_objects(self):
        """Any Kubernetes object may stand beside."""
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": {"a": "b"}}}
        assert load(cluster(objects=[namespace])).namespaces["ns"].metadata.labels == {"a": "b"}

    def test_sharding(self):
        """In our words or in the shard's own."""
        ours = load(cluster(sharding={"mode": "hard", "nodes": ["n1"], "name": "s"})).sharding
        upstream = {"sharding_mode": "hard", "nodes_in_shard": ["n1"], "shard_name": "s"}
        assert load(cluster(sharding=upstream)).sharding == ours
        assert (ours.mode, ours.nodes, ours.name) == ("hard", {"n1"}, "s")
        assert load(cluster(), sharding={"mode": "soft", "nodes": []}).sharding.mode == "soft"

    def test_null_is_absent(self):
        """As in Kubernetes."""
        source = cluster(job("a", pending(nodeSelector=None), queue=None, minMember=None), now=None, conf=None)
        assert load(source).sha256 == load(cluster(job("a", pending()))).sha256

    def test_recipe_is_kept_out(self):
        """How a generated instance was made is no task's business here."""
        assert load(cluster(recipe={"seed": 1}, name="n", description="d")).sha256 == load(cluster()).sha256


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            cluster(job("a", pending(toleration=[]))),
            "input: job a tasks[0]: unknown field toleration; did you mean tolerations?",
        ),
        (
            cluster(job("a", pending(xyzzy=1))),
            "input: job a tasks[0]: unknown field xyzzy; tasks take pod-spec fields, requests, replicas, role, running",
        ),
        (
            cluster(job("a", pending(name="x", replicas=2))),
            "input: job a tasks[0]: name x with 2 replicas; a named task has one replica",
        ),
        (
            cluster(job("a", pending(running=["n1", "n1"]))),
            "input: job a tasks[0]: running does not say where the replicas are; "
            "running is a node's name, or a list of at most 1 of them",
        ),
        (cluster(job("a", pending(role=5))), "input: job a tasks[0]: role is 5; role is a text"),
        (cluster(job("a", pending(labels=[]))), "input: job a tasks[0]: labels is not a mapping"),
        (
            cluster(job("a", pending()), running={"a/task-9": "n1"}),
            "input: running: no task has the id a/task-9; ids are job/task-index",
        ),
        (
            {"apiVersion": "cpsched/v2", "kind": "Instance"},
            "input: apiVersion 'cpsched/v2' of an Instance; write cpsched/v1",
        ),
        ([cluster(), cluster()], "input: [1]: a second Instance; give one Instance at a time"),
        (
            cluster(now="yesterday"),
            'input: now: "yesterday" is not an RFC 3339 time; write "2026-01-31T12:00:00Z"',
        ),
    ],
)
def test_errors(source, line):
    """File, place, what is wrong, what would be right, in one line."""
    assert error(source) == line


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        (cluster(nodes=[{"name": "n", "lables": {}}]), ("nodes[0].lables", "no such field")),
        (cluster(job("a", pending(replicas=-1))), ("job a tasks[0]", "replicas is -1")),
        (cluster(job("a", pending(replicas=True))), ("job a tasks[0]", "replicas is True")),
        (cluster(job("a", pending("much"))), ("a-task-0", '"much" is not a quantity')),
        (cluster(queues=[{"name": "q", "state": "Ajar"}]), ("queues[0].state", "Ajar", "Open")),
        (cluster(job("", pending())), ("jobs[0].name", "1 character")),
        (cluster(queues=[{"name": "q", "weight": "3"}]), ("queues[0].weight", '"3"', "whole number")),
        (cluster(nodes={"n1": -1}), ("nodes[0].allocatable.cpu", "negative")),
    ],
)
def test_errors_of_validation(source, parts):
    """What a field may hold is stated with the field's place."""
    line = error(source)
    assert line.startswith("input: ")
    assert all(part in line for part in parts), line


class TestTopology:
    """HyperNodes and what jobs ask of them."""

    def test_members_by_name(self):
        """As exactMatch, nodes before HyperNodes; others as they stand."""
        regex = {"type": "Node", "selector": {"regexMatch": {"pattern": "^n"}}}
        stated = [
            {"name": "s", "tier": 1, "nodes": ["n"]},
            {"name": "b", "tier": 2, "tierName": "block", "hyperNodes": ["s"], "members": [regex]},
        ]
        rack, block = load(cluster(nodes=[{"name": "n"}], hyperNodes=stated)).of_kind(HyperNode)
        assert [(one.type, one.selector.exact_match.name) for one in rack.spec.members] == [("Node", "n")]
        assert [one.type for one in block.spec.members] == ["HyperNode", "Node"]
        assert block.spec.members[1].selector.regex_match.pattern == "^n"
        assert (rack.spec.tier, block.spec.tier, block.spec.tier_name) == (1, 2, "block")

    def test_demands(self):
        """Hard unless stated otherwise, as the API server fills it in."""
        policy = {"name": "g", "matchLabelKeys": ["part"], "subGroupSize": 2, "networkTopology": {"mode": "soft"}}
        made = job("a", pending(replicas=2), networkTopology={"highestTierAllowed": 1}, subGroupPolicy=[policy])
        spec = load(cluster(made)).jobs["default/a"].group.spec
        assert (spec.network_topology.mode, spec.network_topology.highest_tier_allowed) == ("hard", 1)
        (found,) = spec.sub_group_policy
        assert (found.sub_group_size, found.min_sub_groups, found.network_topology.mode) == (2, None, "soft")

    def test_what_is_misspelt(self):
        """One line with the place."""
        assert "networkTopology" in error(cluster(job("a", pending(), networkTopology={"highestTier": 1})))
        assert "hyperNodes" in error(cluster(hyperNodes=[{"name": "s", "tier": -1}]))
