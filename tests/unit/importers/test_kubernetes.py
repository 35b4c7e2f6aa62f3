"""Kubernetes objects: lists, kinds, null fields, identity, what is counted and what is refused."""

from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.importers.kubernetes import ReadReport
from cpsched.importers.load import load

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
WITHOUT_KIND = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}


@pytest.mark.parametrize(
    "source",
    [
        [NODE, POD],
        {"apiVersion": "v1", "kind": "List", "items": [NODE, POD]},
        [{"apiVersion": "v1", "kind": "PodList", "items": [WITHOUT_KIND]}["items"][0] | {"kind": "Pod"}, NODE],
    ],
)
def test_forms(source):
    """An array, a List: the same objects."""
    instance = load(source)
    assert (list(instance.nodes), list(instance.tasks)) == (["n1"], ["default/p"])


def test_typed_list():
    """The items of a PodList need not say what they are."""
    assert list(load({"apiVersion": "v1", "kind": "PodList", "items": [WITHOUT_KIND]}).tasks) == ["default/p"]
    other = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "QueueList", "items": [{"metadata": {"name": "q"}}]}
    assert list(load(other).queues) == ["q"]


class TestWrittenTheSame:
    """Specs and statuses that are written the same are one object, and say what they would say on their own."""

    @staticmethod
    def pods(*specs):
        """The pods with these specs, read together."""
        items = [POD | {"metadata": {"name": f"p{n}"}, "spec": spec} for n, spec in enumerate(specs)]
        return [task.pod for task in load(items, lenient=True, strict=True).tasks.values()]

    def test_read_once(self):
        """With the priority of their class filled in too."""
        one, same, other = self.pods({"priority": 1}, {"priority": 1}, {"priority": 2})
        assert one.spec is same.spec
        assert one.status is same.status
        assert (same.spec.priority, other.spec.priority) == (1, 2)
        items = [{"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": {"name": "c"}, "value": 7}]
        items += [POD | {"metadata": {"name": name}, "spec": {"priorityClassName": "c"}} for name in ("p", "q")]
        one, same = (task.pod.spec for task in load(items).tasks.values())
        assert one is same
        assert one.priority == 7

    def test_equal_is_not_the_same(self):
        """1 and true are equal in Python; a spec with the one does not stand for a spec with the other."""
        with pytest.raises(InputError, match=r"spec\.priority"):
            self.pods({"priority": 1}, {"priority": True})

    def test_faults_are_stated_each_time(self):
        """A spec that cannot be read is not known the second time either."""
        report = ReadReport()
        for _ in range(2):
            with pytest.raises(InputError, match=r"spec\.priority"):
                load([POD | {"spec": {"priority": "high"}}], report=report)

    def test_nulls(self):
        """Null is absent, also in the second."""
        assert [pod.spec.priority for pod in self.pods({"overhead": None}, {"overhead": None})] == [None, None]


def test_empty_list():
    """kubectl prints it where there is nothing."""
    assert load({"apiVersion": "v1", "kind": "List", "items": []}).objects == ()
    assert load({"apiVersion": "v1", "kind": "List", "items": None}).objects == ()


def test_single_object():
    """One object is an input too."""
    assert list(load(NODE).nodes) == ["n1"]


def test_null_fields():
    """To Kubernetes null and absent are the same."""
    nulls = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "labels": None, "creationTimestamp": None},
        "spec": {"containers": [{"name": "c", "ports": None, "resources": None}], "priority": None, "affinity": None},
        "status": None,
    }
    assert load([nulls]).sha256 == load([POD]).sha256


def test_identity():
    """A namespace and a uid are filled in; cluster-wide objects have no namespace."""
    cluster_wide = {**NODE, "metadata": {"name": "n1", "namespace": "stray"}}
    instance = load([cluster_wide, POD])
    assert list(instance.nodes) == ["n1"]
    assert instance.tasks["default/p"].uid == "default-p"


def test_any_version_of_a_group():
    """v1beta1 or v1: the fields read here are the same; another group is another kind."""
    report = ReadReport()
    groups = [
        {"apiVersion": f"scheduling.volcano.sh/{version}", "kind": "Queue", "metadata": {"name": version}}
        for version in ("v1beta1", "v1")
    ]
    other = {"apiVersion": "example.com/v1", "kind": "Queue", "metadata": {"name": "x"}}
    assert set(load([*groups, other], report=report).queues) == {"v1beta1", "v1"}
    assert dict(report.other_kinds) == {"example.com/v1 Queue": 1}


def test_report():
    """What was read, what was left aside, and which fields no task looks at."""
    report = ReadReport(count_fields=True)
    fields = {"dnsPolicy": "Default", "containers": [{"name": "c", "tty": True}, {"name": "d", "tty": True}]}
    pod = {**POD, "metadata": {"name": "p", "managedFields": []}, "spec": fields}
    load([NODE, pod, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}], report=report)
    assert dict(report.read) == {"Node": 1, "Pod": 1}
    assert dict(report.other_kinds) == {"v1 ConfigMap": 1}
    assert dict(report.unread) == {"Pod.spec.dnsPolicy": 1, "Pod.spec.containers.tty": 2}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ([1], "input: [0]: a number where an object was expected; "),
        (["x", {}], "input: [0]: a text where an object was expected; "),
        ([{"metadata": {"name": "x"}}], "input: [0]: an object without a kind; "),
        ([{**NODE, "apiVersion": 1}], "input: [0]: apiVersion is a number; write for example v1"),
        (
            {"apiVersion": "v1", "kind": "List", "items": {}},
            "input: items: items is a mapping; a List holds an array of objects",
        ),
        (
            {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node"}]},
            "input: items[0] Node: metadata.name is missing; every object needs a name",
        ),
        ([{**POD, "spec": {"priority": "high"}}], 'input: Pod p: spec.priority: "high" should be a whole number'),
        ([{**POD, "spec": {"priority": 2**31}}], "input: Pod p: spec.priority: 2147483648 should be less than"),
        ([{**POD, "spec": {"preemptionPolicy": "Always"}}], 'input: Pod p: spec.preemptionPolicy: "Always" should be '),
        ([{**POD, "spec": {"containers": "c"}}], 'input: Pod p: spec.containers: "c" should be a'),
        (
            [{**POD, "metadata": {"name": "p", "namespace": "ns"}, "status": {"phase": "Odd"}}],
            'input: Pod ns/p: status.phase: "Odd" should be ',
        ),
        (
            [{**NODE, "status": {"allocatable": {"cpu": "-1"}}}],
            "input: Node n1: status.allocatable.cpu: -1 is negative",
        ),
        (
            [{**NODE, "status": {"allocatable": {"cpu": True}}}],
            "input: Node n1: status.allocatable.cpu: a quantity is a number or a text such as 500m or 4Gi, not a bool",
        ),
    ],
)
def test_errors(source, line):
    """File, place and what is wrong; never a traceback."""
    with pytest.raises(InputError) as caught:
        load(source)
    assert str(caught.value).startswith(line)


def test_more_complaints_are_counted():
    """The first one is stated, the others counted."""
    with pytest.raises(InputError, match=r"spec\.priority.*\(and 1 more like it\)"):
        load([{**POD, "spec": {"priority": "high", "hostNetwork": "yes"}}])
