"""What a pod asks for; every expected number is worked out by hand from spec/kube.md 3.6 and spec/volcano.md 1.2."""

from __future__ import annotations

import pytest

from cpsched.objects.pod import Pod
from cpsched.requests import kube_nonzero_requests, kube_requests, volcano_requests

MI = 2**20


def container(name="c", *, sidecar=False, **requests):
    """A container; underscores in names stand for dots and slashes."""
    resources = {"requests": {resource.replace("__", "/").replace("_", "."): q for resource, q in requests.items()}}
    return {"name": name, "resources": resources, **({"restartPolicy": "Always"} if sidecar else {})}


def pod(*containers, init=(), status=None, **spec):
    """A pod of these containers."""
    return Pod.model_validate(
        {"spec": {"containers": list(containers), "initContainers": list(init), **spec}, "status": status or {}}
    )


class TestSum:
    """Containers add up, the init phase counts at its widest."""

    def test_containers(self):
        """500m + 250m and 64Mi."""
        one = pod(container(cpu="500m", memory="64Mi"), container("d", cpu="250m"))
        assert volcano_requests(one) == {"cpu": 750, "memory": 64 * MI, "pods": 1}
        assert kube_requests(one) == {"cpu": 750, "memory": 64 * MI}

    def test_nothing(self):
        """A pod without requests asks for a place."""
        assert volcano_requests(pod(container())) == {"pods": 1}
        assert kube_requests(pod(container())) == {}

    def test_init_container_wider_than_the_rest(self):
        """max(1, 2) CPUs, max(100Mi, 50Mi)."""
        one = pod(container(cpu=1, memory="100Mi"), init=[container("i", cpu=2, memory="50Mi")])
        assert volcano_requests(one) == {"cpu": 2000, "memory": 100 * MI, "pods": 1}

    def test_init_containers_run_one_after_another(self):
        """The widest of 2, 3, 1, not their sum."""
        one = pod(container(cpu=1), init=[container(f"i{n}", cpu=n) for n in (2, 3, 1)])
        assert kube_requests(one) == {"cpu": 3000}

    def test_sidecars_run_along(self):
        """1 + sidecars 1 + 2 = 4 at work."""
        one = pod(container(cpu=1), init=[container("s", sidecar=True, cpu=1), container("t", sidecar=True, cpu=2)])
        assert kube_requests(one) == {"cpu": 4000}

    def test_init_container_after_a_sidecar(self):
        """The init container of 5 runs beside the sidecar of 1 before it, not beside the one after it: 6, not 8."""
        init = [container("s", sidecar=True, cpu=1), container("i", cpu=5), container("t", sidecar=True, cpu=2)]
        assert kube_requests(pod(container(cpu=1), init=init)) == {"cpu": 6000}

    def test_init_container_before_all_sidecars(self):
        """4 alone; later 1 + 2 at work: 4."""
        init = [container("i", cpu=4), container("s", sidecar=True, cpu=2)]
        assert kube_requests(pod(container(cpu=1), init=init)) == {"cpu": 4000}

    def test_resource_only_the_init_phase_asks_for(self):
        """It counts."""
        one = pod(container(cpu=1), init=[container("i", memory="1Mi")])
        assert kube_requests(one) == {"cpu": 1000, "memory": MI}

    def test_zero_stays_visible(self):
        """A request of zero is stated, and zero."""
        assert kube_requests(pod(container(cpu=0))) == {"cpu": 0}


class TestPodLevelAndOverhead:
    """What the pod states for itself, and what its runtime costs."""

    def test_pod_level_overrides(self):
        """3 instead of 1 + 1 CPUs; memory stays the sum; other resources are not the pod's to state."""
        one = pod(
            container(cpu=1, memory="1Mi", nvidia_com__gpu=1),
            container("d", cpu=1),
            resources={"requests": {"cpu": 3, "nvidia.com/gpu": 9}},
        )
        assert kube_requests(one) == {"cpu": 3000, "memory": MI, "nvidia.com/gpu": 1}
        assert volcano_requests(one) == {"cpu": 3000, "memory": MI, "nvidia.com/gpu": 1000, "pods": 1}

    def test_pod_level_may_be_less(self):
        """It replaces, it is no maximum."""
        assert kube_requests(pod(container(cpu=2), resources={"requests": {"cpu": 1}})) == {"cpu": 1000}

    def test_pod_level_huge_pages(self):
        """Huge pages may be stated too."""
        one = pod(container(), resources={"requests": {"hugepages-2Mi": "4Mi"}})
        assert kube_requests(one) == {"hugepages-2Mi": 4 * MI}

    def test_overhead_comes_on_top(self):
        """Of everything, also of a stated request."""
        one = pod(container(cpu=1), overhead={"cpu": "100m", "memory": "1Mi"}, resources={"requests": {"cpu": 2}})
        assert kube_requests(one) == {"cpu": 2100, "memory": MI}
        assert volcano_requests(one) == {"cpu": 2100, "memory": MI, "pods": 1}


class TestResize:
    """While a running pod is resized in place, the largest of asked, allocated and in use counts."""

    def resized(self, asked, allocated=None, actual=None, **status):
        """A pod that asks for so many CPUs while its status says otherwise."""
        state = {"name": "c", "allocatedResources": {} if allocated is None else {"cpu": allocated}}
        if actual is not None:
            state["resources"] = {"requests": {"cpu": actual}}
        return pod(container(cpu=asked), status={"containerStatuses": [state], **status})

    @pytest.mark.parametrize(
        ("asked", "allocated", "actual", "expected"),
        [(3, 1, 2, 3000), (1, 3, 2, 3000), (1, 2, 3, 3000), (2, 2, 2, 2000)],
    )
    def test_largest(self, asked, allocated, actual, expected):
        """Whichever it is."""
        assert kube_requests(self.resized(asked, allocated, actual)) == {"cpu": expected}

    def test_no_actual_resources(self):
        """Without the status' resources the spec alone counts."""
        assert kube_requests(self.resized(1, 3)) == {"cpu": 1000}

    def test_infeasible_resize(self):
        """What can never be granted does not count."""
        condition = {"type": "PodResizePending", "reason": "Infeasible", "status": "True"}
        assert kube_requests(self.resized(9, 1, 2, conditions=[condition])) == {"cpu": 2000}

    def test_deferred_resize(self):
        """What may be granted later does."""
        condition = {"type": "PodResizePending", "reason": "Deferred", "status": "True"}
        assert kube_requests(self.resized(9, 1, 2, conditions=[condition])) == {"cpu": 9000}

    def test_quantities_are_compared_not_spelled(self):
        """900m is less than 1."""
        assert kube_requests(self.resized(1, "900m", "800m")) == {"cpu": 1000}

    def test_other_containers_are_not_touched(self):
        """A status belongs to the container of its name; a sidecar's counts too, a plain init container's does not."""
        states = [{"name": name, "resources": {"requests": {"cpu": 5}}} for name in ("s", "i")]
        init = [container("s", sidecar=True, cpu=1), container("i", cpu=2)]
        one = pod(container(cpu=1), init=init, status={"initContainerStatuses": states})
        assert kube_requests(one) == {"cpu": 7000}


class TestUnits:
    """Volcano's units are milli for all but memory and pods; kube-scheduler's for cpu alone."""

    def test_scalars(self):
        """A GPU is 1000 or 1; 1k of ephemeral storage is a million or a thousand."""
        one = pod(container(nvidia_com__gpu=1, **{"ephemeral-storage": "1k", "hugepages-2Mi": "2Mi"}))
        assert volcano_requests(one) == {
            "nvidia.com/gpu": 1000,
            "ephemeral-storage": 1_000_000,
            "hugepages-2Mi": 2000 * MI,
            "pods": 1,
        }
        assert kube_requests(one) == {"nvidia.com/gpu": 1, "ephemeral-storage": 1000, "hugepages-2Mi": 2 * MI}

    def test_volcano_drops_what_is_no_resource_name(self):
        """A bare name that Kubernetes does not know is not counted."""
        assert volcano_requests(pod(container(rdma=1))) == {"pods": 1}

    def test_rounding_up(self):
        """Half a milli of CPU is a milli; kube-scheduler rounds the sum, Volcano each container."""
        one = pod(container(cpu="100u"), container("d", cpu="100u"))
        assert kube_requests(one) == {"cpu": 1}
        assert volcano_requests(one) == {"cpu": 2, "pods": 1}


class TestStandIns:
    """Scores count 100m and 200Mi for containers that ask for none."""

    def test_nothing_asked(self):
        """Each container counts."""
        assert kube_nonzero_requests(pod(container(), container("d"))) == {"cpu": 200, "memory": 400 * MI}

    def test_partly_asked(self):
        """Per resource; a stated zero is stated."""
        one = pod(container(cpu=1), container("d", memory="1Mi"), container("e", cpu=0, memory=0))
        assert kube_nonzero_requests(one) == {"cpu": 1100, "memory": 201 * MI}

    def test_overhead(self):
        """It comes on top of the stand-ins."""
        assert kube_nonzero_requests(pod(container(), overhead={"cpu": "50m"})) == {"cpu": 150, "memory": 200 * MI}

    def test_pod_level(self):
        """A pod that states CPU gets a stand-in for memory, if no container asks for any."""
        stated = {"requests": {"cpu": 2}}
        assert kube_nonzero_requests(pod(container(), resources=stated)) == {"cpu": 2000, "memory": 200 * MI}
        one = pod(container(memory="1Mi"), container("d"), resources=stated)
        assert kube_nonzero_requests(one) == {"cpu": 2000, "memory": MI}

    def test_other_resources_are_left_out(self):
        """Only CPU and memory have stand-ins."""
        assert set(kube_nonzero_requests(pod(container(nvidia_com__gpu=1)))) == {"cpu", "memory"}
