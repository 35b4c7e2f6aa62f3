"""Cross-references: every fault has its line, and with `lenient` is a warning; what clusters have always is."""

from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.importers.kubernetes import ReadReport
from cpsched.importers.load import load

VOLCANO = "scheduling.volcano.sh/v1beta1"


def pod(name="x", *, node="", phase="Pending", annotations=None, cpu=None, **spec):
    """A Pod as the API server returns it."""
    requests = {} if cpu is None else {"cpu": cpu}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": requests}}], **spec},
        "status": {"phase": phase},
    }


def member(group="g", **fields):
    """A Pod of a PodGroup."""
    return pod(annotations={"scheduling.k8s.io/group-name": group}, **fields)


def group(name="g", phase="Inqueue", **spec):
    """A PodGroup."""
    return {
        "apiVersion": VOLCANO,
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"phase": phase},
    }


def queue(name, **spec):
    """A Queue."""
    return {"apiVersion": VOLCANO, "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def node(name="n1", **allocatable):
    """A Node."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


def compact(*jobs, **parts):
    """A compact instance."""
    return {"apiVersion": "cpsched/v1", "kind": "Instance", "jobs": list(jobs), **parts}


FAULTS = {
    "node": (
        [pod(node="n9", phase="Running")],
        "input: Pod x: sits on node n9, which is not in the input; add the node or leave the pod out",
    ),
    "bound to a node": (
        [pod(node="n9")],
        "input: Pod x: sits on node n9, which is not in the input; add the node or leave the pod out",
    ),
    "running nowhere": ([pod(phase="Running")], "input: Pod x: is Running but has no spec.nodeName; say where it runs"),
    "compact job without tasks": (
        compact({"name": "g"}),
        "input: PodGroup default/g: a job without tasks; give it tasks, or write the PodGroup under objects",
    ),
    "compact job of no replicas": (
        compact({"name": "g", "tasks": [{"replicas": 0}]}),
        "input: PodGroup default/g: a job without tasks; give it tasks, or write the PodGroup under objects",
    ),
    "queue of a compact job": (
        compact({"name": "g", "queue": "q9", "tasks": [{}]}, queues=[{"name": "q1"}, {"name": "q2"}]),
        "input: PodGroup default/g: its queue q9 is not in the input; queues given: q1, q2",
    ),
    "parent": (
        [queue("q", parent="p9")],
        "input: Queue q: its parent queue p9 is not in the input; add the parent",
    ),
    "cycle": (
        [queue("a", parent="b"), queue("b", parent="a")],
        "input: Queue a: its parents form a cycle: a -> b -> a; queues form a tree",
    ),
}


@pytest.mark.parametrize(("objects", "line"), FAULTS.values(), ids=FAULTS.keys())
def test_fault(objects, line):
    """File, place, what is wrong, what would be right."""
    with pytest.raises(InputError) as caught:
        load(objects, strict=True)
    assert str(caught.value) == line


@pytest.mark.parametrize(("objects", "line"), FAULTS.values(), ids=FAULTS.keys())
def test_lenient(objects, line):
    """The same line as a warning, and an instance comes out."""
    (found,) = load(objects, strict=True, lenient=True).warnings
    assert found in (line, "input: 2 queues whose parents form a cycle (Queue a, Queue b); queues form a tree")


WARNINGS = {
    "group": (
        [member("g9")],
        "input: Pod x: its PodGroup default/g9 is not in the input; such a pod stays out of every job",
    ),
    "priority class": (
        [group(priorityClassName="p9"), member()],
        "input: PodGroup g: PriorityClass p9 is not in the input; priority 0 is used",
    ),
    "empty group": ([group()], "input: PodGroup g: has no pods; Volcano keeps such a group as a job without tasks"),
    "empty group among the objects of a compact instance": (
        compact(objects=[group()]),
        "input: PodGroup g: has no pods; Volcano keeps such a group as a job without tasks",
    ),
    "queue of a group": (
        [group(queue="q9"), member(), queue("q1")],
        "input: PodGroup g: its queue q9 is not in the input; Volcano skips such a job",
    ),
    "queue of an empty group": (
        [group(queue="q9"), queue("q1")],
        "input: PodGroup g: its queue q9 is not in the input; Volcano skips such a job",
    ),
    "queue of a bare pod": (
        [pod(annotations={"scheduling.volcano.sh/queue-name": "q9"})],
        "input: Pod x: its queue q9 is not in the input; Volcano skips such a job",
    ),
}


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(("objects", "line"), WARNINGS.values(), ids=WARNINGS.keys())
def test_warning(objects, line, lenient):
    """What a cluster has now and then is a warning, whether or not one is lenient."""
    assert load(objects, strict=True, lenient=lenient).warnings == (line,)


@pytest.mark.parametrize(("objects", "line"), WARNINGS.values(), ids=WARNINGS.keys())
def test_an_instance_with_a_warning_is_written_and_read_again(objects, line):
    """What was written is no more strict than what was read, also if a compact job made it."""
    loaded = load(objects)
    again = load(loaded.to_dict())
    assert (again.jobs, len(again.warnings)) == (loaded.jobs, 1)


def test_jobs_of_missing_queues_stay_out_of_the_session():
    """As upstream: a job whose queue does not exist is not there, and its pods are in no job."""
    loaded = load([group(queue="q9"), member(), group("h"), member("h", name="y")])
    assert list(loaded.jobs) == ["default/h"]
    assert list(loaded.tasks) == ["default/x", "default/y"]
    assert "q9" not in loaded.queues


def test_a_group_without_pods_is_a_job_without_tasks():
    """As upstream: it is in the session, since it counts where jobs enter."""
    assert load([group()]).jobs["default/g"].tasks == ()


def test_many_of_a_kind_are_one_line():
    """A cluster can have thousands; other kinds are not pushed out."""
    objects = [group(f"g{number}") for number in range(500)] + [group(f"h{number}", queue="q") for number in range(4)]
    assert load([node(), *objects]).warnings == (
        "input: 500 PodGroups without pods (PodGroup g0, PodGroup g1, PodGroup g2, ...); "
        "Volcano keeps such a group as a job without tasks",
        "input: 4 jobs whose queue is not in the input (1: q); Volcano skips such a job",
    )


OF_A_CLUSTER = {
    "pods on nodes that are gone": (
        [*(pod(f"p{number}", node=f"gone{number % 4}", phase="Running") for number in range(9)), pod("x")],
        "input: 9 pods on nodes that are not in the input (4: gone0, gone1, gone2, ...); "
        "counted for jobs and queues, on no node",
    ),
    "one such pod": (
        [pod(node="n9")],
        "input: Pod x: sits on node n9, which is not in the input; counted for jobs and queues, on no node",
    ),
    "running nowhere": (
        [pod("x", phase="Running"), pod("y", phase="Running")],
        "input: 2 running pods without a node (Pod x, Pod y); counted for jobs and queues, on no node",
    ),
    "parent": ([queue("q", parent="p9")], "input: Queue q: its parent queue p9 is not in the input; add the parent"),
    "groups that are gone": (
        [member("g9"), member("g9", name="y"), member("g8", name="z")],
        "input: 3 pods whose PodGroup is not in the input (2: default/g9, default/g8); "
        "such a pod stays out of every job",
    ),
}


def test_a_group_is_there_although_its_pods_are_another_scheduler_s():
    """Volcano makes no task of such a pod; the input lacks nothing."""
    foreign = member("g9")
    foreign["spec"]["schedulerName"] = "kube-batch"
    group = {"kind": "PodGroup", "apiVersion": "scheduling.volcano.sh/v1beta1", "metadata": {"name": "g9"}}
    warnings = load([node(), group, foreign]).warnings
    assert warnings
    assert not any("is not in the input" in line for line in warnings)


@pytest.mark.parametrize(("objects", "line"), OF_A_CLUSTER.values(), ids=OF_A_CLUSTER.keys())
def test_a_cluster_is_never_refused_for_a_reference(objects, line):
    """A line per kind, and everything is in the instance, in the report, and written and read again."""
    report = ReadReport()
    loaded = load([node(), *objects], report=report)
    assert loaded.warnings == (line,)
    assert len(loaded.tasks) == sum(item["kind"] == "Pod" for item in objects)
    ((_, _, count, _),) = report.gaps.rows("input")
    assert count == int(line.split()[1]) if line.split()[1].isdecimal() else 1
    assert load(loaded.to_dict(), lenient=True).sha256 == loaded.sha256


def test_pods_without_any_node():
    """One line says what to add; a case, made by hand, may have no nodes."""
    (line,) = load([pod(node="a", phase="Running"), pod("y", node="b", phase="Running"), pod("z")]).warnings
    assert line == (
        "input: holds pods but no nodes, so nothing can be placed; add what `kubectl get nodes -o json` prints, "
        "or let --assume-nodes make the 2 that spec.nodeName names"
    )
    assert load(compact({"name": "g", "tasks": [{}]})).warnings == ()


def test_sharding_names_unknown_nodes():
    """A shard may list nodes that are gone."""
    loaded = load([node()], sharding={"mode": "soft", "nodes": ["n1", "n9"]})
    assert loaded.warnings == ("sharding: node n9 is not in the input",)


@pytest.mark.parametrize(
    "objects",
    [
        [pod(node="n9", phase="Succeeded")],
        [pod(node="n9", phase="Failed")],
        [group(phase="Completed")],
        [queue("q", parent="root")],
        [node(), pod(node="n1", phase="Running")],
    ],
)
def test_no_fault(objects):
    """Finished pods may have outlived their node, completed groups their pods; root need not be given."""
    assert load([node("n0"), *objects]).warnings == ()


ERRORS = {
    "same id": (
        [pod("x", annotations={"cpsched/task": "t"}), pod("y", annotations={"cpsched/task": "t"})],
        "input: Pod y: the task id t is used twice; ids are unique",
    ),
    "huge request": (
        [pod(cpu="9223372036854775807")],
        "input: Pod x: its request for cpu overflows 64 bits",
    ),
    "huge node": ([node(cpu="9223372036854775807")], "input: Node n1: its amount of cpu overflows 64 bits"),
    "huge queue": (
        [queue("q", deserved={"cpu": "9223372036854775807"})],
        "input: Queue q: its amount of cpu overflows 64 bits",
    ),
    "huge minimum": (
        [group(minResources={"cpu": "9223372036854775807"}), member()],
        "input: PodGroup g: its amount of cpu overflows 64 bits",
    ),
}


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(("objects", "line"), ERRORS.values(), ids=ERRORS.keys())
def test_error(objects, line, lenient):
    """What cannot be fixed is an error also where one is lenient."""
    with pytest.raises(InputError) as caught:
        load(objects, lenient=lenient, strict=True)
    assert str(caught.value) == line


@pytest.mark.parametrize(("objects", "line"), ERRORS.values(), ids=ERRORS.keys())
def test_of_a_cluster_such_an_object_is_set_aside(objects, line):
    """Nothing that can be read stops the others, even if no task can count it."""
    loaded = load([node("fine"), *objects])
    assert len(loaded.objects) == len(objects)
    assert loaded.warnings[0] == f"input: set aside: 1 unreadable object ({line.removeprefix('input: ')})"


def test_same_name_of_another_kind_or_namespace():
    """Names are unique per kind and namespace."""
    elsewhere = pod()
    elsewhere["metadata"]["namespace"] = "ns"
    assert set(load([pod(), elsewhere, node("x")]).tasks) == {"default/x", "ns/x"}


class TestJobsOfOne:
    """Pods without a PodGroup."""

    def test_plain_cluster(self):
        """Where there are no groups and no queues every pod is a job, whichever scheduler it names."""
        job, *others = load([pod(schedulerName="default-scheduler", priorityClassName="")]).jobs.values()
        assert others == []
        assert (job.key, job.queue, job.min_available, job.tasks) == (
            "default/podgroup-default-x",
            "default",
            1,
            ("default/x",),
        )

    @pytest.mark.parametrize(("scheduler", "expected"), [("", 1), ("volcano", 1), ("default-scheduler", 0)])
    def test_beside_queues(self, scheduler, expected):
        """Where Volcano is at work, pods of other schedulers are none of its jobs."""
        assert len(load([pod(schedulerName=scheduler), queue("q")]).jobs) == expected

    @pytest.mark.parametrize(
        ("fields", "phase"),
        [({}, "Inqueue"), ({"node": "n1"}, "Inqueue"), ({"node": "n1", "phase": "Running"}, "Running")],
    )
    def test_phase(self, fields, phase):
        """A pod at work is a running job, a waiting one is in the cycle."""
        (job,) = load([node(), pod(**fields)]).jobs.values()
        assert job.phase == phase

    def test_queue_and_priority(self):
        """Its annotation names the queue, its class the priority."""
        annotations = {"scheduling.volcano.sh/queue-name": "q"}
        high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
        (job,) = load([pod(annotations=annotations, priorityClassName="high"), queue("q"), high]).jobs.values()
        assert (job.queue, job.priority) == ("q", 9)


class TestDefaultQueue:
    """Jobs that name no queue."""

    def test_it_is_made_where_it_is_missing(self):
        """With weight 1 and open."""
        loaded = load([group(), member()])
        assert loaded.jobs["default/g"].queue == "default"
        assert (loaded.queues["default"].weight, loaded.queues["default"].is_open) == (1, True)

    def test_a_given_one_is_taken(self):
        """Weight and all."""
        assert load([group(), member(), queue("default", weight=7)]).queues["default"].weight == 7

    def test_no_task_needs_it(self):
        """Without such a job there is none."""
        assert "default" not in load([group(queue="q"), member(), queue("q")]).queues
