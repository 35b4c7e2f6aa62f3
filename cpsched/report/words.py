"""What the levels count, in a few words each."""

from __future__ import annotations

LEVELS: dict[str, str] = {
    "jobs_admitted": "starving jobs of this priority that get their minimum",
    "queue_deficit_max": "how far the worst-off queue is from what it deserves, in percent of it",
    "queue_deficit_total": "how far queues are from what they deserve, in percent of it, added up",
    "pdb_violations": "evictions beyond what disruption budgets allow",
    "victim_max_priority": "highest priority among the victims",
    "victim_priority_sum": "number of victims, then the sum of their priorities",
    "victim_count": "tasks evicted",
    "victim_start_time": "earliest start among the most important victims",
    "gangs_broken": "running gangs pushed below their minimum",
    "tasks_bound": "tasks that start now",
    "tasks_placed": "tasks that start or wait for reserved capacity",
    "resources_placed": "dominant shares placed, in percent of the cluster, added up",
    "topology_tier_max": "highest tier of a HyperNode that a job or sub-group with networkTopology needs",
    "topology_tier_sum": "these tiers, added up",
    "hypernodes_used": "HyperNodes of the lowest tier with new tasks of each",
    "nodes_used": "nodes that host anything",
}
"""One for every level that a solution may carry."""

BETTER = {"max": "more", "min": "less"}


def level_words(name: str, priority: int | None) -> str:
    """The level in a few words; the victim levels between two priorities count only some victims."""
    words = LEVELS.get(name, "")
    return (
        words
        if priority is None or name == "jobs_admitted"
        else f"{words}, of victims that no job below priority {priority} may evict"
    )
