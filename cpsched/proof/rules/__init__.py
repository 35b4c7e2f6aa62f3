"""ROWS: one function per rule of docs/model.md; each writes rows that every legal decision satisfies, and no other.

A rule may be left out, or stated in part: then less can be proved, and what is proved is no less true.
"""

from __future__ import annotations

from collections.abc import Callable

from cpsched.proof.draft import Draft
from cpsched.proof.rules.entering import enqueue
from cpsched.proof.rules.filters import filters
from cpsched.proof.rules.gangs import gang, protect_gang
from cpsched.proof.rules.placement import assignment, capacity
from cpsched.proof.rules.protections import protect_guarantee, protect_pdb
from cpsched.proof.rules.queues import queue
from cpsched.proof.rules.rights import eviction

ROWS: dict[str, Callable[[Draft], None]] = {
    "assignment": assignment,
    "capacity": capacity,
    "filters": filters,
    "gang": gang,
    "queue": queue,
    "eviction": eviction,
    "protect.gang": protect_gang,
    "protect.pdb": protect_pdb,
    "protect.guarantee": protect_guarantee,
    "enqueue": enqueue,
}

ELSEWHERE: dict[str, str] = {
    "deserved": "without shares no task that asks for something has a variable; shares are constants",
    "charge": "part of capacity: room of victims that not all may evict goes to those who may",
    "nodegroup": "nodes of groups that a queue does not name have no variable",
    "cards": "nodes whose cards would not do if they were empty have no variable",
    "numa": "nodes of another policy, or that could not align a task alone, have no variable",
    "usage": "nodes whose measured load is too high have no variable",
    "protect.cooldown": "tasks that started a short while ago are in no group of victims",
    "protect.conformance": "critical tasks are in no group of victims",
    "actions": "variables exist only for what a configured action can do",
}
"""Where the remaining rules are."""

LEFT_OUT: dict[str, str] = {
    "topology.job": "that a job stays in one HyperNode of a tier",
    "topology.subgroup": "that a sub-group does",
}
"""Nothing is stated of them."""

IN_PART: dict[str, str] = {
    "filters": "of filters that look at other tasks ports, affinity and spread, not volumes and devices",
    "nodegroup": "the groups of nodes, not a queue's limit in one",
    "cards": "what cards refuse a task alone, not how tasks share them",
    "numa": "what a node refuses a task alone, not how tasks share its CPUs",
    "charge": "how many victims a task can need at most, not which",
    "eviction": "that some last victim finds its queue above its share, not that there is an order for all",
}
"""What is not stated in full."""
