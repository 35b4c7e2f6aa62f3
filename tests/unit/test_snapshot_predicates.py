"""Which filters a policy enables, and what they say before any decision is made."""

from __future__ import annotations

import pytest

from cpsched.snapshot.predicates import VOLCANO_SWITCHES
from tests.judge import broken, cluster, conf, decide, findings, job, pending, running, snapshot_of


def one_task(source, **options):
    """The predicates of a snapshot and its first task."""
    snapshot = snapshot_of(source, **options)
    return snapshot.predicates, next(iter(snapshot.instance.tasks.values()))


class TestNames:
    """Enabled filters."""

    def test_volcano_has_ten(self):
        """All of them unless switched off, and never resources."""
        predicates, task = one_task(cluster(job("a", pending())))
        assert predicates.names(task) == tuple(VOLCANO_SWITCHES)
        assert "NodeResourcesFit" not in predicates.names(task)

    @pytest.mark.parametrize(("name", "switch"), [(n, s) for n, s in VOLCANO_SWITCHES.items() if s])
    def test_switches(self, name, switch):
        """Each argument switches its filter off."""
        plugin = {"name": "predicates", "arguments": {switch: False}}
        predicates, task = one_task(cluster(job("a", pending())), conf=conf("allocate", plugin))
        assert set(VOLCANO_SWITCHES) - set(predicates.names(task)) == {name}

    def test_no_plugin(self):
        """Without predicates nothing is asked."""
        predicates, task = one_task(cluster(job("a", pending())), conf=conf("allocate", "gang"))
        assert predicates.names(task) == ()

    def test_kube_scheduler(self):
        """The profile's filters, without resources."""
        predicates, task = one_task(cluster(job("a", pending())), model="kube")
        names = predicates.names(task)
        assert {"NodeName", "VolumeRestrictions", "TaintToleration"} <= set(names)
        assert "NodeResourcesFit" not in names

    def test_profile_of_the_pod(self):
        """A pod is filtered by the profile it names."""
        settings = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {"schedulerName": "default-scheduler"},
                {"schedulerName": "bold", "plugins": {"filter": {"disabled": [{"name": "TaintToleration"}]}}},
            ],
        }
        source = cluster(job("a", pending(), pending(role="bold", schedulerName="bold")))
        snapshot = snapshot_of(source, model="kube", conf=settings)
        by_task = {key: snapshot.predicates.names(task) for key, task in snapshot.instance.tasks.items()}
        assert "TaintToleration" in by_task["a/task-0"]
        assert "TaintToleration" not in by_task["a/bold-0"]

    def test_static_and_dynamic(self):
        """Dynamic ones are those whose answer depends on other pods."""
        predicates, task = one_task(cluster(job("a", pending())))
        assert set(predicates.dynamic_names(task)) >= {"NodePorts", "InterPodAffinity", "PodTopologySpread"}
        assert not set(predicates.dynamic_names(task)) & {"NodeUnschedulable", "NodeAffinity", "TaintToleration"}


def test_refused_nodes():
    """Static refusals with their reasons, whatever else happens."""
    allocatable = {"cpu": 4, "pods": 10}
    nodes = [
        {"name": "plain", "allocatable": allocatable},
        {"name": "cordoned", "allocatable": allocatable, "unschedulable": True},
        {"name": "right", "allocatable": allocatable, "labels": {"disk": "ssd"}},
    ]
    predicates, task = one_task(cluster(job("a", pending(nodeSelector={"disk": "ssd"})), nodes=nodes))
    refused = predicates.refused(task)
    assert set(refused) == {"plain", "cordoned"}
    assert refused["plain"].reasons == ("node(s) didn't match Pod's node affinity/selector",)


SSD = {"nodeSelector": {"disk": "ssd"}}
TOLERANT = {"tolerations": [{"key": "gpu", "operator": "Exists"}]}
BOLD = {"schedulerName": "bold"}


def disk(operator, *values):
    """Required node affinity."""
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": operator, "values": values}]}]}


def choosy(required):
    """A task with that node affinity."""
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


class TestEachForItself:
    """Tasks share an answer only if nothing tells them apart."""

    expected = {
        "plain": ({}, "gpu"),
        "bold": (BOLD, ""),
        "picky": ({"schedulerName": "picky"}, "gpu hdd"),
        "tolerant": (TOLERANT, ""),
        "selector": (SSD, "gpu hdd"),
        "boldselector": ({**BOLD, **SSD}, "hdd"),
        "tolerantselector": ({**TOLERANT, **SSD}, "hdd"),
        "affinity": (choosy(disk("In", "ssd")), "gpu hdd"),
        "otheraffinity": (choosy(disk("DoesNotExist")), "gpu ssd"),
        "here": ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]}, "gpu ssd"),
        "there": ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "y"}}]}, "gpu hdd"),
    }

    def node(self, name, zone, disk, **fields):
        """A node in a zone, with a kind of disk."""
        labels = {"topology.kubernetes.io/zone": zone, **disk}
        return {"name": name, "labels": labels, "allocatable": {"cpu": 9, "pods": 20}, **fields}

    def claim(self, zone):
        """A claim bound to a volume of the zone."""
        spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "claimRef": {"name": zone}}
        volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"pv-{zone}"}, "spec": spec}
        volume["metadata"]["labels"] = {"topology.kubernetes.io/zone": zone}
        metadata = {"name": zone, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
        spec = {"volumeName": f"pv-{zone}", "accessModes": ["ReadWriteMany"]}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
        return [volume, claim]

    @pytest.mark.parametrize("turned", [False, True])
    def test_whichever_is_asked_first(self, turned):
        """One after another, in either order: the answer is a task's own."""
        profiles = [
            {"schedulerName": "default-scheduler"},
            {"schedulerName": "bold", "plugins": {"filter": {"disabled": [{"name": "TaintToleration"}]}}},
            {"schedulerName": "picky"},
        ]
        added = {"requiredDuringSchedulingIgnoredDuringExecution": disk("In", "ssd")}
        profiles[2]["pluginConfig"] = [{"name": "NodeAffinity", "args": {"addedAffinity": added}}]
        settings = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        taint = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
        ssd = {"disk": "ssd"}
        nodes = [self.node("hdd", "x", {}), self.node("ssd", "y", ssd), self.node("gpu", "y", ssd, **taint)]
        tasks = [pending(role=role, **wishes) for role, (wishes, _) in self.expected.items()]
        source = cluster(job("a", *tasks), nodes=nodes, objects=[*self.claim("x"), *self.claim("y")])
        snapshot = snapshot_of(source, model="kube", conf={**settings, "profiles": profiles})
        for role in sorted(self.expected, reverse=turned):
            found = snapshot.predicates.refused(snapshot.instance.tasks[f"a/{role}-0"])
            assert " ".join(sorted(found)) == self.expected[role][1], role


ANTI = [{"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}]
HARD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, False),
        ({"nodeSelector": {"disk": "ssd"}}, False),
        ({"ports": [{"containerPort": 80}]}, False),
        ({"ports": [{"containerPort": 80, "hostPort": 80}]}, True),
        ({"initContainers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}]}, False),
        ({"initContainers": [{"ports": [{"containerPort": 80, "hostPort": 80}], "restartPolicy": "Always"}]}, True),
        ({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ANTI}}}, True),
        ({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ANTI}}}, True),
        ({"topologySpreadConstraints": [HARD]}, True),
        ({"topologySpreadConstraints": [{**HARD, "whenUnsatisfiable": "ScheduleAnyway"}]}, False),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}, True),
        ({"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}, True),
    ],
)
def test_dynamic_wishes(fields, expected):
    """Ports, pod affinity, hard spread, volumes and claims; of any task, also of those who run."""
    assert one_task(cluster(job("a", pending(**fields))))[0].any_dynamic is expected
    assert one_task(cluster(job("a", running(**fields))))[0].any_dynamic is expected


def test_default_spread_is_a_dynamic_wish():
    """Constraints that the profile gives to pods without their own count as theirs."""
    spread = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
    arguments = {"defaultingType": "List", "defaultConstraints": [spread]}
    settings = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": arguments}]}],
    }
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"app": "x"}}}
    labels = {"labels": {"app": "x"}}
    jobs = (job("old", running(**labels)), job("a", pending(**labels)))
    source = cluster(*jobs, nodes={"n1": 4, "n2": 4}, objects=[service])
    snapshot = snapshot_of(source, model="kube", conf=settings)
    assert broken(decide(snapshot, {"binds": {"a/task-0": "n2"}})) == set()
    assert broken(decide(snapshot, {"binds": {"a/task-0": "n1"}})) == {"filters"}


@pytest.mark.parametrize("names", [("narrow", "wide"), ("wide", "narrow")])
def test_default_spread_is_by_each_pods_owner(names):
    """Pods that differ in nothing but their owner count different pods: the wide one must come first."""
    spread = {"maxSkew": 2, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
    arguments = {"defaultingType": "List", "defaultConstraints": [spread]}
    settings = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": arguments}]}],
    }
    counted = {"wide": {"app": "x"}, "narrow": {"app": "x", "tier": "one"}}
    sets = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": {"selector": selector}}
        for name, selector in ((name, {"matchLabels": labels}) for name, labels in counted.items())
    ]
    owners = {name: [{"kind": "ReplicaSet", "name": name, "controller": True}] for name in names}
    tasks = [pending(role=name, labels=counted["narrow"], ownerReferences=owners[name]) for name in names]
    old = job("old", running(labels=counted["wide"]))
    source = cluster(old, job("a", *tasks), nodes={"n1": 4, "n2": 4}, objects=sets)
    snapshot = snapshot_of(source, model="kube", conf=settings)
    assert broken(decide(snapshot, {"binds": {f"a/{name}-0": "n1" for name in names}})) == set()


@pytest.mark.parametrize("order", [("a/task-0", "a/bold-0"), ("a/bold-0", "a/task-0")])
def test_dynamic_filters_are_those_of_each_profile(order):
    """Where several are placed, each is asked by the filters of the scheduler it names."""
    profiles = [
        {"schedulerName": "default-scheduler"},
        {"schedulerName": "bold", "plugins": {"filter": {"disabled": [{"name": "NodePorts"}]}}},
    ]
    stated = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": profiles,
    }
    port = {"ports": [{"containerPort": 80, "hostPort": 80}]}
    tasks = [pending(**port), pending(role="bold", schedulerName="bold", **port)]
    source = cluster(job("old", running(**port)), job("a", *tasks))
    found = findings(decide(snapshot_of(source, model="kube", conf=stated), {"binds": dict.fromkeys(order, "n1")}))
    assert [(item.rule, item.subject) for item in found] == [("filters", "a/task-0")]


class TestShards:
    """Nodes of other shards."""

    def shard(self, mode, **options):
        """Two equal nodes, of which n2 is this scheduler's."""
        world = cluster(job("a", pending()), nodes={"n1": 4, "n2": 4}, sharding={"mode": mode, "nodes": ["n2"]})
        return snapshot_of(world, **options)

    def test_hard_sharding_refuses_them(self):
        """A decision that uses one breaks the rule; the own node is fine."""
        snapshot = self.shard("hard")
        assert broken(decide(snapshot, {"binds": {"a/task-0": "n1"}})) == {"filters"}
        assert broken(decide(snapshot, {"binds": {"a/task-0": "n2"}})) == set()

    @pytest.mark.parametrize(("mode", "model"), [("soft", "volcano"), ("none", "volcano"), ("hard", "kube")])
    def test_others_do_not(self, mode, model):
        """Soft sharding only prefers; kube-scheduler knows no shards."""
        assert broken(decide(self.shard(mode, model=model), {"binds": {"a/task-0": "n1"}})) == set()
