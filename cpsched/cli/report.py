"""`cpsched report`: decisions or a study as a page to look at, as Markdown, or as tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cpsched.cli.delivery import check_outputs, write_output
from cpsched.cli.output import emit, emit_tables, warn
from cpsched.cli.parameters import AllowExtenders, Conf, Deterministic, Lenient, Seed, Strict, TimeLimit, Workers
from cpsched.cli.reported import ReportRequest, is_study, report_decisions, report_study
from cpsched.cli.what_if import AS_IT_IS, WhatIf
from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.cli.output import Part
    from cpsched.report.document import Report

FINE, UNREADABLE = 0, 2
Form = Literal["html", "markdown", "text"]
FORM_BY_ENDING: dict[str, Form] = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}

About = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="What to report on: a cluster (any input of solve, or several that are parts of one), a Comparison that "
        "compare wrote, or the folder of a study.",
        show_default=False,
    ),
]
Solutions = Annotated[
    list[str] | None,
    typer.Option(
        "--solution",
        metavar="FILE",
        help="A decision about the cluster, as solve -o wrote it, or a Comparison with several; may be repeated.",
        show_default=False,
    ),
]
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engines",
        metavar="A,B,...",
        help="Let these engines decide now; exec:CMD takes the rest of the list, so repeat the option for more. "
        "Default without --solution: the mirror of the model's scheduler, and optimal.",
        show_default=False,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME|FILE",
        help="Policy: the name of a shipped model, or a model file. Default: the shipped model that the first solution "
        "names, else volcano.",
        show_default=False,
    ),
]
Release = Annotated[
    str | None,
    typer.Option(
        "--kube-version",
        metavar="RELEASE",
        help="kube-scheduler's release: 1.36 or head. Default: the one the first solution states, else the model's.",
        show_default=False,
    ),
]
Nodes = Annotated[int, typer.Option("--nodes", metavar="N", min=0, help="Draw at most so many nodes task by task.")]
Format = Annotated[
    Form | None,
    typer.Option(
        "--format",
        help="html: a single self-contained file. Default: as the ending of -o says (.html, .md), else text.",
        show_default=False,
    ),
]
OutputFile = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the report to this file.", show_default=False),
]


def report(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    inputs: About,
    solution: Solutions = None,
    engines: Engines = None,
    model: ModelOption = None,
    conf: Conf = None,
    kube_version: Release = None,
    allow_extenders: AllowExtenders = False,
    lenient: Lenient = False,
    strict: Strict = False,
    seed: Seed = 1,
    time_limit: TimeLimit = 60,
    workers: Workers = 2,
    deterministic: Deterministic = False,
    nodes: Nodes = 40,
    what_if: WhatIf = AS_IT_IS,
    form: Format = None,
    output: OutputFile = None,
) -> int:
    """Show decisions as pictures and tables.

    A cluster before and after each decision, the levels with their proofs, placed and evicted pods, why others stay
    pending; or a study with its gaps and times. The exit code says whether the report was made; it is 2 too where
    the report leaves out records of a study that cannot be read.
    """
    from cpsched.options import Options

    check_outputs(output)
    changes = what_if.changes(inputs)
    options = Options(time_limit=time_limit, workers=workers, seed=seed, deterministic=deterministic)
    if len(inputs) == 1 and is_study(inputs[0]):
        made, left_out = report_study(inputs[0], drawn=(form or form_of(output)) == "html")
    else:
        left_out = []
        given = (
            tuple(inputs),
            tuple(solution or ()),
            engines,
            model,
            conf,
            kube_version,
            allow_extenders,
            lenient,
            strict,
        )
        made = report_decisions(ReportRequest(*given, options, nodes, changes))
    write_report(made, form or form_of(output), output)
    warn(left_out)
    return UNREADABLE if left_out else FINE


def form_of(output: str | None) -> Form:
    """As the ending of the file says."""
    return FORM_BY_ENDING.get(Path(output or "").suffix.lower(), "text")


def write_report(made: Report, form: Form, output: str | None) -> None:
    """Into the file, else on stdout."""
    if form == "text" and output is None:
        emit_tables(*_tables(made))
        return
    if output is None:
        emit(_text(made, form))
        return
    try:
        write_output(output, _text(made, form))
    except InputError:
        # What took so long to find out is not lost with the file.
        emit_tables(*_tables(made))
        raise


def _text(made: Report, form: Form) -> str:
    if form == "html":
        from cpsched.report.html import html

        return html(made)
    if form == "markdown":
        from cpsched.report.markdown import markdown

        return markdown(made)
    from cpsched.cli.output import plain_tables

    return plain_tables(*_tables(made))


def _tables(made: Report) -> Iterator[Part]:
    """The same sentences and tables for a terminal."""
    from cpsched.cli.tables import table
    from cpsched.report.document import Table, Text

    yield [made.title, made.about, "", *(line.text for line in made.verdict)]
    if made.facts:
        yield ", ".join(f"{name} {value}" for name, value in made.facts)
    for section in made.sections:
        for block in section.blocks:
            if isinstance(block, Text):
                yield block.text
            elif isinstance(block, Table):
                yield table(block.title, block.columns, [[cell.text for cell in row] for row in block.rows])
                if block.left_out:
                    yield f"... and {block.left_out:,} more"
    yield made.made_from
