"""`cpsched proof`: a certificate's proofs in the form that programs written by others check."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cpsched.cli import outside
from cpsched.cli.command import Command
from cpsched.cli.output import busy, emit_tables
from cpsched.cli.parameters import EXIT_CODES, Conf, Inputs, Lenient
from cpsched.cli.progress import progress
from cpsched.cli.proofs import steps_beside
from cpsched.cli.terms import Terms
from cpsched.cli.verify import ModelOption, Release
from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.certificate import Certificate
    from cpsched.certificate.replay import StatedProof

proof = typer.Typer(
    name="proof", help="Proofs of a certificate, for programs written by others: export them, and check them."
)

CertificateFile = Annotated[
    str,
    typer.Argument(metavar="CERTIFICATE", help="What solve --certificate wrote.", show_default=False),
]
Folder = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files.", show_default=False)
]
Format = Annotated[
    Literal["veripb", "vipr", "both"], typer.Option("--format", help="Which programs the files are for.")
]
Level = Annotated[
    str | None,
    typer.Option("--level", metavar="L", help="Only this level: victim_count, jobs_admitted[10].", show_default=False),
]
Exported = Annotated[Path, typer.Argument(metavar="DIR", help="What proof export wrote.", show_default=False)]
With = Annotated[
    str | None,
    typer.Option(
        "--with",
        metavar="NAMES",
        help="Programs that check, separated by commas: veripb, viprchk. Default: those that are installed.",
        show_default=False,
    ),
]


@proof.command("export", cls=Command, epilog=EXIT_CODES)
def export(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    certificate: CertificateFile,
    inputs: Inputs,
    output: Folder,
    format_: Format = "both",
    level: Level = None,
    model: ModelOption = None,
    conf: Conf = None,
    kube_version: Release = None,
    lenient: Lenient = False,
) -> int:
    """Write every proof of a certificate as a formula and a proof that VeriPB and viprchk read.

    Each proof is replayed before it is written; a README in the folder names the commands that check the files.
    """
    from cpsched.certificate import Certificate
    from cpsched.cli.tables import table
    from cpsched.files import read_document, write_whole

    document = read_document(certificate)
    stated = Certificate.parse(document.data, file=document.file)
    if level is not None and level not in [one.label for one in stated.levels]:
        labels = ", ".join(one.label for one in stated.levels)
        raise InputError(f"{level} is no level of it", file=document.file, right=f"its levels: {labels}")
    with busy("Checking"):
        found = _proofs(stated, document.file, inputs, Terms(model, conf, kube_version, None, lenient))
    output.mkdir(parents=True, exist_ok=True)
    formats: list[str] = ["veripb", "vipr"] if format_ == "both" else [format_]
    wanted = [(n, one) for n, one in enumerate(stated.levels, start=1) if level in (None, one.label)]
    rows = []
    for number, one in progress(wanted, len(wanted), "Exporting"):
        given = found.get(one.label)
        if given is None:
            rows.append((one.label, "", f"no proof: {one.evidence.kind} {one.evidence.by}".rstrip()))
        elif given.statement.claim.is_trivial:
            rows.append((one.label, "", "nothing to show: nothing could be better"))
        else:
            stem = outside.stem_of(number, one.label)
            files = outside.write(output, stem, given, formats)
            rows.append((one.label, " ".join(path.name for path in files), f"{len(given.steps)} steps"))
    write_whole(output / "README.md", readme(rows, formats, document.file))
    emit_tables(table("Proofs", ["level", "files", ""], rows))
    return 0


def _proofs(stated: Certificate, file: str, inputs: Sequence[str], terms: Terms) -> dict[str, StatedProof]:
    """Per level its proof, replayed; InputError if the certificate does not hold."""
    from cpsched.certificate import verified
    from cpsched.certificate.replay import Proofs
    from cpsched.checker import decision_of

    instance, policy = terms.opened(inputs, stated.as_solution(), file)
    steps_of = partial(steps_beside, file)
    checked = verified(instance, policy, stated, file=file, steps_of=steps_of)
    if checked.findings:
        first = checked.findings[0]
        wrong = f"does not hold: {first.subject} {first.message}".replace(":  ", ": ")
        raise InputError(wrong, file=file, right="see what cpsched verify says of it")
    decision = decision_of(instance, policy, stated.as_solution())
    return {one.level.label: one for one in Proofs(decision, steps_of).stated(stated)}


COMMANDS = {"veripb": "veripb {stem}.opb {stem}.pbp", "vipr": "viprchk {stem}.vipr"}


def readme(rows: list[tuple[str, str, str]], formats: list[str], file: str) -> str:
    """What the files are and how they are checked."""
    lines = [
        "# Proofs",
        "",
        f"Written by `cpsched proof export` from `{Path(file).name}`. Each says that no decision which",
        "satisfies the rows is better on the level than the bound. The rows are the constraints, each with its name.",
        "",
    ]
    for label, files, size in rows:
        commands = [COMMANDS[name].format(stem=files.split(".", 1)[0]) for name in formats] if files else []
        lines += [f"## {label}", "", size, "", *(f"    {command}" for command in commands), ""]
    return "\n".join(lines)


@proof.command("check", cls=Command, epilog=EXIT_CODES)
def check(folder: Exported, with_: With = None) -> int:
    """Have exported proofs checked by programs written by others; exit code 1 if one is refused."""
    from cpsched.cli.tables import table

    checkers = outside.chosen(with_)
    asked = [(checker, stem) for checker in checkers for stem in outside.stems_in(folder, checker)]
    if not asked:
        raise InputError("holds no proof for " + " or ".join(checkers), file=str(folder))
    rows, refused = [], 0
    for checker, stem in progress(asked, len(asked), "Checking"):
        answer = outside.checked_by(checker, folder, stem)
        refused += not answer.accepted
        rows.append((stem, checker, "accepted" if answer.accepted else answer.why))
    emit_tables(table("Proofs", ["proof", "by", ""], rows), _sum(len(asked), refused))
    return 1 if refused else 0


def _sum(number: int, refused: int) -> str:
    return f"{refused} of {number} refused." if refused else f"All {number} accepted."
