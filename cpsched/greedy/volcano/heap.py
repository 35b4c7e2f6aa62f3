"""A heap that moves its items exactly as Go's `container/heap` does, because orders may change under it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Heap(Generic[T]):
    """Items by a `less` that is asked again at every step; mirrors `pkg/scheduler/util/priority_queue.go`."""

    def __init__(self, less: Callable[[T, T], bool], items: Iterable[T] = ()):
        self._less = less
        self._items: list[T] = []
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def clone(self) -> Heap[T]:
        """A heap of the same items in the same places."""
        copy = Heap(self._less)
        copy._items = list(self._items)
        return copy

    def push(self, item: T) -> None:
        """Add an item."""
        items, less = self._items, self._less
        items.append(item)
        child = len(items) - 1
        while child > 0:
            parent = (child - 1) // 2
            if not less(items[child], items[parent]):
                break
            items[child], items[parent] = items[parent], items[child]
            child = parent

    def pop(self) -> T:
        """Take the first item out."""
        items, less = self._items, self._less
        last = len(items) - 1
        items[0], items[last] = items[last], items[0]
        place = 0
        while (child := 2 * place + 1) < last:
            if child + 1 < last and less(items[child + 1], items[child]):
                child += 1
            if not less(items[child], items[place]):
                break
            items[place], items[child] = items[child], items[place]
            place = child
        return items.pop()
