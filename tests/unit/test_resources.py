"""Resource vectors: one table per upstream helper, and the laws that hold between them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpsched.resources import (
    INFINITY,
    ZERO,
    Missing,
    Vector,
    add,
    diff,
    exceeded_part,
    from_quantities,
    greater_partly_relevant,
    insufficient_for,
    is_empty,
    is_scalar,
    less_equal,
    less_equal_names,
    less_equal_partly_for_zero_filtered,
    maximum,
    min_dimension,
    names,
    same,
    scaled,
    share,
    shared_names,
    sub,
    total_of,
)

GPU = "nvidia.com/gpu"
NOTHING: Vector = {"cpu": 0, "memory": 0}


def of(cpu: float = 0, memory: float = 0, pods: float | None = None, gpu: float | None = None) -> dict[str, float]:
    vector: dict[str, float] = {"cpu": cpu, "memory": memory}
    return vector | ({} if pods is None else {"pods": pods}) | ({} if gpu is None else {GPU: gpu})


class TestFromQuantities:
    def test_units(self) -> None:
        quantities: dict[str, str | float] = {
            "cpu": "1500m",
            "memory": "1Ki",
            "pods": "110",
            "ephemeral-storage": 2,
            GPU: "1",
        }
        expected = {"cpu": 1500, "memory": 1024, "pods": 110, "ephemeral-storage": 2000, GPU: 1000}
        assert from_quantities(quantities) == expected

    def test_amounts_are_rounded_up_to_their_unit(self) -> None:
        assert from_quantities({"cpu": "100u", "memory": "0.1", "pods": "1500m", GPU: "0.0001"}) == {
            "cpu": 1,
            "memory": 1,
            "pods": 2,
            GPU: 1,
        }

    def test_names_that_are_no_resource_of_a_pod_are_dropped(self) -> None:
        dropped = ["rdma", "storage", "count/pods", "count/kubernetes.io/x", "requests.nvidia.com/gpu", "limits.cpu"]
        assert from_quantities(dict.fromkeys(dropped, "1")) == {}

    def test_ignored_devices_are_dropped(self) -> None:
        assert from_quantities({"cpu": 1, "volcano.sh/vgpu-number": 1}, ignored={"volcano.sh/vgpu-number"}) == {
            "cpu": 1000
        }

    def test_a_wrong_quantity_is_the_callers_to_place(self) -> None:
        with pytest.raises(ValueError, match="is not a quantity"):
            from_quantities({"cpu": "1 m"})


@pytest.mark.parametrize(
    "name",
    [
        *(GPU, "hugepages-2Mi", "hugepages-", "attachable-volumes-aws-ebs", "a.b/C_d.e-f", f"a/{'b' * 63}"),
        *("kubernetes.io/batch-cpu", "x.kubernetes.io/-", f"{'a' * 244}/b"),
    ],
)
def test_scalar_names(name: str) -> None:
    assert is_scalar(name)


@pytest.mark.parametrize(
    "name",
    [
        *("cpu", "rdma", "storage", "", "requests.a/b", "NVIDIA.com/gpu", "nvidia.com/", "/gpu", "a/b/c", "a_b/c"),
        *("a/-b", "a/b-", "a..b/c", "-a/b", "a/é", "a/b\n", f"a/{'b' * 64}", f"{'a' * 245}/b"),
    ],
)
def test_other_names_are_no_scalars(name: str) -> None:
    assert not is_scalar(name)


@pytest.mark.parametrize(
    ("left", "right", "missing", "expected"),
    [
        (of(1, 1), of(1, 1), ZERO, True),
        (of(1.05, 1), of(1, 1), ZERO, True),  # closer than 0.1
        (of(1.1, 1), of(1, 1), ZERO, False),
        (of(1, 2), of(1, 1), ZERO, False),
        ({}, {}, ZERO, True),
        ({}, of(-1), ZERO, False),  # cpu is there even when it is not named
        (of(), {"memory": -0.2}, ZERO, False),
        (of(gpu=1), of(), ZERO, False),
        (of(gpu=0), of(), ZERO, True),
        (of(pods=1), of(), ZERO, False),  # pods count
        (of(), of(gpu=-5), ZERO, True),  # what only right names is no matter
        (of(gpu=1), of(), INFINITY, True),
        (of(gpu=2), of(gpu=1), INFINITY, False),
        (of(), of(gpu=1), INFINITY, False),  # unless left lacks it
        (of(1), {"memory": 1}, INFINITY, False),  # cpu is never infinite
        (of(math.inf), of(math.inf), ZERO, True),
        (of(1), of(math.inf), ZERO, True),
    ],
)
def test_less_equal(left: Vector, right: Vector, missing: Missing, expected: bool) -> None:
    assert less_equal(left, right, missing=missing) is expected


@pytest.mark.parametrize(
    ("left", "right", "missing", "expected"),
    [
        (of(2, 2, 2, 2), of(1, 1, 1, 1), ZERO, ["cpu", "memory", GPU, "pods"]),
        (of(1.05, 1.1), of(1, 1), ZERO, ["memory"]),
        (of(gpu=1, pods=1), of(), ZERO, [GPU, "pods"]),
        (of(gpu=1, pods=1), of(pods=0), INFINITY, ["pods"]),
        (of(), of(gpu=1), INFINITY, []),  # here a scalar of right alone is no failure
        (of(), of(-1), ZERO, ["cpu"]),
    ],
)
def test_less_equal_names(left: Vector, right: Vector, missing: Missing, expected: list[str]) -> None:
    assert less_equal_names(left, right, missing=missing) == expected


@pytest.mark.parametrize(
    ("left", "right", "request_", "expected"),
    [
        (of(2, 2), of(1, 1), of(1), ["cpu"]),
        (of(1.0001), of(1), of(1), ["cpu"]),  # strict: no 0.1 of grace
        (of(2, 2), of(1, 1), of(), []),
        (of(2, 2), of(1, 1), of(0.01, -1), ["cpu"]),  # any positive request counts
        (of(pods=2, gpu=2), of(pods=1, gpu=1), of(pods=1, gpu=1), [GPU]),  # pods never count
        (of(gpu=2), of(), of(gpu=1), [GPU]),
        (of(gpu=2), of(gpu=1), of(gpu=0), []),
        (of(pods=1), of(gpu=-1), of(gpu=1), [GPU]),
        (of(), of(gpu=-1), of(gpu=1), []),  # left without any scalar passes in all
        (of(2, 1.05), of(1, 1), None, ["cpu"]),  # without a request: all names, with 0.1 of grace
        (None, of(), of(1), []),
    ],
)
def test_insufficient_for(left: Vector | None, right: Vector, request_: Vector | None, expected: list[str]) -> None:
    assert insufficient_for(left, right, request_) == expected


def test_nothing_fits_into_no_vector_at_all() -> None:
    assert insufficient_for(of(1, gpu=1), None, of()) == ["cpu", GPU]
    assert insufficient_for(None, None, None) == []


@pytest.mark.parametrize(
    ("left", "right", "request_", "expected"),
    [
        (of(2, 1), of(1, 1), of(1, 1), True),
        (of(2, 1), of(1, 1), of(1, 0), False),
        (of(1.05), of(1), of(1), True),
        (of(1.1), of(1), of(1), False),
        (of(5), of(1), of(1, 1), False),  # memory is on neither side
        (of(5, gpu=0), of(1), of(1, gpu=1), False),
        (of(5, 0.1), of(1), of(1, 1), False),
        (of(5), of(1, 0.1), of(1, 1), True),
        (of(5, pods=1), of(1, pods=9), of(1, pods=1), False),
        (of(), of(), None, False),
    ],
)
def test_less_equal_partly_for_zero_filtered(
    left: Vector, right: Vector, request_: Vector | None, expected: bool
) -> None:
    assert less_equal_partly_for_zero_filtered(left, right, request_) is expected


@pytest.mark.parametrize(
    ("left", "right", "request_", "expected"),
    [
        (of(gpu=2), of(), of(gpu=1), False),
        (of(4), of(0), of(2), False),
        (of(gpu=2), of(gpu=0), of(gpu=1), True),  # named, though with nothing
        (of(4), of(0.1), of(2), True),
        (of(4), of(0.05), of(2), False),
        (of(4, 8, gpu=2), of(2, 8, gpu=1), of(0, 4, gpu=0), False),
        (of(1.01), of(1), of(1), True),  # strict: no 0.1 of grace
        (of(pods=2), of(pods=1), of(pods=1), False),
        (of(1), None, of(1), False),
        (of(1), of(), None, False),
    ],
)
def test_greater_partly_relevant(left: Vector, right: Vector | None, request_: Vector | None, expected: bool) -> None:
    assert greater_partly_relevant(left, right, request_) is expected


@pytest.mark.parametrize(
    ("vector", "empty", "named"),
    [
        ({}, True, []),
        (of(0.09, 0.09, gpu=0.09), True, []),
        (of(0.1), False, ["cpu"]),
        (of(0, 0.1), False, ["memory"]),
        (of(gpu=1, pods=1), False, [GPU, "pods"]),
        (of(pods=3), True, ["pods"]),  # pods alone are nothing, yet they are named
        (of(-1, gpu=-1), True, []),
    ],
)
def test_is_empty_and_names(vector: Vector, empty: bool, named: list[str]) -> None:
    assert is_empty(vector) is empty
    assert names(vector) == named


def test_shared_names() -> None:
    assert shared_names(of(1, 1, 1, 1), of(0, 1, 1, 0.09)) == ["memory", "pods"]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({}, of(), True),
        (of(gpu=0), of(), False),  # a scalar that is there is not one that is not
        (of(1), of(1 + 1e-12), False),
        (of(1, gpu=2), {GPU: 2.0, "cpu": 1}, True),
    ],
)
def test_same(left: Vector, right: Vector, expected: bool) -> None:
    assert same(left, right) is expected


@pytest.mark.parametrize(
    ("left", "right", "missing", "expected"),
    [
        (of(2, 1), of(1, 2), ZERO, of(1, 1)),
        (of(2, 1), {}, INFINITY, of(0, 0)),
        (of(gpu=2, pods=2), of(gpu=1), ZERO, of(gpu=1, pods=0)),
        (of(gpu=2, pods=2), of(gpu=1), INFINITY, of(gpu=1, pods=2)),
        (of(gpu=-2), of(), ZERO, of(gpu=0)),  # absent means 0, not at most 0
        (of(), of(gpu=1), ZERO, of()),  # nothing is gained from right
        (of(5), of(math.inf, math.inf), ZERO, of(5)),
    ],
)
def test_min_dimension(left: Vector, right: Vector, missing: Missing, expected: Vector) -> None:
    assert same(min_dimension(left, right, missing=missing), expected)


@pytest.mark.parametrize(
    ("left", "right", "more", "less"),
    [
        (of(3, 1), of(1, 3), of(2, 0), of(0, 2)),
        (of(gpu=3), of(gpu=1), of(gpu=2), of()),
        (of(gpu=1), of(gpu=1), of(), of(gpu=0)),  # equal stands among the lesser, with 0
        (of(gpu=1), of(pods=1), of(gpu=1), of(pods=1)),
        (of(math.inf), of(5), of(math.inf), of()),
    ],
)
def test_diff_and_exceeded_part(left: Vector, right: Vector, more: Vector, less: Vector) -> None:
    found_more, found_less = diff(left, right)
    assert same(found_more, more)
    assert same(found_less, less)
    assert same(exceeded_part(left, right), more)


def test_exceeded_part_of_no_vector() -> None:
    assert exceeded_part(of(1, gpu=2), None) == of(1, gpu=2)
    assert same(exceeded_part(None, of(1)), NOTHING)
    assert same(exceeded_part(None, None), NOTHING)


def test_add_keeps_every_name_of_both() -> None:
    assert add(of(1, gpu=1), of(2, 3, pods=1)) == of(3, 3, pods=1, gpu=1)
    assert add({}, of(gpu=0)) == of(gpu=0)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (of(3, 3), of(1, 5), of(2, -2)),
        (of(1), of(1, pods=1), of(0)),  # a left without scalars gets none
        (of(1, gpu=1), of(1, pods=1), of(0, gpu=1, pods=-1)),
    ],
)
def test_sub(left: Vector, right: Vector, expected: Vector) -> None:
    assert same(sub(left, right), expected)


def test_scaled() -> None:
    assert scaled(of(10, 4, gpu=1), 0.5) == of(5, 2, gpu=0.5)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (of(1, 4), of(2, 3), of(2, 4)),
        (of(gpu=1), of(gpu=2, pods=1), of(gpu=2, pods=1)),
        (of(gpu=-1), of(pods=-1), of()),
        (of(gpu=-1), of(gpu=3), of(gpu=3)),
        (of(-1), of(-2), of(-1)),
        (of(-1), {}, of(0)),
    ],
)
def test_maximum_drops_negative_scalars(left: Vector, right: Vector, expected: Vector) -> None:
    assert same(maximum(left, right), expected)


@pytest.mark.parametrize(("part", "of_", "expected"), [(1, 4, 0.25), (0, 0, 0), (3, 0, 1), (0, 5, 0), (6, 4, 1.5)])
def test_share(part: float, of_: float, expected: float) -> None:
    assert share(part, of_) == expected


vectors = st.dictionaries(
    st.sampled_from(["cpu", "memory", "pods", GPU]), st.sampled_from([-1, -0.05, 0, 0.05, 0.1, 1, 1.05, 1.1, 1000])
)


@given(vectors, vectors)
def test_names_and_answer_agree(left: Vector, right: Vector) -> None:
    assert less_equal(left, right) is not bool(less_equal_names(left, right))


@given(vectors, vectors)
def test_a_difference_adds_up(left: Vector, right: Vector) -> None:
    more, less = diff(left, right)
    assert all(math.isclose(value, 0, abs_tol=1e-9) for value in sub(add(left, less), add(right, more)).values())


@given(vectors, vectors)
def test_nothing_is_changed_in_place(left: dict[str, float], right: dict[str, float]) -> None:
    before = (dict(left), dict(right))
    for function in (add, sub, maximum, min_dimension, diff, exceeded_part):
        function(left, right)
    assert (left, right) == before


def test_total_of_shared_vectors() -> None:
    """One vector many times, an equal one, and another: the same as one by one, names in the order they come."""
    shared, equal, other = {"b": 2, "a": 1}, {"b": 2, "a": 1}, {"c": 0, "a": 5}
    total = total_of([shared, other, shared, equal])
    assert total == {"b": 6, "a": 8, "c": 0}
    assert list(total) == ["b", "a", "c"]
    assert total_of(iter([])) == {}
    assert shared == {"b": 2, "a": 1}
