"""A study in a few rows: per model and engine, what was decided and how it stands against the optimum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from cpsched.contents import Size, read_of_many
from cpsched.lab.study.results import Row

MOST_FAILURES = 10


@dataclass
class StudySummary:
    """Counts of one pass over the cells."""

    groups: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    failures: list[Row] = field(default_factory=list)
    """The first ones."""
    doubts: Counter[str] = field(default_factory=Counter)
    """What is left out of the configuration → cells."""
    choices: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(instance, model) → the model and what decided that it is this one."""
    sizes: dict[str, Size] = field(default_factory=dict)
    """Instance → what it holds."""

    @classmethod
    def of(cls, cells: Iterable[Row]) -> StudySummary:
        """Count what happened."""
        summary = cls()
        for row in cells:
            summary.add(row)
        return summary

    def add(self, row: Row) -> None:
        """Count one more cell."""
        group = (row["model"], row["engine"])
        counts = self.groups.setdefault(group, Counter())
        counts["cells"] += 1
        if row["status"] != "input":
            size = (row["nodes"], row["tasks_running"], row["tasks_pending"])
            self.sizes[row["instance"]] = Size(*(count or 0 for count in size))
            self.choices[row["instance_sha256"], row["model"]] = (row["model"], row["model_by"] or "")
        self.doubts.update((row["doubts"] or "").splitlines())
        counts[row["status"]] += 1
        counts["failed"] += row["status"] != "ok"
        counts["proved"] += row["solution"] == "optimal"
        counts["findings"] += row["findings"] > 0
        counts[row["compared"] or ""] += 1
        if row["wall_seconds"] is not None:
            self.seconds.setdefault(group, []).append(row["wall_seconds"])
        if row["status"] != "ok" and len(self.failures) < MOST_FAILURES:
            self.failures.append(row)

    def read(self) -> list[str]:
        """What the instances hold, in a few lines."""
        return read_of_many(self.sizes, "instance")

    def models(self) -> list[dict[str, Any]]:
        """How many instances have which model, and by what."""
        counts = Counter(self.choices.values())
        return [{"model": model, "by": by or None, "instances": count} for (model, by), count in counts.most_common()]

    def rows(self) -> list[dict[str, Any]]:
        """One per model and engine, in the order of the study."""
        shown = ("cells", "failed", "findings", "proved", "same", "behind", "ahead")
        return [
            {
                "model": model,
                "engine": engine,
                **{name: counts[name] for name in shown},
                "median_seconds": round(median(seconds), 3) if (seconds := self.seconds.get((model, engine))) else None,
            }
            for (model, engine), counts in self.groups.items()
        ]
