"""run(): everything of a study that is not done yet, one cell per process, each result kept as it comes."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cpsched.errors import InputError
from cpsched.files import sha256_of, write_whole
from cpsched.lab.runners import make_runner
from cpsched.lab.runners.runner import Runner, stream
from cpsched.lab.runners.work import Decide, Describe, Limits, Outcome, Work
from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.journal import Journal
from cpsched.lab.study.matrix import Source, StudyCell, StudyPlan, digest, find_files
from cpsched.lab.study.recipe import Recipe
from cpsched.lab.study.state import Done, described, known_contents, made_by_others, sources

MOST_FLAWS = 20
"""So many lines are printed one by one."""
Phase = Literal["instances", "cells"]
Watch = Callable[[Phase, int, int, int], None]
"""Gets the phase, how many there are, how many are done, and how many of those failed."""


@dataclass(frozen=True)
class Means:
    """By what means the cells are run; nothing here changes a result."""

    runner: str = "local"
    workers: int | None = None
    """How many cells at a time; None is as many as there are cores for."""
    ray_address: str = "auto"
    retry_failed: bool = False


@dataclass
class StudyTally:
    """What a run found and did."""

    cells: int = 0
    kept: int = 0
    """Done by an earlier run."""
    ran: int = 0
    failed: int = 0
    """Of all cells, the earlier ones included."""
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False


def unwatched(phase: Phase, total: int, done: int, failed: int) -> None:
    """No display."""


def run(
    folder: RunFolder,
    recipe: Recipe,
    means: Means | None = None,
    watch: Watch = unwatched,
    *,
    kept: StudyPlan | None = None,
    named: Collection[str] = (),
) -> StudyTally:
    """Bring the study to its end, or as far as Ctrl-C lets it come.

    `kept` is the plan of a study that goes on, `named` are the fields of the recipe that the user states now.
    """
    means = means or Means()
    plan = StudyPlan.of(recipe, kept, named)
    files = find_files(recipe)
    with folder.locked():
        study = _Run(folder, plan, means, watch)
        study.repair()
        try:
            study.all_of(files)
        except KeyboardInterrupt:
            study.interrupted()
    return study.tally


class _Run:
    def __init__(self, folder: RunFolder, plan: StudyPlan, means: Means, watch: Watch):
        self.folder, self.plan, self.means, self.watch = folder, plan, means, watch
        self.tally = StudyTally()
        self.found: list[Source] = []

    def repair(self) -> None:
        """Leave in the journals only what can be read; the rest is as if it had never run."""
        self._repair(self.folder.instances)
        self._repair(self.folder.results)

    def _repair(self, journal: Journal[Any]) -> None:
        notes = self.tally.notes
        if journal.repair():
            notes.append(f"{journal.path}: its last line was torn; what it was about runs again")
        flaws, beside = journal.set_aside(lambda flaw: not made_by_others(flaw, self.plan.versions))
        if flaws:
            notes += [str(flaw.error) for flaw in flaws[:MOST_FLAWS]]
            count = "1 line" if len(flaws) == 1 else f"{len(flaws)} lines"
            notes.append(f"{journal.path}: {count} set aside in {beside.name}; what has no other record runs again")

    def all_of(self, files: dict[str, Path]) -> None:
        """Read what is not read yet, then run what is not run yet."""
        with ExitStack() as stack:
            local, runner = self._runners(stack)
            key_by_name = {name: self._file_key(path) for name, path in files.items()}
            self._describe({key: files[name] for name, key in key_by_name.items()}, local)
            self.folder.write_study(self.plan, key_by_name)
            self.found = sources(known_contents(self.folder)[0], key_by_name)
            done = Done.read(self.folder, self.plan.versions)
            self._count(done)
            self._decide(done, runner)

    def _runners(self, stack: ExitStack) -> tuple[Runner, Runner]:
        """Who reads the files, which lie here, and who runs the cells; neither starts anything before it is asked."""
        means, threads = self.means, self.plan.recipe.threads
        is_local = means.runner == "local"
        local = make_runner("local", means.workers if is_local else None, threads)
        stack.callback(local.close)
        if is_local:
            return local, local
        other = make_runner(means.runner, means.workers, threads, means.ray_address)
        stack.callback(other.close)
        return local, other

    def interrupted(self) -> None:
        """Count again what is done: Ctrl-C may have come between keeping a result and counting it."""
        tally, done = self.tally, Done.read(self.folder, self.plan.versions)
        kept = [kept for cell in self.plan.cells(self.found) if (kept := done.by_key.get(cell.key)) is not None]
        tally.interrupted, tally.ran = True, len(kept) - tally.kept
        tally.failed = sum(not one.good for one in kept)

    def _file_key(self, path: Path) -> str:
        """Key of a file's content; a file that cannot be read is known by its name."""
        try:
            content = sha256_of(path)
        except InputError:
            content = f"unreadable {path}"
        return digest({"file": content, "lenient": self.plan.recipe.lenient, "cpsched": self.plan.versions["cpsched"]})

    def _describe(self, path_by_key: dict[str, Path], runner: Runner) -> None:
        known = described(self.folder, self.means.retry_failed, by_model=self.plan.asks_instances)
        recipe = self.plan.recipe
        todo = {key: path for key, path in path_by_key.items() if key not in known}
        limits = Limits(recipe.seconds, recipe.memory)
        tasks = ((key, Describe(str(path), recipe.lenient), limits) for key, path in todo.items())
        failed = 0
        self.watch("instances", len(todo), 0, 0)
        for done, (key, outcome) in enumerate(stream(runner, tasks), start=1):
            record: dict[str, Any] = {"key": key, "status": outcome.status, "error": outcome.error, "sha256": key}
            if outcome.status == "ok":
                record |= outcome.facts
                write_whole(self.folder.instance_path(record["sha256"]), outcome.file)
            self.folder.instances.append(record)
            failed += outcome.status != "ok"
            self.watch("instances", len(todo), done, failed)

    def _count(self, done: Done) -> None:
        """See which cells are settled."""
        tally = self.tally
        tally.cells = self.plan.size(self.found)
        if done.other_versions:
            tally.notes.append(f"{done.other_versions} results here were made by other versions; they are ignored")
        for cell in self.plan.cells(self.found):
            if done.settles(cell.key, self.means.retry_failed):
                tally.kept += 1
                tally.failed += not done.by_key[cell.key].good
        self.watch("cells", tally.cells, tally.kept, tally.failed)

    def _decide(self, done: Done, runner: Runner) -> None:
        for cell, outcome in stream(runner, self._todo(done)):
            self._keep(cell, outcome)

    def _todo(self, done: Done) -> Iterator[tuple[StudyCell, Work, Limits]]:
        recipe = self.plan.recipe
        limits = Limits(recipe.seconds, recipe.memory, recipe.threads)
        for cell in self.plan.cells(self.found):
            if done.settles(cell.key, self.means.retry_failed):
                continue
            if cell.source.status != "ok":
                # There is nothing to run: that the file could not be read is this cell's result.
                self._keep(cell, Outcome(cell.source.status, error=cell.source.error))
                continue
            path = os.path.abspath(self.folder.instance_path(cell.source.sha256))
            options = recipe.options(cell.engine, cell.seed)
            model, conf = cell.model.content, self.plan.conf
            terms = (options, recipe.kube_version, recipe.lenient, recipe.allow_extenders, cell.model.file)
            yield cell, Decide(path, model, conf, cell.engine, *terms), limits

    def _keep(self, cell: StudyCell, outcome: Outcome) -> None:
        if outcome.status == "ok":
            write_whole(self.folder.solution_path(cell.key), outcome.file)
        self.folder.results.append(_record(cell, outcome, self.plan))
        doubts = (f"{cell.source.names[0]}: {doubt}" for doubt in outcome.facts.get("doubts", ()))
        self.tally.notes += [doubt for doubt in doubts if doubt not in self.tally.notes]
        self.tally.ran += 1
        self.tally.failed += outcome.status != "ok"
        self.watch("cells", self.tally.cells, self.tally.kept + self.tally.ran, self.tally.failed)


def _record(cell: StudyCell, outcome: Outcome, plan: StudyPlan) -> dict[str, Any]:
    return {
        "key": cell.key,
        "instance": cell.source.sha256,
        "model": cell.model.name,
        "model_by": cell.choice.by,
        "model_reason": cell.choice.reason,
        "engine": cell.engine,
        "seed": cell.seed,
        "status": outcome.status,
        "error": outcome.error,
        "detail": outcome.detail,
        "solution": None,
        "findings": {},
        "levels": [],
        "counts": {},
        **outcome.facts,
        "wall_seconds": outcome.wall_seconds,
        "cpu_seconds": outcome.cpu_seconds,
        "peak_rss_bytes": outcome.peak_rss_bytes,
        "started": outcome.started,
        "host": outcome.host,
        "versions": {**plan.versions, "python": outcome.python},
    }
