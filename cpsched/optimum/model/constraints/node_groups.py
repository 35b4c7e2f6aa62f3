"""nodegroup: what a queue may hold in a group of nodes; which groups those are is in the nodes of every class."""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.optimum.model.variables import Variables, sum_of, weighted
from cpsched.snapshot import Snapshot


def nodegroup(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A queue that receives something in a group stays within its limit there, in all that is limited."""
    groups = snapshot.groups
    for (queue, group), left in (groups.left if groups is not None else {}).items():
        assert groups is not None
        nodes = [node for node, of in groups.group_by_node.items() if of == group]
        asked = [one for one in v.classes.tasks if one.representative.key not in groups.exempt]
        own = [one for one in asked if snapshot.jobs[one.jobs[0]].queue == queue]
        placed = [(one, node) for node in nodes for one in own if node in one.nodes]
        victims = [g for node in nodes for g in v.victims_by_node.get(node, ()) if snapshot.jobs[g.job].queue == queue]
        if not placed:
            continue
        for resource, amount in left.items():
            room = amount // v.classes.unit.get(resource, 1)
            won = weighted(
                (v.classes.amount(one.representative, resource), v.placed(one, node)) for one, node in placed
            )
            lost = weighted((v.classes.amount(g.representative, resource), v.evicted(g)) for g in victims)
            if room >= 0:
                cp.add(won - lost <= room)
                continue
            served = v.flag(f"{queue} receives something in {group}")
            cp.add(sum_of([v.placed(one, node) for one, node in placed]) == 0).only_enforce_if(~served)
            cp.add(won - lost <= room).only_enforce_if(served)
