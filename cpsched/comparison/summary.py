"""Many comparisons, counted: engine by engine, rule by rule, level by level."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cpsched.comparison.compare import Comparison, Judgement
from cpsched.ranking import FINDINGS

KEPT = 10
"""How many of the worst cases are remembered per engine."""


@dataclass(frozen=True)
class Bad:
    """A case in which an engine is behind or breaks rules."""

    id: str
    sentence: str
    order: tuple[int, ...]
    """Sorts the worst first: findings, most of them first; then by the level, by the amount."""


@dataclass
class ModelTally:
    """How one engine fared."""

    cases: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    """rule → cases in which it is broken."""
    levels: Counter[str] = field(default_factory=Counter)
    """level → cases in which it is the first one behind, among decisions without findings."""
    worst: list[Bad] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int, int, int, int, int]:
        """All, optimal, as good as the best, behind, with findings, without decision."""
        v = self.verdicts
        return (self.cases, v["optimal"], v["best"] + v["as good"], v["behind"], v["findings"], v["none"])

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        names = ("cases", "optimal", "unproved", "behind", "findings", "none")
        return {
            **dict(zip(names, self.counts, strict=True)),
            "rules": dict(self.rules.most_common()),
            "levels": dict(self.levels),
            "worst": [{"id": one.id, "sentence": one.sentence} for one in self.worst],
        }


class CorpusSummary:
    """Grows case by case and keeps only counts and the worst."""

    def __init__(self, engines: Sequence[str]):
        self.tallies = {name: ModelTally() for name in engines}
        self.cases = 0
        self.doubts: Counter[str] = Counter()
        """What is left out of the configuration → cases."""
        self.in_doubt: Counter[str] = Counter()
        """What inputs contradict or lack → cases."""
        self.failed: list[str] = []
        """What went wrong with cases that could not be compared, a line each."""

    def add(self, comparison: Comparison) -> None:
        """Count one more case."""
        self.cases += 1
        self.doubts.update({str(doubt) for doubt in comparison.doubts if not doubt.is_of_input})
        self.in_doubt.update({str(doubt) for doubt in comparison.doubts if doubt.is_of_input})
        for one in comparison.judgements:
            self._count(comparison, one, self.tallies.setdefault(one.engine, ModelTally()))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        engines = {name: tally.to_dict() for name, tally in self.tallies.items() if tally.cases}
        both = {"doubts": self.doubts, "inputs_in_doubt": self.in_doubt}
        doubts = {name: dict(counts.most_common()) for name, counts in both.items() if counts}
        return {"cases": self.cases, "failed": self.failed, **doubts, "engines": engines}

    def _count(self, comparison: Comparison, one: Judgement, tally: ModelTally) -> None:
        tally.cases += 1
        tally.verdicts[one.verdict] += 1
        tally.rules.update(one.contender.rules)
        if one.verdict == "behind" and one.gap is not None:
            tally.levels[one.gap.level] += 1
        if one.verdict in ("behind", "findings"):
            bad = Bad(comparison.id, one.sentence, _order(comparison, one))
            tally.worst = heapq.nsmallest(KEPT, [*tally.worst, bad], key=lambda item: (item.order, item.id))


def _order(comparison: Comparison, one: Judgement) -> tuple[int, ...]:
    findings = len(one.contender.solution.findings)
    if one.gap is None or one.gap.level == FINDINGS:
        return (-findings, 0, 0)
    return (-findings, list(comparison.levels).index(one.gap.level), -(one.gap.difference or 0))
