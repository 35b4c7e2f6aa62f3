"""Allowances for tests: all the time there is, and so much work."""

from __future__ import annotations

from cpsched.optimum.packing.allowance import Allowance


def unlimited() -> Allowance:
    """For callers that have all the time there is."""
    return Allowance(float("inf"))


def worked(work: float) -> Allowance:
    """So much work, the same in every run."""
    done = [0.0]

    def count(more: float) -> None:
        done[0] += more

    return Allowance(work, lambda: done[0], count, is_wall_time=False)
