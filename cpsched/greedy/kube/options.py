"""What a run of the kube mirror takes besides instance and policy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """`only` tries one pod; `seed` draws whatever upstream leaves to chance, without it the mirror's own choice holds.

    `record` also works out what the scheduler did not need to know: every node's verdict and score, and every
    candidate of a preemption. `plain` takes no short cuts, for tests that compare the two ways.
    """

    only: str | None = None
    seed: int | None = None
    record: bool = False
    async_preemption: bool = True
    pod_groups: bool = False
    plain: bool = False
    resize_preemption: bool = False
    """InPlacePodVerticalScalingSchedulerPreemption: a pod that waits for its own resize is not in its own way."""
