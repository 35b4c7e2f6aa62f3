"""An explanation as lines and tables, before they are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cpsched.alterations import Alteration
from cpsched.doubts import for_this_dump
from cpsched.explanation.requirements import Requirement, named
from cpsched.explanation.result import (
    Candidate,
    CapacitySum,
    Explanation,
    NodeReasons,
    Reason,
    Repair,
    RepairChange,
    Victims,
)
from cpsched.objectives import level_text
from cpsched.tables import Block, Table

MOST_VICTIMS = 3
"""More evictions of one repair are named by their reasons, with so many tasks for each."""
MOST_SUMS = 12
"""Rows of the table of capacities."""
NO_REPAIR = (
    "No repair found: neither a queue's share, minAvailable, an eviction, a node's size nor more nodes would do."
)
_KINDS = {
    "queue": "a queue's share",
    "gang": "minAvailable",
    "eviction": "an eviction",
    "capacity": "a node's size",
    "nodes": "more nodes",
    "together": "several of these together",
}
_ADMITTED = {True: "yes", False: "feasible, but other jobs would use the capacity", None: "unknown (time limit)"}


def what_if_block(what_if: Sequence[Alteration]) -> Iterator[Block]:
    """How the cluster was changed; nothing if it was not."""
    if what_if:
        yield Table("What if", [""], [(f"{one.effect} ({one.option})",) for one in what_if])


def blocks(explanation: Explanation) -> Iterator[Block]:
    """The summary, then everything that supports it."""
    yield from what_if_block(explanation.what_if)
    yield from (f"Doubt: {doubt.text}" for doubt in explanation.doubts)
    yield explanation.summary
    if here := for_this_dump(explanation.doubts):
        yield f"What is called impossible or best is proved{here}."
    if len(explanation.placements) > 1:
        yield Table("Where", ["task", "node"], list(explanation.placements.items()))
    yield from _lines("Messages of the scheduler", explanation.told)
    yield from _nodes(explanation.nodes)
    yield from _capacity(explanation.capacity)
    yield from _lines("Other obstacles", explanation.concerns)
    for number, conflict in enumerate(explanation.conflicts, start=1):
        title = "Minimal conflict"
        title += " (without any one of these, the rest can be satisfied)" if explanation.conflicts_minimal else ""
        count = f", {number} of {len(explanation.conflicts)}" if len(explanation.conflicts) > 1 else ""
        yield Table(f"{title}{count}", ["requirement", "now"], [_requirement(one) for one in conflict])
    if explanation.rivals:
        rows = [(one.job or one.level or "", one.text) for one in explanation.rivals]
        yield Table("Competing jobs (without any one of these it could be placed)", ["who", ""], rows)
    yield from _alternative(explanation)
    yield from _repairs(explanation)
    yield from _candidates(explanation.candidates)
    yield from explanation.notes


def _nodes(groups: Sequence[NodeReasons]) -> Iterator[Block]:
    several = len({group.task for group in groups}) > 1
    rows = [(named(group.nodes), "; ".join(group.reasons) or "fits now") for group in groups]
    if several:
        wide = [(*row, group.task) for row, group in zip(rows, groups, strict=True)]
        yield Table("Nodes", ["nodes", "reason", "for tasks like"], wide)
    elif rows:
        yield Table("Nodes", ["nodes", "reason"], rows)


def _capacity(found: Sequence[CapacitySum]) -> Iterator[Block]:
    if not found:
        return
    rows = [
        (named(one.nodes), one.resource, one.allocatable, one.running, one.ending, one.free, one.needs)
        for one in found[:MOST_SUMS]
    ]
    columns = ["nodes", "resource", "#allocatable", "#running pods", "#ending pods", "#free", "#needs"]
    yield Table("Capacity (allocatable = running pods + ending pods + free)", columns, rows)
    if len(found) > MOST_SUMS:
        rest = sum(len(one.nodes) for one in found[MOST_SUMS:])
        yield f"Further sums of {rest} nodes are in the JSON form."


def _lines(title: str, lines: Sequence[str]) -> Iterator[Block]:
    if lines:
        yield Table(title, [""], [(line,) for line in lines])


def _requirement(one: Reason) -> tuple[str, str]:
    return Requirement(one.key, one.subject, one.nodes).label, one.text


def _alternative(explanation: Explanation) -> Iterator[Block]:
    if not explanation.alternative:
        return
    places = ", ".join(f"{task} on {node}" for task, node in list(explanation.alternative.items())[:5])
    more = ", ..." if len(explanation.alternative) > 5 else ""
    victims = ", ".join(explanation.alternative_evictions) or "no pod"
    titles = {"missed": "The optimum", "tied": "The other decision", "outranked": "Without the competing jobs"}
    title = titles.get(explanation.verdict, "Otherwise")
    yield f"{title}: {places}{more}, evicting {victims}."


def _repairs(explanation: Explanation) -> Iterator[Block]:
    if explanation.repairs:
        yield Table(
            "Smallest changes that would allow placement", ["change", "then placed"], repair_rows(explanation.repairs)
        )
    open_kinds = _open_kinds(explanation)
    if open_kinds and explanation.repairs:
        yield f"Time ended the search{_after(explanation)}, there may be other or smaller repairs: {open_kinds}."
    elif open_kinds:
        within = "in time" if explanation.time_limit is None else f"within {explanation.time_limit:g} s"
        yield f"No repair found {within}; {open_kinds}."
    elif not explanation.repairs and explanation.verdict in ("impossible", "outranked"):
        yield NO_REPAIR


def _after(explanation: Explanation) -> str:
    return "" if explanation.time_limit is None else f" after {explanation.time_limit:g} s"


def _open_kinds(explanation: Explanation) -> str:
    parts = (("not tried", explanation.repairs_not_tried), ("not finished", explanation.repairs_not_finished))
    return "; ".join(f"{_all([_KINDS[kind] for kind in kinds])} {what}" for what, kinds in parts if kinds)


def _all(names: Sequence[str]) -> str:
    *before, last = names
    if before:
        return f"{', '.join(before)} and {last} were"
    return f"{last} {'were' if last == _KINDS['nodes'] else 'was'}"


def repair_rows(found: Sequence[Repair]) -> list[tuple[str, str]]:
    """Each repair in words, and whether the job is then placed."""
    return [(" and ".join(_changes(one.changes)), _ADMITTED[one.admitted]) for one in found]


def _changes(changes: Sequence[RepairChange]) -> Iterator[str]:
    """Each change; many evictions as one for each reason why they are not made now."""
    evictions = [one for one in changes if one.kind == "eviction"]
    yield from (one.text for one in changes if one.kind != "eviction" or len(evictions) <= MOST_VICTIMS)
    victims_by_reason: dict[str, list[str]] = {}
    for one in evictions if len(evictions) > MOST_VICTIMS else ():
        victim, _, reason = one.text.removeprefix("evict ").partition(" (")
        victims_by_reason.setdefault(reason.removesuffix(")"), []).append(victim)
    for reason, victims in victims_by_reason.items():
        more = len(victims) - MOST_VICTIMS
        shown = ", ".join(victims[:MOST_VICTIMS]) + (f" and {more} more" if more > 0 else "")
        yield f"evict {len(victims)} task{'s' * (len(victims) > 1)} ({reason}): {shown}"


def _candidates(found: Sequence[Candidate]) -> Iterator[Block]:
    usable = [one for one in found if one.heuristic or one.optimal]
    if usable:
        names = list((usable[0].optimal or usable[0].heuristic or Victims(tasks=(), levels={})).levels)
        rows = [_candidate(one) for one in usable]
        yield Table(
            f"Candidate nodes ({', '.join(names)})", ["node", "heuristic", "score", "optimal", "score", ""], rows
        )
    by_reason: dict[str, list[str]] = {}
    for one in found:
        if one not in usable:
            by_reason.setdefault(one.reason or one.optimal_reason, []).append(one.node)
    if by_reason:
        yield Table("No candidates", ["nodes", "reason"], [(named(n), reason) for reason, n in by_reason.items()])


def _candidate(one: Candidate) -> tuple[str, ...]:
    marks = [*(["chosen"] if one.chosen else []), *(["best"] if one.best else [])]
    heuristic = _victims(one.heuristic) if one.heuristic else (one.reason, "")
    optimal = _victims(one.optimal) if one.optimal else (one.optimal_reason, "")
    return (one.node, *heuristic, *optimal, ", ".join(marks))


def _score(name: str, value: int | str | None, levels: Mapping[str, int | str | None]) -> str:
    """victim_count is shown beside, so that of the priority sum the sum is left."""
    text = level_text(name, value, levels)
    return text.partition(", priority sum ")[2] or text if "victim_count" in levels else text


def _victims(one: Victims) -> tuple[str, str]:
    broken = f" (breaks {', '.join(one.findings)})" if one.findings else ""
    score = ", ".join(_score(name, value, one.levels) for name, value in one.levels.items())
    return f"{', '.join(one.tasks) or 'no pod'}{broken}", score
