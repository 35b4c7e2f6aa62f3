"""Evidence `steps`: the statement made again from the instance, and the steps replayed on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from cpsched.certificate.document import STEPS, Certificate, CertifiedLevel
from cpsched.objectives import value_of
from cpsched.policy.levels import LevelRef, Value
from cpsched.proof.counts import is_countable
from cpsched.proof.forms import FORMS
from cpsched.proof.rows import ProofStatement
from cpsched.proof.statement import Session, UnstatedError
from cpsched.proof.steps import RefusedError, Replayer
from cpsched.rules import Decision, violations

StepsOf = Callable[[str], Iterable[Any]]
"""The steps in the file of that SHA-256."""
NOT_LOOKED_AT = "its proof lies in a file beside the certificate, which was not looked at"


class StatedProof(NamedTuple):
    """A level's proof with what it is about."""

    level: CertifiedLevel
    statement: ProofStatement
    steps: list[Any]


class Proofs:
    """The proofs of a certificate, about its decision."""

    def __init__(self, decision: Decision, steps_of: StepsOf | None):
        self._decision, self._steps_of = decision, steps_of

    def wrong_with(self, level: CertifiedLevel, given: Mapping[Any, Value], bound: Value) -> str:
        """Why the level's proof does not hold; empty if it does."""
        if violations(self._decision):
            return "its proof is about decisions that break no rule"
        if not is_countable(self._decision):
            return "its proof is about sessions without actions that evict for whole jobs"
        steps = self._steps(level)
        if steps is None:
            return NOT_LOOKED_AT
        form, known = FORMS[level.evidence.form], {LevelRef(*ref): value for ref, value in given.items()}
        try:
            statement = self._session.statement(form, known, level.ref, bound)
            values = self._session.values(form, known, level.ref, bound, self._decision)
            Replayer(statement, values).replay(steps)
        except (RefusedError, UnstatedError) as error:
            return f"its proof does not hold: {error}"
        return ""

    def stated(self, certificate: Certificate) -> Iterator[StatedProof]:
        """Every level that has a proof, with its statement; levels whose statement cannot be made are left out."""
        given: dict[LevelRef, Value] = {}
        for level in certificate.levels:
            steps = self._steps(level) if level.evidence.kind == STEPS else None
            if steps is not None:
                form, bound = FORMS[level.evidence.form], level.ref.value(level.bound)
                yield StatedProof(level, self._session.statement(form, given, level.ref, bound), list(steps))
            given[level.ref] = value_of(self._decision, *level.ref)

    def _steps(self, level: CertifiedLevel) -> Iterable[Any] | None:
        if level.evidence.steps is not None:
            return level.evidence.steps
        return None if self._steps_of is None else self._steps_of(level.evidence.file)

    @cached_property
    def _session(self) -> Session:
        return Session(self._decision.snapshot)
