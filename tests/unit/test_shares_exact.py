"""The checker's water filling in exact numbers: worked examples, and what must hold for any queues."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cpsched.resources import Vector
from cpsched.shares import Exact, QueueDemand, exact_proportion, proportion

GPU = "nvidia.com/gpu"
NAMES = ("cpu", "memory", GPU, "pods")


def queue(name: str, request: Vector, weight: int = 1, **fields: Any) -> QueueDemand:
    return QueueDemand(name=name, weight=weight, request=request, **fields)


def due(total: Vector, queues: list[QueueDemand], name: str = "cpu") -> dict[str, Exact]:
    return {queue: share.deserved.get(name, 0) for queue, share in exact_proportion(total, queues).items()}


def test_nine_and_two_elevenths_of_77_cores() -> None:
    """In float64 the first is 63000.00000000001, and a queue that holds all of it would be short of its share."""
    queues = [queue("a", {"cpu": 77000}, weight=9), queue("b", {"cpu": 28000}, weight=2)]
    assert due({"cpu": 77000}, queues) == {"a": 63000, "b": 14000}


def test_what_is_no_whole_number_is_a_fraction() -> None:
    queues = [queue("small", {"cpu": 1000}), queue("one", {"cpu": 9000}), queue("two", {"cpu": 9000}, weight=2)]
    assert due({"cpu": 8000}, queues) == {"small": 1000, "one": Fraction(7000, 3), "two": Fraction(14000, 3)}


def test_everything_is_poured_to_the_end() -> None:
    """Both stay unserved in one resource, so upstream's rounds go on until less than a tenth of a unit is left."""
    queues = [queue("cpu", {"cpu": 9000, "memory": 10}), queue("memory", {"cpu": 1000, "memory": 90})]
    assert due({"cpu": 8000, "memory": 80}, queues) == {"cpu": 7000, "memory": 1000}
    assert due({"cpu": 8000, "memory": 80}, queues, "memory") == {"cpu": 10, "memory": 70}


def test_a_guarantee_is_deserved_without_being_poured() -> None:
    """Each of the others still gets its third of the whole in the first round, within its limit: so upstream has it."""
    queues = [queue("sure", {}, guarantee={"cpu": 6000}), queue("a", {"cpu": 9000}), queue("b", {"cpu": 9000})]
    assert due({"cpu": 9000}, queues) == {"sure": 6000, "a": 3000, "b": 3000}


def test_what_a_capped_queue_may_not_have_goes_to_the_others() -> None:
    queues = [queue("capped", {"cpu": 9000}, capability={"cpu": 2000}), queue("open", {"cpu": 9000})]
    assert due({"cpu": 9000}, queues) == {"capped": 2000, "open": 7000}


def test_without_weight_nothing_is_poured() -> None:
    assert due({"cpu": 9000}, [queue("a", {"cpu": 9000}, weight=0, guarantee={"cpu": 1000})]) == {"a": 0}
    assert due({"cpu": 9000}, [queue("a", {"cpu": 9}, weight=0), queue("b", {"cpu": 9000})]) == {"a": 0, "b": 9000}


def test_pods_alone_are_not_poured_any_further() -> None:
    queues = [queue("a", {"cpu": 4000, "pods": 1}), queue("b", {"cpu": 4000, "pods": 9})]
    assert due({"cpu": 8000, "pods": 8}, queues, "pods") == {"a": 1, "b": 4}, "no cpu is left after the first round"
    assert due({"cpu": 9000, "pods": 8}, queues, "pods") == {"a": 1, "b": 7}


def test_pods_beside_what_is_never_used_up_are_poured_to_the_end() -> None:
    both = {"cpu": 9000, "memory": 10, "pods": 1}, {"cpu": 1000, "memory": 90, "pods": 9}
    queues = [queue("cpu", both[0]), queue("memory", both[1])]
    assert due({"cpu": 8000, "memory": 80, "pods": 8}, queues, "pods") == {"cpu": 1, "memory": 7}


amounts = st.integers(0, 12).map(lambda value: value * 1000)
any_vector = st.fixed_dictionaries({"cpu": amounts, "memory": amounts}, optional={GPU: amounts, "pods": amounts})
maybe_vector = st.none() | st.dictionaries(st.sampled_from(NAMES), amounts)
any_queues = st.lists(
    st.builds(
        QueueDemand,
        name=st.just(""),
        weight=st.integers(0, 12),
        request=any_vector,
        capability=maybe_vector,
        guarantee=maybe_vector,
        has_jobs=st.booleans(),
    ),
    max_size=5,
).map(lambda queues: [replace(queue, name=f"q{index}") for index, queue in enumerate(queues)])


@given(any_vector, any_queues)
def test_upstream_comes_within_a_tenth_of_a_unit(total: Vector, queues: list[QueueDemand]) -> None:
    rounded = proportion(total, queues)
    for name, share in exact_proportion(total, queues).items():
        assert share.real_capability == rounded[name].real_capability
        for resource in NAMES:
            assert abs(float(share.deserved.get(resource, 0)) - rounded[name].deserved.get(resource, 0)) < 0.11


@given(any_vector, any_queues, st.sampled_from([3, 7, 1000]))
def test_shares_grow_with_the_amounts(total: Vector, queues: list[QueueDemand], factor: int) -> None:
    def larger(vector: Vector | None) -> dict[str, float] | None:
        return None if vector is None else {name: amount * factor for name, amount in vector.items()}

    grown = [
        replace(
            one,
            request=larger(one.request) or {},
            capability=larger(one.capability),
            guarantee=larger(one.guarantee),
        )
        for one in queues
    ]
    more = exact_proportion(larger(total) or {}, grown)
    for name, share in exact_proportion(total, queues).items():
        assert more[name].deserved == {resource: amount * factor for resource, amount in share.deserved.items()}


@given(any_vector, any_queues, st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter(total: Vector, queues: list[QueueDemand], chance: random.Random) -> None:
    shuffled = chance.sample(queues, len(queues))
    renamed = {queue.name: f"x{index}" for index, queue in enumerate(shuffled)}
    other = exact_proportion(total, [replace(queue, name=renamed[queue.name]) for queue in shuffled])
    for name, share in exact_proportion(total, queues).items():
        assert share.deserved == other[renamed[name]].deserved


@given(any_vector, any_queues)
def test_without_guarantees_all_is_given_or_no_task_wants_more(total: Vector, queues: list[QueueDemand]) -> None:
    plain = [replace(queue, guarantee=None, has_jobs=True, weight=queue.weight + 1) for queue in queues]
    shares = exact_proportion(total, plain)
    for resource in ("cpu", "memory", GPU):
        given_out = sum(share.deserved.get(resource, 0) for share in shares.values())
        assert given_out <= total.get(resource, 0)
        for one in plain:
            limit = shares[one.name].real_capability.get(resource, total.get(resource, 0))
            wants_more = shares[one.name].deserved.get(resource, 0) < min(limit, one.request.get(resource, 0))
            assert given_out == total.get(resource, 0) or not wants_more
