"""What translators of other programs' snapshots share: what else was given, and what they left aside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cpsched.aside import Aside
from cpsched.importers.kubernetes import ReadReport
from cpsched.importers.raw import Raw

if TYPE_CHECKING:
    from cpsched.workloads.expand import Given


@dataclass
class Context:
    """Goes through a translation and collects."""

    report: ReadReport
    lenient: bool = False
    strict: bool = False
    """every fault is an error, as for a case; for a cluster, what cannot be read is set aside"""
    given: frozenset[tuple[str, str]] = frozenset()
    """(kind, name) of the objects given beside the snapshot; they take the place of made ones"""
    held: bool = False
    """with the tasks of jobs that wait for enqueue"""
    workloads: list[Given] = field(default_factory=list)
    """objects whose controllers make pods"""
    unnamed: list[tuple[Raw, str, str]] = field(default_factory=list)
    """objects that say only how their names begin, with file and place"""
    notes: list[str] = field(default_factory=list)
    """what was translated with a change that can bear on decisions"""
    captured: dict[str, Any] = field(default_factory=dict)
    """the moment and the configuration that `cpsched capture` wrote beside the objects"""
    counted: dict[str, Any] = field(default_factory=dict)
    """what the program that wrote the input counts by itself; it stands in `found_out` of the instance"""

    @property
    def aside(self) -> Aside | None:
        """Takes what cannot be read; None if that is an error."""
        return None if self.strict else self.report.aside

    def leave(self, fields: Iterable[str]) -> None:
        """Count fields as left aside."""
        self.report.unread.update(fields)

    def note(self, count: int, one: str, many: str) -> None:
        """A change, stated once for all it happened to; nothing for none."""
        if count:
            self.notes.append(f"{count} {one if count == 1 else many}")
