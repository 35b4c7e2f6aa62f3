"""The verdict on a decision in one sentence: how it ranks, what is proved, and where it first differs, in units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cpsched.doubts import for_this_dump, without
from cpsched.objectives import level_text
from cpsched.policy.levels import LevelRef, Stated
from cpsched.solution import Solution, SolutionStatus

if TYPE_CHECKING:
    from cpsched.comparison.compare import Judgement
    from cpsched.ranking import Gap

_DIFFERENCES: Mapping[str, str] = {
    "jobs_admitted": "it admits {own:starving job} of priority {priority} instead of {best}",
    "queue_deficit_max": "the queue that is worst off lacks {own} of its deserved share instead of {best}",
    "queue_deficit_total": "queues lack {own} of their deserved shares in total instead of {best}",
    "pdb_violations": "it needs {own:eviction} beyond disruption budgets instead of {best}",
    "victim_max_priority": "it evicts pods of priority up to {own} instead of {best}",
    "victim_priority_sum": "it has {own} instead of {best}",
    "victim_count": "it evicts {own:pod} instead of {best}",
    "victim_start_time": "among its most important victims is one that runs since {own} instead of {best}",
    "gangs_broken": "it leaves {own:running gang} below the minimum instead of {best}",
    "tasks_bound": "it starts {own:pod} instead of {best}",
    "tasks_placed": "it places {own:pod} instead of {best}",
    "resources_placed": "it places {own} of the cluster (dominant shares added up) instead of {best}",
    "nodes_used": "it uses {own:node} instead of {best}",
}
"""Every level a solution may carry."""


class _Amount:
    """A level's value as text; with a noun in the format, also the thing that is counted."""

    def __init__(self, text: str):
        self.text = text

    def __format__(self, noun: str) -> str:
        return f"{self.text} {noun}{'s' * (self.text != '1')}" if noun else self.text


def difference_in_words(gap: Gap, own: Mapping[str, Stated], best: Mapping[str, Stated]) -> str:
    """A level's difference in units of the thing; `own` and `best` are all values of the two decisions by label."""
    level = LevelRef.of_label(gap.level)
    mine, theirs = (
        level_text(gap.level, value, values).replace(", priority sum", " with priority sum")
        for value, values in ((gap.value, own), (gap.best, best))
    )
    text = _DIFFERENCES[level.name].format(own=_Amount(mine), best=_Amount(theirs), priority=level.priority)
    if level.priority is None or level.name == "jobs_admitted":
        return text
    return f"{text}, of those that no job below priority {level.priority} may evict"


def proof_scope(solution: Solution) -> str:
    """What a proof is limited to: the dump, or the configuration without what is not mirrored."""
    left_out = without(solution.doubts)
    return for_this_dump(solution.doubts) + (left_out and f" for the configuration{left_out}")


def verdict_sentence(one: Judgement) -> str:
    """The verdict, how far it is proved, and the first difference."""
    return _SENTENCES[one.verdict](one)


def _optimal(one: Judgement) -> str:
    own = one.contender.solution
    if own.proves and own.status is SolutionStatus.OPTIMAL:
        return f"proved optimal on every level{proof_scope(own)}"
    return f"equal on every level to the optimum, which is proved{proof_scope(own)}"


def _behind(one: Judgement) -> str:
    assert one.gap is not None
    mine = one.contender.standing.shown if one.contender.standing else {}
    text = difference_in_words(one.gap, mine, one.best_levels)
    if one.proved and not one.left_open:
        return f"worse than the proved optimum at {one.gap.level}: {text}"
    if one.proved:
        return f"worse than {one.best_engine} at {one.gap.level}: {text}; that this is the best value is proved"
    rest = f"whether a still better decision exists is open{_open(one)}"
    return f"worse than {one.best_engine} at {one.gap.level}: {text}; {rest}"


def _open(one: Judgement) -> str:
    return one.left_open and f": {one.left_open}"


def _findings(one: Judgement) -> str:
    rules = ", ".join(one.contender.rules)
    number = len(one.contender.solution.findings)
    return f"breaks {rules} ({number} violation{'s' * (number > 1)}) and ranks below every decision that breaks no rule"


_SENTENCES: Mapping[str, Callable[[Judgement], str]] = {
    "optimal": _optimal,
    "best": lambda one: f"the best decision here; that it is optimal is not proved{_open(one)}",
    "as good": lambda one: f"equal on every level to {one.best_engine}; that it is optimal is not proved{_open(one)}",
    "behind": _behind,
    "findings": _findings,
    "none": lambda one: f"no decision ({one.contender.solution.status.value})",
}
