"""What a Comparison (the JSON of `cpsched compare`) says: who is behind, where, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cpsched.errors import InputError
from cpsched.report.document import Block, Cell, Report, Section, Table, Text, table
from cpsched.report.jobs import stay_rows
from cpsched.report.standing import TONES, shown
from cpsched.report.words import level_words
from cpsched.solution import Solution

KIND = "Comparison"


@dataclass(frozen=True)
class DecisionFacts:
    """A comparison as far as it is words: the cluster itself is not in it."""

    title: str
    model: str
    instance_sha256: str
    names: tuple[str, ...]
    solutions: tuple[Solution, ...]
    verdict: tuple[Cell, ...]
    differences: tuple[Table, ...]
    reasons: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Decision → task → why the engine treats it otherwise than the best decision does."""

    @classmethod
    def parse(cls, data: Any, *, file: str | None = None) -> DecisionFacts:
        """Read the JSON form; InputError says in one line what is wrong."""
        if not isinstance(data, Mapping) or data.get("kind") != KIND:
            kind = data.get("kind") if isinstance(data, Mapping) else None
            right = "give what compare -o wrote about one instance"
            raise InputError(f"kind is {kind!r}", file=file, place="kind", right=right)
        try:
            engines = data["engines"]
            best = data["reference"]
            return cls(
                title=data["id"],
                model=data["model"],
                instance_sha256=data["instance_sha256"],
                names=tuple(one["engine"] for one in engines),
                solutions=tuple(Solution.parse(one["solution"], file=file) for one in engines),
                verdict=tuple(
                    Cell(f"{one['engine']}: {one['sentence']}.", TONES.get(one["verdict"], "better")) for one in engines
                ),
                differences=tuple(_differences(one, best) for one in engines if one["differences"]),
                reasons={
                    one["engine"]: {each["task"]: each["reason"] for each in one["differences"]} for one in engines
                },
            )
        except (KeyError, TypeError) as error:
            wrong = f"not a whole {KIND} ({error})"
            raise InputError(wrong, file=file, right="give what compare -o wrote about one instance") from None


def doubt_cells(solutions: Iterable[Solution]) -> list[Cell]:
    """What decisions leave out of their configuration, each thing once."""
    texts = dict.fromkeys(doubt.text for one in solutions for doubt in one.doubts)
    return [Cell(f"Doubt: {text}", "worse") for text in texts]


def stated_report(facts: DecisionFacts, file: str) -> Report:
    """The report without the cluster: levels, differences and reasons as the file states them, no picture."""
    sections = [
        Section("levels", "Levels", tuple(_levels(facts))),
        Section("differences", "What differs, and why", facts.differences or (Text("Nothing differs."),)),
        Section(
            "stays", "Why pods stay pending", tuple(_rows(facts, "task", "reason stated by the engine", _stay_rows))
        ),
        Section("findings", "Rules", tuple(_rows(facts, "rule", "message", _finding_rows))),
    ]
    unchecked = f"Everything here is what {file} states; without the cluster nothing of it was checked."
    hint = "A Comparison does not hold the cluster; cpsched report CLUSTER --solution COMPARISON checks and draws it."
    stated = (Cell(f"Stated, not checked: {cell.text}", cell.tone) for cell in facts.verdict)
    return Report(
        title=facts.title,
        about=f"A comparison of {', '.join(facts.names)}; {file} states the model {facts.model}",
        verdict=(Cell(unchecked, "worse"), *doubt_cells(facts.solutions), *stated, Cell(hint, "quiet")),
        facts=(),
        sections=tuple(sections),
        made_from=(f"Instance {facts.instance_sha256}",),
    )


def _differences(one: Mapping[str, Any], best: str) -> Table:
    engine = one["engine"]
    rows = [(each["task"], each["here"], each["there"], each["reason"]) for each in one["differences"]]
    title = f"What {engine} decides differently from {best}, and why"
    return table(title, ("task", engine, best, f"why {engine} does so"), rows)


def _levels(facts: DecisionFacts) -> list[Block]:
    levels = next((one.levels for one in facts.solutions if one.levels), ())
    rows: list[tuple[str | Cell, ...]] = []
    for level in levels:
        own = [next((o for o in one.levels if o.label == level.label), None) for one in facts.solutions]
        values = [
            "–" if each is None else shown(each, one.levels) for each, one in zip(own, facts.solutions, strict=True)
        ]
        rows.append((level.label, Cell(level_words(level.name, level.priority), "quiet"), *values))
    columns = ("level", "counts", *(f"#{name}" for name in facts.names))
    return [table("Levels as stated, most important first", columns, rows)]


def _stay_rows(solution: Solution) -> Sequence[tuple[str, str]]:
    return stay_rows(solution.unplaced)


def _finding_rows(solution: Solution) -> Sequence[tuple[str, str]]:
    return [(one.rule, f"{one.subject}: {one.message}" if one.subject else one.message) for one in solution.findings]


def _rows(facts: DecisionFacts, what: str, why: str, of: Any) -> list[Block]:
    rows = [(name, *row) for name, one in zip(facts.names, facts.solutions, strict=True) for row in of(one)]
    return [table(f"By decision: {what}", ("decision", what, why), rows)] if rows else [Text("Nothing to tell.")]
