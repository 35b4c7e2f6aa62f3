"""Piecewise linear functions and Go's rounding; mirrors `plugins/helper/shape_score.go`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched.policy.kube_args import ShapePoint

_SCALE = 10


class Curve:
    """Score by utilization in percent: flat outside the points, linear between them in whole numbers."""

    def __init__(self, shape: tuple[ShapePoint, ...]):
        points = [(point.utilization, point.score * _SCALE) for point in shape]
        self._table: npt.NDArray[np.int64] = np.array([_at(points, p) for p in range(101)], dtype=np.int64)

    def __call__(self, utilization: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The score per utilization from 0 to 100."""
        return self._table[np.asarray(utilization, dtype=np.int64)]


def _at(points: list[tuple[int, int]], place: int) -> int:
    for number, (right, height) in enumerate(points):
        if place <= right:
            if number == 0:
                return height
            left, low = points[number - 1]
            rise = (height - low) * (place - left)
            # Go divides towards zero.
            steps = abs(rise) // (right - left)
            return low + (steps if rise >= 0 else -steps)
    return points[-1][1]


def rounded(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """To the nearest whole number, halves away from zero, as `math.Round`."""
    return np.asarray(np.sign(values) * np.floor(np.abs(values) + 0.5), dtype=np.int64)
