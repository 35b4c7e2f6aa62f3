"""`cpsched check`: the regression gate over a corpus."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpsched.cli.delivery import check_outputs, deliver
from cpsched.cli.output import as_json, complain, emit, emit_lines, emit_tables, warn
from cpsched.cli.parameters import (
    AllowExtenders,
    Cache,
    CaseModel,
    Conf,
    Deterministic,
    Jobs,
    Json,
    KubeVersion,
    Lenient,
    Output,
    PodGroups,
    Seed,
    TimeLimit,
    Workers,
)
from cpsched.cli.progress import progress
from cpsched.errors import InputError

if TYPE_CHECKING:
    from cpsched.cli.delivery import File
    from cpsched.gate.baseline import Baseline
    from cpsched.gate.measure import CaseQuestion
    from cpsched.gate.report import CheckedCases

BAD_INPUT = 2

Corpus = Annotated[
    str,
    typer.Argument(
        metavar="CORPUS",
        help="A folder of instances, nested; rows of JSON Lines (.jsonl, .jsonl.gz); or one instance.",
        show_default=False,
    ),
]
BaselineFile = Annotated[
    str | None,
    typer.Option("--baseline", metavar="FILE", help="File with the accepted result of every case.", show_default=False),
]
Update = Annotated[bool, typer.Option("--update", help="Write the current results to the baseline file.")]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Engine to test: mirror (the replay of the model's scheduler), volcano, kube, optimal, recorded "
        "(decisions in the corpus), or exec:CMD.",
    ),
]
NoOptimum = Annotated[bool, typer.Option("--no-optimum", help="Do not work out the distance to the optimum.")]
Cases = Annotated[
    list[str],
    typer.Option("--case", metavar="ID", help="Check only the case of this id; may be repeated.", show_default=False),
]
MaxGap = Annotated[
    list[str],
    typer.Option(
        "--max-gap",
        metavar="LEVEL=N",
        help="A case fails if it is worse than the best decision by more than N on this level (seconds for a start "
        "time, millionths or N% for shares); may be repeated.",
        show_default=False,
    ),
]
Require = Annotated[
    str | None,
    typer.Option(
        "--require", metavar="optimal", help="A case fails if it is not proved to be optimal.", show_default=False
    ),
]
Junit = Annotated[
    str | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML to this file.", show_default=False)
]
Markdown = Annotated[
    str | None, typer.Option("--markdown", metavar="FILE", help="Write Markdown to this file.", show_default=False)
]
Github = Annotated[bool, typer.Option("--github", help="Print GitHub annotations instead of tables.")]


def check(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    corpus: Corpus,
    baseline: BaselineFile = None,
    update: Update = False,
    engine: Engine = "mirror",
    model: CaseModel = None,
    conf: Conf = None,
    allow_extenders: AllowExtenders = False,
    lenient: Lenient = False,
    kube_version: KubeVersion = None,
    pod_groups: PodGroups = False,
    seed: Seed = 1,
    time_limit: TimeLimit = 60,
    workers: Workers = 1,
    deterministic: Deterministic = False,
    jobs: Jobs = 1,
    cache: Cache = None,
    no_optimum: NoOptimum = False,
    case: Cases = [],  # noqa: B006 - typer makes a list of its own
    max_gap: MaxGap = [],  # noqa: B006
    require: Require = None,
    junit: Junit = None,
    markdown: Markdown = None,
    github: Github = False,
    json: Json = False,
    output: Output = None,
) -> int:
    """Regression test: run an engine over many cases.

    A case fails if the decision breaks a rule that the baseline does not accept, is worse on the first level that
    differs, or, where the case itself has changed, falls further behind its optimum. A new case also fails if nothing
    is decided where something was possible.
    """
    from cpsched.comparison.contender import checked
    from cpsched.comparison.session import CaseOptions
    from cpsched.gate.demands import Demands
    from cpsched.gate.measure import CaseQuestion
    from cpsched.gate.report import CheckedCases
    from cpsched.options import Options

    demands = Demands.of(max_gap, require)
    if demands.any and no_optimum:
        raise InputError("--max-gap and --require need the optimum", right="leave out --no-optimum")
    check_outputs(junit, markdown, output, baseline if update else None)
    checked([engine])
    given = CaseOptions(model, conf, lenient, kube_version, pod_groups, allow_extenders or None)
    options = Options(time_limit=time_limit, workers=workers, seed=seed, deterministic=deterministic)
    question = CaseQuestion(engine, given, options, cache, optimum=not no_optimum)
    typed = _typed(corpus, engine, baseline, model, conf, max_gap, require)
    accepted = _accepted(baseline, update)
    report = _run(CheckedCases(corpus, engine, accepted, demands, typed, frozenset(case)), question, jobs)
    files = _files(report, junit, markdown, output)
    if update and baseline is not None:
        return _update(report, baseline, files)

    def show() -> None:
        from cpsched.gate.github import workflow_commands

        if github:
            models = [report.models] if report.models else []
            emit_lines([*workflow_commands(report), *report.read, *models, report.headline])
        elif json:
            emit(as_json(report.to_dict()))
        else:
            _show(report)

    deliver(show, *files)
    return report.exit_code


def _accepted(path: str | None, update: bool) -> Baseline | None:
    """The baseline to hold against; one that is about to be written for the first time need not be there."""
    import os

    from cpsched.gate.baseline import read_baseline

    if path is None:
        if update:
            raise InputError("--update without --baseline", right="name the file to write")
        return None
    if update and not os.path.exists(path):
        return None
    if not os.path.exists(path):
        raise InputError("no such file", file=path, right="write it first with --update")
    return read_baseline(path)


def _typed(
    corpus: str,
    engine: str,
    baseline: str | None,
    model: str | None,
    conf: str | None,
    max_gap: list[str],
    require: str | None,
) -> str:
    """The command for one case, but for the case."""
    import shlex

    words = ["cpsched", "check", corpus, "--engine", engine]
    for option, value in (("--baseline", baseline), ("--model", model), ("--conf", conf), ("--require", require)):
        words += [option, value] if value is not None else []
    for one in max_gap:
        words += ["--max-gap", one]
    return shlex.join(words)


def _run(report: CheckedCases, question: CaseQuestion, jobs: int) -> CheckedCases:
    from cpsched.comparison.many import each
    from cpsched.gate.measure import lost, measure
    from cpsched.importers.corpus import cases, chosen, count

    corpus = report.corpus
    work = partial(measure, question=question)
    wanted = chosen(corpus, report.chosen) if report.chosen else cases(corpus)
    total = len(report.chosen) or count(corpus)
    # Another process has another stdin.
    results = each(work, wanted, 1 if corpus == "-" else jobs, lost)
    warned = False
    for case in (one for found in progress(results, total, "Checking") for one in found):
        report.add(case)
        if case.cache_warning and not warned:
            warn([case.cache_warning])
            warned = True
        if case.outcome == "bad case":
            complain(case.error)
        warn(f"{case.id}: {doubt}" for doubt in case.doubts)
    return report


def _files(report: CheckedCases, junit: str | None, markdown: str | None, output: str | None) -> list[File]:
    from cpsched.gate.junit import junit as as_junit
    from cpsched.gate.markdown import markdown as as_markdown

    return [
        (junit, lambda: as_junit(report)),
        (markdown, lambda: as_markdown(report)),
        (output, lambda: as_json(report.to_dict())),
    ]


def _update(report: CheckedCases, path: str, files: list[File]) -> int:
    """Write the baseline, unless a case has nothing to accept."""
    from cpsched.gate.baseline import Baseline, write_baseline

    undecided = [one for one in report.verdicts if one.case.outcome != "decided"]
    if undecided:
        line = f"{path} is left as it was: {len(undecided)} cases were not decided."
        deliver(lambda: _show(report, line), *files)
        return report.exit_code
    before = {} if report.baseline is None else report.baseline.cases
    after = Baseline.of(report.engine, (one.case for one in report.verdicts))
    if report.chosen:
        after = after.model_copy(update={"cases": dict(sorted({**before, **after.cases}.items()))})
    try:
        write_baseline(path, after)
    except InputError as error:
        complain(str(error))
        deliver(lambda: _show(report), *files)
        return BAD_INPUT
    changed = sum(before.get(case) != entry for case, entry in after.cases.items()) + len(report.removed)
    deliver(lambda: emit_lines([f"{path}: {len(after.cases)} cases, {changed} changed."]), *files)
    return 0


def _show(report: CheckedCases, *lines: str) -> None:
    from cpsched.cli.tables import shown
    from cpsched.gate.markdown import sections

    parts: list[Any] = [*([report.read] if report.read else []), *shown(sections(report))]
    models = [f"{report.models}."] if report.models else []
    emit_tables(*parts, *models, f"{report.headline}.", *lines)
