"""cpu and memory in use as scores count them, with stand-ins where none is asked for; mirrors `CalculateResource`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched.instance import Task
from cpsched.objects.pod import ResourceRequirements
from cpsched.requests import kube_nonzero_requests


class NonzeroUsage:
    """Non-zero requests per node in snapshot order; int64 until an amount needs more."""

    def __init__(self, nodes: int):
        self._amounts: npt.NDArray[Any] = np.zeros((2, nodes), dtype=np.int64)

    @property
    def cpu(self) -> npt.NDArray[Any]:
        """In thousandths."""
        amounts: npt.NDArray[Any] = self._amounts[0]
        return amounts

    @property
    def memory(self) -> npt.NDArray[Any]:
        """In bytes."""
        amounts: npt.NDArray[Any] = self._amounts[1]
        return amounts

    def shift(self, task: Task, index: int, change: int) -> None:
        """A task comes to a node or leaves it."""
        for row, name in enumerate(("cpu", "memory")):
            amount = task.kube_nonzero_requests[name]
            total = int(self._amounts[row, index]) + change * amount
            if abs(total) >= 2**62 and self._amounts.dtype != object:
                self._amounts = self._amounts.astype(object)
            self._amounts[row, index] = total


def incoming_nonzero(task: Task) -> dict[str, int]:
    """What the task to be placed counts for: the scorer does not look at its pod-level requests."""
    if not task.pod.spec.resources.requests:
        return task.kube_nonzero_requests
    spec = task.pod.spec.model_copy(update={"resources": ResourceRequirements()})
    return kube_nonzero_requests(task.pod.model_copy(update={"spec": spec}))
