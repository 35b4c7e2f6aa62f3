"""verified(): every statement of a certificate checked against the instance, level by level, without a solver."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.certificate.case import Case, Session
from cpsched.certificate.certify import bounds_of, tightness
from cpsched.certificate.document import CLAIMED, STEPS, Certificate, CertifiedLevel
from cpsched.certificate.evidence import EVIDENCE
from cpsched.certificate.replay import Proofs, StepsOf
from cpsched.checker import decision_of, findings
from cpsched.errors import InputError
from cpsched.instance import Instance
from cpsched.objectives import level_plan, value_of
from cpsched.policy import Policy
from cpsched.policy.levels import Value
from cpsched.provenance import other_policy, other_shard
from cpsched.solution import Finding

CERTIFICATE = "certificate"
"""Key of the findings about a certificate as a whole, and about its bounds."""


@dataclass(frozen=True)
class CheckedLevel:
    """What is found about one level: its bound is verified, or only claimed, or wrong."""

    stated: CertifiedLevel
    value: Value
    shown: Value
    """The tightest bound that can be computed here."""
    wrong: str = ""

    @property
    def verified(self) -> bool:
        """Whether the bound was computed again and is as stated."""
        return not self.wrong and self.stated.evidence.kind != CLAIMED


@dataclass(frozen=True)
class Checked:
    """Every finding, and the levels one by one."""

    findings: tuple[Finding, ...]
    levels: tuple[CheckedLevel, ...]

    @property
    def is_optimal(self) -> bool:
        """Whether no solver has to be believed: every level is closed by evidence that was checked."""
        return not self.findings and all(level.stated.proved and level.verified for level in self.levels)

    @property
    def unverified(self) -> tuple[CheckedLevel, ...]:
        """Levels whose bound is only claimed."""
        return tuple(level for level in self.levels if not level.verified and not level.wrong)

    @property
    def open(self) -> int:
        """How many levels are not even called proved."""
        return sum(not level.stated.proved for level in self.levels)


def verified(
    instance: Instance,
    policy: Policy,
    certificate: Certificate,
    *,
    file: str | None = None,
    steps_of: StepsOf | None = None,
) -> Checked:
    """Check a certificate; InputError if it speaks of a kind of evidence that is not known here.

    `steps_of` finds the proofs that lie beside the certificate, by the hash of their file.
    """
    _refuse_unknown(certificate, file)
    solution = certificate.as_solution()
    decision = decision_of(instance, policy, solution)
    session = Session(decision.snapshot)
    proofs = Proofs(decision, steps_of)
    stated = {level.label: level for level in certificate.levels}
    given: dict[tuple[str, int | None], Value] = {}
    levels = []
    for ref in level_plan(decision.snapshot):
        level = stated.get(ref.label)
        value = value_of(decision, *ref)
        if level is not None:
            levels.append(_checked(Case(session, dict(given)), level, value, proofs))
        given[ref] = value
    found = [*_origin(certificate, instance, policy), *findings(decision, solution, states_levels=True)]
    found += [Finding(rule=CERTIFICATE, subject=one.stated.label, message=one.wrong) for one in levels if one.wrong]
    return Checked(tuple(found), tuple(levels))


def _refuse_unknown(certificate: Certificate, file: str | None) -> None:
    known = (*EVIDENCE, STEPS, CLAIMED)
    for level in certificate.levels:
        if level.evidence.kind not in known:
            wrong = f"unknown kind of evidence {level.evidence.kind}"
            raise InputError(wrong, file=file, place=level.label, right=f"known: {', '.join(known)}")


def _origin(certificate: Certificate, instance: Instance, policy: Policy) -> list[Finding]:
    found, stated = [], certificate.as_solution()
    if certificate.checksum() != certificate.sha256:
        found.append("was changed after it was written: its checksum is another")
    if certificate.instance_sha256 != instance.sha256:
        found.append(f"was made from another input: instance_sha256 differs{other_shard(instance, stated)}")
    if certificate.policy_sha256 != policy.meaning_sha256:
        found.append(f"was made under another policy: policy_sha256 differs{other_policy(policy, stated)}")
    open_before = False
    for level in certificate.levels:
        if level.proved and open_before:
            found.append(f"{level.label} is called proved after a level that stayed open")
        open_before = open_before or not level.proved
    return [Finding(rule=CERTIFICATE, message=message) for message in found]


def _checked(case: Case, level: CertifiedLevel, value: Value, proofs: Proofs) -> CheckedLevel:
    bounds = bounds_of(case, level.name, level.priority)
    tightest = bounds[0][1]
    try:
        stated = level.ref.value(level.bound)
    except ValueError:
        return CheckedLevel(level, value, tightest, f"bound {level.bound} is no value of this level")
    if tightness(level.name, stated) > tightness(level.name, value):
        wrong = f"nothing better than {level.bound} is claimed to exist, but the decision is"
        return CheckedLevel(level, value, tightest, wrong)
    if level.evidence.kind == CLAIMED:
        return CheckedLevel(level, value, tightest)
    if level.evidence.kind == STEPS:
        return CheckedLevel(level, value, tightest, proofs.wrong_with(level, case.given, stated))
    shown = dict(bounds)
    if level.evidence.kind not in shown:
        return CheckedLevel(level, value, tightest, f"{level.evidence.kind} says nothing of this level")
    if shown[level.evidence.kind] != stated:
        wrong = f"bound {level.bound} is stated; {level.evidence.kind} shows {shown[level.evidence.kind]}"
        return CheckedLevel(level, value, tightest, wrong)
    return CheckedLevel(level, value, tightest)
