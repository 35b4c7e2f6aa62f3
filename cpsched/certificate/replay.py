"""Evidence `steps`: the statement made again from the instance, and the steps replayed on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from cpsched.certificate.document import CertifiedLevel
from cpsched.policy.levels import LevelRef, Value
from cpsched.proof.counts import is_countable
from cpsched.proof.forms import FORMS
from cpsched.proof.statement import Session, UnstatedError
from cpsched.proof.steps import RefusedError, Replayer
from cpsched.rules import Decision, violations

StepsOf = Callable[[str], Iterable[Any]]
"""The steps in the file of that SHA-256."""


class Proofs:
    """The proofs of a certificate, about its decision."""

    def __init__(self, decision: Decision, steps_of: StepsOf | None):
        self._decision, self._steps_of = decision, steps_of

    def wrong_with(self, level: CertifiedLevel, given: Mapping[Any, Value], bound: Value) -> str:
        """Why the level's proof does not hold; empty if it does."""
        if violations(self._decision):
            return "its proof is about decisions that break no rule"
        evidence, form = level.evidence, FORMS[level.evidence.form]
        known = {LevelRef(*ref): value for ref, value in given.items()}
        if evidence.steps is not None:
            steps: Iterable[Any] = evidence.steps
        elif self._steps_of is not None:
            steps = self._steps_of(evidence.file)
        else:
            return "its proof lies in a file beside the certificate, which was not looked at"
        try:
            statement = self._session.statement(form, known, level.ref, bound)
            values = None
            if is_countable(self._decision):
                values = self._session.values(form, known, level.ref, bound, self._decision)
            Replayer(statement, values).replay(steps)
        except (RefusedError, UnstatedError) as error:
            return f"its proof does not hold: {error}"
        return ""

    @cached_property
    def _session(self) -> Session:
        return Session(self._decision.snapshot)
