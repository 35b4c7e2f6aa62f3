"""Who can go at once in the search for an order, and who may not because a task that still waits would mind."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.filters import FILTERS, Args, legal_order
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of
from tests.unit.filters.build_wishes import away, constraint, near, spread, term

NODES = [node_json(f"{zone}{i}", {"host": f"{zone}{i}", "zone": zone}) for zone in "xyz" for i in (1, 2)]
NAMES = tuple(FILTERS)
A, B = {"app": "a"}, {"app": "b"}


def order_of(
    *pods: tuple[str, dict[str, Any]], nodes: list[dict[str, Any]] = NODES, running: list[dict[str, Any]] | None = None
) -> list[str] | None:
    """The names in the order found, if there is one; the search must have come to its end."""
    placements = [(task_of(raw, number), node) for number, (node, raw) in enumerate(pods)]
    found = legal_order(cluster_of(nodes, running or []), placements, NAMES, Args())
    assert not found.exhausted
    return None if found.order is None else [task.name for task in found.order]


def test_those_whom_no_task_minds_are_not_tried_in_every_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two need each other's company, so nothing is legal; 20 more of different kinds could come before or after."""
    monkeypatch.setattr("cpsched.filters.order.WORK", 2000)
    circle = [
        ("x1", pod_json("p", "", A, **near(term(app="b")))),
        ("x1", pod_json("q", "", B, **near(term(app="a")))),
    ]
    others = [
        ("y1", pod_json(f"o{i}", "", {"app": "c", "n": str(i)}, **spread(constraint("host", 99)))) for i in range(20)
    ]
    assert order_of(*circle, *others) is None


def test_where_company_is_no_task_is_the_first_of_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpsched.filters.order.WORK", 2000)
    circle = [
        ("z1", pod_json("p", "", B, **near(term(app="c")))),
        ("z1", pod_json("q", "", {"app": "c"}, **near(term(app="b")))),
    ]
    company = [pod_json(f"there-{node}", node, A) for node in ("x2", "y2")]
    others = [("xy"[i % 2] + "1", pod_json(f"o{i}", "", A | {"n": str(i)}, **near(term(app="a")))) for i in range(16)]
    assert order_of(*circle, *others, running=company) is None


def test_company_for_others_goes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpsched.filters.order.WORK", 2000)
    guests = [("x1", pod_json(f"g{i}", "", B | {"n": str(i)}, **near(term(app="a")))) for i in range(12)]
    found = order_of(*guests, ("x2", pod_json("host", "", A)))
    assert found is not None
    assert found[0] == "host"


def test_who_fills_a_domain_waits_for_those_who_spread_there() -> None:
    """One is in x, so `even` has to wait for `other`, and `plain`, which could go at once, for `even`."""
    nodes = [node for node in NODES if node["metadata"]["name"][0] in "xy"]
    even = ("x2", pod_json("even", "", A, **spread(constraint("zone", 1))))
    other, plain = ("y1", pod_json("other", "", A)), ("x1", pod_json("plain", "", A))
    running = [pod_json("there", "x1", A)]
    assert order_of(even, other, plain, nodes=nodes, running=running) == ["other", "even", "plain"]
    assert order_of(even, even, other, plain, nodes=nodes, running=running) is None


def test_who_is_no_company_waits_for_the_first_of_a_kind() -> None:
    first = pod_json("first", "", A, **near(term(app="a")))
    assert order_of(("y1", pod_json("plain", "", A)), ("x1", first)) == ["first", "plain"]
    there = pod_json("there", "y2", A)
    assert order_of(("y1", pod_json("plain", "", A)), ("x1", first), running=[there]) is None


def test_who_is_unwanted_waits_for_those_who_stay_away() -> None:
    """Upstream's Volcano counts the anti-affinity of those who are there on some nodes only: then an order helps."""
    shy = pod_json("shy", "", B, **away(term(app="a")))
    placements = [(task_of(raw, n), "x1") for n, raw in enumerate([shy, pod_json("plain", "", A)])]
    cluster = cluster_of(NODES)
    assert legal_order(cluster, placements, NAMES, Args()).order is None
    cluster.anti_affinity_nodes = frozenset()
    found = legal_order(cluster, placements, NAMES, Args()).order
    assert found is not None
    assert [task.name for task in found] == ["shy", "plain"]
