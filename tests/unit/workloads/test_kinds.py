"""Kubernetes' own workloads, Kubeflow's and JobSets: the pods and groups that their controllers make."""

from __future__ import annotations

import pytest

from tests.unit.workloads.given import GROUP, cluster, names, node, owned, submitted, template


def one(instance, name):
    """A pod by its name."""
    return instance.tasks[f"default/{name}"].pod


class TestReplicas:
    """Deployments, ReplicaSets and ReplicationControllers."""

    def test_deployment(self):
        """Its ReplicaSet's hash, and the letters behind a pod's name, are numbers."""
        stated = owned("Deployment", "web", spec={"replicas": 2, "template": template(labels={"app": "web"})})
        instance = submitted(stated)
        assert names(instance) == ["web-0-0", "web-0-1"]
        found = one(instance, "web-0-1")
        assert found.metadata.labels == {"app": "web", "pod-template-hash": "0"}
        assert [(one.kind, one.name) for one in found.metadata.owner_references] == [("ReplicaSet", "web-0")]
        assert found.spec.scheduler_name == "default-scheduler"
        assert not instance.jobs

    def test_of_volcano(self):
        """One PodGroup per ReplicaSet, of which one pod is enough unless an annotation says otherwise."""
        marks = {"annotations": {"scheduling.volcano.sh/group-min-member": "3", "volcano.sh/x": "y", "other": "z"}}
        inner = template("2", schedulerName="volcano", annotations={"scheduling.volcano.sh/queue-name": "default"})
        instance = submitted(owned("Deployment", "web", metadata=marks, spec={"replicas": 4, "template": inner}))
        (job,) = instance.jobs.values()
        assert (job.key, job.min_available, len(job.tasks)) == ("default/podgroup-replicaset-web-0", 3, 4)
        assert job.min_resources == {"cpu": 6000, "pods": 3}
        assert (job.phase, job.queue, job.group.metadata.annotations) == ("Pending", "default", {"volcano.sh/x": "y"})

    def test_default_is_one(self):
        """As the API server fills it in."""
        assert names(submitted(owned("ReplicaSet", "rs", spec={"template": template()}))) == ["rs-0"]
        assert names(submitted(owned("ReplicationController", "rc", version="v1", spec={"template": template()}))) == [
            "rc-0"
        ]

    def test_none(self):
        """No pods, no PodGroup."""
        instance = submitted(
            owned("ReplicaSet", "rs", spec={"replicas": 0, "template": template(schedulerName="volcano")})
        )
        assert (names(instance), list(instance.jobs)) == ([], [])
        assert instance.what_if[0].effect == "ReplicaSet default/rs, no pods"

    def test_own_group_is_kept(self):
        """A template that names a PodGroup gets no other."""
        inner = template(schedulerName="volcano", annotations={GROUP: "mine"})
        group = owned("PodGroup", "mine", version="scheduling.volcano.sh/v1beta1", spec={"minMember": 1})
        instance = submitted(group, owned("ReplicaSet", "rs", spec={"template": inner}))
        assert {key: job.tasks for key, job in instance.jobs.items()} == {"default/mine": ("default/rs-0",)}


class TestJob:
    """batch/v1 Job."""

    @pytest.mark.parametrize(
        ("spec", "expected"),
        [
            ({}, ["j-0"]),
            ({"parallelism": 3}, ["j-0", "j-1", "j-2"]),
            ({"completions": 3}, ["j-0"]),
            ({"parallelism": 3, "completions": 2}, ["j-0", "j-1"]),
            ({"parallelism": 2, "completions": 5, "completionMode": "Indexed"}, ["j-0-0", "j-1-0"]),
            ({"parallelism": 0}, []),
            ({"parallelism": 3, "suspend": True}, []),
        ],
    )
    def test_how_many(self, spec, expected):
        """As many as run at a time, no more than are needed."""
        job = owned("Job", "j", version="batch/v1", spec={"template": template(), **spec})
        assert names(submitted(job)) == expected

    def test_labels(self):
        """Those of the API server, and the index."""
        spec = {"template": template(), "completions": 1, "completionMode": "Indexed"}
        found = one(submitted(owned("Job", "j", version="batch/v1", spec=spec)), "j-0-0").metadata
        assert found.labels["batch.kubernetes.io/job-name"] == found.labels["job-name"] == "j"
        assert found.annotations["batch.kubernetes.io/job-completion-index"] == "0"

    def test_group_of_volcano(self):
        """As of a Deployment: the whole Job has one."""
        spec = {"template": template(schedulerName="volcano"), "parallelism": 2}
        (job,) = submitted(owned("Job", "j", version="batch/v1", spec=spec)).jobs.values()
        assert (job.key, len(job.tasks), job.min_available) == ("default/podgroup-job-j", 2, 1)


class TestStatefulSet:
    """Numbers and claims."""

    def test_names_and_claims(self):
        """Each pod has its own claim, which is made unless it is there."""
        claim = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
        spec = {"replicas": 2, "template": template(), "volumeClaimTemplates": [claim], "ordinals": {"start": 1}}
        kept = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data-db-1", "namespace": "default"},
        }
        instance = submitted(owned("StatefulSet", "db", spec=spec), to=cluster(kept))
        assert names(instance) == ["db-1", "db-2"]
        assert one(instance, "db-2").spec.volumes[0].persistent_volume_claim.claim_name == "data-db-2"
        assert one(instance, "db-2").metadata.labels["apps.kubernetes.io/pod-index"] == "2"
        claims = [item.key for item in instance.objects if type(item).__name__ == "PersistentVolumeClaim"]
        assert claims == ["default/data-db-1", "default/data-db-2"]
        assert any("one after the other" in line for line in instance.warnings)


class TestDaemonSet:
    """One pod per node."""

    def test_which_nodes(self):
        """Labels and taints decide; what a DaemonSet tolerates by itself does not keep it away."""
        taint = {"key": "gpu", "effect": "NoSchedule"}
        cordoned = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        nodes = [
            node("plain", labels={"os": "linux"}),
            node("tainted", labels={"os": "linux"}, spec={"taints": [taint]}),
            node("cordoned", labels={"os": "linux"}, spec={"taints": [cordoned], "unschedulable": True}),
            node("other", labels={"os": "windows"}),
        ]
        spec = {"template": template(nodeSelector={"os": "linux"})}
        instance = submitted(owned("DaemonSet", "ds", spec=spec), to=cluster(*nodes, nodes=0))
        bound = [
            task.spec.affinity.node_affinity.required.node_selector_terms[0].match_fields[0].values
            for task in instance.tasks.values()
        ]
        assert bound == [("plain",), ("cordoned",)]


class TestClaims:
    """Claims that are made for one pod."""

    def test_of_devices_and_volumes(self):
        """Of templates; the pod's status says which is its own."""
        made = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "gpu", "namespace": "default"},
            "spec": {"spec": {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu"}}]}}},
        }
        storage = {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}
        inner = template(
            resourceClaims=[{"name": "dev", "resourceClaimTemplateName": "gpu"}],
            volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": storage}}],
        )
        instance = submitted(owned("ReplicaSet", "rs", spec={"replicas": 2, "template": inner}), to=cluster(made))
        kinds = ("ResourceClaim", "PersistentVolumeClaim")
        claims = [item for item in instance.objects if type(item).__name__ in kinds]
        assert [item.metadata.name for item in claims] == [
            f"rs-{number}-{name}" for number in (0, 1) for name in ("dev-0", "scratch")
        ]
        assert {item.metadata.owner_references[0].name for item in claims} == {"rs-0", "rs-1"}
        (status,) = one(instance, "rs-1").status.resource_claim_statuses
        assert (status.name, status.resource_claim_name) == ("dev", "rs-1-dev-0")


class TestTraining:
    """Kubeflow's operator."""

    def pytorch(self, policy=None, **spec):
        """A master and two workers."""
        replicas = {
            "Master": {"replicas": 1, "template": template("1", **spec)},
            "Worker": {"replicas": 2, "template": template("2", **spec)},
        }
        run = {"schedulingPolicy": policy} if policy is not None else {}
        stated = {"pytorchReplicaSpecs": replicas, "runPolicy": run}
        return owned("PyTorchJob", "pt", version="kubeflow.org/v1", spec=stated)

    def test_plain(self):
        """Without Volcano just pods; workers wait in an init container for their master."""
        instance = submitted(self.pytorch())
        assert names(instance) == ["pt-master-0", "pt-worker-0", "pt-worker-1"]
        assert not instance.jobs
        assert one(instance, "pt-master-0").metadata.labels["training.kubeflow.org/job-role"] == "master"
        assert len(one(instance, "pt-worker-0").spec.init_containers) == 1

    def test_gang(self):
        """One PodGroup of the job's name, with the minimum of all replicas."""
        (job,) = submitted(self.pytorch(schedulerName="volcano")).jobs.values()
        assert (job.key, job.min_available, job.min_resources) == ("default/pt", 3, {"cpu": 5000})
        assert [task.role for task in submitted(self.pytorch({})).tasks.values()] == ["master", "worker", "worker"]

    def test_policy(self):
        """What the scheduling policy states comes first."""
        stated = {"minAvailable": 2, "queue": "default", "priorityClass": "high", "minResources": {"cpu": "9"}}
        (job,) = submitted(self.pytorch(stated)).jobs.values()
        assert (job.min_available, job.queue, job.min_resources) == (2, "default", {"cpu": 9000})
        assert job.group.spec.priority_class_name == "high"

    def test_first_pods_make_the_minimum(self):
        """In the order of the types, where no class tells them apart."""
        (job,) = submitted(self.pytorch({"minAvailable": 2})).jobs.values()
        assert job.min_resources == {"cpu": 3000}

    def test_mpi(self):
        """Workers first; the launcher has no number, and delivers kubectl to itself."""
        replicas = {"Launcher": {"template": template("0")}, "Worker": {"replicas": 2, "template": template()}}
        instance = submitted(owned("MPIJob", "m", version="kubeflow.org/v1", spec={"mpiReplicaSpecs": replicas}))
        assert names(instance) == ["m-worker-0", "m-worker-1", "m-launcher"]
        assert instance.tasks["default/m-launcher"].requests["cpu"] == 100

    def test_tf(self):
        """A worker leads where there is no chief."""
        replicas = {"PS": {"template": template()}, "Worker": {"template": template()}}
        instance = submitted(owned("TFJob", "t", version="kubeflow.org/v1", spec={"tfReplicaSpecs": replicas}))
        assert names(instance) == ["t-ps-0", "t-worker-0"]
        assert one(instance, "t-worker-0").metadata.labels["training.kubeflow.org/job-role"] == "master"


def test_job_set():
    """Each of its Jobs is indexed, and its pods carry the marks of the set."""
    inner = {"spec": {"parallelism": 2, "completions": 2, "template": template()}}
    jobs = [
        {"name": "driver", "template": {"spec": {"template": template()}}},
        {"name": "w", "replicas": 2, "template": inner},
    ]
    instance = submitted(owned("JobSet", "js", version="jobset.x-k8s.io/v1alpha2", spec={"replicatedJobs": jobs}))
    expected = ["js-driver-0-0-0", "js-w-0-0-0", "js-w-0-1-0", "js-w-1-0-0", "js-w-1-1-0"]
    assert names(instance) == expected
    labels = one(instance, "js-w-1-0-0").metadata.labels
    assert labels["jobset.sigs.k8s.io/job-global-index"] == "2"
    assert labels["jobset.sigs.k8s.io/global-replicas"] == "3"
    assert labels["batch.kubernetes.io/job-name"] == "js-w-1"
