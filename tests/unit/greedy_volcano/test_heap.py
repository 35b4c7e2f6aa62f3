from __future__ import annotations

import random

from cpsched.greedy.volcano.heap import Heap


def test_items_come_out_in_order() -> None:
    numbers = random.Random(1).sample(range(1000), 200)
    heap = Heap(lambda left, right: left < right, numbers)
    assert [heap.pop() for _ in range(len(heap))] == sorted(numbers)


def test_equal_items_move_as_in_go() -> None:
    """Go's heap gives 0 first, then what it swapped to the top: worked through by hand for four equal items."""
    heap = Heap(lambda left, right: False, range(4))
    assert [heap.pop() for _ in range(4)] == [0, 3, 2, 1]


def test_the_order_is_asked_again_at_every_step() -> None:
    rank = {"a": 1, "b": 2, "c": 3}
    heap = Heap(lambda left, right: rank[left] < rank[right], "abc")
    assert heap.pop() == "a"
    rank["b"] = 9
    heap.push("a")
    rank["a"] = 5
    assert heap.pop() == "a"
    assert heap.pop() == "c"
