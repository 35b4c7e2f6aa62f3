"""Decisions for the two schedulers of one cluster: whose part each is, and where both count on the same node."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cpsched.importers.chosen import TITLES, undecided
from cpsched.instance import Instance
from cpsched.policy import Policy
from cpsched.solution import Solution

_MOST_NAMES = 3


def of_engines(engines: Collection[str], policies: Sequence[Policy]) -> tuple[Policy, ...]:
    """The policies that engines answer for: a single mirror among them is asked about its own scheduler alone."""
    named = [one for one in TITLES if one in engines]
    if len(named) != 1:
        return tuple(policies)
    return tuple(one for one in policies if one.model.scheduler == named[0]) or tuple(policies[:1])


def own_part(instance: Instance, policy: Policy, solution: Solution) -> Solution:
    """The decision without reasons for the pods of the other scheduler, which has a decision of its own."""
    unplaced = {
        key: reasons
        for key, reasons in solution.unplaced.items()
        if key not in instance.tasks or undecided(instance.tasks[key], policy) is None
    }
    return solution.model_copy(update={"unplaced": unplaced})


def same_nodes(solutions: Sequence[Solution]) -> str:
    """That each is decided as if the other did nothing, and the nodes on which both place pods."""
    nodes = [{*one.binds.values(), *one.reserves.values()} for one in solutions]
    shared = sorted(set.intersection(*nodes)) if nodes else []
    text = "each scheduler is decided as if the other did nothing"
    if not shared:
        return text
    more = len(shared) - _MOST_NAMES
    names = ", ".join(shared[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"{text}; both place pods on {names}, where the one that comes second may find too little"
