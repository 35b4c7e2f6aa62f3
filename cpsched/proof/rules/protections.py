"""protect.pdb, protect.guarantee: budgets that must not be exceeded, and what queues keep."""

from __future__ import annotations

from functools import partial
from math import ceil

from cpsched.proof.counts import Counts
from cpsched.proof.draft import Draft
from cpsched.proof.names import change, evicted, evicted_by
from cpsched.proof.rows import summed
from cpsched.rules.protections import covers


def protect_pdb(draft: Draft) -> None:
    """hard: no budget loses more pods than disruptionsAllowed, if any of them goes by an action that it binds."""
    counted, policy = draft.counted, draft.snapshot.policy
    for budget in draft.snapshot.instance.budgets:
        covered = [number for number, group in enumerate(counted.victims) if covers(budget, group.task)]
        hard = [
            (number, action)
            for number in covered
            for action in counted.victims[number].rights
            if policy.pdb_protects(action) == "hard"
        ]
        if not hard:
            continue
        gone = summed((1, evicted_by(draft, number, action)) for number, action in hard)
        touched = draft.variable(f"touched[{budget.key}]", 0, 1, partial(Counts.loses_any, pairs=hard))
        row = summed([(draft.highest(gone), touched), (-1, gone)])
        draft.at_least(f"protect.pdb[{budget.key} is touched]", row, 0)
        total = summed((1, evicted(draft, number)) for number in covered)
        allowed = max(0, budget.status.disruptions_allowed)
        draft.at_most_if(f"protect.pdb[{budget.key}]", touched, total, allowed)


def protect_guarantee(draft: Draft) -> None:
    """A queue that loses victims to an action that minds guarantees holds its guarantee after the decision."""
    counted, policy = draft.counted, draft.snapshot.policy
    for name, share in draft.snapshot.shares.items():
        lost = [
            (number, action)
            for number, group in enumerate(counted.victims)
            if group.job.queue == name
            for action in group.rights
            if policy.guarantee_protects(action)
        ]
        if not lost or not any(share.guarantee.values()):
            continue
        gone = summed((1, evicted_by(draft, number, action)) for number, action in lost)
        loses = draft.variable(f"loses[queue {name}]", 0, 1, partial(Counts.loses_any, pairs=lost))
        row = summed([(draft.highest(gone), loses), (-1, gone)])
        draft.at_least(f"protect.guarantee[{name} loses]", row, 0)
        for resource, amount in sorted(share.guarantee.items()):
            least = ceil((amount - share.allocated.get(resource, 0)) / counted.unit.get(resource, 1))
            draft.at_least_if(f"protect.guarantee[{name},{resource}]", loses, change(draft, name, resource), least)
