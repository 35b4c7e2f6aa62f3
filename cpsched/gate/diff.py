"""Two baselines of the same cases side by side: what is better, worse or gone in the second, by level and by tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cpsched.gate.affected import Affected, changes
from cpsched.gate.baseline import Baseline, Entry
from cpsched.objectives import level_text
from cpsched.policy.levels import LevelRef
from cpsched.ranking import FINDINGS, Standing, first_difference

Change = Literal["worse", "better", "other decision", "same", "changed", "removed", "new"]
"""changed: the case is another question than it was; other decision: as good, but other names."""
Tags = Mapping[str, Sequence[str]]
BEFORE = "before"


@dataclass(frozen=True)
class CaseChange:
    """One case in both files."""

    id: str
    change: Change
    level: str = ""
    """The first level that differs, or `findings`."""
    before: str = ""
    after: str = ""
    """The values there, for a reader."""
    names: str = ""
    """Which jobs, tasks and victims."""


@dataclass(frozen=True)
class BaselineDiff:
    """All of them, in order of their ids."""

    before: Baseline
    after: Baseline
    cases: tuple[CaseChange, ...]
    tags: Mapping[str, Tags] = field(default_factory=dict)
    """Case → its tags by group, of cases whose corpus states any."""

    @classmethod
    def of(cls, before: Baseline, after: Baseline, tags: Mapping[str, Tags]) -> BaselineDiff:
        """What lies between the two."""
        ids = sorted({*before.cases, *after.cases})
        found = tuple(_change(one, before.cases.get(one), after.cases.get(one)) for one in ids)
        return cls(before, after, found, tags)

    def of_change(self, *wanted: Change) -> list[CaseChange]:
        """The cases of which this holds."""
        return [one for one in self.cases if one.change in wanted]

    @property
    def counts(self) -> Counter[Change]:
        """How many cases are better, worse, and so on."""
        return Counter(one.change for one in self.cases)

    @property
    def headline(self) -> str:
        """The whole in one sentence."""
        total, counts = len(self.cases), self.counts
        order: tuple[Change, ...] = ("worse", "better", "other decision", "same", "changed", "removed", "new")
        parts = [f"{counts[one]} {_WORDS.get(one, one)}" for one in order if counts[one]]
        return ", ".join([f"{total} case{'s' * (total != 1)}", *parts])

    @property
    def by_level(self) -> dict[str, tuple[int, int]]:
        """Level → cases that first differ there: worse, better."""
        return _counted((one.level, one.change) for one in self.of_change("worse", "better"))

    @property
    def by_tag(self) -> dict[str, tuple[int, int]]:
        """Tag → cases with it: worse, better."""
        return _counted(
            (f"{group} {tag}", one.change)
            for one in self.of_change("worse", "better")
            for group, found in sorted(self.tags.get(one.id, {}).items())
            for tag in found
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "apiVersion": "cpsched/v1",
            "kind": "BaselineDiff",
            "before": {"engine": self.before.engine, "versions": self.before.versions},
            "after": {"engine": self.after.engine, "versions": self.after.versions},
            "headline": self.headline,
            "counts": dict(self.counts),
            "by_level": {level: {"worse": worse, "better": more} for level, (worse, more) in self.by_level.items()},
            "by_tag": {tag: {"worse": worse, "better": more} for tag, (worse, more) in self.by_tag.items()},
            "cases": [vars(one) for one in self.cases if one.change != "same"],
        }


_WORDS: dict[Change, str] = {"other decision": "decided differently but as good", "changed": "not comparable"}


def _change(name: str, before: Entry | None, after: Entry | None) -> CaseChange:
    if before is None:
        return CaseChange(name, "new")
    if after is None:
        return CaseChange(name, "removed")
    if (before.instance, before.model) != (after.instance, after.model) or list(before.levels) != list(after.levels):
        return CaseChange(name, "changed")
    one, other = _standing(before), _standing(after)
    names = changes(after.decision or Affected(), before.decision or Affected(), BEFORE)
    rank = first_difference(one, other)
    if rank is None:
        return CaseChange(name, "other decision" if names else "same", names=names)
    change: Change = "worse" if other.key > one.key else "better"
    if rank == 0:
        return CaseChange(name, change, FINDINGS, _broken(before), _broken(after), names)
    level = one.labels[rank - 1]
    was, now = (level_text(level, entry.levels[level], entry.levels) for entry in (before, after))
    return CaseChange(name, change, level, was, now, names)


def _standing(entry: Entry) -> Standing:
    levels = [(LevelRef.of_label(label), value) for label, value in entry.levels.items()]
    return Standing.stated(levels, sum(entry.findings.values()))


def _broken(entry: Entry) -> str:
    return ", ".join(f"{rule} {count}" for rule, count in sorted(entry.findings.items())) or "none"


def _counted(pairs: Iterator[tuple[str, Change]]) -> dict[str, tuple[int, int]]:
    """Worst first."""
    found: dict[str, list[int]] = {}
    for key, change in pairs:
        found.setdefault(key, [0, 0])[change == "better"] += 1
    ordered = sorted(found.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))
    return {key: (worse, better) for key, (worse, better) in ordered}
