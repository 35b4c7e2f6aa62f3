"""What stands beside the objects of a capture counts when it is read."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
VOLCANO = {"scheduler": "volcano", "from": "v/conf", "conf": {"actions": "allocate", "tiers": []}, "waiting": 0}
KUBE: dict[str, Any] = {
    "scheduler": "kube",
    "from": "k/conf",
    "conf": {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [{"urlPrefix": "http://127.0.0.1:9", "filterVerb": "filter"}],
    },
    "waiting": 2,
}


def loaded(**stated: Any) -> Any:
    description = {"apiVersion": "cpsched/v1", "kind": "Capture", **stated}
    return load({"apiVersion": "v1", "kind": "List", "items": [description, NODE]})


def test_the_moment_is_that_of_the_capture() -> None:
    assert loaded(time="2026-01-01T00:00:01Z").now == 1767225601 * 10**9
    with pytest.raises(InputError, match=r"items\[0\]: Capture: time: .* is not an RFC 3339 time"):
        loaded(time="yesterday")


def test_the_configuration_holds_for_whom_most_pods_wait() -> None:
    assert loaded(configurations=[VOLCANO]).conf == VOLCANO["conf"]
    both = loaded(configurations=[VOLCANO, KUBE])
    assert both.conf == KUBE["conf"]
    assert any("ConfigMap v/conf of the scheduler volcano is not used" in one for one in both.warnings)
    # Where pods of another scheduler wait, Volcano's configuration would make the answer Volcano's.
    assert loaded(configurations=[VOLCANO], pending=3).conf is None
    # A second kube-scheduler that no task waits for says nothing about the cluster's own.
    idle = loaded(configurations=[{**KUBE, "waiting": 0}])
    assert idle.conf is None
    assert any("ConfigMap k/conf of the scheduler kube is not used" in one for one in idle.warnings)


def test_extenders_that_it_names_are_not_asked() -> None:
    instance = loaded(configurations=[KUBE])
    policy = load_policy("kube", instance=instance)
    assert policy.kube.extenders == ()
    assert any("an input opens no connection" in one for one in policy.warnings)
    assert load_policy("kube", instance=instance, allow_extenders=True).kube.extenders


def test_what_was_not_captured_is_a_warning() -> None:
    warnings = loaded(missing=["services: forbidden", "namespaces: forbidden", "what kubectl says: x", 7]).warnings
    assert [one.partition(": ")[2] for one in warnings if "not captured" in one] == [
        "not captured, because that user may not read them (docs/capture.md has the ClusterRole that is needed): "
        "services, namespaces",
        "not captured: what kubectl says: x",
    ]


def test_it_is_a_cluster_and_no_case() -> None:
    broken = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Odd"}}
    description = {"apiVersion": "cpsched/v1", "kind": "Capture", "configurations": [VOLCANO]}
    assert list(load([description, NODE, broken]).nodes) == ["n"]
