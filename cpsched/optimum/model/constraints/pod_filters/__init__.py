"""filters: the dynamic ones as rows. Rows are necessary; where order matters the checker has the last word."""

from __future__ import annotations

from collections.abc import Callable

from ortools.sat.python import cp_model

from cpsched.optimum.model.constraints.pod_filters.context import FilterModel
from cpsched.optimum.model.constraints.pod_filters.devices import devices
from cpsched.optimum.model.constraints.pod_filters.limits import limits
from cpsched.optimum.model.constraints.pod_filters.neighbours import affinity, anti_affinity, ports
from cpsched.optimum.model.constraints.pod_filters.refusals import refusals
from cpsched.optimum.model.constraints.pod_filters.spread import spread
from cpsched.optimum.model.constraints.pod_filters.volumes import binding, restrictions
from cpsched.optimum.model.variables import Variables
from cpsched.snapshot import Snapshot

FAMILIES: dict[str, Callable[[FilterModel], None]] = {
    "refusals": refusals,
    "ports": ports,
    "volume restrictions": restrictions,
    "volume limits": limits,
    "volume binding": binding,
    "spread": spread,
    "anti-affinity": anti_affinity,
    "affinity": affinity,
    "devices": devices,
}
"""One function per family of rows; each posts nothing where no task has such a wish."""


def filters(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Every filter that looks at other tasks, as far as the instance uses it."""
    if snapshot.predicates.any_dynamic:
        board = FilterModel(cp, snapshot, v)
        for post in FAMILIES.values():
            post(board)
