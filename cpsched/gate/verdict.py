"""What the gate says about one case: held against the rules, against its baseline, and against the optimum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cpsched.gate.affected import changes
from cpsched.gate.baseline import Behind, Entry
from cpsched.gate.demands import Demands, not_optimal, too_far
from cpsched.gate.measure import Distance, Measured
from cpsched.objectives import level_text
from cpsched.policy.levels import LevelRef, Stated
from cpsched.ranking import FINDINGS, Standing, first_difference

Kind = Literal["rule", "worse", "further", "idle", "gap", "no answer", "engine error", "bad case"]
State = Literal["passed", "failed", "no answer", "error", "bad case"]
NOTHING_MORE = Demands()
_STATES: dict[str, State] = {"no answer": "no answer", "engine error": "error", "bad case": "bad case"}


@dataclass(frozen=True)
class Fault:
    """One reason why a case does not pass."""

    kind: Kind
    """rule: breaks one. worse: than the baseline on a level. further: from the optimum than the baseline was. idle:
    decides nothing where something was possible. gap: further from the best decision than the user allows."""
    key: str
    """The rule's or level's key; empty for the others."""
    message: str
    names: str = ""
    """Which jobs, tasks and victims, and where they were before."""


@dataclass(frozen=True)
class CaseVerdict:
    """A case with its faults, and what else is worth saying of it."""

    case: Measured
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    better: bool = False
    """Better than the baseline, which could be updated."""

    @property
    def state(self) -> State:
        """In one word."""
        return _STATES.get(self.case.outcome, "failed" if self.faults else "passed")


def verdict(case: Measured, entry: Entry | None, *, has_baseline: bool, demands: Demands = NOTHING_MORE) -> CaseVerdict:
    """Without an entry every finding is a fault; with one, only what is worse than it. Demands hold either way."""
    if case.outcome != "decided":
        return CaseVerdict(case, (Fault(case.outcome, "", case.error),))
    against = _by_baseline(case, entry, has_baseline=has_baseline)
    if not (further := tuple(_demanded(case, demands, against.faults))):
        return against
    return replace(against, faults=(*against.faults, *further), better=False)


def _by_baseline(case: Measured, entry: Entry | None, *, has_baseline: bool) -> CaseVerdict:
    """By rules, baseline and distances, of a case that was decided."""
    if entry is None:
        new = ("new: not in the baseline",) * has_baseline
        return CaseVerdict(case, (*_rules(case, {}), *_idle(case)), (*case.doubts, *new))
    faults = list(_rules(case, entry.findings))
    notes = list(case.doubts)
    if is_same_question(case, entry):
        change = compared_with(case, entry)
        better = change is not None and not change[0]
        if change is not None and change[0] and not (change[1] == FINDINGS and faults):
            names = "" if entry.decision is None else changes(case.decision, entry.decision, "in the baseline")
            faults.append(Fault("worse", change[1], change[2], names))
    else:
        better = False
        notes.append("changed: the instance or its policy is not what it was; only distances can be compared")
        faults += _further(case, entry) or _idle(case)
    if known := sum(min(count, entry.findings.get(rule, 0)) for rule, count in case.rules.items()):
        notes.append(f"{known} finding{'s' * (known > 1)} accepted by the baseline")
    return CaseVerdict(case, tuple(faults), tuple(notes), better and not faults)


def is_same_question(case: Measured, entry: Entry) -> bool:
    """Whether the levels can be compared one by one."""
    return case.instance == entry.instance and list(case.levels) == list(entry.levels)


def compared_with(case: Measured, entry: Entry) -> tuple[bool, str, str] | None:
    """(whether it is worse now, on which level, in words) at the first difference; None if there is none."""
    now = Standing.stated(_refs(case.levels), len(case.findings))
    before = Standing.stated(_refs(entry.levels), sum(entry.findings.values()))
    rank = first_difference(now, before)
    if rank is None:
        return None
    if rank == 0:
        return now.key > before.key, FINDINGS, f"{now.findings} findings, {before.findings} in the baseline"
    level = now.labels[rank - 1]
    was = level_text(level, entry.levels[level], entry.levels)
    words = f"{level} is {level_text(level, case.levels[level], case.levels)}, {was} in the baseline"
    return now.key > before.key, level, words


def _refs(levels: Mapping[str, Stated]) -> list[tuple[LevelRef, Stated]]:
    return [(LevelRef.of_label(label), value) for label, value in levels.items()]


def _rules(case: Measured, accepted: Mapping[str, int]) -> Iterator[Fault]:
    """One fault per rule that is broken more often than accepted, with the first finding as its words."""
    for rule, count in sorted(case.rules.items()):
        if count > accepted.get(rule, 0):
            first = next(finding for finding in case.findings if finding.rule == rule)
            more = f" (and {count - 1} more)" if count > 1 else ""
            known = f"; the baseline accepts {accepted[rule]}" if rule in accepted else ""
            yield Fault("rule", rule, f"{first.subject} {first.message}{more}{known}".strip())


def _idle(case: Measured) -> list[Fault]:
    """Nothing decided although the best decision places tasks."""
    best = case.distance
    if best is None or best.gap is None or not case.decision.is_empty or not best.names.placed:
        return []
    behind = _behind(case, best)
    return [Fault("idle", best.gap.level, f"decides nothing; {behind}", _missed(case, best))]


def _demanded(case: Measured, demands: Demands, faults: Sequence[Fault]) -> Iterator[Fault]:
    """What the user does not allow, unless the same level is named already."""
    named = {fault.key for fault in faults if fault.kind == "idle"}
    found = list(too_far(case, demands))
    if demands.optimal and (wrong := not_optimal(case)) is not None:
        found.append(wrong)
    for level, words in found:
        if level not in named:
            named.add(level)
            yield Fault("gap", level, words, "" if case.distance is None else _missed(case, case.distance))


def _missed(case: Measured, best: Distance) -> str:
    return changes(case.decision, best.names, "in the best decision")


def _behind(case: Measured, best: Distance) -> str:
    assert best.gap is not None
    here = level_text(best.gap.level, best.gap.value, case.levels)
    return f"behind the optimum at {best.gap.level}: {here} against {level_text(best.gap.level, best.gap.best)}"


def _further(case: Measured, entry: Entry) -> list[Fault]:
    """Whether a case that has changed is further from its optimum than it was from the former one; proofs only."""
    now, before = case.distance, entry.optimum
    if now is None or not now.proved or now.gap is None or before in (None, "open"):
        return []
    if isinstance(before, Behind) and not before.proved:
        return []
    labels = [FINDINGS, *case.levels]
    place = labels.index(now.gap.level)
    words, names = _behind(case, now), _missed(case, now)
    if not isinstance(before, Behind):
        return [Fault("further", now.gap.level, f"{words}; in the baseline it reached its optimum", names)]
    was = labels.index(before.level) if before.level in labels else len(labels)
    larger = (now.gap.difference or 0) > (before.difference or 0)
    if place < was or (place == was and larger):
        value = level_text(before.level, before.value, entry.levels)
        then = f"{value} against {level_text(before.level, before.best)}"
        return [Fault("further", now.gap.level, f"{words}; in the baseline at {before.level}: {then}", names)]
    return []
