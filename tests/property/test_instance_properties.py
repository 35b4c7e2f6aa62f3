"""What holds for every instance: reading and writing, order and names, scale, and the checker's first principles."""

from __future__ import annotations

import copy
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from cpsched.importers import compact
from cpsched.importers.load import load
from cpsched.instance import ID_ANNOTATION, Instance
from cpsched.objectives import level_plan
from cpsched.objects import KINDS
from cpsched.quantity import milli
from cpsched.rules import violations
from cpsched.snapshot import Snapshot
from tests.judge import broken, cluster, decide, job, pending, running, snapshot_of, values
from tests.oracle.brute_force import optimum
from tests.strategies import compact_instances, kubernetes_objects, objects_of_kind
from tests.tiny_sessions import Tiny, decisions_of, tiny_sessions

Raw = dict[str, Any]


def assert_same(one: Instance, other: Instance) -> None:
    """Equal in everything an engine reads."""
    assert one.objects == other.objects
    assert (one.nodes, one.tasks, one.jobs, one.queues) == (other.nodes, other.tasks, other.jobs, other.queues)
    assert (one.now, one.sharding, one.conf, one.budgets) == (other.now, other.sharding, other.conf, other.budgets)
    assert one.sha256 == other.sha256


class TestReadingAndWriting:
    """Nothing is lost on the way."""

    @settings(max_examples=60)
    @given(kubernetes_objects())
    def test_round_trip_of_kubernetes_objects(self, objects):
        """Loading what was written gives the same instance."""
        instance = load(objects)
        assert_same(load(json.loads(json.dumps(instance.to_dict()))), instance)

    @given(compact_instances())
    def test_round_trip_of_the_compact_form(self, source):
        """The same for the compact form, which is written as objects."""
        instance = load(source)
        assert_same(load(json.loads(json.dumps(instance.to_dict()))), instance)

    @given(compact_instances())
    def test_compact_and_expanded_forms_are_the_same(self, source):
        """The compact form says nothing that its Kubernetes objects do not say."""
        form = compact.parse(source, "input")
        expanded = [*(item for _, item in compact.expand(form, "input")), *form.objects]
        settings_of = {key: source[key] for key in ("now", "sharding", "conf", "nodeUsage") if key in source}
        again = {"apiVersion": "cpsched/v1", "kind": "Instance", **settings_of, "objects": expanded}
        assert_same(load(again), load(source))

    @settings(max_examples=30)
    @given(kubernetes_objects())
    def test_loading_changes_nothing_given(self, objects):
        """The caller's objects stay as they were."""
        before = copy.deepcopy(objects)
        load(objects)
        assert objects == before


def fields_below(shape: type[BaseModel], known: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Every (shape, field) that can occur in a value of the shape."""
    for name, info in shape.model_fields.items():
        key = (shape.__name__, name)
        if key not in known:
            known.add(key)
            for inner in shapes_in(info.annotation):
                fields_below(inner, known)
    return known


def shapes_in(annotation: Any) -> list[type[BaseModel]]:
    """The shapes a type mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [shape for part in getattr(annotation, "__args__", ()) for shape in shapes_in(part)]


def fields_set(value: Any) -> set[tuple[str, str]]:
    """Every (shape, field) that is set to something other than its default somewhere in the value."""
    if isinstance(value, BaseModel):
        reached = {
            (type(value).__name__, name)
            for name in value.model_fields_set
            if getattr(value, name) != type(value).model_fields[name].get_default(call_default_factory=True)
        }
        return reached.union(*(fields_set(getattr(value, name)) for name in value.model_fields_set))
    if isinstance(value, tuple | list):
        return set().union(*(fields_set(item) for item in value))
    return set().union(*(fields_set(item) for item in value.values())) if isinstance(value, dict) else set()


class TestStrategiesReachEverything:
    """A field that no example reaches is a field that no property covers."""

    def test_every_field_of_every_object(self):
        """Over the examples every modelled field takes a value of its own, and every kind survives a round trip."""
        wanted: set[tuple[str, str]] = set()
        reached: set[tuple[str, str]] = set()
        for (group, kind), shape in KINDS.items():
            fields_below(shape, wanted)

            @settings(max_examples=25)
            @given(objects_of_kind(group, kind))
            def collect(item):
                instance = load([item], lenient=True)
                reached.update(*(fields_set(found) for found in instance.objects))
                assert_same(load(instance.to_dict(), lenient=True), instance)

            collect()
        assert wanted - reached == set()

    def test_every_field_of_the_compact_form(self):
        """All fields of the form, and all that a task may carry."""
        wanted = fields_below(compact.CompactInstance, set())
        task_fields = {*compact_task_fields()}
        reached: set[tuple[str, str]] = set()
        reached_in_tasks: set[str] = set()

        @settings(max_examples=150)
        @given(compact_instances())
        def collect(source):
            form = compact.parse(source, "input")
            reached.update(fields_set(form))
            reached_in_tasks.update(key for job in form.jobs for task in job.tasks for key in task)

        collect()
        constant = {("CompactInstance", "apiVersion"), ("CompactInstance", "kind")}
        assert wanted - reached - constant == set()
        assert task_fields - reached_in_tasks == set()

    def test_tiny_sessions_have_something_to_decide(self):
        """Evictions of both kinds, refusals by most rules, every shipped model."""
        models: Counter[str] = Counter()
        rules: Counter[str] = Counter()
        contested = 0

        @settings(max_examples=250)
        @given(tiny_sessions(), st.data())
        def collect(session, data):
            nonlocal contested
            snapshot = session.snapshot()
            models[session.model] += 1
            rules.update(broken(decide(snapshot, data.draw(decisions_of(snapshot)))))
            contested += optimum(snapshot).victim_sets != [()]

        collect()
        assert set(models) == {"volcano", "volcano-fair", "volcano-near", "throughput", "kube"}
        assert contested >= 20
        assert set(rules) >= {
            "capacity", "filters", "gang", "queue", "eviction", "charge", "protect.gang", "enqueue", "actions",
        }  # fmt: skip


def compact_task_fields() -> set[str]:
    """The fields of a compact task that have a bearing; places and phases are drawn apart, containers are short."""
    from cpsched.importers.compact_pod import _METADATA, _SHORTHAND, _SPEC, _STATUS

    drawn_apart = {"nodeName", "containers", "uid", "namespace"}
    return (_METADATA | _SHORTHAND | _SPEC | _STATUS) - drawn_apart


def empty_levels(snapshot: Snapshot) -> list[tuple[str, Any]]:
    """The levels of doing nothing, sorted."""
    return sorted(values(decide(snapshot)).items(), key=str)


class TestOrder:
    """The order of arrival breaks ties, it makes no levels."""

    @given(tiny_sessions(), st.randoms(use_true_random=False))
    def test_shuffled_objects(self, session, random):
        """Doing nothing is worth the same in whatever order the objects came."""
        before = session.snapshot()
        content = before.instance.to_dict()
        random.shuffle(content["objects"])
        after = snapshot_of(content, model=session.model, conf=session.conf, rules=session.rules)
        assert empty_levels(after) == empty_levels(before)

    @given(tiny_sessions(), st.randoms(use_true_random=False), st.data())
    def test_shuffled_objects_and_any_decision(self, session, random, data):
        """So is any decision, and it breaks the same rules."""
        before = session.snapshot()
        decision = data.draw(decisions_of(before))
        content = before.instance.to_dict()
        random.shuffle(content["objects"])
        after = snapshot_of(content, model=session.model, conf=session.conf, rules=session.rules)
        assert values(decide(after, decision)) == values(decide(before, decision))
        assert broken(decide(after, decision)) == broken(decide(before, decision))


def renamed(content: Raw, node_names: dict[str, str], pod_names: dict[str, str]) -> Raw:
    """The written instance with other names for nodes and pods, wherever they are mentioned."""
    content = copy.deepcopy(content)
    for item in content["objects"]:
        metadata = item["metadata"]
        if item["kind"] == "Node":
            metadata["name"] = node_names[metadata["name"]]
        elif item["kind"] == "Pod":
            key = metadata["annotations"].pop(ID_ANNOTATION)
            metadata |= {"name": pod_names[key], "uid": f"uid-{pod_names[key]}"}
            if "nodeName" in item["spec"]:
                item["spec"]["nodeName"] = node_names[item["spec"]["nodeName"]]
    return content


class TestNames:
    """Names identify, they do not weigh."""

    @given(tiny_sessions(), st.data())
    def test_renamed_nodes_and_pods(self, session, data):
        """With other names for nodes and pods a decision has the same levels and breaks the same rules."""
        before = session.snapshot()
        decision = data.draw(decisions_of(before))
        instance = before.instance
        nodes = dict(zip(instance.nodes, data.draw(st.permutations([f"m{i}" for i in range(len(instance.nodes))]))))  # noqa: B905
        pods = dict(zip(instance.tasks, data.draw(st.permutations([f"x{i}" for i in range(len(instance.tasks))]))))  # noqa: B905
        content = renamed(instance.to_dict(), nodes, pods)
        after = snapshot_of(content, model=session.model, conf=session.conf, rules=session.rules)
        translated = {
            "binds": {f"default/{pods[key]}": nodes[node] for key, node in decision["binds"].items()},
            "reserves": {f"default/{pods[key]}": nodes[node] for key, node in decision["reserves"].items()},
            "evicted": [f"default/{pods[key]}" for key in decision["evicted"]],
        }
        one, other = decide(before, decision), decide(after, translated)
        assert broken(other) == broken(one)
        assert list(values(other).values()) == list(values(one).values())


def scaled(session: Tiny, factor: int) -> Tiny:
    """The session with every amount but the number of pods multiplied."""

    def times(amounts: Raw) -> Raw:
        return {name: amount if name == "pods" else f"{milli(amount) * factor}m" for name, amount in amounts.items()}

    source = copy.deepcopy(session.source)
    for node in source["nodes"]:
        node["allocatable"] = times(node["allocatable"])
    for queue in source.get("queues", ()):
        for part in ("capability", "deserved", "guarantee"):
            if part in queue:
                queue[part] = times(queue[part])
    for one in source["jobs"]:
        if "minResources" in one:
            one["minResources"] = times(one["minResources"])
        for task in one["tasks"]:
            if "requests" in task:
                task["requests"] = times(task["requests"])
    return Tiny(source, session.model, session.conf, session.rules)


LEVELS = [
    {"jobs_admitted": {"victims_between": True}},
    "gangs_broken",
    "victim_max_priority",
    "victim_priority_sum",
    "victim_count",
    "victim_start_time",
    "queue_deficit",
    "tasks_placed",
    "resources_placed",
    "nodes_used",
]


class TestScale:
    """Units do not matter."""

    @given(tiny_sessions(), st.integers(2, 1000), st.data())
    def test_scaled_resources(self, session, factor, data):
        """Every resource but pods times a factor: the same rules are broken, every level is the same.

        That includes resources_placed, which counts shares. It would not hold for `pods`: a node may have more of
        them, but a pod always asks for one.
        """
        levels = None if session.model in ("kube", "throughput") else LEVELS
        grown = scaled(session, factor)
        before = snapshot_of(session.source, model=session.model, conf=session.conf, rules=session.rules, levels=levels)
        after = snapshot_of(grown.source, model=grown.model, conf=grown.conf, rules=grown.rules, levels=levels)
        decision = data.draw(decisions_of(before))
        assert broken(decide(after, decision)) == broken(decide(before, decision))
        assert values(decide(after, decision)) == values(decide(before, decision))

    @pytest.mark.parametrize("cpus", [10, 11])
    def test_shares_are_exact(self, cpus):
        """7/10 of 11000 is 7699.999999999999 in float64, where the scheduler refuses a task of that very share."""
        source = cluster(
            job("a", pending(f"{7 * cpus}00m"), queue="left"),
            job("b", pending(cpus), queue="right"),
            nodes=cpus,
            queues=[{"name": "left", "weight": 7}, {"name": "right", "weight": 3}],
        )
        source["jobs"][0]["tasks"].append(pending(cpus, role="more"))
        source["jobs"][0]["minMember"] = 1
        assert broken(decide(snapshot_of(source), {"binds": {"a/task-0": "n1"}})) == set()


class TestFirstPrinciples:
    """What every search relies on."""

    @settings(max_examples=60)
    @given(kubernetes_objects(), st.sampled_from(["volcano", "volcano-fair", "throughput", "kube"]))
    def test_doing_nothing_is_allowed(self, objects, model):
        """The empty decision breaks no rule, whatever the cluster looks like."""
        assert violations(decide(snapshot_of(objects, model=model))) == []

    @given(tiny_sessions())
    def test_doing_nothing_is_allowed_under_any_configuration(self, session):
        """And under whatever configuration."""
        assert violations(decide(session.snapshot())) == []

    @given(tiny_sessions())
    def test_an_optimum_is_never_worse_than_doing_nothing(self, session):
        """The oracle's first level is at least that of the empty decision."""
        snapshot = session.snapshot()
        plan = level_plan(snapshot)
        assume(plan and plan[0][0] == "jobs_admitted")
        assert optimum(snapshot).values[0] >= 0


def with_empty_node(session: Tiny, cpu: int) -> Tiny:
    """The session with one more node of so many CPUs, on which no task runs."""
    node = {"name": "new", "allocatable": {"cpu": cpu, "memory": "100Gi", "pods": 100}}
    return Tiny(
        {**session.source, "nodes": [*session.source["nodes"], node]}, session.model, session.conf, session.rules
    )


def without_shares(session: Tiny) -> bool:
    """Whether nothing depends on the size of the whole cluster."""
    snapshot = session.snapshot()
    plugins = {plugin.name for plugin in snapshot.policy.volcano.plugins}
    return snapshot.policy.is_kube or not plugins & {"proportion", "capacity", "overcommit"}


class TestMoreRoom:
    """An added empty node never lowers the first level, where rights do not depend on the cluster's size."""

    @settings(max_examples=60)
    @given(tiny_sessions(wishes=False, most_pending=3, most_running=3), st.integers(0, 3))
    def test_any_node_where_shares_play_no_part(self, session, cpu):
        """Every decision that was feasible still is."""
        assume(without_shares(session))
        before, after = optimum(session.snapshot()), optimum(with_empty_node(session, cpu).snapshot())
        assume(before.labels and before.labels[0].startswith("jobs_admitted"))
        assert after.labels == before.labels
        assert after.values[0] >= before.values[0]

    @settings(max_examples=60)
    @given(tiny_sessions(wishes=False, most_pending=3, most_running=3))
    def test_a_roomy_node_under_shares(self, session):
        """With shares, a node with room for every task."""
        before, after = optimum(session.snapshot()), optimum(with_empty_node(session, 100).snapshot())
        assume(before.labels and before.labels[0].startswith("jobs_admitted"))
        assert after.values[0] >= before.values[0]

    def test_why_not_any_node_under_shares(self):
        """More room means larger shares: a queue that was above its own no longer is, and gives nothing back."""
        pinned = pending(nodeSelector={"kubernetes.io/hostname": "n1"})
        source = cluster(
            job("old", running(replicas=2), minMember=0, queue="left"),
            job("new", pinned, queue="right"),
            nodes=2,
            queues=[{"name": "left"}, {"name": "right"}],
        )
        session = Tiny(source, "volcano", None)
        assert optimum(session.snapshot()).values[0] == 1
        assert optimum(with_empty_node(session, 2).snapshot()).values[0] == 0

    def test_why_not_with_spread(self):
        """An empty node is the emptiest domain: where no task fits there, pods that must be spread fit nowhere else."""
        constraint = {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "x"}},
        }
        labels = {"labels": {"app": "x"}}
        web = pending(topologySpreadConstraints=[constraint], **labels)
        source = cluster(job("old", running(**labels)), job("new", web), nodes=2)
        session = Tiny(source, "kube", None)
        assert optimum(session.snapshot()).values[0] == 1
        assert optimum(with_empty_node(session, 0).snapshot()).values[0] == 0
