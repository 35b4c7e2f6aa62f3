"""Proportion's water filling: worked examples, and what must hold for any queues."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpsched.resources import Vector, less_equal, same
from cpsched.shares import QueueDemand, QueueShare, dominant_share, proportion

GPU = "nvidia.com/gpu"


def queue(name: str, request: Vector, weight: int = 1, **fields: Any) -> QueueDemand:
    return QueueDemand(name=name, weight=weight, request=request, **fields)


def deserved(shares: dict[str, QueueShare[float]], name: str = "cpu") -> dict[str, float]:
    return {queue: share.deserved.get(name, 0) for queue, share in shares.items()}


def test_what_one_queue_does_not_ask_for_goes_to_the_others_by_weight() -> None:
    queues = [queue("small", {"cpu": 1000}), queue("one", {"cpu": 9000}), queue("two", {"cpu": 9000}, weight=2)]
    # 8000 by 1:1:2 is 2000, 2000, 4000; small returns 1000, which goes 1:2 until nothing is left.
    assert deserved(proportion({"cpu": 8000}, queues)) == pytest.approx(
        {"small": 1000, "one": 7000 / 3, "two": 14000 / 3}
    )


def test_what_a_capped_queue_may_not_have_goes_to_the_others() -> None:
    queues = [queue("capped", {"cpu": 9000}, capability={"cpu": 2000}), queue("open", {"cpu": 9000})]
    assert deserved(proportion({"cpu": 9000}, queues)) == {"capped": 2000, "open": 7000}


def test_each_resource_is_filled_for_itself() -> None:
    queues = [queue("cpu", {"cpu": 9000, "memory": 10}), queue("memory", {"cpu": 1000, "memory": 90})]
    shares = proportion({"cpu": 8000, "memory": 80}, queues)
    assert shares["cpu"].deserved == pytest.approx({"cpu": 7000, "memory": 10}, abs=0.1)
    assert shares["memory"].deserved == pytest.approx({"cpu": 1000, "memory": 70}, abs=0.1)


def test_the_last_tenth_of_a_unit_is_not_poured() -> None:
    """Both queues stay unmet, half of the rest goes back each round, and below 0.1 upstream stops (recorded there)."""
    queues = [queue("cpu", {"cpu": 9000, "memory": 10}), queue("memory", {"cpu": 1000, "memory": 90})]
    shares = proportion({"cpu": 8000, "memory": 80}, queues)
    assert shares["cpu"].deserved["cpu"] == 6999.908447265625
    assert shares["memory"].deserved["memory"] == 69.99908447265625


def test_a_scalar_no_task_of_the_queue_asks_for_is_not_deserved() -> None:
    shares = proportion({"cpu": 8000, GPU: 4000}, [queue("cpu", {"cpu": 8000}), queue("gpu", {"cpu": 1000, GPU: 9000})])
    assert deserved(shares, GPU) == pytest.approx({"cpu": 0, "gpu": 4000}, abs=0.1)
    assert GPU in shares["cpu"].deserved, "it stays named, with nothing"


def test_a_scalar_the_cluster_lacks_is_not_deserved() -> None:
    shares = proportion({"cpu": 8000}, [queue("gpu", {"cpu": 1000, GPU: 1000})])
    assert shares["gpu"].deserved == {"cpu": 1000, "memory": 0}


def test_a_guarantee_is_deserved_without_being_asked_for_and_out_of_reach_for_the_others() -> None:
    shares = proportion({"cpu": 9000}, [queue("sure", {}, guarantee={"cpu": 4000}), queue("other", {"cpu": 20000})])
    assert deserved(shares) == {"sure": 4000, "other": 5000}
    assert shares["sure"].guarantee == {"cpu": 4000}
    assert shares["sure"].real_capability["cpu"] == 9000
    assert shares["other"].real_capability["cpu"] == 5000


def test_a_queue_without_jobs_gets_no_share_but_its_guarantee_is_set_aside() -> None:
    idle = queue("idle", {}, guarantee={"cpu": 3000, GPU: 1000}, has_jobs=False)
    shares = proportion({"cpu": 9000, GPU: 1000}, [idle, queue("busy", {"cpu": 9000, GPU: 1000})])
    assert list(shares) == ["busy"]
    # The limit's gpu is gone altogether, and what a limit does not name it does not limit.
    assert shares["busy"].real_capability == {"cpu": 6000, "memory": 0}
    assert shares["busy"].deserved == {"cpu": 6000, "memory": 0, GPU: 1000}


@pytest.mark.parametrize("capability", [None, {}, {"cpu": 0}, {"cpu": -1, "memory": 0}, {GPU: 500}])
def test_cpu_and_memory_are_uncapped_unless_capped_above_zero(capability: Vector | None) -> None:
    demand = queue("open", {"cpu": 5000, "memory": 50, GPU: 1000}, capability=capability)
    share = proportion({"cpu": 9000, "memory": 90, GPU: 1000}, [demand])["open"]
    assert share.real_capability == {"cpu": 9000, "memory": 90, GPU: (capability or {}).get(GPU, 1000)}
    assert share.deserved == {"cpu": 5000, "memory": 50, GPU: (capability or {}).get(GPU, 1000)}


def test_without_weight_nothing_is_poured() -> None:
    shares = proportion({"cpu": 9000}, [queue("a", {"cpu": 9000}, weight=0), queue("b", {"cpu": 1}, weight=0)])
    assert deserved(shares) == {"a": 0, "b": 0}
    shares = proportion({"cpu": 9000}, [queue("a", {"cpu": 9000}, weight=0), queue("b", {"cpu": 9000})])
    assert deserved(shares) == {"a": 0, "b": 9000}


def test_pods_alone_are_not_poured_any_further() -> None:
    queues = [queue("a", {"cpu": 4000, "pods": 1}), queue("b", {"cpu": 4000, "pods": 9})]
    # Only pods are left after the first round (4 of b's 9 were poured), and pods alone count as nothing.
    assert deserved(proportion({"cpu": 8000, "pods": 8}, queues), "pods") == {"a": 1, "b": 4}
    assert deserved(proportion({"cpu": 9000, "pods": 8}, queues), "pods") == {"a": 1, "b": 7}


def test_no_queue_and_no_cluster() -> None:
    assert proportion({"cpu": 1000}, []) == {}
    assert deserved(proportion({}, [queue("a", {"cpu": 1000})])) == {"a": 0}


def test_usage_is_handed_on_and_the_share_is_the_dominant_one() -> None:
    demand = queue(
        "a", {"cpu": 4000, "memory": 8}, allocated={"cpu": 1000, "memory": 4}, inqueue={"cpu": 1}, elastic={"cpu": 2}
    )
    share = proportion({"cpu": 9000, "memory": 90}, [demand])["a"]
    assert (share.allocated, share.request) == ({"cpu": 1000, "memory": 4}, {"cpu": 4000, "memory": 8})
    assert (share.inqueue, share.elastic) == ({"cpu": 1}, {"cpu": 2})
    assert dominant_share(share.allocated, share.deserved) == 0.5
    assert (share.ancestors, share.is_leaf) == ((), True)


def test_as_recorded_from_the_real_plugin() -> None:
    gi = 2**30
    total = {"cpu": 10000, "memory": 64 * gi, "pods": 110, GPU: 8000}
    prod = queue(
        "prod",
        {"cpu": 7000, "memory": 28 * gi, "pods": 7, GPU: 6000},
        weight=3,
        guarantee={"cpu": 2000, "memory": 4 * gi},
        allocated={"cpu": 3000, "memory": 20 * gi, "pods": 3, GPU: 2000},
    )
    dev = queue(
        "dev",
        {"cpu": 8500, "memory": 21 * gi, "pods": 11, GPU: 1000},
        weight=2,
        capability={"cpu": 4000, GPU: 1000},
        allocated={"cpu": 2500, "memory": 9 * gi, "pods": 5},
    )
    lab = queue("lab", {"cpu": 700, "memory": 30 * gi, "pods": 7, GPU: 6000})
    idle = queue("idle", {}, guarantee={"cpu": 500}, has_jobs=False)
    shares = proportion(total, [prod, dev, lab, idle])
    assert shares["prod"].deserved == pytest.approx({"cpu": 5580, "memory": 28 * gi, "pods": 7, GPU: 5250})
    assert shares["dev"].deserved == pytest.approx({"cpu": 3720, "memory": 21 * gi, "pods": 11, GPU: 1000})
    assert shares["lab"].deserved == pytest.approx({"cpu": 700, "memory": 15 * gi, "pods": 7, GPU: 1750})
    assert shares["dev"].real_capability == {"cpu": 4000, "memory": 60 * gi, "pods": 110, GPU: 1000}
    assert dominant_share(shares["prod"].allocated, shares["prod"].deserved) == pytest.approx(0.7142857142857143)
    assert dominant_share(shares["dev"].allocated, shares["dev"].deserved) == pytest.approx(0.6720430107526881)


@pytest.mark.parametrize(
    ("allocated", "due", "share"),
    [
        ({"cpu": 1}, {"cpu": 4}, 0.25),
        ({"cpu": 1, "pods": 3}, {"cpu": 4, "pods": 4}, 0.75),  # pods count here
        ({"cpu": 9}, {"cpu": 0.05, "memory": 4}, 0.0),  # what is due below 0.1 is not looked at
        ({"cpu": 9}, {}, 0.0),
        ({"cpu": 9}, {"cpu": 3}, 3.0),
    ],
)
def test_dominant_share(allocated: Vector, due: Vector, share: float) -> None:
    assert dominant_share(allocated, due) == share


amounts = st.integers(0, 12).map(lambda value: value * 1000)
any_vector = st.fixed_dictionaries({"cpu": amounts, "memory": amounts}, optional={GPU: amounts, "pods": amounts})
maybe_vector = st.none() | st.dictionaries(st.sampled_from(["cpu", "memory", GPU, "pods"]), amounts)
any_queue = st.builds(
    QueueDemand,
    name=st.just(""),
    weight=st.integers(0, 4),
    request=any_vector,
    allocated=any_vector,
    capability=maybe_vector,
    guarantee=maybe_vector,
    has_jobs=st.booleans(),
)
any_queues = st.lists(any_queue, max_size=5).map(
    lambda queues: [replace(queue, name=f"q{index}") for index, queue in enumerate(queues)]
)


@given(any_vector, any_queues)
def test_no_more_is_deserved_than_there_is_and_is_guaranteed(total: Vector, queues: list[QueueDemand]) -> None:
    shares = proportion(total, queues)
    for name in ("cpu", "memory", GPU, "pods"):
        guaranteed = sum((queue.guarantee or {}).get(name, 0) for queue in queues)
        assert sum(deserved(shares, name).values()) <= total.get(name, 0) + guaranteed + 1e-6


@given(any_vector, any_queues)
def test_each_deserves_its_guarantee_and_at_most_what_it_asks_for_and_may_have(
    total: Vector, queues: list[QueueDemand]
) -> None:
    for name, share in proportion(total, queues).items():
        demand = next(queue for queue in queues if queue.name == name)
        assert all(
            amount <= max(demand.request.get(r, 0), share.guarantee.get(r, 0)) for r, amount in share.deserved.items()
        )
        for resource, limit in share.real_capability.items():
            assert share.deserved.get(resource, 0) <= max(limit, share.guarantee.get(resource, 0))
        if demand.weight:
            assert less_equal(share.guarantee, share.deserved)


@given(any_vector, any_queues, st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter(total: Vector, queues: list[QueueDemand], chance: random.Random) -> None:
    shuffled = chance.sample(queues, len(queues))
    renamed = {queue.name: f"x{index}" for index, queue in enumerate(shuffled)}
    other = proportion(total, [replace(queue, name=renamed[queue.name]) for queue in shuffled])
    for name, share in proportion(total, queues).items():
        assert same(share.deserved, other[renamed[name]].deserved)


@given(any_queues)
def test_where_there_is_enough_everyone_deserves_what_it_asks_for(queues: list[QueueDemand]) -> None:
    open_queues = [replace(q, capability=None, guarantee=None, weight=q.weight + 1, has_jobs=True) for q in queues]
    total = {name: sum(q.request.get(name, 0) for q in open_queues) for name in ("cpu", "memory", GPU, "pods")}
    total["cpu"] += 1000  # or else the last pods might be left over, see above
    for name, share in proportion(total, open_queues).items():
        request = next(queue.request for queue in open_queues if queue.name == name)
        assert all(abs(share.deserved[r] - amount) < 0.2 for r, amount in request.items())
