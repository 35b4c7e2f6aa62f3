"""What every queue is due: water filling, declared capacity, queue trees."""

from __future__ import annotations

from cpsched.shares.capacity import capacity_flat, capacity_share
from cpsched.shares.demand import Exact, QueueDemand, QueueShare, dominant_share, floats, in_float64
from cpsched.shares.exact import exact_proportion
from cpsched.shares.hierarchy import NotReady, capacity_hierarchical
from cpsched.shares.proportion import proportion

__all__ = [
    "Exact",
    "NotReady",
    "QueueDemand",
    "QueueShare",
    "capacity_flat",
    "capacity_hierarchical",
    "capacity_share",
    "dominant_share",
    "exact_proportion",
    "floats",
    "in_float64",
    "proportion",
]
