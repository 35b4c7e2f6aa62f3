"""`cpsched import`: any input as one normalised Instance, with a report of what was and was not understood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cpsched.cli.delivery import check_outputs, deliver, write_output
from cpsched.cli.in_doubt import in_doubt
from cpsched.cli.output import as_json, busy, emit, emit_tables, warn
from cpsched.cli.parameters import Inputs, Lenient, Output, Strict, typed
from cpsched.cli.what_if import AS_IT_IS, WhatIf

if TYPE_CHECKING:
    from rich.table import Table

    from cpsched.importers.kubernetes import ReadReport

Conf = Annotated[
    str | None,
    typer.Option(
        "--conf",
        metavar="FILE",
        help="Put this scheduler configuration into the Instance, in place of the input's own.",
        show_default=False,
    ),
]
ReportOption = Annotated[
    bool,
    typer.Option("--report", help="Print a summary of what was read and what was ignored, instead of the Instance."),
]


From = Annotated[
    Literal["kubernetes", "volcano-dump", "kai", "simulator", "openb", "dlrm"] | None,
    typer.Option("--from", help="Input format. Default: detected.", show_default=False),
]
Queues = Annotated[
    str | None,
    typer.Option(
        "--queues",
        metavar="FILE",
        help="Further objects that the input lacks: the queues of a cache dump, the nodes of a trace.",
        show_default=False,
    ),
]


def import_(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    inputs: Inputs,
    from_: From = None,
    queues: Queues = None,
    report: ReportOption = False,
    lenient: Lenient = False,
    strict: Strict = False,
    conf: Conf = None,
    what_if: WhatIf = AS_IT_IS,
    output: Output = None,
) -> int:
    """Read an input and write it as one Instance (JSON).

    The input may also be a snapshot of another program or a trace: Volcano's cache dump, KAI's snapshot, the export of
    kube-scheduler-simulator, the openb or dlrm tables. The Instance holds every field that scheduling looks at, with
    defaults filled in; loading it gives the same cluster again. Without -o it goes to stdout.
    """
    from dataclasses import replace

    from cpsched.contents import contents
    from cpsched.importers.kubernetes import ReadReport
    from cpsched.importers.load import load

    check_outputs(output)
    changes = what_if.changes(inputs)
    counts = ReadReport(count_fields=report)
    with busy(f"Reading {typed(inputs)}"):
        instance = load(
            inputs, lenient=lenient, strict=strict, report=counts, format=from_, queues=queues, changes=changes
        )
        warnings = [*instance.warnings, *in_doubt(instance, beside_json=True)]
        if conf is not None:
            instance = replace(instance, conf=_configuration(conf, warnings))
        text = as_json(instance.to_dict())
    warn(warnings)
    if report:
        deliver(lambda: emit_tables(contents(instance), *_tables(counts, inputs)), (output, lambda: text))
    elif output is not None:
        write_output(output, text)
    else:
        emit(text)
    return 0


def _configuration(path: str, warnings: list[str]) -> Mapping[str, Any]:
    from cpsched.importers.policy import read_conf
    from cpsched.policy import KubeConf, VolcanoConf, recognise

    document = read_conf(path)
    found = recognise(document.data, file=document.file)
    reader = VolcanoConf if found.scheduler == "volcano" else KubeConf
    warnings += [*found.warnings, *reader.parse(found.conf, file=document.file).warnings]
    return found.conf


def _tables(counts: ReadReport, inputs: Sequence[str]) -> list[Table | str]:
    from cpsched.importers.formats import FORMATS

    parts: list[Table | str] = [f"Format: {counts.format}, {FORMATS[counts.format].about}"]
    parts.append(_table("Read", "kind", counts.read))
    if counts.other_kinds:
        parts.append(_table("Left aside: kinds that scheduling does not look at", "kind", counts.other_kinds))
    if counts.unread:
        parts.append(_table("Left aside: fields that nothing here reads", "field", counts.unread))
    root = ", ".join("stdin" if one == "-" else one for one in inputs)
    aside = [*counts.gaps.rows(root), *counts.aside.rows(root)]
    if aside:
        parts.append(_aside_table(aside))
    if not counts.other_kinds and not counts.unread and not aside:
        parts.append("Nothing was ignored.")
    return parts


def _aside_table(rows: list[tuple[str, str, int, str]]) -> Table:
    from cpsched.cli.tables import table

    shown = [(what, why, str(count), places) for what, why, count, places in rows]
    return table("Set aside, or not as it should be", ["what", "why", "#count", "where"], shown)


def _table(title: str, what: str, counts: Counter[str]) -> Table:
    from cpsched.cli.tables import table

    rows = [(name, str(count)) for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return table(title, [what, "#count"], rows)
