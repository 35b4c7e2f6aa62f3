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
        ({"kind": "List", "items": [config_map(**{"nginx.conf": "a {"}), 5, config_map(**{"a": KUBE})]}, "kube"),
        ({"kind": "ConfigMapList", "items": [{"kind": "ConfigMap"}, config_map(**{"a.conf": VOLCANO})]}, "volcano"),
        ({"kind": "List", "items": [{"kind": "Namespace"}, {"actions": "allocate"}]}, "volcano"),
    ],
)
def test_tells_them_apart(given: dict[str, Any], scheduler: str) -> None:
    assert recognise(given).scheduler == scheduler


def test_takes_the_configuration_out_of_its_config_map() -> None:
    assert recognise(config_map(**{"a.conf": VOLCANO})).conf == {"actions": "allocate", "tiers": []}


@pytest.mark.parametrize("rest", ["...\n- name: x\n", "---\nactions: enqueue\n", "---\na: b: c\n"])
def test_of_several_documents_the_first_counts_and_the_rest_is_named(rest: str) -> None:
    found = recognise(config_map(**{"a.conf": VOLCANO + rest}), file="f")
    assert found.conf == {"actions": "allocate", "tiers": []}
    wrong = "what follows the first YAML document is ignored, as by the scheduler"
    assert found.warnings == (f"f: data.a.conf: {wrong}",)
    assert recognise(config_map(**{"a.conf": VOLCANO})).warnings == ()


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
        ({"kind": "List", "items": []}, "f: items: the list holds no scheduler configuration; one is needed"),
        ({"kind": "List", "items": [config_map(**{"a.conf": "a: b: c"})]}, "f: data: a.conf is not YAML in its line 1"),
        (
            {"kind": "List", "items": [{"actions": "allocate"}, config_map(**{"a.conf": VOLCANO})]},
            "f: items: the list holds several scheduler configurations (1, 2.a.conf); one is needed",
        ),
    ],
)
def test_says_what_it_would_have_understood(given: object, text: str) -> None:
    with pytest.raises(InputError) as caught:
        recognise(given, file="f")
    assert text in str(caught.value)
