"""LEVEL_TRAITS: what each level reads of a decision; symmetry classes and dominance rows follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from cpsched.rules import RULES


class Reads(Enum):
    """Attributes of a victim that not every symmetry class keeps.

    Priority, queue, requests, labels and the like are in every key and need no entry here.
    """

    VICTIM_START = auto()
    """When a victim started, in whatever way."""
    EARLIEST_START = auto()
    """Of several victims that are otherwise equal the earliest start, which is the better the later it is."""
    VICTIM_JOB = auto()
    """Which job a victim belongs to."""
    VICTIM_JOB_MINIMUM = auto()
    """Which job it belongs to, as far as evictions can take that job below its minimum."""


@dataclass(frozen=True)
class LevelTraits:
    """What a level depends on."""

    reads: frozenset[Reads] = frozenset()
    counts_placements: bool = False
    """Whether it is better the more tasks are placed; else a decision that places fewer may be as good."""
    counts_binds: bool = False
    """Whether it tells a task that starts from one that is reserved."""


_VICTIMS = LevelTraits()
_PLACEMENTS = LevelTraits(counts_placements=True)

LEVEL_TRAITS: dict[str, LevelTraits] = {
    "jobs_admitted": LevelTraits(),
    "victim_max_priority": _VICTIMS,
    "victim_priority_sum": _VICTIMS,
    "victim_count": _VICTIMS,
    "victim_start_time": LevelTraits(reads=frozenset({Reads.EARLIEST_START})),
    "queue_deficit_max": _PLACEMENTS,
    "queue_deficit_total": _PLACEMENTS,
    "pdb_violations": _VICTIMS,
    "gangs_broken": LevelTraits(reads=frozenset({Reads.VICTIM_JOB_MINIMUM})),
    "tasks_bound": LevelTraits(counts_placements=True, counts_binds=True),
    "tasks_placed": _PLACEMENTS,
    "resources_placed": _PLACEMENTS,
    "topology_tier_max": LevelTraits(),
    "topology_tier_sum": LevelTraits(),
    "hypernodes_used": LevelTraits(),
    "nodes_used": LevelTraits(),
}
"""By the name of the level in a plan. A level that is missing here is an error when classes are built."""

RULE_READS: dict[str, frozenset[Reads]] = dict.fromkeys(
    (
        "assignment",
        "capacity",
        "filters",
        "nodegroup",
        "cards",
        "numa",
        "usage",
        "topology.job",
        "topology.subgroup",
        "gang",
        "queue",
        "deserved",
        "eviction",
        "charge",
        "protect.conformance",
        "protect.gang",
        "protect.pdb",
        "protect.cooldown",
        "protect.guarantee",
        "enqueue",
        "actions",
    ),
    frozenset(),
)
"""The same by the name of the rule, as far as classes do not keep it anyway: these read nothing of a victim's start."""


def reads_of_rules() -> frozenset[Reads]:
    """What the checker's rules read; one missing there is taken to read when a victim started."""
    everything = frozenset({Reads.VICTIM_START})
    return frozenset[Reads]().union(*(RULE_READS.get(rule, everything) for rule in RULES))
