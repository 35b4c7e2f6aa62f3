"""`cpsched solve`: one engine's decision, checked and shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from cpsched.cli.delivery import check_outputs, deliver
from cpsched.cli.in_doubt import in_doubt
from cpsched.cli.others import decided_for_each, notes_beside, refuse_of_two, with_notes
from cpsched.cli.output import announce, as_json, busy, emit, emit_tables, line_sink, warn
from cpsched.cli.outside import command_of
from cpsched.cli.parameters import (
    AllowExtenders,
    Conf,
    Deterministic,
    Inputs,
    Json,
    KubeVersion,
    Lenient,
    Model,
    Output,
    PodGroups,
    Seed,
    Strict,
    TimeLimit,
    Workers,
    typed,
)
from cpsched.cli.sharding import Sharding, ShardNodes, shard_of
from cpsched.cli.what_if import AS_IT_IS, WhatIf
from cpsched.options import Prover as Selection

if TYPE_CHECKING:
    from cpsched.policy import Policy
    from cpsched.solution import Solution

FINE, FINDINGS, NO_ANSWER = 0, 1, 3

Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Who decides: optimal (the provably best decision), volcano or kube (what that scheduler does), or "
        "exec:CMD (any program that reads the Instance on stdin and prints a Solution). Default: optimal.",
        show_default=False,
    ),
]
Prover = Annotated[
    str,
    typer.Option(
        "--prover",
        metavar="NAME",
        help="Solver to use: cp-sat, highs, both, or exec:CMD (both; with --proofs all any program that reads an OPB "
        "file and writes a VeriPB log is asked for the proofs that are missing).",
    ),
]
Log = Annotated[
    str | None,
    typer.Option("--log", metavar="FILE", help="The solver's log, - for stderr (engine optimal).", show_default=False),
]
Export = Annotated[
    str | None,
    typer.Option(
        "--export",
        metavar="FILE",
        help="Write the CP-SAT model of the first level: text for .txt and .textproto, else binary (engine optimal).",
        show_default=False,
    ),
]
CertificateFile = Annotated[
    str | None,
    typer.Option(
        "--certificate",
        metavar="FILE",
        help="Write the decision with its bounds and the evidence for each, for cpsched verify.",
        show_default=False,
    ),
]
Proofs = Annotated[
    Literal["all", "cheap", "none"],
    typer.Option(
        "--proofs",
        help="What the certificate proves step by step: all levels, with a search of its own where that takes one, "
        "within the time limit; cheap: those that a prover only claims, without any search; or none.",
    ),
]
Trace = Annotated[bool, typer.Option("--trace", help="Print a trace of the session (engine volcano).")]
AllOutcomes = Annotated[
    bool,
    typer.Option(
        "--all-outcomes",
        help="List every decision the scheduler could make, over its random choices, or a sample where there are too "
        "many (engines volcano and kube); exit 1 if each breaks a rule.",
    ),
]
Only = Annotated[str | None, typer.Option("--only", metavar="NS/POD", help="Try only this pod.", show_default=False)]


def solve(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    inputs: Inputs,
    engine: Engine = None,
    model: Model = None,
    conf: Conf = None,
    allow_extenders: AllowExtenders = False,
    lenient: Lenient = False,
    strict: Strict = False,
    sharding: Sharding = None,
    shard_nodes: ShardNodes = None,
    seed: Seed = 1,
    time_limit: TimeLimit = 60,
    workers: Workers = 2,
    deterministic: Deterministic = False,
    prover: Prover = "both",
    log: Log = None,
    export: Export = None,
    certificate: CertificateFile = None,
    proofs: Proofs = "cheap",
    kube_version: KubeVersion = None,
    only: Only = None,
    pod_groups: PodGroups = False,
    trace: Trace = False,
    all_outcomes: AllOutcomes = False,
    what_if: WhatIf = AS_IT_IS,
    json: Json = False,
    output: Output = None,
) -> int:
    """Decide who is placed and who is evicted.

    The decision is checked by every rule of the policy and scored on its levels, of any engine: the tables show the
    jobs, where tasks go, the victims, the levels with their proofs, and the rules that are broken.
    """
    from cpsched import engines
    from cpsched.checker import stamped
    from cpsched.cli import replays
    from cpsched.importers.load import load
    from cpsched.importers.policy import load_policies
    from cpsched.options import Options
    from cpsched.solution import Solutions
    from cpsched.together import of_engines

    program = command_of(prover)
    options = Options(
        time_limit=time_limit,
        workers=workers,
        seed=seed,
        only=only,
        pod_groups=pod_groups,
        deterministic=deterministic,
        prover=cast("Selection", "both" if program else prover),
        export=export,
    )
    if all_outcomes:
        replays.refuse_with_all_outcomes(
            certificate=certificate,
            log=log,
            export=export,
            trace=trace,
            only=only,
            pod_groups=pod_groups,
            seed=options.chance is not None,
        )
    changes = what_if.changes(inputs)
    shard = shard_of(sharding, shard_nodes)
    check_outputs(output, certificate, export, None if log == "-" else log)
    name = engine or engines.DEFAULT
    engines.find(name)
    with busy(f"Reading {typed(inputs)}"):
        instance = load(inputs, sharding=shard, lenient=lenient, strict=strict, changes=changes)
        terms: dict[str, Any] = {"kube_version": kube_version, "allow_extenders": allow_extenders or None}
        policies = of_engines([name], load_policies(model, conf, instance=instance, lenient=lenient, **terms))
    if len(policies) > 1:
        refuse_of_two(certificate=certificate, export=export)
    for policy in policies:
        announce(policy)
    texts = [text for policy in policies for text in (*policy.warnings, *doubts(name, policy))]
    warn(dict.fromkeys([*instance.warnings, *texts, *in_doubt(instance, json)]))
    if all_outcomes:
        outcomes = replays.list_outcomes(name, instance, policies[0], json=json, output=output)
        return FINDINGS if all(one.findings for one in outcomes) else FINE
    if trace:
        replays.print_trace(name, instance, policies[0], options, json=json)
    with line_sink(log) as lines:
        decided = list(decided_for_each(name, instance, policies, replace(options, log=lines)))
    notes = notes_beside(instance, policies, decided, inputs)

    def certificate_text() -> str:
        from cpsched.cli.proofs import certificate_with_proofs

        [(policy, solution)] = decided
        return certificate_with_proofs(
            instance, policy, solution, proofs, certificate, seconds=time_limit, command=program
        )

    def solution_text() -> str:
        if len(policies) == 1:
            return as_json(stamped(instance, with_notes(instance, *decided[0], notes)).to_dict())
        found = (stamped(instance, with_notes(instance, policy, one)) for policy, one in decided)
        return as_json(Solutions(solutions=tuple(found), notes=tuple(notes)).to_dict())

    def show() -> None:
        from cpsched.cli.decision import decision_tables
        from cpsched.snapshot import Snapshot

        parts = (part for policy, one in decided for part in decision_tables(Snapshot(instance, policy), one))
        emit_tables(*parts, *notes)

    deliver((lambda: emit(solution_text())) if json else show, (certificate, certificate_text), (output, solution_text))
    return exit_code(*(solution for _, solution in decided))


def exit_code(*solutions: Solution) -> int:
    """0, or 1 for a decision that breaks a rule, or 3 if there is none; of several decisions in this order."""
    codes = {_code(one) for one in solutions}
    return next((code for code in (FINDINGS, NO_ANSWER) if code in codes), FINE)


def _code(solution: Solution) -> int:
    if solution.status.value in ("infeasible", "unknown"):
        return NO_ANSWER
    return FINDINGS if solution.findings else FINE


def doubts(engine: str, policy: Policy) -> Iterator[str]:
    """What is odd about an engine under a policy."""
    made_for = policy.model.scheduler
    if engine in ("volcano", "kube") and engine != made_for:
        yield f"engine {engine} is checked by model {policy.name}, which is made for {made_for}; see --model"
