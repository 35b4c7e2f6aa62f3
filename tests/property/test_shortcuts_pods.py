"""What is read off pods: every shortcut gives the answer of the plain question it stands for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from cpsched import requests, resources
from cpsched.filters import FILTERS, feasible
from cpsched.importers.load import load
from cpsched.objects.pod import PodSpec
from cpsched.objects.written import object_dict, shared_dict
from cpsched.optimum.model import features
from cpsched.snapshot.predicates import NOT_IN_SHARD, Predicates, has_dynamic_wishes
from tests.contested import sessions
from tests.judge import cluster, snapshot_of
from tests.strategies import kubernetes_objects


class TestPlaces:
    """Where tasks may be."""

    def test_static_filters(self):
        """Wishes stand for the task, and nodes with no task on them for the cluster."""
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

    @settings(max_examples=60)
    @given(kubernetes_objects())
    def test_dynamic_wishes(self, objects):
        """Those of each spec are those of all pods."""
        predicates = snapshot_of(objects, model="kube").predicates
        tasks = predicates.instance.tasks.values()
        assert predicates.any_dynamic == any(
            has_dynamic_wishes(task) or predicates.has_default_spread(task) for task in tasks
        )

    @pytest.mark.parametrize(("name", "dynamic"), [("example.com/gpu", True), ("cpu", False)])
    def test_extended_resources_that_devices_serve(self, name, dynamic):
        """Others may take the devices, without any of them having a claim."""
        objects = [{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}}]
        objects[0]["spec"] = {"extendedResourceName": "example.com/gpu"}
        job = {"name": "a", "minMember": 1, "tasks": [{"role": "t", "requests": {name: 1}}]}
        assert (
            snapshot_of(cluster(job, nodes={"n": 4}, objects=objects), model="kube").predicates.any_dynamic is dynamic
        )

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
        for fields in (features._PLACEMENT, features._INTERACTION):
            written = [spec.model_dump_json(include=set(fields)) for spec in specs]
            stated = [features._stated(spec, fields) for spec in specs]
            for i, one in enumerate(stated):
                assert [one == other for other in stated] == [written[i] == other for other in written]


@settings(max_examples=60)
@given(kubernetes_objects())
def test_what_objects_say_as_json(objects):
    """Specs and statuses that are shared are written once, and in their places."""
    instance = load(objects)
    known = {}
    for item in instance.objects:
        assert list(shared_dict(item, known).items()) == list(object_dict(item).items())
