"""What refuses a task on every node is one reason; and a decision that is as good as another is not called better."""

from __future__ import annotations

import pytest

import cpsched
from cpsched import engines
from cpsched.checker import CheckedSolution
from cpsched.explanation.result import Explanation, Verdict
from cpsched.instance import Instance
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.solution import SolutionStatus
from tests.unit.greedy_kube.build import Object, node, pod

TAINT = [{"key": "own", "value": "x", "effect": "NoSchedule"}]


def explained(*objects: Object, task: str = "default/p") -> Explanation:
    return cpsched.explain(cpsched.load(list(objects)), task=task, workers=1)


def nodes() -> list[Object]:
    return [node("a"), node("b", "2"), node("tainted", taints=TAINT), node("closed", unschedulable=True)]


def only_conflict(found: Explanation) -> tuple[str, str, int, str]:
    [conflict] = found.conflicts
    [one] = conflict
    return one.key, one.subject, len(one.nodes), one.text


def test_a_request_larger_than_every_node_is_one_reason() -> None:
    expected = ("capacity", "cpu", 4, "Insufficient cpu (needs 5, no node has more than 2)")
    assert only_conflict(explained(*nodes(), pod("p", "5"))) == expected


def test_a_filter_that_refuses_everywhere_is_one_reason() -> None:
    found = only_conflict(explained(*nodes(), pod("p", nodeSelector={"gpu": "b200"})))
    assert found == ("filters", "NodeAffinity", 4, "node(s) didn't match Pod's node affinity/selector")


def test_reasons_that_differ_by_node_stay_apart() -> None:
    [conflict] = explained(node("small"), node("tainted", "8", taints=TAINT), pod("p", "5")).conflicts
    assert sorted((one.key, one.nodes) for one in conflict) == [("capacity", ("small",)), ("filters", ("tainted",))]


def unbound(mode: str) -> list[Object]:
    storage: Object = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "slow"}}
    claim: Object = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}}
    storage |= {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": mode}
    claim["spec"] = {"storageClassName": "slow", "accessModes": ["ReadWriteOnce"]}
    claim["spec"]["resources"] = {"requests": {"storage": "1Gi"}}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    return [storage, claim, pod("p", volumes=volumes)]


def test_an_unbound_claim_is_stated_as_the_scheduler_tells_it() -> None:
    """VolumeBinding turns the pod away before VolumeZone is asked."""
    found = explained(*nodes(), *unbound("Immediate"))
    text = "pod has unbound immediate PersistentVolumeClaims"
    assert only_conflict(found) == ("filters", "VolumeBinding", 0, text)
    assert all(f"VolumeBinding: {text}" in group.reasons for group in found.nodes)
    assert "PersistentVolume had no name" not in str(found.to_dict())


@pytest.mark.parametrize(("priority", "verdict"), [(0, Verdict.TIED), (5, Verdict.MISSED)])
def test_an_equally_good_decision_is_called_so(
    monkeypatch: pytest.MonkeyPatch, priority: int, verdict: Verdict
) -> None:
    """One place, two pods: the scheduler binds the first, the other decision the second."""
    instance = cpsched.load([node("n"), pod("first", "1"), pod("second", "1", priority=priority)])
    replay = engines.decide

    def decide(name: str, given: Instance, policy: Policy, _: Options) -> CheckedSolution:
        only = Options(only="default/first" if name == "kube" else "default/second")
        status = SolutionStatus.HEURISTIC if name == "kube" else SolutionStatus.OPTIMAL
        solution, decision = replay("kube", given, policy, only)
        return CheckedSolution(solution.model_copy(update={"status": status}), decision)

    monkeypatch.setattr("cpsched.engines.decide", decide)
    found = cpsched.explain(instance, task="default/second", engine="kube")
    assert found.verdict is verdict
    as_good = "another decision, equal on every level, places it"
    assert (as_good in found.summary) == (verdict is Verdict.TIED)
    assert ("the optimum places it" in found.summary) == (verdict is Verdict.MISSED)
