"""The difference between two baselines as a report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from cpsched.gate.diff import BaselineDiff, Change
from cpsched.report.document import Cell, Report, Section, Table, Text, Tone, table

TONES: dict[str, Tone] = {"worse": "worse", "better": "better"}


def changed(diff: BaselineDiff, files: tuple[str, str], corpus: str | None) -> Report:
    """Headline, what is worse, what is better, where, and what cannot be compared."""
    tone: Tone = "worse" if diff.counts["worse"] else "better" if diff.counts["better"] else "quiet"
    return Report(
        title="Two baselines",
        about=f"{files[0]} (engine {diff.before.engine}) before, {files[1]} (engine {diff.after.engine}) after",
        verdict=(Cell(f"{diff.headline}.", tone),),
        facts=(),
        sections=tuple(_sections(diff, files, corpus)),
    )


def _sections(diff: BaselineDiff, files: tuple[str, str], corpus: str | None) -> Iterator[Section]:
    for change, title in (("worse", "Worse"), ("better", "Better")):
        if found := _cases(diff, change, title):
            yield Section(change, title, (found,))
    if (worse := diff.of_change("worse")) and corpus is not None:
        words = ["cpsched", "check", corpus, "--engine", diff.after.engine, "--baseline", files[0], "--case"]
        rows = [(one.id, f"{shlex.join([*words, one.id])}") for one in worse]
        yield Section("reproduce", "Reproduce", (table("Commands", ["case", "command"], rows),))
    for key, counts, what in (("level", diff.by_level, "first level that differs"), ("tag", diff.by_tag, "tag")):
        if counts:
            yield Section(f"by-{key}", f"By {key}", (_counts(counts, what),))
    if other := diff.of_change("other decision"):
        rows = [(one.id, one.names) for one in other]
        yield Section("other", "Decided differently but as good", (table("Cases", ["case", ""], rows),))
    if apart := diff.of_change("changed", "removed", "new"):
        why: dict[Change, str] = {
            "changed": "the instance or its policy is not the same",
            "removed": "only in the first",
            "new": "only in the second",
        }
        rows = [(one.id, why[one.change]) for one in apart]
        blocks = (Text("These count neither as better nor as worse."), table("Cases", ["case", ""], rows))
        yield Section("apart", "Not comparable", blocks)


def _cases(diff: BaselineDiff, change: str, title: str) -> Table | None:
    found = [one for one in diff.cases if one.change == change]
    rows = [(one.id, one.level, one.before, Cell(one.after, TONES[change]), one.names) for one in found]
    return table(title, ["case", "level", "before", "after", "names"], rows) if rows else None


def _counts(counts: Mapping[str, tuple[int, int]], what: str) -> Table:
    rows = [(key, str(worse), str(better)) for key, (worse, better) in counts.items()]
    return table("Cases", [what, "#worse", "#better"], rows)
