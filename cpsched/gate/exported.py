"""A corpus in one file, made to be read by test suites in other languages: cases with optima, baseline and numbers."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import cpsched.version
from cpsched.certificate import certify
from cpsched.comparison.contender import OPTIMAL, Contender, contend
from cpsched.comparison.optima import optima_in
from cpsched.comparison.session import Session, open_session
from cpsched.errors import InputError, unexpected
from cpsched.gate.baseline import Entry
from cpsched.gate.facts import facts
from cpsched.gate.measure import CaseQuestion, measured
from cpsched.gate.tags import sentence, tags
from cpsched.importers.corpus import HEADER, Case
from cpsched.policy import SENSES, stated_model
from cpsched.rules import RULES
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution, SolutionStatus
from cpsched.visible import json_text

DECIDED = ("binds", "allocated", "pipelined", "phases")
_KEPT = ("only", "pod", "pod_groups", "sharding", "outcomes", "decision", "cause")
"""What a row says of itself and keeps."""


@dataclass(frozen=True)
class ExportedCase:
    """One line, or why there is none."""

    id: str
    row: Mapping[str, Any] | None
    error: str = ""
    is_proved: bool = False
    warning: str = ""


def exported(case: Case, question: CaseQuestion) -> ExportedCase:
    """The case with what the engine of the baseline does and, if it is asked for, the best decision."""
    try:
        return _exported(case, question)
    except InputError as error:
        return ExportedCase(case.id, None, str(error.within(file=case.place)))
    except Exception as error:
        return ExportedCase(case.id, None, f"{case.place}: {unexpected(error)}")


def lost(case: Case) -> ExportedCase:
    """A case whose process ended without a result."""
    return ExportedCase(case.id, None, f"{case.place}: its process ended without a result")


def _exported(case: Case, question: CaseQuestion) -> ExportedCase:
    session = open_session(case, question.given)
    stated_model(session.policy.name, file=case.place)
    optima = optima_in(question.cache)
    own = contend(session, question.engine, question.options, optima)
    best = contend(session, OPTIMAL, question.options, optima) if question.optimum else None
    found = measured(session, own, best)
    if found.outcome != "decided":
        raise InputError(found.error, file=case.place, right="give more --time-limit")
    if best is not None and best.standing is None:
        raise InputError("no optimum in time", file=case.place, right="give more --time-limit")
    snapshot = Snapshot(session.instance, session.policy)
    row = {
        "id": case.id,
        "sentence": sentence(found),
        "tags": tags(snapshot, evicts=best is not None and bool(best.solution.evictions)),
        "model": session.policy.name,
        "engine": found.decided_by,
        "baseline": Entry.of(found).model_dump(mode="json", exclude_defaults=True),
        "optimum": None if best is None else _optimum(session, best),
        "doubts": list(found.doubts),
        "facts": facts(snapshot),
        "instance": session.instance.to_dict(),
        "instance_sha256": session.instance.sha256,
        **({} if session.policy.conf is None else {"conf": session.policy.conf}),
        **{name: case.stated[name] for name in _KEPT if name in case.stated and name != "sharding"},
    }
    is_proved = best is None or best.solution.status is SolutionStatus.OPTIMAL
    return ExportedCase(case.id, row, is_proved=is_proved, warning=found.cache_warning)


def _optimum(session: Session, best: Contender) -> dict[str, Any]:
    """The best decision, its levels with what is proved, and the hash of the certificate that says so."""
    solution = best.solution
    levels = {one.label: {"value": one.value, "bound": one.bound, "proved": one.proved} for one in solution.levels}
    certificate = certify(session.instance, session.policy, solution)
    return {
        "status": solution.status.value,
        "levels": levels,
        "decision": decided(solution),
        "certificate_sha256": certificate.sha256,
    }


def decided(solution: Solution) -> dict[str, Any]:
    """What is decided, without anything that is stated about it."""
    parts: dict[str, Any] = {name: dict(getattr(solution, name)) for name in DECIDED}
    parts["evictions"] = [one.model_dump(mode="json", by_alias=True) for one in solution.evictions]
    return {name: part for name, part in parts.items() if part}


def corpus_text(corpus: str, engine: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """The file: a header with the words that findings and levels use and a hash of all that follows, then the rows."""
    lines = [json_text(row) + "\n" for row in rows]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    header = {
        "apiVersion": "cpsched/v1",
        "kind": HEADER,
        "corpus": corpus,
        "engine": engine,
        "versions": {"cpsched": cpsched.version.__version__},
        "cases": len(lines),
        "sha256": digest,
        "rules": {key: (rule.__doc__ or "").partition("\n")[0] for key, rule in RULES.items()},
        "levels": dict(SENSES),
    }
    return "".join([json_text(header) + "\n", *lines])


def packed(text: str) -> bytes:
    """The file as gzip, the same bytes for the same text."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", filename="", mtime=0) as stream:
        stream.write(text.encode())
    return out.getvalue()
