"""with_proofs(): the certificate with a proof for the levels that want one, as far as one is found."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from cpsched.certificate import CLAIMED, Certificate, CertifiedLevel, Evidence
from cpsched.certificate.document import LARGEST_INLINE, STEPS
from cpsched.checker import decision_of
from cpsched.instance import Instance
from cpsched.objectives import value_of
from cpsched.optimum.params import PROOF_FORM_SIZE
from cpsched.optimum.proofs.line import Step
from cpsched.optimum.proofs.root import prove
from cpsched.policy import Policy
from cpsched.policy.levels import LevelRef, Value
from cpsched.proof.counts import is_countable
from cpsched.proof.forms import FORMS, Form
from cpsched.proof.reading import lines_of
from cpsched.proof.statement import Session, UnstatedError
from cpsched.proof.steps import RefusedError, Replayer
from cpsched.rules import Decision, violations

Which = Literal["all", "cheap", "none"]
"""all: every level, with a search where it takes one; cheap: levels that are only claimed, without a search."""
Progress = Callable[[Iterator[CertifiedLevel], int], Iterator[CertifiedLevel]]


class Written(NamedTuple):
    """The certificate, and the files beside it by the hash that it names."""

    certificate: Certificate
    files: dict[str, bytes]


def with_proofs(
    instance: Instance,
    policy: Policy,
    certificate: Certificate,
    which: Which,
    *,
    seconds: float,
    progress: Progress = lambda levels, _: levels,
) -> Written:
    """Evidence `steps` where a proof is found and replayed within the time; everything else stays as it is."""
    decision = decision_of(instance, policy, certificate.as_solution())
    if which == "none" or violations(decision) or not is_countable(decision):
        return Written(certificate, {})
    writer = _Writer(Session(decision.snapshot), decision, which, time.monotonic() + seconds)
    files: dict[str, bytes] = {}
    levels = []
    given: dict[LevelRef, Value] = {}
    for level in progress(iter(certificate.levels), len(certificate.levels)):
        if which == "all" or level.evidence.kind == CLAIMED:
            levels.append(writer.level(level, given, files))
        else:
            levels.append(level)
        given[level.ref] = value_of(decision, *level.ref)
    return Written(certificate.model_copy(update={"levels": tuple(levels)}).sealed(), files)


class _Writer:
    def __init__(self, session: Session, decision: Decision, which: Which, deadline: float):
        self._session, self._decision, self._which, self._deadline = session, decision, which, deadline

    def level(self, level: CertifiedLevel, given: dict[LevelRef, Value], files: dict[str, bytes]) -> CertifiedLevel:
        """The level with a proof of its bound, or as it was."""
        bound = level.ref.value(level.bound)
        for form in FORMS.values():
            if time.monotonic() >= self._deadline:
                break
            steps = self._steps(form, given, level.ref, bound)
            if steps is not None:
                return level.model_copy(update={"evidence": _evidence(form, steps, files)})
        return level

    def _steps(self, form: Form, given: dict[LevelRef, Value], ref: LevelRef, bound: Value) -> list[Step] | None:
        if self._session.size(form) > PROOF_FORM_SIZE:
            return None
        try:
            statement = self._session.statement(form, given, ref, bound)
        except UnstatedError:
            return None
        steps = prove(statement)
        if steps is None:
            return None
        found = [["solution"], *steps]
        try:
            values = self._session.values(form, given, ref, bound, self._decision)
            Replayer(statement, values).replay(found)
        except RefusedError:
            return None
        return found


def _evidence(form: Form, steps: list[Step], files: dict[str, bytes]) -> Evidence:
    if len(json.dumps(steps, separators=(",", ":"))) <= LARGEST_INLINE:
        return Evidence(kind=STEPS, by="", form=form.name, steps=tuple(steps), file="")
    packed = gzip.compress(b"".join(lines_of(steps)), mtime=0)
    name = hashlib.sha256(packed).hexdigest()
    files[name] = packed
    return Evidence(kind=STEPS, by="", form=form.name, steps=None, file=name)
