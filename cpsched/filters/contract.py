"""The shape of a filter: what every module of this package offers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched.filters.args import Args
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SKIP, SUCCESS, Status
from cpsched.instance import Task

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PreFilterResult:
    """What a filter knows about a task before it looks at nodes.

    `state` goes to the filter and its hooks; `nodes` limits the task to these names, None to none.
    """

    status: Status = SUCCESS
    state: Any = None
    nodes: frozenset[str] | None = None


SKIPPED = PreFilterResult(SKIP)


@dataclass(frozen=True)
class Filter:
    """One filter; `is_static` says that no other pod can change its answer.

    `masks` is the same verdict for all nodes at once: pairs of nodes that fail and the status they get, in the order
    in which `filter` would find them. `add_task` and `remove_task` adjust the state as if another task came or went;
    `reserve` books what the task takes from the cluster besides its node, and returns what takes it back; `booked` says
    what that is at a node, so that two orders that booked the same for the same tasks can go on alike.
    """

    name: str
    prefilter: Callable[[Task, ClusterState, Args], PreFilterResult]
    filter: Callable[[Any, Task, NodeState, ClusterState], Status]
    is_static: bool = False
    masks: Callable[[Any, Task, ClusterState], Iterable[tuple[Mask, Status]]] | None = None
    add_task: Callable[[Any, Task, Task, NodeState], None] | None = None
    remove_task: Callable[[Any, Task, Task, NodeState], None] | None = None
    clone: Callable[[Any], Any] | None = None
    reserve: Callable[[Any, Task, NodeState, ClusterState], Callable[[], None]] | None = None
    booked: Callable[[Any, str], Hashable] | None = None

    def cloned(self, state: Any) -> Any:
        """A copy of the state that hooks may change."""
        return state if self.clone is None else self.clone(state)
