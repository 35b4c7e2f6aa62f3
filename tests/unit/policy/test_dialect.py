from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.policy import recognise

VOLCANO = 'actions: "allocate"\ntiers: []\n'
KUBE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def config_map(**data: object) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": data}


@pytest.mark.parametrize(
    ("given", "scheduler"),
    [
        ({"actions": "allocate"}, "volcano"),
        ({"tiers": []}, "volcano"),
        ({"kind": "KubeSchedulerConfiguration"}, "kube"),
        ({"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}, "kube"),
        (config_map(**{"volcano-scheduler.conf": VOLCANO}), "volcano"),
        (config_map(**{"other.conf": VOLCANO, "notes.txt": "free: [text"}), "volcano"),
        (config_map(**{"config.yaml": KUBE, "kubeconfig": "kind: Config"}), "kube"),
    ],
)
def test_tells_them_apart(given: dict[str, Any], scheduler: str) -> None:
    assert recognise(given).scheduler == scheduler


def test_takes_the_configuration_out_of_its_config_map() -> None:
    assert recognise(config_map(**{"a.conf": VOLCANO})).conf == {"actions": "allocate", "tiers": []}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"profiles": []}, "f: this is not a scheduler configuration; write Volcano's actions and tiers"),
        ({}, "this is not a scheduler configuration"),
        (["allocate"], "is not a scheduler configuration"),
        ({"kind": "ConfigMap"}, "f: data: the ConfigMap holds no data"),
        (config_map(**{"a.txt": "hello", "b.txt": 5}), "the ConfigMap holds no scheduler configuration (a.txt, b.txt)"),
        (
            config_map(**{"a.conf": VOLCANO, "b": KUBE}),
            "the ConfigMap holds several scheduler configurations (a.conf, b)",
        ),
        (config_map(**{"a.conf": "actions: x\ntiers: a: b"}), "data: a.conf is not YAML in its line 2"),
    ],
)
def test_says_what_it_would_have_understood(given: object, text: str) -> None:
    with pytest.raises(InputError) as caught:
        recognise(given, file="f")
    assert text in str(caught.value)
