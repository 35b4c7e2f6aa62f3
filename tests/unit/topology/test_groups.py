"""Sub-groups of jobs, and how near their pods are to run."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.objects.groups import NetworkTopology
from cpsched.topology.demand import Demand, demand_of
from cpsched.topology.groups import Sorter, min_sub_groups
from tests.unit.topology.shapes import Object, domain, instance_of, node, nodes_of, tree_of


def group(**spec: Any) -> Object:
    metadata = {"name": "g", "namespace": "ns"}
    kind = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
    return kind | {"metadata": metadata, "spec": {"minMember": 3, **spec}, "status": {"phase": "Inqueue"}}


def pod(name: str, **labels: str) -> Object:
    annotations = {"scheduling.k8s.io/group-name": "g"}
    metadata = {"name": name, "namespace": "ns", "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": {"phase": "Pending"}}


def found(policies: list[Object], **labels: str) -> Any:
    instance = instance_of(group(subGroupPolicy=policies), pod("p", **labels))
    return Sorter(instance.jobs["ns/g"]).sub_group(instance.tasks["ns/p"])


WORKERS = {"name": "w", "matchLabelKeys": ["part"], "subGroupSize": 2, "minSubGroups": 1}


def test_the_values_of_the_keys_make_the_group() -> None:
    one = found([WORKERS], part="7")
    assert (one.key, one.group, one.min_available, one.match_index) == ("ns/g/w-7", "ns/g/w", 2, 7)


def test_several_keys_are_joined_and_only_the_first_orders() -> None:
    one = found([{"name": "w", "matchLabelKeys": ["a", "b"]}], a="x", b="3")
    assert (one.key, one.min_available, one.match_index) == ("ns/g/w-x-3", 1, 0)


@pytest.mark.parametrize("labels", [{}, {"part": ""}, {"other": "1"}])
def test_a_pod_without_a_value_is_in_the_default_group_with_minimum_1(labels: dict[str, str]) -> None:
    one = found([WORKERS], **labels)
    assert (one.key, one.group, one.min_available, one.policy) == ("ns/g", "ns/g", 1, None)


def test_without_policies_the_default_group_is_the_job() -> None:
    assert found([], part="1").min_available == 3


def test_a_policy_without_keys_never_matches() -> None:
    assert found([{"name": "w", "labelSelector": {"matchLabels": {"a": "b"}}}], a="b").policy is None


def test_the_first_policy_that_selects_the_pod_counts() -> None:
    selects = {"name": "s", "labelSelector": {"matchLabels": {"role": "ps"}}, "matchLabelKeys": ["part"]}
    assert found([selects, WORKERS], part="1", role="ps").group == "ns/g/s"
    assert found([selects, WORKERS], part="1", role="w").group == "ns/g/w"
    broken = {
        "name": "s",
        "labelSelector": {"matchExpressions": [{"key": "a", "operator": "x"}]},
        "matchLabelKeys": ["part"],
    }
    assert found([broken, WORKERS], part="1").group == "ns/g/w"


def test_long_values_are_hashed_as_upstream_does() -> None:
    assert found([WORKERS], part="x" * 128).key == f"ns/g/w-{'x' * 128}"
    # Go's fnv.New32a and rand.SafeEncodeString, worked out apart: 2166136261, times 16777619 per byte.
    digest = 2166136261
    for byte in b"x" * 64 + b"-" + b"y" * 64:
        digest = ((digest ^ byte) * 16777619) % 2**32
    safe = "".join("bcdfghjklmnpqrstvwxz2456789"[ord(digit) % 27] for digit in str(digest))
    assert found([{"name": "w", "matchLabelKeys": ["a", "b"]}], a="x" * 64, b="y" * 64).key == f"ns/g/w-{safe}"


@pytest.mark.parametrize(("text", "number"), [("12", 12), ("-3", -3), ("+4", 4), ("1.5", 0), ("٣", 0), ("9" * 30, 0)])
def test_a_group_is_ordered_by_its_first_value_as_a_number(text: str, number: int) -> None:
    assert found([WORKERS], part=text).match_index == number


def test_minima_per_policy() -> None:
    instance = instance_of(group(subGroupPolicy=[WORKERS, {"name": "s"}]), pod("p"))
    assert min_sub_groups(instance.jobs["ns/g"]) == {"ns/g/w": 1, "ns/g/s": 0}


class TestDemand:
    TREE = tree_of(node("n0"), domain("s", 1, nodes_of("n0"), "rack"), domain("b", 4, [], "hall"))

    @pytest.mark.parametrize(
        ("stated", "expected"),
        [
            ({"mode": "hard", "highestTierAllowed": 2}, Demand("hard", 2)),
            ({"mode": "hard", "highestTierName": "hall"}, Demand("hard", 4)),
            ({"mode": "hard", "highestTierName": "moon"}, Demand("hard", None)),
            ({"mode": "hard", "highestTierAllowed": 1, "highestTierName": "hall"}, Demand("hard", 1)),
            ({"highestTierAllowed": 2}, Demand("", 2)),
            ({"mode": "soft", "highestTierAllowed": 1}, Demand("hard", 5)),
        ],
    )
    def test_what_is_stated_becomes_a_limit(self, stated: Object, expected: Demand) -> None:
        assert demand_of(NetworkTopology.model_validate(stated), self.TREE) == expected

    def test_nothing_stated_is_no_demand(self) -> None:
        assert demand_of(None, self.TREE) is None

    def test_a_soft_group_stays_within_its_job(self) -> None:
        assert demand_of(NetworkTopology.model_validate({"mode": "soft"}), self.TREE, 2) == Demand("hard", 2)

    def test_only_hard_with_a_tier_binds(self) -> None:
        assert [Demand("hard", 1).limit, Demand("hard", None).limit, Demand("", 1).limit] == [1, None, None]
