"""Which model an input gets without --model, and whose pods are left to others."""

from __future__ import annotations

from typing import Any

import pytest

import cpsched
from cpsched.importers.policy import load_policy
from cpsched.policy import Policy

NODE: dict[str, Any] = {
    **{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}},
    "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}},
}
QUEUE: dict[str, Any] = {
    **{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "default"}},
    "spec": {"weight": 1},
}
VOLCANO_CONF = {"actions": "allocate", "tiers": []}
KUBE_CONF = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def group(name: str, phase: str = "Inqueue") -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "a"},
        "spec": {"minMember": 1, "queue": "default"},
        "status": {"phase": phase},
    }


def pod(
    name: str, scheduler: str | None = None, node: str = "", of: str = "", gate: str = "", cpu: str = "1"
) -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    spec |= {"schedulerName": scheduler} if scheduler else {}
    spec |= {"nodeName": node} if node else {}
    spec |= {"schedulingGates": [{"name": gate}]} if gate else {}
    annotations = {"scheduling.k8s.io/group-name": of} if of else {}
    metadata = {"name": name, "namespace": "a", "uid": name, "annotations": annotations}
    status = {"phase": "Running" if node else "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def policy(*objects: dict[str, Any], **options: Any) -> Policy:
    return load_policy(instance=cpsched.load([NODE, *objects]), **options)


V, K = "volcano", "default-scheduler"
CHOICES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "pods of kube-scheduler": ([pod("p", K)], "kube", "1 pod of kube-scheduler pending, none of Volcano"),
    "a manifest without a scheduler": ([pod("p")], "kube", "1 pod of kube-scheduler pending, none of Volcano"),
    "pods of Volcano": ([pod("p", V), pod("q", V)], "volcano", "2 pods of Volcano pending"),
    "Volcano's objects, hand-made pods": ([QUEUE, pod("p")], "volcano", ""),
    "both wait": (
        [QUEUE, pod("p", V), pod("q", K), pod("r", K)],
        "volcano",
        "1 pod of Volcano, 2 pods of kube-scheduler pending",
    ),
    "kube-scheduler's pods wait beside Volcano": (
        [QUEUE, pod("p", V, node="n1"), pod("q", K)],
        "kube",
        "1 pod of kube-scheduler pending, none of Volcano",
    ),
    "a PodGroup whose pods are still to come": (
        [QUEUE, group("g", "Pending"), pod("q", K)],
        "volcano",
        "1 PodGroup without pods, 1 pod of kube-scheduler pending",
    ),
    "only another scheduler's pods wait": (
        [pod("p", "my-scheduler"), pod("q", K, node="n1")],
        "kube",
        "no pod is pending, and the input has no objects of Volcano",
    ),
    "nothing waits beside Volcano": (
        [QUEUE, pod("q", K, node="n1")],
        "volcano",
        "no pod is pending, and the input has objects of Volcano",
    ),
    "a pod of Volcano runs": (
        [pod("q", V, node="n1")],
        "volcano",
        "no pod is pending, and the input has objects of Volcano",
    ),
    "no pods": ([], "volcano", ""),
    "no pods beside Volcano's objects": ([QUEUE], "volcano", ""),
}


@pytest.mark.parametrize("case", CHOICES)
def test_the_model_follows_the_cluster(case: str) -> None:
    objects, model, reason = CHOICES[case]
    found = policy(*objects)
    assert (found.name, found.origin.chosen) == (model, reason)
    assert found.choice == (f"Model {model}: {reason}." if reason else "")


@pytest.mark.parametrize(("conf", "model"), [(VOLCANO_CONF, "volcano"), (KUBE_CONF, "kube")])
@pytest.mark.parametrize("scheduler", [V, K])
def test_a_configuration_says_more_than_pods(conf: dict[str, Any], model: str, scheduler: str) -> None:
    title = {"volcano": "Volcano", "kube": "kube-scheduler"}[model]
    expected = (model, f"the configuration is {title}'s")
    found = policy(pod("p", scheduler), conf=conf)
    assert (found.name, found.origin.chosen) == expected
    own = load_policy(instance=cpsched.load({"apiVersion": "cpsched/v1", "kind": "Instance", "conf": conf}))
    assert (own.name, own.origin.chosen) == (expected if model == "kube" else ("volcano", ""))
    assert load_policy(conf=conf).name == model


def test_the_user_overrules() -> None:
    found = policy(pod("p", K), model="throughput")
    assert (found.name, found.choice) == ("throughput", "")


def test_pods_of_other_schedulers_are_named_and_left_alone() -> None:
    strangers = [pod(f"k{number}", "kai-scheduler") for number in range(5)]
    objects = [QUEUE, group("g"), *strangers, pod("p", V, of="g"), pod("q", K), pod("alien", "yunikorn", of="g")]
    found = policy(*objects)
    assert found.warnings == (
        "1 pod of scheduler default-scheduler is pending (a/q): no part of this decision; see --model kube",
        "5 pods of scheduler kai-scheduler are pending (a/k0, a/k1, a/k2 and 2 more): no part of this decision; "
        "only Volcano and kube-scheduler are mirrored",
        "1 pod of scheduler yunikorn is pending (a/alien): no part of this decision; "
        "only Volcano and kube-scheduler are mirrored",
    )
    instance = cpsched.load([NODE, *objects])
    assert cpsched.solve(instance, engine="volcano").binds == {"a/p": "n1"}
    assert cpsched.solve(instance, model="kube", engine="kube").binds == {"a/q": "n1"}


def test_a_plain_cluster_has_pods_of_others_too() -> None:
    objects = [pod("p", K), pod("s", "my-scheduler")]
    for model in ("kube", "volcano"):
        found = policy(*objects, model=model)
        assert [text.partition(":")[0] for text in found.warnings] == [
            "1 pod of scheduler my-scheduler is pending (a/s)"
        ]
        assert cpsched.solve(cpsched.load([NODE, *objects]), model=model, engine=model).binds == {"a/p": "n1"}


def test_volcanos_pods_are_left_to_volcano_by_kube_scheduler() -> None:
    found = policy(pod("p", V), pod("q", K), model="kube")
    expected = "1 pod of scheduler volcano is pending (a/p): no part of this decision; see --model volcano"
    assert found.warnings == (expected,)


def test_others_pods_hold_room_and_are_no_victims() -> None:
    objects = [QUEUE, pod("held", "my-scheduler", node="n1", cpu="6"), pod("p", V, cpu="4")]
    instance = cpsched.load([NODE, *objects])
    for engine in ("volcano", "optimal"):
        found = cpsched.solve(instance, engine=engine)
        assert (found.binds, found.evictions) == ({}, ())


def test_what_kueue_holds_back_is_named() -> None:
    held = [pod("p", K, gate="kueue.x-k8s.io/admission"), pod("q", K, gate="example.com/own")]
    assert policy(*held).warnings == ("1 pod is held back by Kueue until it admits it (a/p)",)


def test_a_named_profile_is_kube_schedulers() -> None:
    conf = {**KUBE_CONF, "profiles": [{"schedulerName": "batch"}]}
    found = policy(pod("p", "batch"), pod("q", K), conf=conf)
    expected = "1 pod of scheduler default-scheduler is pending (a/q): no part of this decision; "
    expected += "no profile of the configuration has this name"
    assert found.warnings == (expected,)


def test_a_question_about_one_pod_takes_that_pods_scheduler() -> None:
    objects = [QUEUE, group("g"), pod("p", V, of="g"), pod("q", K), pod("r", "my-scheduler"), pod("s", V, of="g")]
    models = {
        subject: policy(*objects, subject=subject).choice for subject in ("a/p", "q", "a/g", "g", "a/r", "nothing")
    }
    both = "Model volcano: 2 pods of Volcano, 1 pod of kube-scheduler pending."
    assert models == {
        "a/p": "Model volcano: a/p is Volcano's.",
        "q": "Model kube: q is kube-scheduler's.",
        "a/g": "Model volcano: a/g is Volcano's.",
        "g": "Model volcano: g is Volcano's.",
        "a/r": both,
        "nothing": both,
    }
    found = cpsched.explain(cpsched.load([NODE, *objects]), task="a/q")
    assert (found.model, found.placements) == ("kube", {"a/q": "n1"})


def test_of_kubes_own_cluster_a_job_is_a_pod() -> None:
    assert policy(pod("q", K), subject="a/q").choice == "Model kube: a/q is kube-scheduler's."


def test_beside_a_pod_of_volcano_others_are_not_volcanos_even_without_its_objects() -> None:
    objects = [pod("p", V), pod("q", K)]
    found = policy(*objects)
    expected = "1 pod of scheduler default-scheduler is pending (a/q): no part of this decision; see --model kube"
    assert (found.name, found.warnings) == ("volcano", (expected,))
    assert cpsched.solve(cpsched.load([NODE, *objects]), engine="volcano").binds == {"a/p": "n1"}
