"""The instance's types: what schedulers derive from pods, groups, nodes and queues."""

from __future__ import annotations

import json

import pytest

from cpsched.importers.load import load
from cpsched.instance import Status
from tests.judge import cluster, job, pending, running

DELETING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def only_task(task, **fields):
    """The one task of an instance."""
    return next(iter(load(cluster(job("a", task, minMember=0, **fields)), lenient=True).tasks.values()))


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, Status.PENDING),
        ({"phase": ""}, Status.PENDING),
        ({"running": "n1", "phase": "Pending"}, Status.BOUND),
        ({"running": "n1", "phase": ""}, Status.BOUND),
        ({"running": "n1"}, Status.RUNNING),
        ({"running": "n1", **DELETING}, Status.RELEASING),
        (DELETING, Status.RELEASING),
        ({"running": "n1", "phase": "Pending", **DELETING}, Status.RELEASING),
        ({"phase": "Succeeded"}, Status.SUCCEEDED),
        ({"phase": "Succeeded", **DELETING}, Status.SUCCEEDED),
        ({"phase": "Failed"}, Status.FAILED),
        ({"phase": "Unknown"}, Status.UNKNOWN),
    ],
)
def test_status(fields, status):
    """Phase, node and deletion time read as one status (getTaskStatus)."""
    assert only_task(pending(**fields)).status is status


class TestTask:
    """What is derived from a pod."""

    @pytest.mark.parametrize(
        ("fields", "pod_priority", "task_priority"),
        [
            ({}, 0, 1),
            ({"priority": 7}, 7, 7),
            ({"priority": 0}, 0, 0),
            ({"priority": 7, "annotations": {"volcano.sh/task-priority": "3"}}, 7, 3),
            ({"annotations": {"volcano.sh/task-priority": "-3"}}, 0, -3),
            ({"priority": 7, "annotations": {"volcano.sh/task-priority": "high"}}, 7, 7),
            ({"priority": 7, "annotations": {"volcano.sh/task-priority": "2147483648"}}, 7, 7),
        ],
    )
    def test_two_priorities(self, fields, pod_priority, task_priority):
        """Victims are scored by spec.priority or 0; Volcano orders tasks by 1, spec.priority, then the annotation."""
        task = only_task(pending(**fields))
        assert (task.pod_priority, task.priority) == (pod_priority, task_priority)

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({}, True),
            ({"preemptable": False}, False),
            ({"preemptable": True}, True),
            ({"annotations": {"volcano.sh/preemptable": "1"}}, True),
            ({"annotations": {"volcano.sh/preemptable": "maybe"}}, False),
            ({"labels": {"volcano.sh/preemptable": "false"}}, False),
            ({"labels": {"volcano.sh/preemptable": "false"}, "preemptable": True}, True),
        ],
    )
    def test_preemptable(self, fields, expected):
        """Yes by default; the annotation goes before the label; an unreadable mark means no."""
        assert only_task(pending(**fields)).preemptable is expected

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({}, "task"),
            ({"role": "worker"}, "worker"),
            ({"annotations": {"volcano.sh/task-spec": "ps"}}, "ps"),
            ({"annotations": {"volcano.sh/task-spec": ""}, "labels": {"volcano.sh/task-spec": "label"}}, "label"),
        ],
    )
    def test_role(self, fields, expected):
        """The annotation, else the label."""
        assert only_task(pending(**fields)).role == expected

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({"cpu": None}, True),
            ({"cpu": 0}, True),
            ({"cpu": "1m"}, False),
            ({"cpu": None, "requests": {"memory": 1}}, False),
            ({"cpu": None, "requests": {"nvidia.com/gpu": 1}}, False),
            ({"cpu": None, "limits": {"cpu": 1}}, False),
        ],
    )
    def test_best_effort(self, fields, expected):
        """Asks for nothing but a place; a limit is a request unless one is stated."""
        assert only_task(pending(**fields)).best_effort is expected

    def test_gates_and_policy(self):
        """Gated while any gate is there; preemptionPolicy Never."""
        assert only_task(pending(schedulingGates=[{"name": "g"}])).gated
        assert not only_task(pending()).gated
        assert only_task(pending(preemptionPolicy="Never")).never_preempts
        assert not only_task(pending(preemptionPolicy="PreemptLowerPriority")).never_preempts

    def test_identity(self):
        """Name, namespace, uid and node are the pod's."""
        task = only_task(running(uid="u-1", labels={"a": "b"}), namespace="ns")
        assert (task.key, task.name, task.namespace, task.uid) == ("a/task-0", "a-task-0", "ns", "u-1")
        assert (task.node, task.labels, task.group) == ("n1", {"a": "b"}, "ns/a")

    def test_uid_is_made_up_where_it_is_missing(self):
        """From namespace and name."""
        assert only_task(pending(), namespace="ns").uid == "ns-a-task-0"


class TestJob:
    """A PodGroup and its tasks."""

    def only(self, *tasks, **fields):
        """The one job of an instance."""
        return load(cluster(job("a", *tasks, **fields))).jobs["default/a"]

    def test_fields(self):
        """Minimum, roles, resources, phase and creation."""
        one = self.only(
            pending(replicas=3),
            minMember=2,
            minTaskMember={"task": 1},
            minResources={"cpu": "1500m"},
            phase="Unknown",
            creationTimestamp="1970-01-01T00:00:01Z",
        )
        assert (one.tasks, one.min_available, one.min_by_role) == (
            ("a/task-0", "a/task-1", "a/task-2"),
            2,
            {"task": 1},
        )
        assert (one.min_resources, one.phase, one.is_pending, one.created) == ({"cpu": 1500}, "Unknown", False, 10**9)

    def test_missing_times_and_resources(self):
        """No creation time is the zero time, before all others; no minResources is not empty ones."""
        one = self.only(pending())
        assert one.created < 0
        assert one.min_resources is None
        assert self.only(pending(), minResources={}).min_resources == {}

    @pytest.mark.parametrize(
        ("phase", "expected"), [("", True), ("Pending", True), ("Inqueue", False), ("Running", False)]
    )
    def test_pending(self, phase, expected):
        """Not yet in the cycle."""
        assert self.only(pending(), phase=phase).is_pending is expected

    def test_preemptable_is_off_by_default(self):
        """Unlike a task's."""
        assert not self.only(pending()).preemptable
        assert self.only(pending(), annotations={"volcano.sh/preemptable": "true"}).preemptable
        assert self.only(pending(), labels={"volcano.sh/preemptable": "true"}).preemptable

    def test_priority(self):
        """The class' value, else the global default, else 0; never the pods' own."""
        assert self.only(pending(priority=5), priority=100).priority == 100
        assert self.only(pending(priority=5)).priority == 0
        default = [{"name": "d", "value": 3, "globalDefault": True}]
        assert load(cluster(job("a", pending()), priorityClasses=default)).jobs["default/a"].priority == 3


class TestQueue:
    """A queue, its shares as vectors."""

    def only(self, **fields):
        """The queue q."""
        return load(cluster(queues=[{"name": "q", **fields}])).queues["q"]

    def test_defaults(self):
        """Weight 1, reclaimable, open, nothing declared."""
        queue = self.only()
        assert (queue.weight, queue.priority, queue.parent, queue.reclaimable, queue.is_open) == (1, 0, "", True, True)
        assert (queue.capability, queue.deserved, queue.guarantee) == (None, None, None)

    def test_stated(self):
        """As written."""
        queue = self.only(
            weight=3,
            priority=-2,
            parent="root",
            reclaimable=False,
            capability={"cpu": 2},
            deserved={"memory": "1Ki"},
            guarantee={"nvidia.com/gpu": 1},
            creationTimestamp="1970-01-01T00:00:01Z",
        )
        assert (queue.weight, queue.priority, queue.parent, queue.reclaimable) == (3, -2, "root", False)
        assert (queue.capability, queue.deserved, queue.guarantee) == (
            {"cpu": 2000},
            {"memory": 1024},
            {"nvidia.com/gpu": 1000},
        )
        assert queue.created == 10**9

    @pytest.mark.parametrize(
        ("state", "expected"), [("Open", True), ("Closed", False), ("Closing", False), ("Unknown", False)]
    )
    def test_state(self, state, expected):
        """Only Open takes new work."""
        assert self.only(state=state).is_open is expected

    def test_queue_without_a_state(self):
        """A raw manifest has no status; it counts as Open."""
        raw = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}}
        assert load([raw]).queues["q"].is_open


class TestInstance:
    """The whole."""

    source = cluster(
        job("a", running(), pending(role="new"), running(node="n2", role="b"), minMember=1),
        job("done", {**pending(phase="Succeeded"), "nodeName": "n1"}),
        nodes={"n1": 4, "n2": 4, "n3": 4},
        now="2026-01-01T00:00:00Z",
        sharding={"mode": "soft", "nodes": ["n2", "n1"], "name": "s"},
        conf={"actions": "allocate", "tiers": []},
    )

    def test_tasks_by_node(self):
        """Those who sit there and have not ended; every node has a list."""
        by_node = load(self.source).tasks_by_node
        assert {node: [task.key for task in tasks] for node, tasks in by_node.items()} == {
            "n1": ["a/task-0"],
            "n2": ["a/b-0"],
            "n3": [],
        }

    def test_round_trip(self):
        """Written and read again it is the same, hash and all."""
        instance = load(self.source)
        again = load(json.loads(json.dumps(instance.to_dict())))
        assert again.objects == instance.objects
        assert (again.tasks, again.jobs, again.queues) == (instance.tasks, instance.jobs, instance.queues)
        assert (again.now, again.sharding, again.conf) == (instance.now, instance.sharding, instance.conf)
        assert again.sha256 == instance.sha256

    def test_names_of_disrupted_pods_survive_without_a_time(self):
        """The API server writes a zero time as null."""
        budget = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "b", "namespace": "default"},
            "status": {"disruptedPods": {"x": None}},
        }
        instance = load([budget])
        assert load(instance.to_dict()).budgets[0].status.disrupted_pods == {"x": None}

    def test_hash_sees_content_not_order_of_fields(self):
        """Another order of keys is the same instance, another value is not."""
        reordered = dict(reversed(list(self.source.items())))
        assert load(reordered).sha256 == load(self.source).sha256
        assert load({**self.source, "now": "2026-01-01T00:00:01Z"}).sha256 != load(self.source).sha256

    def test_hash_is_the_same_after_a_heartbeat(self):
        """A node's resourceVersion changes every few minutes; it is kept, as it shows who printed the node."""
        one, other = (load([{"kind": "Node", "metadata": {"name": "n", "resourceVersion": at}}]) for at in ("7", "8"))
        assert one.sha256 == other.sha256
        assert load(one.to_dict()).nodes["n"].node.metadata.resource_version == "7"

    def test_of_kind(self):
        """All objects of one shape."""
        instance = load(self.source)
        nodes = [item for item in instance.objects if type(item).__name__ == "Node"]
        assert list(instance.of_kind(type(nodes[0]))) == nodes
        assert instance.of_kind(str) == ()
