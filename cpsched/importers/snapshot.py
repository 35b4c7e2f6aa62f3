"""What translators of other programs' snapshots share: what else was given, and what they left aside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cpsched.importers.kubernetes import Report


@dataclass
class Context:
    """Goes through a translation and collects."""

    report: Report
    lenient: bool = False
    given: frozenset[tuple[str, str]] = frozenset()
    """(kind, name) of the objects given beside the snapshot; they take the place of made ones"""
    notes: list[str] = field(default_factory=list)
    """what was translated with a change that can bear on decisions"""

    def leave(self, fields: Iterable[str]) -> None:
        """Count fields as left aside."""
        self.report.unread.update(fields)

    def note(self, count: int, one: str, many: str) -> None:
        """A change, told once for all it happened to; nothing for none."""
        if count:
            self.notes.append(f"{count} {one if count == 1 else many}")
