"""What plugins hand over so that they can be answered for in bulk."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from cpsched.filters.contract import Filter, PreFilterResult
from cpsched.greedy.volcano.amounts import Amounts
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.picture import FilterView
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Queue, Task
from cpsched.resources import Vector

if TYPE_CHECKING:
    from cpsched.greedy.volcano.devices.contract import Books
    from cpsched.greedy.volcano.hooks import Refusal

Scores = Callable[[FilterView, Task, Sequence[int]], list[int] | None]


@dataclass(frozen=True)
class FilterBulk:
    """predicates: its filters, and how to say that a task has been looked at."""

    stable: Sequence[Filter]
    others: Sequence[Filter]
    picture: FilterView
    look: Callable[[Task], dict[str, PreFilterResult] | None]
    """What PrePredicate finds out about a task; None if it fails."""
    mark: Callable[[str, dict[str, PreFilterResult]], None]
    """Take that as found out about the task with this key."""


@dataclass(frozen=True)
class OrderBulk:
    """nodeorder: weights of its scores."""

    picture: FilterView
    weights: Mapping[str, int]
    scores: Mapping[str, Scores]
    constant: int
    """What every node gets of scores that tell no nodes apart here."""


@dataclass(frozen=True)
class BinpackBulk:
    """binpack: its weight and the weight of each resource."""

    weight: int
    weights: Mapping[str, int]


class Account(Protocol):
    """A queue's share."""

    @property
    def allocated(self) -> Amounts:
        """What it holds now."""

    @property
    def deserved(self) -> Vector:
        """What it is due."""


@dataclass(frozen=True)
class ShareBulk:
    """proportion: what queues hold and are due, and why one may not take a task even if some others go."""

    accounts: Mapping[str, Account]
    refusal: Callable[[Queue, TaskState, Sequence[TaskState]], Refusal | None]


@dataclass(frozen=True)
class NearBulk:
    """network-topology-aware: its score of some nodes by their numbers, None where it has nothing to say."""

    scores: Callable[[TaskState, npt.NDArray[np.int64]], Any]
    state: Callable[[str], Hashable]
    """All that it knows of a HyperNode's room."""


@dataclass(frozen=True)
class CardBulk:
    """deviceshare: who has which card, and the reason for a node without cards for a task."""

    books: Books
    refusal: Callable[[str], FitError]


Bulk = FilterBulk | OrderBulk | BinpackBulk | ShareBulk | NearBulk | CardBulk
