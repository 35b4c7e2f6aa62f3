"""The subcommands of `cpsched`, and the exit code of what was asked."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

import cpsched.version
from cpsched.cli.capture import capture
from cpsched.cli.check import check
from cpsched.cli.command import Command
from cpsched.cli.compare import compare
from cpsched.cli.corpus import corpus
from cpsched.cli.diff import diff
from cpsched.cli.explain import explain
from cpsched.cli.generate import generate
from cpsched.cli.grouped import grouped
from cpsched.cli.import_ import import_
from cpsched.cli.output import bugs_shown, complain, emit, say
from cpsched.cli.parameters import EXIT_CODES
from cpsched.cli.proof import proof
from cpsched.cli.report import report
from cpsched.cli.schema import schema
from cpsched.cli.serve import serve
from cpsched.cli.solve import solve
from cpsched.cli.study import EXIT_CODES as STUDY_EXIT_CODES
from cpsched.cli.study import study
from cpsched.cli.verify import verify
from cpsched.collector import few_collections
from cpsched.errors import InputError

USAGE = 2

app = typer.Typer(name="cpsched", rich_markup_mode=None, pretty_exceptions_enable=False, epilog=EXIT_CODES)
app.command(cls=Command, epilog=EXIT_CODES)(grouped(solve))
app.command(cls=Command, epilog=EXIT_CODES)(grouped(compare))
app.command(cls=Command, epilog=EXIT_CODES)(check)
app.command(cls=Command, epilog=EXIT_CODES)(diff)
app.add_typer(corpus)
app.command(cls=Command, epilog=EXIT_CODES)(grouped(explain))
app.command(cls=Command, epilog=EXIT_CODES)(grouped(verify))
app.add_typer(proof)
app.command(cls=Command, epilog=STUDY_EXIT_CODES)(study)
app.command(cls=Command, epilog=EXIT_CODES)(grouped(report))
app.command(cls=Command, epilog=EXIT_CODES)(serve)
app.command(cls=Command, epilog=EXIT_CODES)(capture)
app.command("import", cls=Command, epilog=EXIT_CODES)(grouped(import_))
app.command(cls=Command, epilog=EXIT_CODES)(generate)
app.command(cls=Command, epilog=EXIT_CODES)(schema)


def _version(wanted: bool) -> None:
    if wanted:
        emit(cpsched.version.with_solvers())
        raise typer.Exit


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Print the versions of cpsched and its solvers and exit.",
        ),
    ] = False,
) -> None:
    """Was that scheduling decision any good?

    Reads a snapshot of a Kubernetes or Volcano batch cluster, decides as a scheduler does or as well as the policy
    allows, and checks every decision by the same rules and levels.
    """
    if context.invoked_subcommand is None:
        say(context.get_help())
        raise typer.Exit(USAGE)


def exit_code() -> int:
    """Run what the arguments ask for; what the user can correct is one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with few_collections(), bugs_shown():
            return int(app(prog_name="cpsched", standalone_mode=False) or 0)
    except InputError as error:
        return _failed(str(error))
    except typer.TyperException as error:
        return _failed(_usage(error))


def _failed(line: str) -> int:
    complain(line)
    return USAGE


def _usage(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "cpsched"
    message = " ".join(error.format_message().split()).replace("Value error, ", "").removesuffix(".")
    return f"{message}; see {command} --help"
