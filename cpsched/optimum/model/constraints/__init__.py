"""CONSTRAINTS: one function per rule that needs rows of its own; the others live in masks and variables."""

from __future__ import annotations

from collections.abc import Callable

from ortools.sat.python import cp_model

from cpsched.optimum.model.constraints.capacity import capacity
from cpsched.optimum.model.constraints.cards import cards
from cpsched.optimum.model.constraints.eviction import eviction, protect_pdb
from cpsched.optimum.model.constraints.gang import gang, protect_gang
from cpsched.optimum.model.constraints.near import topology_job, topology_subgroup
from cpsched.optimum.model.constraints.node_groups import nodegroup
from cpsched.optimum.model.constraints.numa import numa
from cpsched.optimum.model.constraints.pod_filters import filters
from cpsched.optimum.model.constraints.queue import enqueue, protect_guarantee, queue
from cpsched.optimum.model.variables import Variables
from cpsched.snapshot import Snapshot

Constraint = Callable[[cp_model.CpModel, Snapshot, Variables], None]

CONSTRAINTS: dict[str, Constraint] = {
    "capacity": capacity,
    "filters": filters,
    "nodegroup": nodegroup,
    "cards": cards,
    "numa": numa,
    "topology.job": topology_job,
    "topology.subgroup": topology_subgroup,
    "gang": gang,
    "queue": queue,
    "eviction": eviction,
    "protect.gang": protect_gang,
    "protect.pdb": protect_pdb,
    "protect.guarantee": protect_guarantee,
    "enqueue": enqueue,
}

_BY_OWNER = ("filters", "nodegroup", "cards", "numa", "topology.job", "topology.subgroup")
IN_RELAXATIONS = tuple(key for key in CONSTRAINTS if key not in _BY_OWNER)
"""Rules whose rows still hold when they are summed over several nodes and all owners."""

ELSEWHERE: dict[str, str] = {
    "assignment": "variables exist only for pending, ungated tasks of jobs that take part",
    "deserved": "shares are constants of the snapshot; without them no variable exists",
    "charge": "part of capacity: only charged victims make room where rights differ",
    "usage": "variables exist only on nodes whose measured load is low enough",
    "protect.cooldown": "tasks that started a short while ago belong to no victim group",
    "protect.conformance": "critical tasks belong to no victim group",
    "actions": "variables exist only for what a configured action can do",
}
"""Where the remaining rules are."""
