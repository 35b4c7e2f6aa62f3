"""The shape of a score plugin: one number from 0 to 100 per node, or None if it has nothing to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched.filters import PreFiltered
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.snapshot import Snapshot
from cpsched.instance import Task

HIGHEST = 100
Places = npt.NDArray[np.int64]
Scores = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ScoreRequest:
    """A task and the nodes it could go to, as places in snapshot order.

    `bare` nodes came back from an extender, which upstream scores without the pods and images on them.
    """

    task: Task
    places: Places
    snapshot: Snapshot
    framework: Framework
    pre: PreFiltered
    bare: bool = False

    def pick(self, amounts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Of an amount per node, those of the nodes asked for."""
        return amounts[self.places]


Score = Callable[[ScoreRequest], Scores | None]


def normalized(raw: Scores, *, reverse: bool = False) -> Scores:
    """Scale to 100 by the largest (`helper.DefaultNormalizeScore`)."""
    largest = int(raw.max(initial=0))
    if largest == 0:
        return np.full_like(raw, HIGHEST) if reverse else raw
    scaled = HIGHEST * raw // largest
    return HIGHEST - scaled if reverse else scaled
