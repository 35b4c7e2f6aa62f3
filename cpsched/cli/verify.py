"""`cpsched verify`: a decision checked against its input, without a solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpsched.cli.in_doubt import above, in_doubt
from cpsched.cli.output import announce, as_json, busy, emit, emit_tables, warn
from cpsched.cli.parameters import Conf, Inputs, Json, Lenient
from cpsched.cli.sharding import Sharding, ShardNodes, shard_of
from cpsched.cli.terms import Terms, fields, sentence
from cpsched.cli.what_if import AS_IT_IS, WhatIf
from cpsched.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from cpsched.cli.output import Part
    from cpsched.instance import Instance
    from cpsched.rules import Decision
    from cpsched.solution import Finding, Solution

SolutionFile = Annotated[
    str,
    typer.Argument(
        metavar="SOLUTION",
        help="A Solution, as solve --json or -o wrote it, or a Certificate, as solve --certificate did.",
        show_default=False,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME|FILE",
        help="Policy: the name of a shipped model, or a model file. Default: the shipped model that the solution "
        "names, else volcano.",
        show_default=False,
    ),
]
Release = Annotated[
    str | None,
    typer.Option(
        "--kube-version",
        metavar="RELEASE",
        help="kube-scheduler's release: 1.36 or head. Default: the one the solution states, else the model's.",
        show_default=False,
    ),
]
With = Annotated[
    str | None,
    typer.Option(
        "--with",
        metavar="NAMES",
        help="Have a certificate's proofs checked by these programs too: veripb, viprchk, separated by commas.",
        show_default=False,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit with 1 unless every level is proved by a bound that was computed again (a certificate's).",
    ),
]


def verify(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    solution_file: SolutionFile,
    inputs: Inputs,
    model: ModelOption = None,
    conf: Conf = None,
    kube_version: Release = None,
    sharding: Sharding = None,
    shard_nodes: ShardNodes = None,
    lenient: Lenient = False,
    strict: Strict = False,
    with_: With = None,
    what_if: WhatIf = AS_IT_IS,
    json: Json = False,
) -> int:
    """Check a decision without any solver.

    Its format, every rule of the policy, and every level it states against the value computed again. A solution that
    was made from another input or under another policy is checked all the same, with a warning. Of a certificate the
    bounds are computed again too; if some of them are only claimed, the exit code is 3.
    """
    from cpsched.cli.certificates import verify_certificate
    from cpsched.files import read_document
    from cpsched.solution import Solutions

    changes = what_if.changes(inputs)
    terms = Terms(model, conf, kube_version, shard_of(sharding, shard_nodes), lenient, changes)
    document = read_document(solution_file)
    if isinstance(document.data, Mapping) and document.data.get("kind") == "Certificate":
        return verify_certificate(document, inputs, terms, json=json, strict=strict, with_=with_)
    if with_ is not None:
        raise InputError("--with: only a certificate has proofs", file=document.file)
    solutions = Solutions.parse(document.data, file=document.file)
    answers = [_checked(solution, document.file, inputs, terms, json) for solution in solutions]
    if json:
        verdicts = [verdict for verdict, _, _ in answers]
        head = {"apiVersion": "cpsched/v1", "kind": "Verifications"}
        emit(as_json(verdicts[0] if len(verdicts) == 1 else {**head, "verifications": verdicts}))
    else:
        emit_tables(*(part for _, parts, _ in answers for part in parts))
    return 1 if strict or any(found for _, _, found in answers) else 0


def _checked(
    solution: Solution, file: str, inputs: Sequence[str], terms: Terms, json: bool
) -> tuple[dict[str, Any], list[Part], tuple[Finding, ...]]:
    """The verdict as JSON and as tables, and what was found."""
    from cpsched.checker import decision_of, findings
    from cpsched.cli.certificates import shown_doubts
    from cpsched.completeness.registry import doubts
    from cpsched.contents import contents
    from cpsched.provenance import differences

    with busy("Checking"):
        instance, policy = terms.opened(inputs, solution, file)
        decision = decision_of(instance, policy, solution)
        found = findings(decision, solution)
    announce(policy)
    warn([*instance.warnings, *policy.warnings, *in_doubt(instance, json)])
    warn(f"{file}: {text}" for text in differences(instance, policy, solution))
    verdict = _verdict(solution, instance, decision, found) | shown_doubts(doubts(instance, policy))
    head = [contents(instance, policy), *above(doubts(instance, policy)), sentence(instance, policy)]
    return verdict, [head, _rules(found), *_claims(solution), _summary(found)], found


def _claimed(solution: Solution) -> list[str]:
    """Levels that the solution calls proved; a Solution has no evidence that could be checked."""
    return [level.label for level in solution.levels if level.proved]


def _claims(solution: Solution) -> list[str]:
    claimed = _claimed(solution)
    if not claimed:
        return []
    of = f"{len(claimed)} of {len(solution.levels)} levels"
    return [f"Not verified: {of} are called proved, without evidence; solve --certificate writes evidence."]


def _verdict(solution: Solution, instance: Instance, decision: Decision, found: tuple[Finding, ...]) -> dict[str, Any]:
    from cpsched.objectives import levels
    from cpsched.provenance import is_other_input, is_other_policy

    policy = decision.snapshot.policy
    broken = {one.rule for one in found}
    return {
        "apiVersion": "cpsched/v1",
        "kind": "Verification",
        **fields(policy),
        "instance_sha256": instance.sha256,
        "same_instance": not is_other_input(instance, solution),
        "same_policy": not is_other_policy(policy, solution),
        "unverified": _claimed(solution),
        "rules": {rule: rule not in broken for rule in _rule_keys()},
        "findings": [one.model_dump(mode="json") for one in found],
        "levels": [{"name": one.name, "priority": one.priority, "value": one.value} for one in levels(decision)],
    }


def _rule_keys() -> list[str]:
    from cpsched.checker import LEVELS
    from cpsched.rules import RULES

    return [*RULES, LEVELS]


def _rules(found: tuple[Finding, ...]) -> Table:
    from cpsched.cli.tables import table

    rows: list[tuple[str, str, str, str]] = []
    for rule in _rule_keys():
        broken = [one for one in found if one.rule == rule]
        rows += [(rule, "broken", one.subject, one.message) for one in broken] or [(rule, "ok", "", "")]
    return table("Rules", ["rule", "", "subject", "message"], rows)


def _summary(found: tuple[Finding, ...]) -> str:
    if not found:
        return "No rule is broken."
    rules = len({one.rule for one in found})
    return f"{len(found)} finding{'s' * (len(found) > 1)} in {rules} rule{'s' * (rules > 1)}."
