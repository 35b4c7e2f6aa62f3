"""Labels, node terms, taints and affinity terms."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.objects.affinity import NodeSelector, PodAffinityTerm, Toleration
from cpsched.objects.base import LabelRequirement, LabelSelector
from cpsched.objects.node import Taint
from cpsched.objects.pod import Pod
from cpsched.selectors import (
    ANY_NODE,
    EVERYTHING,
    NOTHING,
    SelectorError,
    affinity_term,
    blocks,
    equal_labels,
    label_selector,
    node_selector,
    required_node_affinity,
    tolerates,
    topology_terms_match,
)


def selector(*expressions: tuple[str, str, list[str]], **labels: str) -> LabelSelector:
    stated = [{"key": key, "operator": operator, "values": values} for key, operator, values in expressions]
    return LabelSelector.model_validate({"matchLabels": labels, "matchExpressions": stated})


@pytest.mark.parametrize(
    ("expression", "labels", "expected"),
    [
        (("a", "In", ["x", "y"]), {"a": "y"}, True),
        (("a", "In", ["x"]), {}, False),
        (("a", "NotIn", ["x"]), {"a": "x"}, False),
        (("a", "NotIn", ["x"]), {}, True),
        (("a", "Exists", []), {"a": ""}, True),
        (("a", "Exists", []), {}, False),
        (("a", "DoesNotExist", []), {"a": ""}, False),
        (("a", "DoesNotExist", []), {}, True),
    ],
)
def test_label_expressions(expression: Any, labels: dict[str, str], expected: bool) -> None:
    assert label_selector(selector(expression)).matches(labels) is expected


def test_absent_selector_matches_nothing_and_empty_one_everything() -> None:
    assert label_selector(None) is NOTHING
    assert not NOTHING.matches({})
    assert label_selector(selector()) == EVERYTHING
    assert EVERYTHING.is_empty
    assert not NOTHING.is_empty


def test_labels_and_expressions_are_anded() -> None:
    both = label_selector(selector(("b", "Exists", []), a="1"))
    assert both.matches({"a": "1", "b": ""})
    assert not both.matches({"a": "1"})
    assert not both.matches({"b": ""})


@pytest.mark.parametrize(
    "expression",
    [
        ("a", "In", []),
        ("a", "Exists", ["x"]),
        ("a", "Gt", ["1"]),
        ("-bad", "Exists", []),
        ("a/b/c", "Exists", []),
        ("a", "In", ["-bad"]),
        ("a", "In", ["x" * 64]),
    ],
)
def test_what_kubernetes_cannot_parse(expression: Any) -> None:
    with pytest.raises(SelectorError):
        label_selector(selector(expression))


def terms(*stated: dict[str, Any]) -> Any:
    return node_selector(NodeSelector.model_validate({"nodeSelectorTerms": list(stated)}))


def label_term(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def field_term(operator: str, *values: str, key: str = "metadata.name") -> dict[str, Any]:
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("operator", "bound", "value", "expected"),
    [
        ("Gt", "5", "6", True),
        ("Gt", "5", "5", False),
        ("Lt", "5", "4", True),
        ("Lt", "5", "5", False),
        ("Gt", "5", "many", False),
        ("Gt", "5", "9223372036854775807", True),
        ("Gt", "5", "9223372036854775808", False),
    ],
)
def test_numbers_are_compared_as_int64(operator: str, bound: str, value: str, expected: bool) -> None:
    assert terms(label_term("a", operator, bound)).matches({"a": value}, "n") is expected


def test_terms_are_ored_and_no_term_matches_nothing() -> None:
    assert terms(label_term("a", "Exists"), label_term("b", "Exists")).matches({"b": ""}, "n")
    assert not terms().matches({}, "n")
    assert not terms({}).matches({}, "n")


def test_a_broken_term_is_passed_over() -> None:
    both = terms(label_term("a", "In"), label_term("b", "Exists"))
    assert both.broken
    assert both.matches({"b": ""}, "n")
    assert not both.matches({"a": "x"}, "n")


def test_fields_know_the_name_only() -> None:
    assert terms(field_term("In", "n")).matches({}, "n")
    assert not terms(field_term("In", "n")).matches({}, "m")
    assert terms(field_term("NotIn", "n")).matches({}, "m")
    assert terms(field_term("In", "n")).matches({}, "")
    assert not terms(field_term("In", "x", key="metadata.uid")).matches({}, "n")
    assert terms(field_term("In", "n", "m")).broken
    assert terms(field_term("Exists")).broken


def test_node_selector_and_affinity_are_anded() -> None:
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}
    assert required_node_affinity(Pod()) is ANY_NODE
    stated = Pod.model_validate({"spec": {"nodeSelector": {"a": "1"}}})
    assert required_node_affinity(stated).matches({"a": "1"}, "n")
    assert not required_node_affinity(stated).matches({"a": "2"}, "n")
    nowhere = Pod.model_validate({"spec": {"affinity": affinity}})
    assert not required_node_affinity(nowhere).matches({}, "n")


def taint(value: str = "", effect: str = "NoSchedule", key: str = "k") -> Taint:
    return Taint.model_validate({"key": key, "value": value, "effect": effect})


def toleration(**stated: str) -> Toleration:
    return Toleration.model_validate(stated)


@pytest.mark.parametrize(
    ("stated", "value", "expected"),
    [
        ({"key": "k", "operator": "Lt", "value": "10"}, "9", True),
        ({"key": "k", "operator": "Lt", "value": "10"}, "10", False),
        ({"key": "k", "operator": "Gt", "value": "10"}, "11", True),
        ({"key": "k", "operator": "Gt", "value": "010"}, "11", False),
        ({"key": "k", "operator": "Gt", "value": "10"}, "+11", False),
        ({"key": "k", "operator": "Gt", "value": "10"}, "x", False),
    ],
)
def test_comparing_tolerations_need_their_gate(stated: dict[str, str], value: str, expected: bool) -> None:
    assert tolerates(toleration(**stated), taint(value), comparison=True) is expected
    assert not tolerates(toleration(**stated), taint(value))


def test_empty_key_with_equal_compares_values() -> None:
    assert tolerates(toleration(value="v"), taint("v"))
    assert not tolerates(toleration(value="v"), taint("w"))


def test_only_hard_taints_block() -> None:
    assert blocks([taint(effect="NoSchedule")], [])
    assert blocks([taint(effect="NoExecute")], [])
    assert not blocks([taint(effect="PreferNoSchedule")], [])
    assert blocks([taint(), taint(key="other")], [toleration(key="k", operator="Exists")])


def term(**stated: Any) -> PodAffinityTerm:
    return PodAffinityTerm.model_validate({"topologyKey": "zone", "labelSelector": {}, **stated})


def test_term_without_namespaces_means_its_own() -> None:
    own = affinity_term(term(), "here")
    assert own.matches("here", {}, {})
    assert not own.matches("there", {}, {})


def test_namespaces_and_selector_are_ored() -> None:
    parsed = affinity_term(term(namespaces=["a"], namespaceSelector={"matchLabels": {"team": "x"}}), "here")
    assert parsed.matches("a", {}, {})
    assert parsed.matches("b", {}, {"team": "x"})
    assert not parsed.matches("here", {}, {})


def test_expanding_takes_existing_namespaces_only() -> None:
    namespaces = {"a": {"team": "x"}, "b": {"team": "y"}}
    parsed = affinity_term(term(namespaceSelector={"matchLabels": {"team": "x"}}), "here").expanded(namespaces)
    assert parsed.matches("a", {}, {})
    assert not parsed.matches("unknown", {}, {"team": "x"})
    everywhere = affinity_term(term(namespaceSelector={}), "here").expanded(namespaces)
    assert everywhere.matches("unknown", {}, {})


def test_unset_label_selector_of_a_term_matches_no_task() -> None:
    assert not affinity_term(PodAffinityTerm.model_validate({"topologyKey": "zone"}), "here").matches("here", {}, {})


def requirement(key: str, *values: str) -> LabelRequirement:
    return LabelRequirement.model_validate({"key": key, "values": list(values)})


def test_allowed_topologies() -> None:
    assert topology_terms_match([], {})
    assert not topology_terms_match([[]], {})
    assert topology_terms_match([[requirement("zone", "a")], [requirement("zone", "b")]], {"zone": "b"})
    assert not topology_terms_match([[requirement("zone", "a"), requirement("rack", "1")]], {"zone": "a"})
    assert not topology_terms_match([[requirement("zone")]], {"zone": "a"})


def test_equal_labels() -> None:
    assert equal_labels({}).is_empty
    assert equal_labels({"a": "1"}).matches({"a": "1", "b": "2"})
    assert not equal_labels({"a": "1"}).matches({"a": "2"})
