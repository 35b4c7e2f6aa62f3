"""with_proofs(): the certificate with a proof for the levels that want one, as far as one is found."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from cpsched.certificate import CLAIMED, Certificate, Evidence
from cpsched.certificate.document import LARGEST_INLINE, STEPS
from cpsched.checker import decision_of
from cpsched.instance import Instance
from cpsched.objectives import value_of
from cpsched.optimum.params import PROOF_FORM_SIZE
from cpsched.optimum.proofs.deep import prove_deeply
from cpsched.optimum.proofs.line import Step
from cpsched.optimum.proofs.logs import translated
from cpsched.optimum.proofs.places import prove_by_prices
from cpsched.optimum.proofs.root import Root, at_once, prove_at
from cpsched.policy import Policy
from cpsched.policy.levels import LevelRef, Value
from cpsched.proof.counts import is_countable
from cpsched.proof.export.veripb import formula
from cpsched.proof.forms import FORMS, Form
from cpsched.proof.reading import lines_of
from cpsched.proof.rows import ProofStatement
from cpsched.proof.statement import Session, UnstatedError
from cpsched.proof.steps import RefusedError, Replayer
from cpsched.rules import Decision, violations

LARGEST_FILE = 50 * 10**6
"""Bytes of a proof beside the certificate; one that is larger is not kept."""
Which = Literal["all", "cheap", "none"]
"""all: every level, with a search where it takes one; cheap: levels that are only claimed, without a search."""
Progress = Callable[[Iterable[int], int], Iterable[int]]


Program = Callable[[Iterable[str]], str | None]
"""Another solver: a formula (OPB) in, its log (VeriPB) out; None if it wrote none."""


class KeptLog(NamedTuple):
    """A log that is not of the kinds of steps; for programs written by others."""

    label: str
    formula: str
    log: str


class Written(NamedTuple):
    """The certificate, the files beside it by the hash that it names, and logs that became no steps."""

    certificate: Certificate
    files: dict[str, bytes]
    logs: tuple[KeptLog, ...] = ()


class LevelProof(NamedTuple):
    """A proof that was replayed, and what it is about."""

    form: Form
    statement: ProofStatement
    steps: list[Step]


def with_proofs(
    instance: Instance,
    policy: Policy,
    certificate: Certificate,
    which: Which,
    *,
    seconds: float,
    progress: Progress = lambda levels, _: levels,
    program: Program | None = None,
) -> Written:
    """Evidence `steps` where a proof is found and replayed within the time; everything else stays as it is.

    The program is asked for what is left of the levels that are wanted.
    """
    decision = decision_of(instance, policy, certificate.as_solution())
    if which == "none" or violations(decision) or not is_countable(decision):
        return Written(certificate, {})
    wanted = [n for n, one in enumerate(certificate.levels) if which == "all" or one.evidence.kind == CLAIMED]
    writer = LevelWriter(decision, [(one.ref, one.ref.value(one.bound)) for one in certificate.levels], program)
    files: dict[str, bytes] = {}
    levels = list(certificate.levels)
    for number, found in writer.proofs(progress(wanted, len(wanted)), search=which == "all", seconds=seconds):
        if (evidence := _evidence(found, files)) is not None:
            levels[number] = levels[number].model_copy(update={"evidence": evidence})
    whole = certificate.model_copy(update={"levels": tuple(levels)}).sealed()
    return Written(whole, files, tuple(writer.logs))


class LevelWriter:
    """Writes proofs about one decision, in the form that tells the least apart and still shows the claim."""

    def __init__(self, decision: Decision, bounds: Sequence[tuple[LevelRef, Value]], program: Program | None = None):
        self._decision, self._bounds, self._deadline, self._program = decision, bounds, 0.0, program
        self.logs: list[KeptLog] = []
        self._session = Session(decision.snapshot)

    def proofs(self, wanted: Iterable[int], *, search: bool, seconds: float) -> Iterator[tuple[int, LevelProof]]:
        """Proofs of the wanted levels by their number: first those that take no search, then the others in turn.

        What is left of the time is divided among the levels that are left.
        """
        end = time.monotonic() + seconds
        self._deadline = end
        left: list[tuple[int, Form, Root]] = []
        for number in wanted:
            found, root = self.proof(number)
            if found is not None:
                yield number, found
            elif root is not None:
                left.append((number, *root))
        for position, (number, form, deep) in enumerate(left if search else []):
            now = time.monotonic()
            self._deadline = now + (end - now) / (len(left) - position)
            found = self._by_prices(number)
            if found is None and self._goes_on() and (steps := prove_deeply(deep)) is not None:
                found = self._replayed(number, form, deep.statement, steps)
            if found is None and self._program is not None:
                found = self._by_program(number, form, deep.statement, self._program)
            if found is not None:
                yield number, found

    def _by_program(self, number: int, form: Form, statement: ProofStatement, ask: Program) -> LevelProof | None:
        """The steps of another solver's log; a log of other kinds is kept, one that is refused is no proof."""
        opb = "".join(formula(statement))
        log = ask([opb])
        if log is None:
            return None
        steps = translated(statement, log)
        if steps is None:
            self.logs.append(KeptLog(self._bounds[number][0].label, opb, log))
            return None
        return self._replayed(number, form, statement, steps)

    def _by_prices(self, number: int) -> LevelProof | None:
        """A proof by what one node can earn at most at prices of an LP over whole nodes."""
        (ref, bound), given = self._bounds[number], self._given(number)
        for form in self._forms():
            if not form.each_node or not self._goes_on():
                continue
            try:
                statement = self._session.statement(form, given, ref, bound)
            except UnstatedError:
                continue
            point = self._session.values(form, given, ref, bound, self._decision)
            steps = prove_by_prices(Root(statement, self._goes_on), point)
            return None if steps is None else self._replayed(number, form, statement, steps)
        return None

    def proof(self, number: int) -> tuple[LevelProof | None, tuple[Form, Root] | None]:
        """A proof of the level's bound without a search, replayed; else where a search may begin."""
        ref, bound = self._bounds[number]
        last: tuple[Form, Root] | None = None
        given = self._given(number)
        for form in self._forms():
            if not self._goes_on():
                return None, None
            try:
                statement = self._session.statement(form, given, ref, bound)
            except UnstatedError:
                continue
            steps = at_once(statement)
            if steps is None:
                last = form, Root(statement, self._goes_on)
                steps = prove_at(last[1])
            if steps is not None and (found := self._replayed(number, form, statement, steps)):
                return found, None
        return None, last

    def _given(self, number: int) -> dict[LevelRef, Value]:
        """The decision's values on the levels before."""
        return {ref: value_of(self._decision, *ref) for ref, _ in self._bounds[:number]}

    def _forms(self) -> Iterator[Form]:
        """Those that differ and are not too large."""
        sizes: dict[bool, int] = {}
        for form in FORMS.values():
            sizes[form.each_node] = self._session.size(form)
            plain = not self._decision.snapshot.predicates.any_dynamic
            same = form.each_node and plain and sizes[True] == sizes[False]
            if not same and sizes[form.each_node] <= PROOF_FORM_SIZE:
                yield form

    def _replayed(self, number: int, form: Form, statement: ProofStatement, steps: list[Step]) -> LevelProof | None:
        found, given, (ref, bound) = [["solution"], *steps], self._given(number), self._bounds[number]
        try:
            values = self._session.values(form, given, ref, bound, self._decision)
            Replayer(statement, values).replay(found)
        except RefusedError:
            return None
        return LevelProof(form, statement, found)

    def _goes_on(self) -> bool:
        return time.monotonic() < self._deadline


def _evidence(proof: LevelProof, files: dict[str, bytes]) -> Evidence | None:
    """In the certificate or in a file beside it; None if the proof is too large for both."""
    form, steps = proof.form.name, proof.steps
    if len(json.dumps(steps, separators=(",", ":"))) <= LARGEST_INLINE:
        return Evidence(kind=STEPS, by="", form=form, steps=tuple(steps), file="")
    packed = gzip.compress(b"".join(lines_of(steps)), mtime=0)
    if len(packed) > LARGEST_FILE:
        return None
    name = hashlib.sha256(packed).hexdigest()
    files[name] = packed
    return Evidence(kind=STEPS, by="", form=form, steps=None, file=name)
