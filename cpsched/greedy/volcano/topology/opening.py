"""What a session works out about jobs before any action: how near their tasks are to run, and where they run already.

Mirrors `adjustNetworkTopologySpec` and `recoverAllocatedHyperNode` of `framework/session.go`.
"""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.status import ALLOCATED
from cpsched.greedy.volcano.topology.sub_jobs import SubJob
from cpsched.topology.demand import demand_of
from cpsched.topology.tree import Tree


def set_out(jobs: Iterable[JobState], tree: Tree) -> None:
    """Set demands, and where the tree is whole the HyperNodes that hold what runs."""
    for job in jobs:
        stated = job.job.group.spec.network_topology
        job.demand = demand_of(stated, tree)
        soft_limit = None if job.demand is None else job.demand.highest_tier
        for sub_job in job.sub_jobs.values():
            own = stated if sub_job.policy is None else sub_job.policy.network_topology
            sub_job.demand = demand_of(own, tree, soft_limit)
        if tree.ready and job.with_topology:
            _locate(job, tree)


def _locate(job: JobState, tree: Tree) -> None:
    for sub_job in job.sub_jobs.values():
        if sub_job.demand is not None:
            sub_job.allocated_in = _around(sub_job, tree)
    for sub_job in job.sub_jobs.values():
        if sub_job.allocated_in:
            job.allocated_in = tree.common(job.allocated_in, sub_job.allocated_in)
            if not job.allocated_in:
                return


def _around(sub_job: SubJob, tree: Tree) -> str:
    """A HyperNode of the lowest tier that holds all nodes on which tasks run, empty if none runs."""
    nodes = {task.node for status in ALLOCATED for task in sub_job.by_status.get(status, {}).values() if task.node}
    if not nodes:
        return ""
    holding = [name for name in tree.names if nodes <= tree.node_sets.get(name, frozenset())]
    return tree.lowest(holding)
