"""One case measured: the engine's decision, checked, and how far it is from the optimum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from cpsched.checker import LEVELS
from cpsched.comparison.contender import OPTIMAL, Contender, contend
from cpsched.comparison.optima import optima_in
from cpsched.comparison.session import CaseOptions, Session, open_sessions
from cpsched.completeness.registry import doubts
from cpsched.contents import Size
from cpsched.errors import InputError, unexpected
from cpsched.gate.affected import Affected
from cpsched.importers.corpus import Case
from cpsched.options import Options
from cpsched.policy.levels import Stated
from cpsched.ranking import Gap, gap
from cpsched.solution import Finding, SolutionStatus

Outcome = Literal["decided", "no answer", "engine error", "bad case"]
NO_RESULT = "its process ended without a result"


@dataclass(frozen=True)
class Distance:
    """From the optimum, or from the best that was found: then `proved` is false and the true distance may be larger."""

    proved: bool
    gap: Gap | None
    """None: it is as good."""
    open_from: str = ""
    """The first level that the search for the optimum left open."""
    levels: Mapping[str, Stated] = field(default_factory=dict)
    """Of the best decision."""
    names: Affected = field(default_factory=Affected)
    """The best decision in names."""


@dataclass(frozen=True)
class Measured:
    """What one case came to; small, so that a large corpus fits."""

    id: str
    file: str
    line: int | None = None
    outcome: Outcome = "decided"
    error: str = ""
    """One line, for an engine that failed or a case that cannot be read."""
    decided_by: str = ""
    model: str = ""
    choice: str = ""
    """Why this model, as a sentence; empty where nothing was to choose."""
    chosen_by: str = ""
    """The kind of that reason; empty where the user or the case named the model."""
    read: Size | None = None
    """What the case holds; None if it cannot be read."""
    instance: str = ""
    """Hash of instance and policy."""
    findings: tuple[Finding, ...] = ()
    levels: Mapping[str, Stated] = field(default_factory=dict)
    decision: Affected = field(default_factory=Affected)
    """In names."""
    distance: Distance | None = None
    """None if it was not asked, or there is no decision."""
    note: str = ""
    doubts: tuple[str, ...] = ()
    """What was left out of the decision."""
    seconds: float = 0.0
    cache_warning: str = ""
    """What is wrong with the folder of remembered optima."""
    in_corpus: str = ""
    """What the corpus calls the case, if another name: a case for two schedulers is measured twice."""

    @property
    def rules(self) -> Counter[str]:
        """rule → findings."""
        return Counter(finding.rule for finding in self.findings)


@dataclass(frozen=True)
class CaseQuestion:
    """What is asked about every case alike."""

    engine: str
    given: CaseOptions = field(default_factory=CaseOptions)
    options: Options = field(default_factory=Options)
    cache: str | None = None
    optimum: bool = True
    """Whether the distance to the optimum is worked out."""


def measure(case: Case, question: CaseQuestion) -> list[Measured]:
    """Load, decide, check, and compare with the optimum; what goes wrong with one case is recorded, not raised.

    A case in which pods of two schedulers wait is measured for each.
    """
    place = (case.id, case.file, case.line)
    try:
        sessions = open_sessions(case, question.given, [question.engine])
    except InputError as error:
        return [Measured(*place, "bad case", str(error.within(file=case.place)))]
    except Exception as error:
        return [Measured(*place, "bad case", f"{case.place}: {unexpected(error)}")]
    return [_named(_measured(session, question), case) for session in sessions]


def _named(one: Measured, case: Case) -> Measured:
    return one if one.id == case.id else replace(one, in_corpus=case.id)


def _measured(session: Session, question: CaseQuestion) -> Measured:
    place = (session.id, session.file, session.line)
    try:
        return _decided(session, question)
    except InputError as error:
        return Measured(*place, "engine error", str(error))
    except Exception as error:
        return Measured(*place, "engine error", unexpected(error))


def lost(case: Case) -> list[Measured]:
    """A case whose process ended without a result: the system ended it, or a library did."""
    return [Measured(case.id, case.file, case.line, "engine error", NO_RESULT)]


def _decided(session: Session, question: CaseQuestion) -> Measured:
    optima = optima_in(question.cache)
    own = contend(session, question.engine, question.options, optima)
    best = None
    if question.optimum and own.standing is not None and question.engine != OPTIMAL:
        best = contend(session, OPTIMAL, question.options, optima)
    return measured(session, own, best)


def measured(session: Session, own: Contender, best: Contender | None = None) -> Measured:
    """A decision that is there, as the gate sees it."""
    place = (session.id, session.file, session.line)
    if own.standing is None:
        why, read = f"{own.engine} gave no decision in time", Size.of(session.instance)
        return Measured(*place, "no answer", why, own.solution.engine, read=read)
    return Measured(
        *place,
        decided_by=own.solution.engine,
        model=session.policy.name,
        choice=session.policy.choice,
        chosen_by=session.policy.origin.chosen_by,
        read=Size.of(session.instance),
        instance=fingerprint(session),
        findings=(*own.solution.findings, *_contradicted(own, best)),
        levels=own.standing.shown,
        decision=Affected.of(session.instance, own.solution),
        distance=_distance(session, own, own if own.solution.proves else best),
        note=own.note,
        doubts=(*(doubt.text for doubt in doubts(session.instance, session.policy)), *own.solution.notes),
        seconds=own.seconds,
        cache_warning=own.cache_warning or (best.cache_warning if best is not None else ""),
    )


def _contradicted(own: Contender, best: Contender | None) -> Iterator[Finding]:
    """A claim to be optimal, if something better is known."""
    if best is None or not own.solution.called_optimal or own.solution.findings:
        return
    assert own.standing is not None
    assert best.standing is not None
    if (behind := gap(own.standing, best.standing)) is not None:
        message = f"is called optimal at {behind.value}, but {behind.best} is possible"
        yield Finding(rule=LEVELS, subject=behind.level, message=message)


def fingerprint(session: Session) -> str:
    """Tells whether a case is still the same question: cluster and policy, shortened for the eye."""
    return f"{session.instance.sha256[:12]}-{session.policy.sha256[:8]}"


def _distance(session: Session, own: Contender, best: Contender | None) -> Distance | None:
    if best is None or own.standing is None or best.standing is None:
        return None
    levels = best.solution.levels if best.solution.proves else ()
    open_from = next((level.label for level in levels if not level.proved), "")
    return Distance(
        best.solution.status is SolutionStatus.OPTIMAL,
        gap(own.standing, best.standing),
        open_from,
        best.standing.shown,
        Affected.of(session.instance, best.solution),
    )
