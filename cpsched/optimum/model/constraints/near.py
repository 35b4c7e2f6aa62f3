"""topology.job, topology.subgroup: all that a unit holds lies in one HyperNode of a tier that it allows."""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.optimum.model.domains import DomainChoice, placed_units, widest
from cpsched.optimum.model.variables import Variables
from cpsched.snapshot import Snapshot


def topology_job(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """The tasks of a job; where the tree is not usable its tasks have no nodes at all."""
    _keep_inside(snapshot, v, of_sub_groups=False)


def topology_subgroup(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """The tasks of a sub-group."""
    _keep_inside(snapshot, v, of_sub_groups=True)


def _keep_inside(snapshot: Snapshot, v: Variables, *, of_sub_groups: bool) -> None:
    for unit in placed_units(v):
        limit = snapshot.nearness.limit_of(unit.unit)
        if unit.unit.is_sub_group is of_sub_groups and limit is not None:
            DomainChoice(unit, widest(unit.domains(limit)))
