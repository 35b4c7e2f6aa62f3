"""A comparison: several engines on one session, level by level, and what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from cpsched.alterations import Alteration
from cpsched.comparison.contender import Contender, contend
from cpsched.comparison.differences import TaskDifference, differences
from cpsched.comparison.optima import Optima
from cpsched.comparison.reasons import Reasons
from cpsched.comparison.session import Session
from cpsched.comparison.shortfall import gangs_short
from cpsched.comparison.verdicts import verdict_sentence
from cpsched.completeness.registry import doubts
from cpsched.contents import contents, nothing_to_decide
from cpsched.doubts import Doubt
from cpsched.objectives import open_levels
from cpsched.options import Options
from cpsched.policy.levels import LevelRef
from cpsched.ranking import FINDINGS, Gap, gap
from cpsched.snapshot import Snapshot
from cpsched.solution import SolutionStatus

Verdict = Literal["optimal", "best", "as good", "behind", "findings", "none"]
"""optimal: proved. best: none is better, not proved. as good: as the best, not proved. none: no decision."""


@dataclass(frozen=True)
class Judgement:
    """One contender measured against the best."""

    contender: Contender
    verdict: Verdict
    gap: Gap | None
    proved: bool
    """Whether what it is measured by is proved on the level where they part (on all levels, if they do not)."""
    differences: tuple[TaskDifference, ...] = ()
    best_levels: Mapping[str, int | str | None] = field(default_factory=dict)
    """The values of what it is measured by, by label."""
    short: Mapping[str, int] = field(default_factory=dict)
    """Level of jobs_admitted → how many of its jobs got less than their minimum."""
    left_open: str = ""
    """The levels that the search for the optimum left open."""
    best_engine: str = ""
    """What it is measured by."""

    @property
    def engine(self) -> str:
        """The name it was asked for by."""
        return self.contender.engine

    @cached_property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return verdict_sentence(self)

    def to_dict(self, *, solutions: bool = True) -> dict[str, Any]:
        """As JSON; `solutions` adds the whole decision."""
        own = self.contender
        shown: dict[str, Any] = {
            "engine": own.engine,
            "decided_by": own.solution.engine,
            "status": own.solution.status.value,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "first_difference": None if self.gap is None else vars(self.gap),
            "proved": self.proved,
            "findings": [finding.model_dump(mode="json") for finding in own.solution.findings],
            "levels": {} if own.standing is None else own.standing.shown,
            **({"with_too_little": dict(self.short)} if self.short else {}),
            "differences": [vars(difference) for difference in self.differences],
        }
        if own.note:
            shown["note"] = own.note
        return shown | ({"solution": own.solution.to_dict()} if solutions else {})


@dataclass(frozen=True)
class Comparison:
    """All engines on one session; `str()`, `to_markdown()` and a notebook show it, `to_dict()` is the JSON."""

    id: str
    model: str
    instance_sha256: str
    judgements: tuple[Judgement, ...]
    reference: str
    """The engine whose decision is the best."""
    warnings: tuple[str, ...] = ()
    cache_warning: str = ""
    """The one of them about the folder of remembered optima, which the answer does not depend on."""
    doubts: tuple[Doubt, ...] = ()
    """What the configuration runs and every decision here leaves out."""
    what_if: tuple[Alteration, ...] = ()
    """How the cluster was changed before it was decided on."""
    choice: str = ""
    """Why this model, where the input decided it."""
    read: str = ""
    """What the input holds, in one line."""
    nothing: str = ""
    """Why there was nothing to decide."""

    def __getitem__(self, engine: str) -> Judgement:
        """The judgement of one engine."""
        return next(one for one in self.judgements if one.engine == engine)

    @property
    def engines(self) -> tuple[str, ...]:
        """In the order asked for."""
        return tuple(one.engine for one in self.judgements)

    @property
    def best(self) -> Judgement:
        """Whom the others are measured by."""
        return self[self.reference]

    @cached_property
    def levels(self) -> dict[str, dict[str, int | str | None]]:
        """label → engine → value, most important level first."""
        decided = [one for one in self.judgements if one.contender.standing is not None]
        labels = decided[0].contender.standing.labels if decided and decided[0].contender.standing else ()
        shown = {one.engine: one.contender.standing.shown for one in decided if one.contender.standing}
        return {label: {engine: values[label] for engine, values in shown.items()} for label in labels}

    def to_dict(self, *, solutions: bool = True) -> dict[str, Any]:
        """The JSON form."""
        return {
            "apiVersion": "cpsched/v1",
            "kind": "Comparison",
            "id": self.id,
            "model": self.model,
            **({"choice": self.choice} if self.choice else {}),
            "instance_sha256": self.instance_sha256,
            "read": self.read,
            **({"nothing_to_decide": self.nothing} if self.nothing else {}),
            "reference": self.reference,
            **({"what_if": [one.model_dump() for one in self.what_if]} if self.what_if else {}),
            **({"doubts": [doubt.model_dump() for doubt in self.doubts]} if self.doubts else {}),
            "levels": [
                {
                    "level": label,
                    "better": "more" if LevelRef.of_label(label).is_better_more else "less",
                    "values": values,
                }
                for label, values in self.levels.items()
            ],
            "engines": [one.to_dict(solutions=solutions) for one in self.judgements],
        }

    def to_markdown(self) -> str:
        """Headline, levels and differences as Markdown."""
        from cpsched.comparison.text import markdown

        return markdown(self)

    def __str__(self) -> str:
        from cpsched.comparison.text import plain

        return plain(self)

    def _repr_html_(self) -> str:
        from cpsched.comparison.text import html

        return html(self)


def compare(session: Session, names: Sequence[str], options: Options, optima: Optima) -> Comparison:
    """Let every engine decide and hold all against the best of them."""
    contenders = [contend(session, name, options, optima) for name in names]
    return compared(session, contenders, options)


def compared(session: Session, contenders: Sequence[Contender], options: Options) -> Comparison:
    """Hold decisions that are already there against the best of them."""
    best = best_of(contenders)
    snapshot = Snapshot(session.instance, session.policy)
    judgements = tuple(
        replace(_with_reasons(session, one, best, options), short=gangs_short(snapshot, one.contender.solution))
        for one in measured(contenders)
    )
    cache = next((one.cache_warning for one in contenders if one.cache_warning), "")
    notes = (f"{one.engine}: {note}" for one in contenders for note in one.solution.notes)
    warnings = (*session.instance.warnings, *session.policy.warnings, *([cache] if cache else []), *notes)
    about = (session.id, session.policy.name, session.instance.sha256)
    idle = [nothing_to_decide(snapshot, one.solution) for one in contenders]
    return Comparison(
        *about,
        judgements,
        best.engine,
        warnings,
        cache,
        doubts(session.instance, session.policy),
        session.instance.what_if,
        session.policy.choice,
        contents(session.instance, session.policy),
        idle[0] if all(idle) else "",
    )


def best_of(contenders: Sequence[Contender]) -> Contender:
    """The best decision; of equals the first, a proved one before others."""
    return min(contenders, key=lambda one: (one.standing is None, _key(one), not one.solution.proves))


def measured(contenders: Sequence[Contender]) -> tuple[Judgement, ...]:
    """Each held against the best of them, without the tasks that differ."""
    best = best_of(contenders)
    left_open = open_levels(best.solution.levels) if best.solution.proves else ""
    return tuple(replace(_judgement(one, best), left_open=left_open, best_engine=best.engine) for one in contenders)


def _key(contender: Contender) -> Any:
    return () if contender.standing is None else contender.standing.key


def _judgement(one: Contender, best: Contender) -> Judgement:
    if one.standing is None or best.standing is None:
        return Judgement(one, "none", None, False)
    behind = gap(one.standing, best.standing)
    proved = _is_proved(best, behind)
    verdict = _verdict(one, best, behind, proved)
    return Judgement(one, verdict, None if one is best else behind, proved, best_levels=best.standing.shown)


def _with_reasons(session: Session, one: Judgement, best: Contender, options: Options) -> Judgement:
    """With the tasks that differ from the best decision, and why."""
    own = one.contender
    if own is best or one.verdict == "none":
        return one
    reasons = _tie if one.gap is None else Reasons(session, own, best.solution, options)
    return replace(one, differences=differences(own.solution, best.solution, reasons))


def _tie(task: str, kind: str) -> str:
    return "a tie: no level distinguishes the two"


def _verdict(one: Contender, best: Contender, behind: Gap | None, proved: bool) -> Verdict:
    if one.solution.findings:
        return "findings"
    if behind is not None:
        return "behind"
    if proved:
        return "optimal"
    return "best" if one is best else "as good"


def _is_proved(best: Contender, behind: Gap | None) -> bool:
    """Whether the best is the optimum as far as it matters here; only our own proofs count."""
    if not best.solution.proves:
        return False
    if behind is None or behind.level == FINDINGS:
        return best.solution.status is SolutionStatus.OPTIMAL
    level = next((one for one in best.solution.levels if one.label == behind.level), None)
    return level is not None and level.proved
