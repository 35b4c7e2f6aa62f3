"""`cpsched study`: instances × models × engines × seeds, in parallel, resumable."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cpsched.cli.output import as_json, emit, emit_tables, warn
from cpsched.cli.parameters import AllowExtenders, Json
from cpsched.errors import InputError
from cpsched.options import Prover as Selection

if TYPE_CHECKING:
    from cpsched.cli.output import Part
    from cpsched.lab.study.folder import RunFolder
    from cpsched.lab.study.matrix import StudyPlan
    from cpsched.lab.study.recipe import Recipe
    from cpsched.lab.study.run import StudyTally
    from cpsched.lab.study.summary import StudySummary

FINE, FAILED, UNREADABLE, INTERRUPTED = 0, 1, 2, 130
EXIT_CODES = (
    "Exit codes: 0 every cell has a result, 1 some failed, 2 bad input or usage, or records that cannot be read, "
    "130 interrupted."
)


def _option(flag: str, metavar: str, about: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=about, show_default=False)


RunDir = Annotated[
    str,
    typer.Argument(
        metavar="RUN_DIR",
        help="Folder for everything the study knows; made if it is not there. If a study was begun in it, that one "
        "goes on, with the changes given here.",
        show_default=False,
    ),
]
File = Annotated[
    str | None, _option("--file", "FILE", "A study file (kind: Study); what is given here besides overrules it.")
]
Instances = Annotated[
    list[str] | None,
    _option("--instances", "PATTERN", "Files, folders or patterns such as 'corpus/**/*.json'; may be repeated."),
]
Exclude = Annotated[list[str] | None, _option("--exclude", "PATTERN", "Files to leave out; may be repeated.")]
Models = Annotated[
    str | None,
    _option(
        "--models",
        "A,B,...",
        "Shipped models or model files; auto is the one that each instance asks for. Default: auto.",
    ),
]
Conf = Annotated[
    str | None,
    _option("--conf", "FILE", "Scheduler configuration for all cells. Default: the instance's or the model's."),
]
Engines = Annotated[
    list[str] | None,
    _option(
        "--engines",
        "A,B,...",
        "Engines that decide; mirror is volcano or kube, as the model is made for; exec:CMD takes the rest of the "
        "list, so repeat the option for more. Default: mirror,optimal.",
    ),
]
AllowExec = Annotated[
    bool,
    typer.Option(
        "--allow-exec",
        help="Also run the exec: programs that a study file or the run folder names; without it only those of "
        "--engines are run.",
    ),
]
Seeds = Annotated[str | None, _option("--seeds", "1..5,8", "Seeds. Default: 1.")]
TimeLimit = Annotated[
    float | None, _option("--time-limit", "SECONDS", "What the engine has for its decision. Default: 30.")
]
Grace = Annotated[
    float | None, _option("--grace", "SECONDS", "How much longer a cell may take before it is killed. Default: 30.")
]
Memory = Annotated[str | None, _option("--memory", "2Gi", "What a cell may hold before it is killed. Default: 4Gi.")]
Threads = Annotated[int | None, _option("--threads", "N", "Threads of the solver in each cell. Default: 1.")]
Deterministic = Annotated[
    bool | None,
    typer.Option(
        "--deterministic/--no-deterministic",
        help="SECONDS of the time limit are the solver's own measure of its work: the same results on any machine.",
        show_default=False,
    ),
]
Prover = Annotated[
    Selection | None,
    typer.Option("--prover", help="Solver to use. Default: both.", show_default=False),
]
KubeVersion = Annotated[str | None, _option("--kube-version", "RELEASE", "kube-scheduler's release: 1.36 or head.")]
PodGroups = Annotated[
    bool | None,
    typer.Option("--pod-groups/--no-pod-groups", help="Gate GenericWorkload (engine kube).", show_default=False),
]
Lenient = Annotated[
    bool | None,
    typer.Option("--lenient/--no-lenient", help="Broken references between objects are no errors.", show_default=False),
]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Cells at a time.", show_default="one per core")]
RunnerName = Annotated[
    Literal["local", "ray"], typer.Option("--runner", help="Where cells run: here, or on a Ray cluster.")
]
RayAddress = Annotated[str, typer.Option("--ray-address", metavar="HOST:PORT", help="The cluster, for --runner ray.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Run failed cells again.")]
Export = Annotated[bool, typer.Option("--export", help="Only write the tables of what is there; run nothing.")]


def study(  # noqa: PLR0913, PLR0917 - a command has as many parameters as it has options
    run_dir: RunDir,
    file: File = None,
    instances: Instances = None,
    exclude: Exclude = None,
    models: Models = None,
    conf: Conf = None,
    engines: Engines = None,
    allow_exec: AllowExec = False,
    seeds: Seeds = None,
    time_limit: TimeLimit = None,
    grace: Grace = None,
    memory: Memory = None,
    threads: Threads = None,
    deterministic: Deterministic = None,
    prover: Prover = None,
    kube_version: KubeVersion = None,
    pod_groups: PodGroups = None,
    allow_extenders: AllowExtenders = False,
    lenient: Lenient = None,
    workers: Workers = None,
    runner: RunnerName = "local",
    ray_address: RayAddress = "auto",
    retry_failed: RetryFailed = False,
    export: Export = False,
    json: Json = False,
) -> int:
    """Run instances × models × engines × seeds and keep the results.

    Each cell is a process of its own with a limit of time and memory; a crash costs that one cell and is recorded.
    Results are kept as they come: run the same command again after any interruption, and it goes on where it was.
    At the end, the folder has all results as CSV and Parquet.
    """
    from cpsched.cli.study_progress import progress
    from cpsched.lab.study.folder import RunFolder
    from cpsched.lab.study.gaps import gaps
    from cpsched.lab.study.results import read
    from cpsched.lab.study.run import Means, run
    from cpsched.lab.study.summary import StudySummary
    from cpsched.lab.study.tables import export as write_tables
    from cpsched.lab.study.tables import has_parquet

    folder, tally = RunFolder(run_dir), None
    if not export:
        given = {
            "instances": instances,
            "exclude": exclude,
            "models": models,
            "conf": conf,
            "engines": engines,
            "seeds": seeds,
            "time_limit": time_limit,
            "grace": grace,
            "memory": memory,
            "threads": threads,
            "deterministic": deterministic,
            "prover": prover,
            "kube_version": kube_version,
            "pod_groups": pod_groups,
            "allow_extenders": allow_extenders or conf is not None or None,
            "lenient": lenient,
        }
        kept = folder.read_study()[0] if folder.exists and file is None else None
        recipe, named = _recipe(kept, file).changed(given), {name for name, value in given.items() if value is not None}
        if file is not None and not models:
            warn(_other_models(folder, recipe, file))
        means = Means(runner, workers, ray_address, retry_failed)
        if not (engines or allow_exec):
            _refuse_programs(recipe.engines, file or run_dir)
        # What a runner's library prints is no result of ours.
        with progress() as watch, redirect_stdout(sys.stderr):
            tally = run(folder, recipe, means, watch, kept=kept, named=named)
        warn(tally.notes)
        if tally.interrupted and not folder.exists:
            return INTERRUPTED
    results = read(run_dir)
    files, failure = list[Path](), None
    try:
        files = write_tables(results)
    except InputError as error:
        failure = error
    if not has_parquet():
        warn(["no Parquet: pyarrow is not installed; pip install 'cpsched[study]'"])
    summary = StudySummary.of(results.cells())
    unreadable = gaps(results)
    warn(unreadable)
    if json:
        emit(as_json(_as_dict(tally, summary, files, unreadable)))
    else:
        emit_tables(*_tables(tally, summary, files))
    if failure is not None:
        raise failure
    if tally is not None and tally.interrupted:
        return INTERRUPTED
    if unreadable:
        return UNREADABLE
    return FAILED if summary.failures else FINE


def _recipe(kept: StudyPlan | None, file: str | None) -> Recipe:
    """What the study file says, else what the run folder remembers, else the defaults."""
    from cpsched.lab.study.recipe import Recipe

    if file is not None:
        return Recipe.read(file)
    # Another user may have begun the study: what it allowed is not allowed by that now.
    return Recipe() if kept is None else kept.recipe.model_copy(update={"allow_extenders": False})


def _other_models(folder: RunFolder, recipe: Recipe, file: str) -> list[str]:
    """Whether the study in the folder had other models than the file that now takes its place."""
    try:
        before = folder.read_study()[0].recipe.models
    except InputError:
        return []
    was, now = ", ".join(before), ", ".join(recipe.models)
    return [] if was == now else [f"{folder.path}: this study was begun with --models {was}; {file} asks for {now}"]


def _refuse_programs(engines: Sequence[str], file: str) -> None:
    """A file that came from elsewhere must not start programs by itself."""
    from cpsched.external import PREFIX

    for engine in engines:
        if engine.startswith(PREFIX):
            right = "name it by --engines, or add --allow-exec"
            raise InputError(f"a file starts no program: {engine} is not run", file=file, place="engines", right=right)


def _as_dict(
    tally: StudyTally | None, summary: StudySummary, files: list[Path], unreadable: list[str]
) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        **({} if tally is None else asdict(tally)),
        "read": summary.read(),
        "models": summary.models(),
        "summary": summary.rows(),
        **({"doubts": dict(summary.doubts)} if summary.doubts else {}),
        "unreadable": unreadable,
        "files": [str(path) for path in files],
    }


def _tables(tally: StudyTally | None, summary: StudySummary, files: list[Path]) -> list[Part]:
    from cpsched.cli.tables import table
    from cpsched.importers.chosen import grouped

    parts: list[Part] = []
    if tally is not None:
        done = tally.kept + tally.ran
        parts.append(f"{done} of {tally.cells} cells done, {tally.kept} of them before, {tally.failed} failed")
    if read := summary.read():
        parts.append(read)
    if chosen := grouped(summary.choices.values(), "instance", "instances"):
        parts.append(chosen)
    parts += [f"Doubt, in {count} cell{'s' * (count > 1)}: {text}" for text, count in summary.doubts.items()]
    names = ("model", "engine", "cells", "failed", "findings", "proved", "same", "behind", "ahead", "median_seconds")
    columns = ["model", "engine", *(f"#{name.replace('_', ' ')}" for name in names[2:])]
    rows = [["" if row[name] is None else str(row[name]) for name in names] for row in summary.rows()]
    parts.append(table("Results; same, behind and ahead are against the engine optimal", columns, rows))
    if summary.failures:
        failed = [
            (row["instance"], row["model"], row["engine"], str(row["seed"]), row["status"], row["error"] or "")
            for row in summary.failures
        ]
        parts.append(table("Failed, the first ones", ["instance", "model", "engine", "#seed", "how", "why"], failed))
    if tally is not None and tally.interrupted:
        parts.append("Interrupted; run the same command again to go on.")
    parts.append([str(path) for path in files])
    return parts
