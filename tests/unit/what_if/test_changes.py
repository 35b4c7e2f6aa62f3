"""Cordon, drain, further nodes, pods that are gone, objects that are created: what becomes of the cluster."""

from __future__ import annotations

import pytest

import cpsched
from cpsched.errors import InputError
from tests.unit.workloads.given import cluster, names, node, owned, pod, queue, submitted, template, vcjob

SPEC = {"template": template()}


def running(name, on="n1", owner="ReplicaSet", **metadata):
    """A pod that runs, of a controller unless owner is empty."""
    owners = [{"kind": owner, "name": "o", "uid": "o", "controller": True}] if owner else []
    stated = {"ownerReferences": owners, "labels": {"app": "a"}, **metadata}
    return pod(name, metadata=stated, spec={"nodeName": on}, status={"phase": "Running"})


def budget(allowed):
    """A budget over app a."""
    spec = {"selector": {"matchLabels": {"app": "a"}}, "minAvailable": 1}
    return owned("PodDisruptionBudget", "b", version="policy/v1", spec=spec, status={"disruptionsAllowed": allowed})


def effects(instance):
    """What is stated."""
    return [one.effect for one in instance.what_if]


class TestCordon:
    """A node that takes no new pods."""

    def test_marks_the_node(self):
        """Those on it stay."""
        instance = cpsched.load(cluster(running("a")), cordon=["n1"])
        assert [one.node.spec.unschedulable for one in instance.nodes.values()] == [True, False]
        assert instance.tasks["default/a"].node == "n1"
        assert effects(instance) == ["node n1 takes no new pods"]

    def test_changes_the_hash(self):
        """It is another instance."""
        assert cpsched.load(cluster(), cordon=["n1"]).sha256 != cpsched.load(cluster()).sha256

    def test_unknown(self):
        """One line with near names."""
        with pytest.raises(InputError, match="no node n11; did you mean n1"):
            cpsched.load(cluster(), cordon=["n11"])


class TestDrain:
    """Pods of controllers wait again; others stay."""

    def test_who_stays(self):
        """DaemonSets' pods, mirror pods, and those that no task would make again."""
        items = [
            running("web"),
            running("daemon", owner="DaemonSet"),
            running("static", owner="Node"),
            running("mirror", owner="", annotations={"kubernetes.io/config.mirror": "x"}),
            running("alone", owner=""),
            running("ending", deletionTimestamp="2026-01-01T00:00:00Z"),
            running("else", on="n2"),
        ]
        instance = cpsched.load(cluster(*items), drain=["n1"])
        placed = {task.name: task.node for task in instance.tasks.values()}
        assert placed == {"daemon": "n1", "static": "n1", "mirror": "n1", "alone": "n1", "else": "n2", "web": ""}
        assert instance.tasks["default/web"].status.value == "Pending"
        assert effects(instance) == [
            "node n1 takes no new pods; 1 pod pending again: default/web; 1 of DaemonSets stay; 2 mirror pods stay; "
            "1 without a controller, which need --force, stay"
        ]

    @pytest.mark.parametrize(("allowed", "named"), [(0, True), (1, True), (2, False)])
    def test_budgets_are_named(self, allowed, named):
        """If they allow fewer disruptions than the drain makes."""
        instance = cpsched.load(cluster(running("a"), running("b"), budget(allowed)), drain=["n1"])
        assert ("PodDisruptionBudget default/b allows" in effects(instance)[0]) == named

    def test_they_find_another_place(self):
        """Or none."""
        instance = cpsched.load(cluster(running("web"), nodes=2), drain=["n1"])
        assert cpsched.solve(instance).binds == {"default/web": "n2"}
        assert cpsched.solve(cpsched.load(cluster(running("web"), nodes=1), drain=["n1"])).binds == {}


class TestAddNodes:
    """New nodes of a kind that is there."""

    def test_like(self):
        """Size, labels and taints of the pattern; not its cordon, nor the taints that say how it fares."""
        taints = [
            {"key": "gpu", "effect": "NoSchedule"},
            {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
        ]
        pattern = node("big", 64, labels={"pool": "gpu"}, spec={"unschedulable": True, "taints": taints})
        instance = cpsched.load(cluster(pattern, node("big-new-1")), add_nodes={"big": 2})
        assert [*instance.nodes][-2:] == ["big-new-2", "big-new-3"]
        new = instance.nodes["big-new-2"]
        assert new.labels == {"kubernetes.io/hostname": "big-new-2", "pool": "gpu"}
        assert new.allocatable == instance.nodes["big"].allocatable
        assert not new.node.spec.unschedulable
        assert [taint.key for taint in new.node.spec.taints] == ["gpu"]

    def test_what_belongs_to_the_node(self):
        """Its drivers and devices are there too."""
        slice_ = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": "s"},
            "spec": {"driver": "d", "nodeName": "n1", "pool": {"name": "n1"}, "devices": [{"name": "gpu-0"}]},
        }
        drivers = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n1"}}
        instance = cpsched.load(cluster(slice_, drivers), add_nodes={"n1": 1})
        found = {item.key: item for item in instance.objects if type(item).__name__ in ("ResourceSlice", "CSINode")}
        assert [*found] == ["s", "n1", "s-n1-new-1", "n1-new-1"]
        assert found["s-n1-new-1"].spec.pool.name == found["s-n1-new-1"].spec.node_name == "n1-new-1"

    @pytest.mark.parametrize(("added", "wrong"), [({"n1": 0}, "0 nodes"), ({"n9": 1}, "no node n9")])
    def test_wrong(self, added, wrong):
        """One line."""
        with pytest.raises(InputError, match=wrong):
            cpsched.load(cluster(), add_nodes=added)

    def test_too_many(self):
        """The limit of all instances."""
        with pytest.raises(InputError, match="at most 200000"):
            cpsched.load(cluster(), add_nodes={"n1": 10**9})


class TestWithout:
    """A pod that is gone."""

    def test_is_gone(self):
        """By its key, or its name in the namespace default."""
        for name in ("default/a", "a"):
            instance = cpsched.load(cluster(running("a"), running("b")), without=[name])
            assert names(instance) == ["b"]
            assert effects(instance) == ["pod default/a is gone"]

    def test_unknown(self):
        """One line with near names."""
        with pytest.raises(InputError, match="no pod default/aa; did you mean default/a"):
            cpsched.load(cluster(running("a")), without=["default/aa"])


class TestSubmit:
    """Objects that are created."""

    def test_is_the_youngest(self):
        """It comes a second after everything that the input mentions."""
        old = running("a", creationTimestamp="2026-01-01T00:00:00Z")
        instance = submitted(vcjob(), pod("p"), to=cluster(old))
        made = {task.name: task.pod.metadata.creation_timestamp for task in instance.tasks.values()}
        assert {made["train-worker-0"], made["p"]} == {made["a"] + 10**9}
        assert instance.jobs["default/train"].created == made["a"] + 10**9

    @pytest.mark.parametrize(
        ("there", "new", "title"),
        [
            (vcjob(), vcjob(), "Job default/train"),
            (pod("p"), pod("p"), "Pod default/p"),
            (owned("ReplicaSet", "r", spec=SPEC), owned("ReplicaSet", "r", spec=SPEC), "ReplicaSet default/r"),
        ],
        ids=["vcjob", "pod", "replicas"],
    )
    def test_what_exists_cannot_be_made_again(self, there, new, title):
        """Another name, or the old one away."""
        with pytest.raises(InputError, match=f"{title} is in the input already"):
            submitted(new, to=cluster(there))

    def test_after_the_old_one_is_gone(self):
        """--without comes first."""
        instance = cpsched.load(cluster(pod("p")), submit=[[pod("p", spec={"priority": 7})]], without=["p"])
        assert instance.tasks["default/p"].spec.priority == 7

    def test_queues_are_changed(self):
        """As by kubectl apply: a new spec, the old state."""
        closed = {**queue("team"), "status": {"state": "Closed"}}
        instance = submitted(queue("team", weight=7), to=cluster(closed))
        assert (instance.queues["team"].weight, instance.queues["team"].is_open) == (7, False)
        assert effects(instance) == ["changes Queue team"]

    def test_bare_pods(self):
        """Of Volcano with the PodGroup that its controller makes; of another scheduler without."""
        instance = submitted(pod("v"), pod("k", spec={"schedulerName": ""}))
        (job,) = instance.jobs.values()
        assert (job.key, job.phase, job.tasks) == ("default/podgroup-default-v", "Pending", ("default/v",))
        assert job.min_resources == {"cpu": 1000, "pods": 1}
        assert instance.tasks["default/k"].spec.scheduler_name == "default-scheduler"

    def test_generated_names_and_server_fields(self):
        """A name of its own; no uid, status or node of another life."""
        stated = pod("", metadata={"generateName": "p-", "uid": "x"}, status={"phase": "Succeeded"})
        del stated["metadata"]["name"]
        (task,) = submitted(stated).tasks.values()
        assert (task.name, task.uid, task.status.value) == ("p-0", "default-p-0", "Pending")

    @pytest.mark.parametrize(
        ("item", "wrong"),
        [
            ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}, "nothing here is of a kind"),
            ({"metadata": {"name": "c"}}, "an object without a kind"),
            ({"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": []}, "an Instance"),
            ({"apiVersion": "batch/v1", "kind": "Job", "spec": {}}, "metadata.name is missing"),
        ],
    )
    def test_wrong(self, item, wrong):
        """One line."""
        with pytest.raises(InputError, match=wrong):
            submitted(item)

    def test_two_sources(self):
        """Both are created; a name comes once."""
        instance = cpsched.load(cluster(), submit=[[vcjob("a")], [vcjob("b")]])
        assert list(instance.jobs) == ["default/a", "default/b"]
        with pytest.raises(InputError, match="in the input already"):
            cpsched.load(cluster(), submit=[[vcjob("a")], [vcjob("a")]])


def test_order_of_options_does_not_matter():
    """A new node is like the old one as it was, and a drained pod may go to it."""
    asked = {"drain": ["n1"], "cordon": ["n2"], "add_nodes": {"n1": 1, "n2": 1}, "without": ["a"]}
    one = cpsched.load(cluster(running("a"), running("b")), **asked)
    other = cpsched.load(cluster(running("a"), running("b")), **dict(reversed(asked.items())))
    assert one.sha256 == other.sha256
    assert cpsched.solve(one).binds["default/b"] in ("n1-new-1", "n2-new-1")


def test_a_solution_states_it():
    """With the options that lead to the same instance."""
    instance = cpsched.load(
        cluster(), submit=[[owned("ReplicaSet", "r", spec={"template": template()})]], cordon=["n1"]
    )
    stated = cpsched.solve(instance).to_dict()["what_if"]
    assert [one["option"] for one in stated] == ["--cordon n1", "--submit"]
    assert "what_if" not in cpsched.solve(cpsched.load(cluster())).to_dict()
