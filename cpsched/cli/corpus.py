"""`cpsched corpus`: a corpus as one file that test suites in other languages read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpsched.cli.command import Command
from cpsched.cli.delivery import check_outputs
from cpsched.cli.output import complain, emit, say, warn
from cpsched.cli.parameters import (
    EXIT_CODES,
    Cache,
    CaseModel,
    Conf,
    Deterministic,
    Jobs,
    Lenient,
    Seed,
    TimeLimit,
    Workers,
)
from cpsched.cli.progress import progress
from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.gate.measure import CaseQuestion

FINE, BAD_INPUT = 0, 2

corpus = typer.Typer(name="corpus", help="A corpus as one file, for test suites in other languages.")

Source = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS",
        help="A folder of instances, nested; rows of JSON Lines (.jsonl, .jsonl.gz); or one instance.",
        show_default=False,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine", metavar="NAME", help="Engine of the baseline: mirror, volcano, kube, recorded, or exec:CMD."
    ),
]
NoOptimum = Annotated[bool, typer.Option("--no-optimum", help="Leave the best decisions out.")]
OnlyProved = Annotated[
    bool, typer.Option("--only-proved", help="Leave out cases whose optimum is not proved; they are counted.")
]
OutputFile = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write to this file, packed if it ends in .gz.", show_default=False
    ),
]


@corpus.command("export", cls=Command, epilog=EXIT_CODES)
def export(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    source: Source,
    engine: Engine = "mirror",
    model: CaseModel = None,
    conf: Conf = None,
    lenient: Lenient = False,
    seed: Seed = 1,
    time_limit: TimeLimit = 60,
    workers: Workers = 1,
    deterministic: Deterministic = False,
    jobs: Jobs = 1,
    cache: Cache = None,
    no_optimum: NoOptimum = False,
    only_proved: OnlyProved = False,
    output: OutputFile = None,
) -> int:
    """Write the cases as JSON Lines: each with its best decision, its baseline, tags and the numbers of its rules.

    The first line holds the names of rules and levels, and a hash of all that follows. Nothing is written if a case
    cannot be read or decided.
    """
    from cpsched.comparison.contender import checked
    from cpsched.comparison.session import CaseOptions
    from cpsched.contents import counted
    from cpsched.files import write_whole
    from cpsched.gate.exported import corpus_text, packed
    from cpsched.gate.measure import CaseQuestion
    from cpsched.options import Options

    check_outputs(output)
    checked([engine])
    given = CaseOptions(model, conf, lenient)
    options = Options(time_limit=time_limit, workers=workers, seed=seed, deterministic=deterministic)
    question = CaseQuestion(engine, given, options, cache, optimum=not no_optimum)
    rows = _rows(source, question, jobs, only_proved=only_proved and not no_optimum)
    if rows is None:
        return BAD_INPUT
    text = corpus_text(source, engine, rows)
    if output is None:
        emit(text)
        return FINE
    write_whole(output, packed(text) if output.endswith(".gz") else text)
    say(f"{output}: {counted(len(rows), 'case')}.")
    return FINE


def _rows(source: str, question: CaseQuestion, jobs: int, *, only_proved: bool) -> list[Any] | None:
    """The lines, None if a case has none; each that has none is named."""
    from functools import partial

    from cpsched.comparison.many import each
    from cpsched.contents import counted
    from cpsched.gate.exported import exported, lost
    from cpsched.importers.corpus import cases, count

    work = partial(exported, question=question)
    results = each(work, cases(source), 1 if source == "-" else jobs, lost)
    seen: set[str] = set()
    rows: list[Any] = []
    wrong = open_ = 0
    warned = False
    for one in progress(results, count(source), "Exporting"):
        if one.warning and not warned:
            warn([one.warning])
            warned = True
        if one.row is None:
            complain(one.error)
            wrong += 1
            continue
        if one.id in seen:
            raise InputError(f"two cases are called {one.id}", file=source, right="give each row an id of its own")
        seen.add(one.id)
        if only_proved and not one.is_proved:
            open_ += 1
            continue
        rows.append(one.row)
    if open_:
        warn([f"{counted(open_, 'case')} left out: the optimum is not proved"])
    return None if wrong else rows
