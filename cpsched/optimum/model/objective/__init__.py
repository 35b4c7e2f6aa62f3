"""The objective: every level of the policy as one stage or two to minimise, in the order of the plan."""

from __future__ import annotations

from collections.abc import Callable

from cpsched.optimum.model.objective.jobs import GangsBroken, JobsAdmitted
from cpsched.optimum.model.objective.near import HypernodesUsed, TopologyTierMax, TopologyTierSum
from cpsched.optimum.model.objective.nodes import NodesUsed
from cpsched.optimum.model.objective.placement import (
    QueueDeficitMax,
    QueueDeficitTotal,
    ResourcesPlaced,
    TasksBound,
    TasksPlaced,
)
from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.model.objective.victims import (
    MaxPriority,
    PdbViolations,
    StartTime,
    VictimCount,
    in_question,
    priority_sum,
)
from cpsched.optimum.model.variables import Variables

STAGES: dict[str, Callable[[Variables, int | None], list[Stage]]] = {
    "jobs_admitted": lambda v, priority: [JobsAdmitted(v, priority)],
    "victim_max_priority": lambda v, priority: [MaxPriority(v, in_question(v, priority))],
    "victim_priority_sum": lambda v, priority: priority_sum(v, in_question(v, priority)),
    "victim_count": lambda v, priority: [VictimCount(v, in_question(v, priority))],
    "victim_start_time": lambda v, priority: [StartTime(v, in_question(v, priority))],
    "queue_deficit_max": lambda v, priority: [QueueDeficitMax(v, priority)],
    "queue_deficit_total": lambda v, priority: [QueueDeficitTotal(v, priority)],
    "pdb_violations": lambda v, priority: [PdbViolations(v, priority)],
    "gangs_broken": lambda v, priority: [GangsBroken(v, priority)],
    "tasks_bound": lambda v, priority: [TasksBound(v, priority)],
    "tasks_placed": lambda v, priority: [TasksPlaced(v, priority)],
    "resources_placed": lambda v, priority: [ResourcesPlaced(v, priority)],
    "topology_tier_max": lambda v, priority: [TopologyTierMax(v, priority)],
    "topology_tier_sum": lambda v, priority: [TopologyTierSum(v, priority)],
    "hypernodes_used": lambda v, priority: [HypernodesUsed(v, priority)],
    "nodes_used": lambda v, priority: [NodesUsed(v, priority)],
}
"""Level → its stages, to be minimised one after the other; auxiliary variables are added to the model."""


def stages_of(v: Variables, name: str, priority: int | None) -> list[Stage]:
    """The stages of a level; minimised one after the other they give its value."""
    return STAGES[name](v, priority)
