"""`cpsched verify` of a certificate: which bounds were computed again, and which are only claimed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cpsched.cli.in_doubt import above, in_doubt
from cpsched.cli.output import announce, as_json, busy, emit, emit_tables, warn
from cpsched.cli.outside import chosen, outside_verdicts
from cpsched.cli.proofs import steps_beside
from cpsched.cli.terms import fields, sentence
from cpsched.doubts import for_this_dump, without
from cpsched.objectives import level_text

if TYPE_CHECKING:
    from rich.table import Table

    from cpsched.certificate import Certificate, Checked
    from cpsched.certificate.replay import StepsOf
    from cpsched.certificate.verify import CheckedLevel
    from cpsched.cli.terms import Terms
    from cpsched.doubts import Doubt
    from cpsched.instance import Instance
    from cpsched.parsing import Document
    from cpsched.policy import Policy
    from cpsched.proof.outside import OutsideAnswer

FINE, FINDINGS, NOT_VERIFIED = 0, 1, 3
HOW = {"highs": "computes in floating point", "cp-sat": "presolves", "packing": "asks cp-sat, which presolves"}
"""Why a solver's bound may be wrong; what is not named here computes in whole numbers without presolving."""


def verify_certificate(
    document: Document, inputs: Sequence[str], terms: Terms, *, json: bool, strict: bool, with_: str | None = None
) -> int:
    """Check a certificate against its input; its proofs also with programs written by others, if some are named."""
    from cpsched.certificate import Certificate, verified
    from cpsched.completeness.registry import doubts
    from cpsched.contents import contents

    certificate = Certificate.parse(document.data, file=document.file)
    checkers = [] if with_ is None else chosen(with_)
    with busy("Checking"):
        instance, policy = terms.opened(inputs, certificate.as_solution(), document.file)
        steps_of = partial(steps_beside, document.file)
        checked = verified(instance, policy, certificate, file=document.file, steps_of=steps_of)
        outside = _outside(instance, policy, certificate, steps_of, checkers) if not checked.findings else {}
    announce(policy)
    warn([*instance.warnings, *policy.warnings, *in_doubt(instance, json)])
    found = doubts(instance, policy, search=True)
    if json:
        emit(as_json(_verdict(policy, checked, outside) | shown_doubts(found)))
    else:
        terms_ = [contents(instance, policy), *above(found), sentence(instance, policy)]
        emit_tables(terms_, _levels(checked, outside), *_findings(checked), summary(checked, found))
    refused = any(not answer.accepted for answers in outside.values() for answer in answers.values())
    return FINDINGS if refused else exit_code(checked, strict=strict)


Outside = dict[str, dict[str, "OutsideAnswer"]]
"""Per level what each program says of its proof."""


def _outside(
    instance: Instance, policy: Policy, certificate: Certificate, steps_of: StepsOf, checkers: list[str]
) -> Outside:
    if not checkers:
        return {}
    from cpsched.certificate.replay import Proofs
    from cpsched.checker import decision_of

    proofs = Proofs(decision_of(instance, policy, certificate.as_solution()), steps_of).stated(certificate)
    found: Outside = {}
    for label, checker, answer in outside_verdicts(proofs, checkers):
        found.setdefault(label, {})[checker] = answer
    return found


def exit_code(checked: Checked, *, strict: bool) -> int:
    """1 for a finding, 3 if a bound is only claimed, so that it is not taken for verified; strict wants the optimum."""
    if checked.findings or (strict and not checked.is_optimal):
        return FINDINGS
    return NOT_VERIFIED if checked.unverified else FINE


def shown_doubts(doubts: Sequence[Doubt]) -> dict[str, Any]:
    """What the input lacks, and what the configuration runs and a proof knows nothing of, as JSON has it."""
    return {"doubts": [one.model_dump() for one in doubts]} if doubts else {}


def summary(checked: Checked, doubts: Sequence[Doubt] = ()) -> str:
    """One line; it begins with Optimal only if every bound was verified, and says without what."""
    if checked.findings:
        return f"{len(checked.findings)} finding{'s' * (len(checked.findings) > 1)}: the certificate does not hold."
    if checked.is_optimal:
        scope = for_this_dump(doubts) + without(doubts)
        return f"Optimal{scope}: every bound was computed again, no solver has to be believed."
    of = len(checked.levels)
    open_ = f"{checked.open} of {of} levels are not proved"
    if not checked.unverified:
        return f"No rule is broken; {open_}."
    sources = sorted({level.stated.evidence.by for level in checked.unverified})
    rest = f"{len(checked.unverified)} of {of} levels rest on unverified bounds"
    text = f"Not verified: {rest} (source: {', '.join(sources)})" + (f"; {open_}." if checked.open else ".")
    how = [f"{name} {HOW[name]}" for name in sources if name in HOW]
    return f"{text} One program alone vouches for each: {', '.join(how)}." if how else text


def _verdict(policy: Policy, checked: Checked, outside: Outside) -> dict[str, Any]:
    return {
        "apiVersion": "cpsched/v1",
        "kind": "Verification",
        **fields(policy),
        "optimal": checked.is_optimal,
        "open": checked.open,
        "unverified": [one.stated.label for one in checked.unverified],
        "findings": [one.model_dump(mode="json") for one in checked.findings],
        "levels": [
            {
                "name": one.stated.name,
                "priority": one.stated.priority,
                "value": _shown(one, one.value),
                "bound": one.stated.bound,
                "evidence": one.stated.evidence.model_dump(mode="json"),
                "verified": one.verified,
                **_programs(outside.get(one.stated.label, {})),
                "computed": _shown(one, one.shown),
            }
            for one in checked.levels
        ],
    }


def _programs(answers: dict[str, OutsideAnswer]) -> dict[str, Any]:
    """What programs written by others say of the proof, for JSON; nothing if none was asked."""
    return {"checked_by": {name: answer.accepted for name, answer in answers.items()}} if answers else {}


def _levels(checked: Checked, outside: Outside) -> Table:
    from cpsched.cli.tables import table

    rows = []
    values = {one.stated.label: one.value for one in checked.levels}
    open_before = False
    for one in checked.levels:
        label = one.stated.label
        value, bound = level_text(label, _shown(one, one.value), values), level_text(label, one.stated.bound)
        rows.append((label, value, bound, _evidence(one), _status(one, open_before, outside.get(label, {}))))
        open_before = open_before or not one.stated.proved
    return table("Levels, most important first", ["level", "#value", "#bound", "evidence", ""], rows)


def _evidence(one: CheckedLevel) -> str:
    return one.stated.evidence.kind


def _status(one: CheckedLevel, open_before: bool, answers: dict[str, OutsideAnswer]) -> str:
    if one.wrong:
        return f"wrong: {one.wrong}"
    checked = "checked" if one.stated.evidence.kind == "steps" else "verified"
    text = checked if one.verified else f"claimed by {one.stated.evidence.by}"
    if answers and one.verified:
        accepted = [name for name, answer in answers.items() if answer.accepted]
        text += f", by {' and '.join(accepted)} too" if accepted else ""
        text += "".join(f"; {name} {answer.why}" for name, answer in answers.items() if not answer.accepted)
    if not one.verified:
        shown = _shown(one, one.shown)
        text += f" (without it: {'none' if shown is None else shown})"
    return f"{text}, given the levels above" if open_before else text


def _shown(one: CheckedLevel, value: int | None) -> int | str | None:
    return one.stated.ref.stated(value)


def _findings(checked: Checked) -> list[Table]:
    from cpsched.cli.tables import table

    rows = [(one.rule, one.subject, one.message) for one in checked.findings]
    return [table("Findings", ["rule", "subject", "message"], rows)] if rows else []
