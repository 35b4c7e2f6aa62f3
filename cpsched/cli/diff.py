"""`cpsched diff`: what changed between two baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeGuard

import typer

from cpsched.cli.delivery import check_outputs, write_output
from cpsched.cli.output import as_json, emit
from cpsched.cli.parameters import Json
from cpsched.cli.report import Format, OutputFile, form_of, write_report

if TYPE_CHECKING:
    from cpsched.gate.diff import Tags

FINE, WORSE = 0, 1

Before = Annotated[
    str, typer.Argument(metavar="BASELINE_A", help="What check --update wrote before.", show_default=False)
]
After = Annotated[str, typer.Argument(metavar="BASELINE_B", help="The same afterwards.", show_default=False)]
CorpusFile = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        metavar="CORPUS",
        help="The corpus of both, for tags (what corpus export wrote states them) and commands that reproduce.",
        show_default=False,
    ),
]


def diff(
    before: Before,
    after: After,
    corpus: CorpusFile = None,
    form: Format = None,
    json: Json = False,
    output: OutputFile = None,
) -> int:
    """Compare two baselines case by case: better, worse, by level and by tag.

    Exit code 1 if a case is worse in the second: on the first level that differs, or because it breaks more rules.
    """
    from cpsched.gate.baseline import read_baseline
    from cpsched.gate.diff import BaselineDiff
    from cpsched.report.changed import changed

    check_outputs(output)
    found = BaselineDiff.of(read_baseline(before), read_baseline(after), _tags(corpus))
    as_text = as_json(found.to_dict())
    if output is not None and output.endswith(".json") and form is None:
        write_output(output, as_text)
    elif output is not None or not json:
        write_report(changed(found, (before, after), corpus), form or form_of(output), output)
    if json:
        emit(as_text)
    return WORSE if found.counts["worse"] else FINE


def _tags(corpus: str | None) -> dict[str, Tags]:
    """Case → tags, as far as rows state any in the form that corpus export gives them."""
    from cpsched.importers.corpus import cases

    stated = [] if corpus is None else [(case.id, case.stated.get("tags")) for case in cases(corpus)]
    return {case: tags for case, tags in stated if _are_tags(tags)}


def _are_tags(stated: object) -> TypeGuard[Tags]:
    return isinstance(stated, dict) and all(
        isinstance(group, list) and all(isinstance(tag, str) for tag in group) for group in stated.values()
    )
