"""`cpsched explain`: what waits; why a job or task stays, or which nodes and victims a preemptor could have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpsched.cli.delivery import check_outputs, deliver
from cpsched.cli.in_doubt import in_doubt
from cpsched.cli.others import for_others
from cpsched.cli.output import announce, as_json, busy, emit, emit_tables, warn
from cpsched.cli.parameters import (
    AllowExtenders,
    Conf,
    Deterministic,
    Json,
    KubeVersion,
    Lenient,
    Model,
    Strict,
    Workers,
    typed,
)
from cpsched.cli.solve import FINE, NO_ANSWER, Engine, doubts
from cpsched.cli.what_if import AS_IT_IS, WhatIf
from cpsched.located import located

if TYPE_CHECKING:
    from cpsched.explanation.result import Explanation
    from cpsched.explanation.waiting import Waiting

About = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT|NAME",
        help="The cluster, as solve reads it, and the job or task to explain, namespace/name; a bare name will do if "
        "it is clear. The last word is the name if no file is called so.",
        show_default=False,
    ),
]
JobName = Annotated[
    str | None, typer.Option("--job", metavar="NS/JOB", help="Explain this job (PodGroup).", show_default=False)
]
TaskName = Annotated[
    str | None, typer.Option("--task", metavar="NS/POD", help="Explain this task (pod).", show_default=False)
]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown instead of tables.")]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="SECONDS", help="Then what was found so far is the answer.")
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the JSON to this file, or with --markdown the Markdown.",
        show_default=False,
    ),
]


def explain(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    about: About,
    job: JobName = None,
    task: TaskName = None,
    engine: Engine = None,
    model: Model = None,
    conf: Conf = None,
    allow_extenders: AllowExtenders = False,
    lenient: Lenient = False,
    strict: Strict = False,
    kube_version: KubeVersion = None,
    time_limit: TimeLimit = 60,
    workers: Workers = 2,
    deterministic: Deterministic = False,
    what_if: WhatIf = AS_IT_IS,
    json: Json = False,
    markdown: Markdown = False,
    output: Output = None,
) -> int:
    """Explain why a job is not placed, or which pods it evicts.

    For one that stays: the reason on every node, a smallest set of requirements that cannot hold together or the
    fewest jobs that are ahead of it, and the smallest changes that would place it. For a task that preempts: every
    candidate node with the heuristic's victims, the optimal ones and both score vectors. Without a name: everything
    that waits, grouped by the first reason (engine: the mirror of the model's scheduler).
    """
    from cpsched import engines
    from cpsched.contents import contents
    from cpsched.explanation.inquiry import explain as inquire
    from cpsched.explanation.waiting import waiting
    from cpsched.importers.load import load
    from cpsched.importers.policy import load_policies
    from cpsched.options import Options
    from cpsched.together import of_engines

    check_outputs(output)
    inputs, name = _inputs_and_name(about)
    changes = what_if.changes(inputs)
    options = Options(time_limit=time_limit, workers=workers, deterministic=deterministic)
    lists = name is job is task is None
    engines.find(engine or engines.DEFAULT)
    with busy(f"Reading {typed(inputs)}"):
        instance = load(inputs, lenient=lenient, strict=strict, changes=changes, held=True)
        every = load_policies(
            model,
            conf,
            instance=instance,
            lenient=lenient,
            kube_version=kube_version,
            allow_extenders=allow_extenders or None,
            subject=name or job or task,
        )
        policies = of_engines([engine or engines.DEFAULT], every)
    for policy in policies:
        announce(policy)
    texts = [text for one in policies for text in (*one.warnings, *doubts(engine or "", one))]
    warn(dict.fromkeys([*instance.warnings, *texts, *in_doubt(instance, json)]))
    with busy("Explaining"):
        found: list[Explanation | Waiting]
        if lists:
            beside = reversed(policies) if len(policies) > 1 else [None]
            found = [waiting(instance, one, options, engine, also) for one, also in zip(policies, beside, strict=True)]
        else:
            decides = engine or engines.DEFAULT
            found = [inquire(instance, policies[0], options, engine=decides, job=job, task=task, name=name)]
    elsewhere = list(for_others(instance, policies[0], inputs, "explain")) if lists and len(policies) == 1 else []
    _show(found, [contents(instance, policy) for policy in policies], elsewhere, json, markdown, output)
    return NO_ANSWER if any(one.is_open for one in found) else FINE


def _inputs_and_name(about: Sequence[str]) -> tuple[list[str], str | None]:
    """The inputs, and the job or task of which the last word is the name."""
    *inputs, last = about
    if not inputs or last == "-" or os.path.lexists(located(last)):
        return [*about], None
    return inputs, last


def _show(
    found: Sequence[Explanation | Waiting],
    read: Sequence[str],
    elsewhere: list[str],
    json: bool,
    markdown: bool,
    output: str | None,
) -> None:
    from cpsched.cli.tables import MOST_ROWS, shown
    from cpsched.tables import md

    def as_text() -> str:
        if not markdown:
            return as_json(_document(found))
        pages = (f"{line}\n\n{one.to_markdown()}" for line, one in zip(read, found, strict=True))
        return "\n".join(pages) + "".join(f"\n{md(line)}\n" for line in elsewhere)

    def show() -> None:
        if json or markdown:
            emit(as_json(_document(found)) if json else as_text())
        else:
            parts = ((line, *shown(one.blocks(), MOST_ROWS)) for line, one in zip(read, found, strict=True))
            emit_tables(*(part for answer in parts for part in answer), *elsewhere)

    deliver(show, (output, as_text))


def _document(found: Sequence[Explanation | Waiting]) -> dict[str, Any]:
    """The JSON form; of two schedulers a list each."""
    lists = [one.to_dict() for one in found]
    return lists[0] if len(lists) == 1 else {"apiVersion": "cpsched/v1", "kind": "WaitingLists", "lists": lists}
