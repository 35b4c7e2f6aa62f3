"""`cpsched compare`: several engines on one instance or many."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cpsched.cli.delivery import check_outputs, deliver
from cpsched.cli.output import as_json, emit, emit_tables, warn
from cpsched.cli.parameters import (
    AllowExtenders,
    Cache,
    CaseModel,
    Conf,
    Corpora,
    Deterministic,
    Jobs,
    Json,
    KubeVersion,
    Lenient,
    Output,
    PodGroups,
    Seed,
    Strict,
    TimeLimit,
    Workers,
)
from cpsched.cli.progress import progress
from cpsched.cli.what_if import AS_IT_IS, WhatIf
from cpsched.errors import InputError, unexpected

if TYPE_CHECKING:
    from cpsched.comparison.compare import Comparison
    from cpsched.comparison.session import CaseOptions
    from cpsched.importers.corpus import Case
    from cpsched.options import Options

FINE, FINDINGS, BAD_INPUT, NO_ANSWER = 0, 1, 2, 3

Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engines",
        metavar="A,B,...",
        help="Engines to compare: optimal, volcano, kube; mirror (the replay of the model's scheduler); recorded (what "
        "the input says was decided); exec:CMD, which takes the rest of the list, so repeat the option for more. "
        "Default: mirror,optimal.",
        show_default=False,
    ),
]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown instead of tables.")]


def compare(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    corpora: Corpora,
    engines: Engines = None,
    model: CaseModel = None,
    conf: Conf = None,
    allow_extenders: AllowExtenders = False,
    lenient: Lenient = False,
    strict: Strict = False,
    kube_version: KubeVersion = None,
    pod_groups: PodGroups = False,
    seed: Seed = 1,
    time_limit: TimeLimit = 60,
    workers: Workers = 1,
    deterministic: Deterministic = False,
    jobs: Jobs = 1,
    cache: Cache = None,
    what_if: WhatIf = AS_IT_IS,
    json: Json = False,
    markdown: Markdown = False,
    output: Output = None,
) -> int:
    """Compare the decisions of several engines.

    One instance: every level, the first difference, the tasks and victims that differ, and why the heuristic went
    there. Many: how each engine fared, which rules it breaks, where it falls behind, the worst cases.
    """
    from cpsched.comparison.contender import OPTIMAL, checked
    from cpsched.comparison.session import CaseOptions
    from cpsched.comparison.summary import CorpusSummary
    from cpsched.engines import MIRROR, named_in
    from cpsched.options import Options

    check_outputs(output)
    changes = what_if.changes(corpora)
    names = checked(named_in(engines or ()) or [MIRROR, OPTIMAL])
    given = CaseOptions(model, conf, lenient, kube_version, pod_groups, allow_extenders or None, strict, changes)
    options = Options(time_limit=time_limit, workers=workers, seed=seed, deterministic=deterministic)
    summary, kept = CorpusSummary(names), list[Any]()
    whole: list[Comparison] = []
    total, found = _comparisons(corpora, names, given, options, cache, jobs)
    warned = False
    for comparison in found:
        if isinstance(comparison, InputError):
            warn([str(comparison)])
            summary.failed.append(str(comparison))
            continue
        cache_warning = comparison.cache_warning
        warn(f"{comparison.id}: {text}" for text in comparison.warnings if text != cache_warning)
        if cache_warning and not warned:
            warn([cache_warning])
            warned = True
        if total == 1:
            whole.append(comparison)
        summary.add(comparison)
        if json or output is not None:
            kept.append(comparison.to_dict(solutions=total == 1))
    document = _document(kept, summary) if len(whole) != 1 else whole[0].to_dict()

    def show() -> None:
        if json:
            emit(as_json(document))
        elif whole:
            _show_whole(whole, markdown)
        else:
            _show_many(summary, markdown)

    deliver(show, (output, lambda: as_json(document)))
    return _exit_code(summary)


def _comparisons(
    corpora: list[str], names: tuple[str, ...], given: CaseOptions, options: Options, cache: str | None, jobs: int
) -> tuple[int, Iterator[Comparison | InputError]]:
    """How many cases there are, and what each comes to; one in which pods of two schedulers wait comes twice."""
    from cpsched.comparison.many import each
    from cpsched.importers.corpus import cases_of_all, count_all

    total, found = count_all(corpora), cases_of_all(corpora)
    work = partial(_one, names=names, given=given, options=options, cache=cache, alone=total == 1)
    # Another process has another stdin.
    done = progress(each(work, found, 1 if "-" in corpora else jobs, _lost), total, "Comparing")
    return total, (one for some in done for one in some)


def _one(
    case: Case, *, names: tuple[str, ...], given: CaseOptions, options: Options, cache: str | None, alone: bool
) -> list[Comparison | InputError]:
    """One case of many that cannot be read or decided does not keep the others from it."""
    try:
        return [*_compared(case, names, given, options, cache, alone)]
    except InputError as error:
        if alone:
            raise
        return [error if error.file else error.within(file=case.place)]
    except Exception as error:
        if alone:
            raise
        return [InputError(f"engine error: {unexpected(error)}", file=case.place)]


def _lost(case: Case) -> list[Comparison | InputError]:
    from cpsched.gate.measure import NO_RESULT

    return [InputError(f"engine error: {NO_RESULT}", file=case.place)]


def _compared(
    case: Case, names: tuple[str, ...], given: CaseOptions, options: Options, cache: str | None, alone: bool
) -> Iterator[Comparison]:
    from cpsched.comparison.compare import compare as compare_engines
    from cpsched.comparison.optima import optima_in
    from cpsched.comparison.session import open_sessions
    from cpsched.engines import MIRROR

    for session in open_sessions(case, given, names):
        own = [session.mirror if name == MIRROR and session.mirror not in names else name for name in names]
        yield compare_engines(session, tuple(own) if alone else names, options, optima_in(cache))


def _document(kept: list[Any], summary: Any) -> dict[str, Any]:
    head = {"apiVersion": "cpsched/v1", "kind": "Comparisons"}
    return {**head, "summary": summary.to_dict(), "cases": kept}


def _show_whole(comparisons: list[Comparison], markdown: bool) -> None:
    """One case in full, for each scheduler whose pods wait in it."""
    from cpsched.cli.tables import shown
    from cpsched.comparison.sections import headline, sections

    if markdown:
        emit("\n".join(one.to_markdown() for one in comparisons))
        return
    parts: list[Any] = []
    for one in comparisons:
        parts += [[f"{one.id}, model {one.model}", *headline(one)], *shown(sections(one))]
    emit_tables(*parts)


def _show_many(summary: Any, markdown: bool) -> None:
    from cpsched import tables
    from cpsched.cli.tables import shown
    from cpsched.comparison.sections import summary_sections

    if markdown:
        emit(tables.markdown(summary_sections(summary)))
        return
    emit_tables(*shown(summary_sections(summary)))


def _exit_code(summary: Any) -> int:
    verdicts = [tally.verdicts for tally in summary.tallies.values()]
    if summary.failed:
        return BAD_INPUT
    if any(one["findings"] for one in verdicts):
        return FINDINGS
    return NO_ANSWER if any(one["none"] for one in verdicts) else FINE
