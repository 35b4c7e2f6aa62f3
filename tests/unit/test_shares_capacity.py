"""Capacity's declared shares, flat and in a tree of queues."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpsched.resources import Vector, insufficient_for, less_equal, same
from cpsched.shares import (
    NotReady,
    QueueDemand,
    QueueShare,
    capacity_flat,
    capacity_hierarchical,
    capacity_share,
)

GPU = "nvidia.com/gpu"
TOTAL = {"cpu": 10000, "memory": 100, "pods": 110, GPU: 8000}
UNLIMITED = dict.fromkeys(TOTAL, math.inf)


def queue(name: str, parent: str | None = None, **fields: Any) -> QueueDemand:
    return QueueDemand(name=name, parent=parent, **{"has_jobs": False, **fields})


def tree(*queues: QueueDemand, total: Vector = TOTAL) -> dict[str, QueueShare[float]]:
    shares = capacity_hierarchical(total, queues)
    assert not isinstance(shares, NotReady), shares
    return shares


class TestFlat:
    def test_what_is_declared_is_deserved(self) -> None:
        share = capacity_flat(TOTAL, [queue("a", deserved={"cpu": 4000, GPU: 1000}, has_jobs=True)])["a"]
        assert same(share.deserved, {"cpu": 4000, GPU: 1000})
        assert share.real_capability == TOTAL
        assert (share.ancestors, share.is_leaf) == ((), True)

    def test_not_beyond_the_real_capability(self) -> None:
        other = queue("other", guarantee={"cpu": 7000})
        a = queue(
            "a", deserved={"cpu": 9000, "memory": 90, GPU: 9000}, capability={"memory": 50, GPU: 2000}, has_jobs=True
        )
        share = capacity_flat(TOTAL, [a, other])["a"]
        assert share.real_capability == {"cpu": 3000, "memory": 50, "pods": 110, GPU: 2000}
        assert share.deserved == {"cpu": 3000, "memory": 50, GPU: 2000}

    def test_not_below_the_guarantee(self) -> None:
        a = queue("a", deserved={"cpu": 1000}, guarantee={"cpu": 2000, GPU: 500}, has_jobs=True)
        assert same(capacity_flat(TOTAL, [a])["a"].deserved, {"cpu": 2000, GPU: 500})

    def test_a_guarantee_wins_over_a_capability(self) -> None:
        a = queue("a", guarantee={"cpu": 2000}, capability={"cpu": 1000}, has_jobs=True)
        share = capacity_flat(TOTAL, [a])["a"]
        assert (share.deserved["cpu"], share.real_capability["cpu"]) == (2000, 1000)

    def test_only_queues_with_jobs_take_part(self) -> None:
        assert list(capacity_flat(TOTAL, [queue("a"), queue("b", has_jobs=True)])) == ["b"]

    def test_a_scalar_beyond_the_cluster_is_declared_but_not_limited(self) -> None:
        a = queue("a", deserved={"x.io/y": 5000}, capability={"x.io/y": 1000}, has_jobs=True)
        share = capacity_flat(TOTAL, [a])["a"]
        assert share.deserved["x.io/y"] == 5000
        assert "x.io/y" not in share.real_capability


@pytest.mark.parametrize(
    ("allocated", "deserved", "share"),
    [
        ({}, {}, 1.0),  # nothing deserved: after all who still deserve something
        ({"cpu": 5}, {"pods": 9}, 1.0),  # pods alone are nothing
        ({"cpu": 1, "pods": 6}, {"cpu": 4, "pods": 8}, 0.75),
        ({"cpu": 9}, {"cpu": 3}, 3.0),
        ({GPU: 9}, {"cpu": 3}, 0.0),
    ],
)
def test_share(allocated: Vector, deserved: Vector, share: float) -> None:
    assert capacity_share(allocated, deserved) == share


class TestNotReady:
    def test_a_parent_that_does_not_exist(self) -> None:
        answer = capacity_hierarchical(TOTAL, [queue("root"), queue("a", "nowhere")])
        assert answer == NotReady('queue "a" has the parent "nowhere", which does not exist')

    @pytest.mark.parametrize("queues", [[], [queue("a", "b"), queue("b", "a")]])
    def test_no_root(self, queues: list[QueueDemand]) -> None:
        assert capacity_hierarchical(TOTAL, queues) == NotReady('there is no queue "root"')

    def test_no_root_above_a_queue(self) -> None:
        answer = capacity_hierarchical(TOTAL, [queue("a")])
        assert answer == NotReady('queue "a" has the parent "root", which does not exist')

    def test_jobs_above_a_leaf(self) -> None:
        answer = capacity_hierarchical(TOTAL, [queue("root"), queue("a", has_jobs=True), queue("b", "a")])
        assert answer == NotReady('queue "a" has jobs but is no leaf: "b" is below it')

    def test_jobs_in_a_root_that_is_no_leaf(self) -> None:
        assert isinstance(capacity_hierarchical(TOTAL, [queue("root", has_jobs=True), queue("a")]), NotReady)


class TestTree:
    def test_ancestors_lead_from_the_root_to_the_parent(self) -> None:
        shares = tree(queue("c", "b"), queue("b", "a"), queue("a"), queue("root", "ignored"), queue("d", "root"))
        assert {name: share.ancestors for name, share in shares.items()} == {
            "root": (),
            "a": ("root",),
            "b": ("root", "a"),
            "c": ("root", "a", "b"),
            "d": ("root",),
        }
        assert {name for name, share in shares.items() if share.is_leaf} == {"c", "d"}

    def test_usage_counts_for_all_ancestors(self) -> None:
        a1 = queue("a1", "a", allocated={"cpu": 1, GPU: 1}, request={"cpu": 2}, inqueue={"cpu": 3}, elastic={"cpu": 4})
        shares = tree(
            queue("root"), queue("a"), a1, queue("a2", "a", allocated={"cpu": 10}), queue("b", allocated={"cpu": 100})
        )
        assert shares["a1"].allocated == {"cpu": 1, GPU: 1}
        assert shares["a"].allocated == {"cpu": 11, GPU: 1}
        assert shares["root"].allocated == {"cpu": 111, GPU: 1}
        assert (shares["root"].request, shares["root"].inqueue, shares["root"].elastic) == (
            {"cpu": 2},
            {"cpu": 3},
            {"cpu": 4},
        )

    def test_a_root_without_capability_limits_nothing(self) -> None:
        shares = tree(queue("root", capability={"pods": 5}), queue("a"))
        assert shares["root"].real_capability == shares["a"].real_capability == UNLIMITED

    def test_an_unlimited_root_knows_only_what_the_cluster_has(self) -> None:
        share = tree(queue("root"), queue("a", capability={"x.io/y": 5}))["a"]
        assert insufficient_for({"x.io/y": 1}, share.real_capability, {"x.io/y": 1}) == ["x.io/y"]

    def test_a_root_limits_all_it_does_not_name_once_it_names_anything(self) -> None:
        shares = tree(queue("root", capability={"cpu": 5000}), queue("a", capability={"memory": 7, GPU: 1000}))
        assert same(shares["a"].real_capability, {"cpu": 5000, "memory": 0})

    def test_the_root_deserves_and_guarantees_what_its_children_do(self) -> None:
        shares = tree(
            queue("root", deserved={"cpu": 1}, guarantee={"cpu": 9}),
            queue("a", deserved={"cpu": 2000}, guarantee={"cpu": 500}),
            queue("b", deserved={"cpu": 100}, guarantee={"cpu": 300, GPU: 1000}),
            queue("a1", "a", deserved={"cpu": 9000}),
        )
        assert same(shares["root"].deserved, {"cpu": 2300, GPU: 1000})
        assert same(shares["root"].guarantee, {"cpu": 800, GPU: 1000})

    def test_deserved_is_raised_to_the_guarantee_but_not_clipped(self) -> None:
        a = queue("a", deserved={"cpu": 90000}, guarantee={"memory": 5}, capability={"cpu": 1000})
        shares = tree(queue("root"), a)
        assert shares["a"].deserved == {"cpu": 90000, "memory": 5}
        assert shares["a"].real_capability["cpu"] == 1000

    def test_a_child_inherits_the_capability_it_does_not_set(self) -> None:
        shares = tree(
            queue("root"),
            queue("a", capability={"cpu": 4000, GPU: 2000}),
            queue("a1", "a", capability={"cpu": 0, "memory": 50}),
            queue("a2", "a", capability={"cpu": 9000, GPU: 0}),
        )
        assert same(shares["a"].real_capability, {**UNLIMITED, "cpu": 4000, GPU: 2000})
        assert same(shares["a1"].real_capability, {**UNLIMITED, "cpu": 4000, "memory": 50, GPU: 2000})
        assert same(shares["a2"].real_capability, {**UNLIMITED, "cpu": 4000, GPU: 0})

    def test_an_inherited_capability_holds_against_a_larger_guarantee(self) -> None:
        shares = tree(queue("root"), queue("a", capability={GPU: 1000}), queue("a1", "a", guarantee={GPU: 2000}))
        assert (shares["a1"].real_capability[GPU], shares["a1"].deserved[GPU]) == (1000, 2000)

    def test_guarantees_of_siblings_are_out_of_reach(self) -> None:
        shares = tree(
            queue("root", capability={"cpu": 10000, "memory": 100}),
            queue("a", guarantee={"cpu": 3000}),
            queue("b", guarantee={"cpu": 1000}),
            queue("a1", "a", guarantee={"cpu": 2000}),
            queue("a2", "a"),
        )
        reach = {name: share.real_capability["cpu"] for name, share in shares.items()}
        assert reach == {"root": 10000, "a": 9000, "b": 7000, "a1": 9000, "a2": 7000}

    def test_jobs_may_sit_in_a_root_without_children(self) -> None:
        share = tree(queue("root", has_jobs=True, deserved={"cpu": 5}, allocated={"cpu": 1}))["root"]
        assert share.deserved == {}, "the sum over no children"
        assert capacity_share(share.allocated, share.deserved) == 1.0

    def test_a_cycle_goes_unnoticed_and_can_hold_nothing(self) -> None:
        """Upstream's cycle check is never reached (seen in the real plugin): the cycle is cut off from the root."""
        shares = tree(queue("root"), queue("a", "b"), queue("b", "a"), queue("c", "a", has_jobs=True), queue("ok"))
        assert shares["ok"].real_capability == UNLIMITED
        assert shares["a"].real_capability == shares["b"].real_capability == shares["c"].real_capability == {}
        assert shares["c"].ancestors == ("a", "b", "a")

    def test_jobs_on_a_cycle_are_jobs_above_a_leaf(self) -> None:
        answer = capacity_hierarchical(TOTAL, [queue("root"), queue("self", "self", has_jobs=True)])
        assert answer == NotReady('queue "self" has jobs but is no leaf: "self" is below it')

    def test_a_long_chain_of_queues(self) -> None:
        chain = [queue(f"q{index}", f"q{index - 1}" if index else None) for index in range(2000)]
        assert len(tree(queue("root"), *chain)["q1999"].ancestors) == 2000


amounts = st.integers(0, 12).map(lambda value: value * 1000)
vectors = st.dictionaries(st.sampled_from(["cpu", "memory", GPU, "pods"]), amounts)
any_queue = st.builds(
    QueueDemand,
    name=st.just(""),
    capability=st.none() | vectors,
    deserved=vectors,
    guarantee=st.none() | vectors,
    allocated=vectors,
)


@st.composite
def trees(draw: st.DrawFn) -> list[QueueDemand]:
    queues = [replace(draw(any_queue), name="root")]
    for index in range(draw(st.integers(0, 6))):
        parent = draw(st.sampled_from([queue.name for queue in queues]))
        queues.append(replace(draw(any_queue), name=f"q{index}", parent=parent))
    inner = {queue.parent for queue in queues}
    return [replace(q, has_jobs=False, allocated={}) if q.name in inner else q for q in queues]


@given(vectors, trees(), st.randoms(use_true_random=False))
def test_order_does_not_matter(total: Vector, queues: list[QueueDemand], chance: random.Random) -> None:
    assert tree(*queues, total=total) == tree(*chance.sample(queues, len(queues)), total=total)
    flat = capacity_flat(total, queues)
    assert flat == capacity_flat(total, chance.sample(queues, len(queues)))


@given(vectors, trees())
def test_a_child_reaches_no_further_than_its_parent_and_its_own_guarantee(
    total: Vector, queues: list[QueueDemand]
) -> None:
    shares = tree(*queues, total=total)
    for share in shares.values():
        if share.ancestors:
            above = shares[share.ancestors[-1]].real_capability
            assert all(
                amount <= max(above.get(name, 0), share.guarantee.get(name, 0))
                for name, amount in share.real_capability.items()
            )
            assert less_equal(share.guarantee, share.deserved)


@given(vectors, trees())
def test_the_root_uses_what_the_leaves_use(total: Vector, queues: list[QueueDemand]) -> None:
    shares = tree(*queues, total=total)
    for name in ("cpu", "memory", GPU, "pods"):
        used = sum(share.allocated.get(name, 0) for share in shares.values() if share.is_leaf)
        assert shares["root"].allocated.get(name, 0) == used
