"""The checker: RULES says what feasible means, one function per key, no engine and no solver inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cpsched.rules.decision import Decision
from cpsched.rules.evictions import charge, eviction
from cpsched.rules.gangs import gang, protect_gang
from cpsched.rules.near import topology_job, topology_subgroup
from cpsched.rules.node_rules import cards, nodegroup, numa, usage
from cpsched.rules.placement import actions, assignment, capacity, filters
from cpsched.rules.protections import protect_conformance, protect_cooldown, protect_guarantee, protect_pdb
from cpsched.rules.queues import deserved, enqueue, queue
from cpsched.rules.violation import Violation

RULES: dict[str, Callable[[Decision], Iterator[Violation]]] = {
    "assignment": assignment,
    "capacity": capacity,
    "filters": filters,
    "nodegroup": nodegroup,
    "cards": cards,
    "numa": numa,
    "usage": usage,
    "topology.job": topology_job,
    "topology.subgroup": topology_subgroup,
    "gang": gang,
    "queue": queue,
    "deserved": deserved,
    "eviction": eviction,
    "charge": charge,
    "protect.gang": protect_gang,
    "protect.conformance": protect_conformance,
    "protect.pdb": protect_pdb,
    "protect.cooldown": protect_cooldown,
    "protect.guarantee": protect_guarantee,
    "enqueue": enqueue,
    "actions": actions,
}


def violations(decision: Decision) -> list[Violation]:
    """Every breach of every rule, in the order of RULES; a decision does not change, so each is asked once."""
    found = decision.found
    for key, rule in RULES.items():
        if key not in found:
            found[key] = tuple(rule(decision))
    return [violation for key in RULES for violation in found[key]]


__all__ = ["RULES", "Decision", "Violation", "violations"]
