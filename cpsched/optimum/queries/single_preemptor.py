"""The levels for one preemptor on one node: upstream's own question, answered exactly."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.instance import Task
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.queries.feasibility import FeasibilityQuery, Limit
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from cpsched.snapshot.rights import Action


def best_victims(
    snapshot: Snapshot, task: Task, node: str, action: Action, levels: Sequence[str], limit: Limit
) -> Decision | None:
    """The task on the node with the least victims, level by level; None if no victims the task may take would do.

    In the snapshot no other task takes part. UndecidedError if time runs out.
    """
    question = FeasibilityQuery(snapshot, limit)
    v = question.v
    place = [one for one in v.classes.tasks if any(member.key == task.key for member in one.tasks)]
    if not place:
        return None
    question.cp.add(v.placed(place[0], node) >= 1)
    for (index, by), count in v.evict.items():
        if by != action or v.classes.victims[index].node != node:
            question.cp.add(count == 0)
    decision: Decision | None = None
    for name in levels:
        for stage in stages_of(v, name, None):
            if decision is not None and stage.value(decision) == stage.ideal:
                question.cp.add(stage.expr <= stage.ideal)
                continue
            decision = question.answer(stage.expr)
            if decision is None:
                return None
            question.cp.add(stage.expr <= stage.value(decision))
    return decision
