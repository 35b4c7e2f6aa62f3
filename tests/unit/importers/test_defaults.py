"""What the API server fills in, for raw manifests."""

from __future__ import annotations

import pytest

from cpsched.importers.load import load
from tests.judge import cluster, job, pending


def only_task(task, **fields):
    """The one task of an instance."""
    return next(iter(load(cluster(job("a", task), **fields)).tasks.values()))


class TestRequestsFromLimits:
    """A limit without a request is the request."""

    @pytest.mark.parametrize(
        ("requests", "limits", "expected"),
        [
            ({}, {"cpu": 2}, {"cpu": 2000}),
            ({"cpu": 1}, {"cpu": 2}, {"cpu": 1000}),
            ({"cpu": 1}, {"memory": 5}, {"cpu": 1000, "memory": 5}),
            ({"cpu": 0}, {"cpu": 2}, {"cpu": 0}),
        ],
    )
    def test_per_resource(self, requests, limits, expected):
        """What is stated stays, also zero."""
        assert only_task(pending(None, requests=requests, limits=limits)).requests == {**expected, "pods": 1}

    def test_init_containers_too(self):
        """They are containers."""
        init = [{"name": "i", "resources": {"limits": {"cpu": 3}}}]
        assert only_task(pending(1, initContainers=init)).requests["cpu"] == 3000


class TestHostNetwork:
    """Ports of a pod on its host's network are host ports."""

    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]

    @pytest.mark.parametrize(("host_network", "expected"), [(True, [80, 8081]), (False, [0, 8081])])
    def test_host_ports(self, host_network, expected):
        """Unless stated."""
        (container,) = only_task(pending(ports=self.ports, hostNetwork=host_network)).pod.spec.containers
        assert [port.host_port for port in container.ports] == expected


class TestPriority:
    """From the priority class, unless stated."""

    classes = [{"name": "polite", "value": 7, "preemptionPolicy": "Never"}]

    def test_value_and_policy(self):
        """Both come with the class."""
        spec = only_task(pending(priorityClassName="polite"), priorityClasses=self.classes).pod.spec
        assert (spec.priority, spec.preemption_policy) == (7, "Never")

    def test_stated_priority(self):
        """A pod that has its number has been through admission already; nothing is filled in."""
        spec = only_task(pending(priorityClassName="polite", priority=3), priorityClasses=self.classes).pod.spec
        assert (spec.priority, spec.preemption_policy) == (3, "")

    def test_stated_policy(self):
        """It stays."""
        stated = pending(priorityClassName="polite", preemptionPolicy="PreemptLowerPriority")
        spec = only_task(stated, priorityClasses=self.classes).pod.spec
        assert (spec.priority, spec.preemption_policy) == (7, "PreemptLowerPriority")

    def test_unknown_class(self):
        """Nothing is known of it."""
        assert only_task(pending(priorityClassName="unknown")).pod.spec.priority is None


class TestLabelKeys:
    """matchLabelKeys and mismatchLabelKeys are merged into the selector."""

    def expressions(self, kind="podAffinity", when="required", labels=None, **term):
        """The expressions of the one term, as (key, operator, values)."""
        stated = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone", **term}
        if when == "preferred":
            stated = {"weight": 1, "podAffinityTerm": stated}
        affinity = {kind: {f"{when}DuringSchedulingIgnoredDuringExecution": [stated]}}
        task = only_task(pending(affinity=affinity, labels={"v": "1"} if labels is None else labels))
        field = (
            task.pod.spec.affinity.pod_affinity if kind == "podAffinity" else task.pod.spec.affinity.pod_anti_affinity
        )
        found = field.required[0] if when == "required" else field.preferred[0].pod_affinity_term
        return (
            [(e.key, e.operator, e.values) for e in found.label_selector.match_expressions]
            if found.label_selector
            else None
        )

    @pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
    @pytest.mark.parametrize("when", ["required", "preferred"])
    def test_everywhere(self, kind, when):
        """In all four places."""
        assert self.expressions(kind, when, matchLabelKeys=["v"]) == [("v", "In", ("1",))]

    def test_mismatch(self):
        """As NotIn."""
        assert self.expressions(mismatchLabelKeys=["v"]) == [("v", "NotIn", ("1",))]

    def test_label_the_pod_lacks(self):
        """It is left out."""
        assert self.expressions(matchLabelKeys=["v", "w"]) == [("v", "In", ("1",))]
        assert self.expressions(labels={}, matchLabelKeys=["v"]) == []

    def test_term_without_selector(self):
        """It selects nothing, and keeps doing so."""
        assert self.expressions(labelSelector=None, matchLabelKeys=["v"]) is None

    def test_merged_once(self):
        """A dump already has the expression; it is not added again."""
        merged = {"matchLabels": {"app": "x"}, "matchExpressions": [{"key": "v", "operator": "In", "values": ["1"]}]}
        assert self.expressions(labelSelector=merged, matchLabelKeys=["v"]) == [("v", "In", ("1",))]

    def test_each_pod_its_own_labels(self):
        """Pods with one and the same spec get the values of their own labels."""
        term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone", "matchLabelKeys": ["v"]}
        affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        tasks = [pending(affinity=affinity, labels={"v": value}, role=f"r{value}") for value in "12"]
        pods = [task.pod for task in load(cluster(job("a", *tasks))).tasks.values()]
        selectors = [pod.spec.affinity.pod_affinity.required[0].label_selector for pod in pods]
        assert [selector.match_expressions[0].values for selector in selectors] == [("1",), ("2",)]


def test_defaults_are_filled_in_once():
    """Reading what was written changes nothing."""
    stated = pending(None, limits={"cpu": 1}, ports=[{"containerPort": 80}], hostNetwork=True, priorityClassName="p10")
    instance = load(cluster(job("a", stated)))
    assert load(instance.to_dict()).sha256 == instance.sha256
