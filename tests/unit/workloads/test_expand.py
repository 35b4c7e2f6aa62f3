"""When the pods of a workload in a dump are made, and when its controller has made them or would not."""

from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.importers.load import load
from tests.unit.workloads.given import (
    GROUP,
    cluster,
    names,
    node,
    owned,
    pod,
    priority_class,
    submitted,
    template,
    vcjob,
)

GROUPS = "scheduling.volcano.sh/v1beta1"


def of(kind, name, uid="u"):
    """The metadata of a pod that it owns."""
    return {"ownerReferences": [{"kind": kind, "name": name, "uid": uid, "controller": True}]}


class TestWhatIsThere:
    """A dump with pods of a workload gets no more of them."""

    def test_any_pod_is_enough(self):
        """Its controller is at work; what it has not made it may not want to."""
        items = [vcjob(uid="u"), pod("train-worker-0", metadata=of("Job", "train"))]
        assert names(load(cluster(*items))) == ["train-worker-0"]

    def test_other_owner_of_the_same_name(self):
        """A uid tells Volcano's Job from Kubernetes'."""
        items = [vcjob(uid="u2"), pod("x", metadata=of("Job", "train", "u1"))]
        assert names(load(cluster(*items))) == ["x", "train-worker-0", "train-worker-1"]

    def test_the_child_owns_the_pods(self):
        """A Deployment with a ReplicaSet makes none itself, and its ReplicaSet has them."""
        child = {"ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "d", "controller": True}]}
        spec = {"replicas": 1, "template": template()}
        items = [
            owned("Deployment", "web", uid="d", spec=spec),
            owned("ReplicaSet", "web-abc", uid="r", metadata=child, spec=spec),
        ]
        assert names(load(cluster(*items))) == ["web-abc-0"]
        assert names(load(cluster(*items, pod("web-abc-x", metadata=of("ReplicaSet", "web-abc", "r"))))) == [
            "web-abc-x"
        ]

    @pytest.mark.parametrize("status", [{}, {"replicas": 1}])
    def test_the_child_is_often_not_in_the_dump(self, status):
        """`kubectl get nodes,pods,deployments`: of its ReplicaSet there are the names and labels that pods bear."""
        deployment = owned("Deployment", "web", uid="d", spec={"replicas": 1, "template": template()}, status=status)
        labels = {"labels": {"pod-template-hash": "abc"}}
        its = pod("web-abc-x", metadata={**of("ReplicaSet", "web-abc", "r"), **labels})
        instance = load(cluster(deployment, its))
        assert (names(instance), instance.warnings) == (["web-abc-x"], ())
        another = pod("web2-abc-x", metadata={**of("ReplicaSet", "web2-abc", "r"), **labels})
        instance = load(cluster(deployment, another))
        assert (len(instance.tasks), len(instance.warnings)) == (1 if status else 2, 1)

    def test_nor_are_the_jobs_of_a_job_set(self):
        """Their pods bear its name."""
        spec = {"replicatedJobs": [{"name": "w", "template": {"spec": {"template": template()}}}]}
        job_set = owned("JobSet", "s", uid="s", spec=spec)
        labels = {"labels": {"jobset.sigs.k8s.io/jobset-name": "s"}}
        its = pod("s-w-0-0-x", metadata={**of("Job", "s-w-0", "j"), **labels})
        assert names(load(cluster(job_set, its))) == ["s-w-0-0-x"]

    def test_status_counts_pods(self):
        """They exist, but the dump lacks them: none are made up."""
        instance = load(cluster(owned("ReplicaSet", "rs", spec={"template": template()}, status={"replicas": 1})))
        assert names(instance) == []
        assert instance.warnings == (
            "input: 1 pod that workloads count, missing in the input: of ReplicaSet default/rs",
        )

    def test_many_that_lack_their_pods_are_one_line(self):
        """A dump without pods has hundreds of workloads."""
        sets = [owned("ReplicaSet", f"r{n}", spec={"template": template()}, status={"replicas": 2}) for n in range(9)]
        (line,) = load(cluster(*sets)).warnings
        assert line.startswith("input: 18 pods that workloads count, missing in the input: of ReplicaSet default/r0, ")

    @pytest.mark.parametrize(
        "fields",
        [
            {"status": {"state": {"phase": "Completed"}}},
            {"metadata": {"name": "train", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
        ],
    )
    def test_ended(self, fields):
        """Nothing more comes of it."""
        assert names(load(cluster({**vcjob(), **fields}))) == []


class TestHeld:
    """Jobs that wait for enqueue."""

    def held(self, **spec):
        """A PodGroup without pods."""
        fields = {"spec": {"minMember": 2, "minResources": {"cpu": "3", "memory": "1Gi"}, **spec}}
        return owned("PodGroup", "train-u", version=GROUPS, **fields, status={"phase": "Pending"})

    def test_with_its_job(self):
        """The tasks are those of the Job; they wait in the PodGroup that is there."""
        instance = load(cluster(vcjob(uid="u"), self.held()), held=True)
        assert {key: len(job.tasks) for key, job in instance.jobs.items()} == {"default/train-u": 2}
        assert instance.jobs["default/train-u"].min_resources["cpu"] == 3000
        assert "2 pods still to be made by controllers" in " ".join(instance.warnings)

    def test_without_its_job(self):
        """Tasks of equal parts, which together ask for just minResources."""
        instance = load(cluster(self.held(minMember=3, minResources={"cpu": "2", "nvidia.com/gpu": "6"})), held=True)
        requests = [task.requests for task in instance.tasks.values()]
        assert [one["cpu"] for one in requests] == [667, 667, 666]
        assert [one["nvidia.com/gpu"] for one in requests] == [2000] * 3
        assert any("its tasks are assumed" in line for line in instance.warnings)

    def test_roles(self):
        """Where they add up to the minimum."""
        instance = load(cluster(self.held(minTaskMember={"a": 1, "b": 1})), held=True)
        assert [task.role for task in instance.tasks.values()] == ["a", "b"]

    @pytest.mark.parametrize("changed", [{"minMember": 0}, {"minResources": None}])
    def test_nothing_to_go_by(self, changed):
        """It stays a job without tasks."""
        assert names(load(cluster(self.held(**changed)), held=True)) == []

    def test_not_for_those_in_the_cycle(self):
        """Its pods are missing for another reason."""
        assert names(load(cluster({**self.held(), "status": {"phase": "Inqueue"}}), held=True)) == []

    def test_not_in_a_case(self):
        """A case says itself what there is."""
        assert names(load(cluster(self.held()), strict=True, held=True)) == []

    def test_not_for_a_decision(self):
        """A session places no pods that are not there yet; with or without the Job in the input."""
        assert names(load(cluster(self.held()))) == []
        assert names(load(cluster(vcjob(uid="u"), self.held()))) == []
        entered = {**self.held(), "status": {"phase": "Inqueue"}}
        assert len(names(load(cluster(vcjob(uid="u"), entered)))) == 2


class TestAdmission:
    """What the API server writes into pods."""

    def test_priority(self):
        """Of the class; without one of the global default; of a class that every cluster has."""
        classes = [priority_class("high", 9, preemptionPolicy="Never"), priority_class("usual", 5, globalDefault=True)]
        sets = [
            owned("ReplicaSet", "a", spec={"template": template(priorityClassName="high")}),
            owned("ReplicaSet", "b", spec={"template": template()}),
            owned("ReplicaSet", "c", spec={"template": template(priorityClassName="system-node-critical")}),
        ]
        specs = [task.spec for task in submitted(*sets, to=cluster(*classes)).tasks.values()]
        assert [one.priority for one in specs] == [9, 5, 2_000_001_000]
        assert [one.preemption_policy for one in specs] == ["Never", "", ""]

    def test_unknown_class(self):
        """Stated once, with the workload."""
        instance = submitted(owned("ReplicaSet", "a", spec={"template": template(priorityClassName="gone")}))
        assert [line for line in instance.warnings if "ReplicaSet default/a: PriorityClass gone" in line]

    def test_tolerations(self):
        """Five minutes, unless stated."""
        own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
        instance = submitted(owned("ReplicaSet", "a", spec={"template": template(tolerations=[own])}))
        (task,) = instance.tasks.values()
        seconds = {one.key.rpartition("/")[2]: one.toleration_seconds for one in task.spec.tolerations}
        assert seconds == {"not-ready": None, "unreachable": 300}

    def test_limits_become_requests(self):
        """In pods; a Volcano Job's minResources are counted before that."""
        inner = template()
        inner["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "2"}}
        instance = submitted(vcjob(tasks=[{"name": "w", "replicas": 1, "template": inner}]))
        assert instance.tasks["default/train-w-0"].requests["cpu"] == 2000
        assert "cpu" not in instance.jobs["default/train"].min_resources

    def test_queue_of_the_namespace(self):
        """The annotation counts where the job would go to default."""
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "default", "annotations": {"scheduling.volcano.sh/queue-name": "team"}},
        }
        assert [job.group.spec.queue for job in submitted(vcjob(), to=cluster(namespace)).jobs.values()] == []
        warnings = submitted(vcjob(), to=cluster(namespace)).warnings
        assert any("its queue team is not in the input" in line for line in warnings)


class TestBadInput:
    """One line, with the object and the field."""

    def test_a_field_of_the_template(self):
        """The place leads to it."""
        job = vcjob(tasks=[{"name": "w", "template": {"spec": {"containers": 3}}}])
        with pytest.raises(InputError) as found:
            submitted(job)
        assert found.value.place == "Job default/train: spec.tasks[0].template.spec.containers"

    @pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet"])
    def test_without_containers(self, kind):
        """The API server would refuse it."""
        with pytest.raises(InputError, match="a pod template without containers"):
            submitted(owned(kind, "d", spec={"template": {"metadata": {"labels": {"a": "b"}}}}))

    def test_a_set_that_is_only_a_selector(self):
        """As an Instance that was written holds it: no pods, no error."""
        assert names(load(cluster(owned("ReplicaSet", "rs", spec={"selector": {}})))) == []

    def test_alone_it_is_an_error(self):
        """Nothing is left of such an input."""
        with pytest.raises(InputError, match=r"metadata.name is missing"):
            load({"apiVersion": "apps/v1", "kind": "Deployment"})

    def test_in_a_cluster_it_is_set_aside(self):
        """One bad workload among others."""
        instance = load(cluster(vcjob(tasks=7), vcjob("fine")))
        assert names(instance) == ["fine-worker-0", "fine-worker-1"]
        assert any("1 unreadable object" in line for line in instance.warnings)


def test_group_annotation_of_every_pod():
    """The pods of a plain Deployment of Volcano name the group that was made for them."""
    instance = submitted(
        owned("ReplicaSet", "rs", spec={"template": template(schedulerName="volcano")}), to=cluster(node("n9"))
    )
    (task,) = instance.tasks.values()
    assert task.pod.metadata.annotations[GROUP] == "podgroup-replicaset-rs"


class TestWithoutOwners:
    """`kubectl get --export` and tools that clean manifests leave out owners, uids and status."""

    def test_a_deployment_with_its_set_and_pod(self):
        """The set's name is the Deployment's and a hash, and the pod's begins with the set's."""
        labels = {"labels": {"app": "web", "pod-template-hash": "77"}}
        spec = {"replicas": 1, "template": template(labels={"app": "web"})}
        stated = [owned("Deployment", "web", spec=spec), owned("ReplicaSet", "web-77", metadata=labels, spec=spec)]
        found = load(cluster(*stated, pod("web-77-x1z2c", metadata=labels, spec={"nodeName": "n1"})))
        assert list(found.tasks) == ["default/web-77-x1z2c"]
        assert list(load(cluster(*stated)).tasks) == ["default/web-77-0"]

    @pytest.mark.parametrize(
        ("kind", "version", "labels"),
        [
            (
                "StatefulSet",
                "apps/v1",
                {"statefulset.kubernetes.io/pod-name": "web-0", "controller-revision-hash": "1"},
            ),
            ("DaemonSet", "apps/v1", {"controller-revision-hash": "1"}),
            ("Job", "batch/v1", {"batch.kubernetes.io/job-name": "web"}),
            ("Job", "batch/v1", {"job-name": "web"}),
        ],
    )
    def test_by_its_labels(self, kind, version, labels):
        """Each controller labels its pods."""
        stated = owned(kind, "web", version=version, spec={"template": template()})
        running = {"spec": {"nodeName": "n1"}, "status": {"phase": "Running"}}
        assert len(load(cluster(stated, pod("web-7", metadata={"labels": labels}, **running))).tasks) == 1
        assert len(load(cluster(stated, pod("web-7", **running))).tasks) > 1

    def test_another_name_is_another_owner(self):
        """A hash that is not in the pod's name says nothing."""
        spec = {"replicas": 1, "template": template()}
        set_ = owned("ReplicaSet", "web-77", metadata={"labels": {"pod-template-hash": "77"}}, spec=spec)
        other = pod("api-88-x", metadata={"labels": {"pod-template-hash": "77"}})
        assert sorted(load(cluster(set_, other)).tasks) == ["default/api-88-x", "default/web-77-0"]
