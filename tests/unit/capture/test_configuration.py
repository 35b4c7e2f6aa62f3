"""Which ConfigMaps are a scheduler's, and what stays of a configuration."""

from __future__ import annotations

import json
from typing import Any

from cpsched.capture.configuration import mounted_by_schedulers, read_fields
from cpsched.policy import recognise

Raw = dict[str, Any]


def pod(name: str, image: str, *maps: str, command: str = "") -> Raw:
    volumes: list[Raw] = [{"name": one, "configMap": {"name": one}} for one in maps]
    projected = [{"configMap": {"name": "kube-root-ca.crt"}}, {"configMap": {"name": f"{name}-projected"}}]
    container = {"image": image, "command": [command] if command else None}
    spec = {"containers": [container], "volumes": [*volumes, {"name": "p", "projected": {"sources": projected}}]}
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "system"}, "spec": spec}


def test_those_that_a_scheduler_mounts() -> None:
    pods = [
        pod("a", "example.com/kube-scheduler:1", "one"),
        pod("b", "example.com/b", "two", command="/bin/my-scheduler"),
        pod("scheduler-x", "example.com/c", "three"),
        pod("web", "example.com/web", "four"),
        {"kind": "Pod", "metadata": None, "spec": None},
    ]
    expected = ["a-projected", "b-projected", "one", "scheduler-x-projected", "three", "two"]
    assert mounted_by_schedulers(pods) == [("system", name) for name in expected]


def test_a_kube_configuration_loses_what_decides_nothing() -> None:
    given = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": "/secret"},
        "percentageOfNodesToScore": 50,
        "profiles": [
            {
                "schedulerName": "mine",
                "plugins": {"score": {"enabled": [{"name": "Trimaran"}]}},
                "pluginConfig": [
                    {"name": "Trimaran", "args": {"token": "secret"}},
                    {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}},
                ],
            }
        ],
        "extenders": [{"urlPrefix": "http://e", "filterVerb": "f", "tlsConfig": {"keyData": "secret"}}],
    }
    found = read_fields(recognise(given))
    assert "secret" not in json.dumps(found)
    assert found["percentageOfNodesToScore"] == 50
    assert found["extenders"] == [{"urlPrefix": "http://e", "filterVerb": "f"}]
    [profile] = found["profiles"]
    assert profile["plugins"] == given["profiles"][0]["plugins"]  # type: ignore[index]
    assert [one["name"] for one in profile["pluginConfig"]] == ["NodeResourcesFit"]


def test_a_volcano_configuration_keeps_the_arguments_of_mirrored_plugins() -> None:
    plugins = [
        {"name": "binpack", "arguments": {"binpack.weight": 5}},
        {"name": "usage", "arguments": {"usage.password": "secret"}, "enablePredicate": False},
    ]
    given = {
        "actions": "allocate",
        "tiers": [{"plugins": plugins}],
        "metrics": {"address": "secret", "interval": "30s"},
    }
    assert read_fields(recognise(given)) == {
        "actions": "allocate",
        "tiers": [{"plugins": [plugins[0], {"name": "usage", "enablePredicate": False}]}],
        "metrics": {"interval": "30s"},
    }
