"""Checks and scores a decision, whatever made it, and compares what it states about itself with that."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

import cpsched.version
from cpsched.completeness.registry import doubts
from cpsched.doubts import Doubt
from cpsched.instance import Instance
from cpsched.objectives import levels
from cpsched.policy import Policy
from cpsched.provenance import differences, made_from, made_under
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import NO_DECISION, Finding, Level, Solution, SolutionStatus

LEVELS = "levels"
"""Key of the findings about what a solution states of its own levels."""

NOT_THE_POLICYS = "its levels are not those of the policy"


class CheckedSolution(NamedTuple):
    """A solution with its findings and levels, and the decision inside it that they are of."""

    solution: Solution
    decision: Decision


def decision_of(instance: Instance, policy: Policy, solution: Solution) -> Decision:
    """The decision inside the solution, seen against the session as it opens."""
    return Decision.of(Snapshot(instance, policy), solution)


def checked_from_outside(instance: Instance, policy: Policy, solution: Solution) -> Solution:
    """A decision from outside with its findings, its levels as they are, and what it was checked by; nothing is proved.

    Every decision that this package did not just make comes in here: from files, rows, other programs' hands. If it was
    made from another input or under another policy, its notes say so.
    """
    found = stamped(instance, examined(instance, policy, solution.from_outside()).solution)
    return found.model_copy(update={"notes": tuple(differences(instance, policy, solution))})


def stamped(instance: Instance, solution: Solution) -> Solution:
    """The solution with what tells the instance that it is about; of a large instance that takes its time."""
    return solution.model_copy(update=made_from(instance))


def examined(instance: Instance, policy: Policy, solution: Solution, known: Decision | None = None) -> CheckedSolution:
    """An engine's solution with its findings, and its levels unless its own proofs hold them; not stamped.

    `known` spares the work if it is the decision inside the solution, checked before.
    """
    decision = _same(known, instance, policy, solution) or decision_of(instance, policy, solution)
    computed = () if solution.status in NO_DECISION else levels(decision)
    found = {
        **made_under(policy),
        "levels": solution.levels if solution.proves else computed,
        "findings": findings(decision, solution),
        "versions": {"cpsched": cpsched.version.__version__, **solution.versions},
        "doubts": doubts_about(instance, policy, solution),
    }
    return CheckedSolution(solution.model_copy(update=found), decision)


def doubts_about(instance: Instance, policy: Policy, solution: Solution) -> tuple[Doubt, ...]:
    """Of the input, and of the policy: a mirror knows more of that than the search."""
    return doubts(instance, policy, search=solution.status is not SolutionStatus.HEURISTIC)


def _same(known: Decision | None, instance: Instance, policy: Policy, solution: Solution) -> Decision | None:
    """The known decision; None if it is not that of the solution."""
    if known is None or known.snapshot.instance is not instance or known.snapshot.policy is not policy:
        return None
    return known if Decision.of(known.snapshot, solution) == known else None


def findings(decision: Decision, solution: Solution, *, states_levels: bool = False) -> tuple[Finding, ...]:
    """Every rule the decision breaks, and every level that is not as the solution states it.

    A solution may leave its levels out, then it claims nothing about them; not if it is called optimal, or if
    `states_levels` says that this kind of document always has them.
    """
    broken = [Finding(rule=rule, subject=subject, message=text) for rule, subject, text in violations(decision)]
    if not (solution.levels or states_levels or solution.status is SolutionStatus.OPTIMAL):
        return tuple(broken)
    return (*broken, *_misstated(solution.levels, levels(decision)), *_unproved(solution))


def _misstated(stated: tuple[Level, ...], computed: tuple[Level, ...]) -> Iterator[Finding]:
    """The levels are those of the policy's plan, in its order, each with the value that the decision has."""
    for number, (one, level) in enumerate(zip_longest(stated, computed), start=1):
        if one is None or level is None or one.label != level.label:
            found, right = (None if each is None else each.label for each in (one, level))
            wrong = f"{NOT_THE_POLICYS}: level {number} is {found or 'missing'}, {right or 'none'} is right"
            yield Finding(rule=LEVELS, subject=right or found or "", message=wrong)
            break
    by_label = {level.label: level for level in stated}
    for level in computed:
        one = by_label.get(level.label)
        if one is not None and (one.value, one.sense) != (level.value, level.sense):
            message = f"{one.sense} {one.value} is stated; it is {level.sense} {level.value}"
            yield Finding(rule=LEVELS, subject=level.label, message=message)


def _unproved(solution: Solution) -> Iterator[Finding]:
    for level in solution.levels:
        if level.proved and level.bound != level.value:
            message = f"is called proved, but its bound is {level.bound} and its value {level.value}"
            yield Finding(rule=LEVELS, subject=level.label, message=message)
        if solution.status is SolutionStatus.OPTIMAL and not level.proved:
            yield Finding(rule=LEVELS, subject=level.label, message="is not proved, but the solution is called optimal")
