"""What a report is about: a cluster with decisions, a Comparison, or a study, read and decided as asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cpsched.cli.output import announce, busy, warn
from cpsched.cli.parameters import typed
from cpsched.cli.terms import model_of
from cpsched.errors import InputError, one_line

if TYPE_CHECKING:
    from cpsched.instance import Instance
    from cpsched.options import Options
    from cpsched.policy import Policy
    from cpsched.report.document import Report
    from cpsched.report.scene import Scene
    from cpsched.report.stated import DecisionFacts
    from cpsched.solution import Solution
    from cpsched.what_if.changes import Changes

STUDY = "study.json"
MOST_TASKS_WITH_REASONS = 2000
"""Reasons replay the mirror, and check a decision once more for every victim."""


@dataclass(frozen=True)
class ReportRequest:
    """The command's options, as far as they say what to report on."""

    inputs: tuple[str, ...]
    solutions: tuple[str, ...]
    engines: list[str] | None
    model: str | None
    conf: str | None
    kube_version: str | None
    allow_extenders: bool
    lenient: bool
    strict: bool
    options: Options
    nodes: int
    changes: Changes


def is_study(input_: str) -> bool:
    """Whether this is the folder of a study."""
    return os.path.isfile(Path(input_) / STUDY)


def report_study(folder: str, *, drawn: bool) -> tuple[Report, list[str]]:
    """A study's report, charts only where they are shown; and what it leaves out because it cannot be read."""
    from cpsched.lab.study.gaps import gaps
    from cpsched.lab.study.results import read
    from cpsched.report.document import Cell
    from cpsched.report.study import study_report
    from cpsched.report.worst import embedding

    with busy(f"Reading {folder}"):
        results = read(folder)
        made = study_report(Path(folder).resolve().name, results.rows(), embedding(results), drawn=drawn)
        left_out = gaps(results)
        notes = [Cell(f"Left out: {text}", "worse") for text in left_out]
        return replace(made, verdict=(*notes, *made.verdict)), left_out


def report_decisions(request: ReportRequest) -> Report:
    """The report on a cluster, or on a Comparison if its cluster is nowhere to be found."""
    from cpsched.report.decisions import decision_report
    from cpsched.report.explained import explained
    from cpsched.report.scene import Scene
    from cpsched.report.stated import stated_report
    from cpsched.report.together import together
    from cpsched.together import own_part

    with busy(f"Reading {typed(request.inputs)}"):
        file = request.inputs[0]
        facts = _facts_of(file) if len(request.inputs) == 1 else None
        cluster = None if facts is None else _cluster_of(facts, file)
        stored = [*(_of_facts(facts, file) if facts else ()), *_stored(request.solutions, request.model)]
        if cluster is None and facts is not None:
            return stated_report(facts, Path(file).name)
        instance, policies = _opened(request.inputs if cluster is None else (cluster,), request, stored)
    reports: dict[str, Report] = {}
    for policy in policies:
        decided = [*_checked(instance, policy, stored), *_decided(instance, policy, request, bool(stored))]
        if len(policies) > 1:
            decided = [(name, own_part(instance, policy, one)) for name, one in decided]
        names = unique(name for name, _ in decided)
        with busy("Drawing"):
            scene = Scene.of(instance, policy, [one for _, one in decided], names)
            made = decision_report(
                scene, _compared(scene, request.options), explained(scene, request.options), most_nodes=request.nodes
            )
        reports[policy.model.scheduler] = made
    return together(reports)


def _compared(scene: Scene, options: Options) -> DecisionFacts | None:
    """Verdicts and reasons, where there are several decisions and the cluster is not too large to ask for reasons."""
    from cpsched.comparison.compare import compared
    from cpsched.comparison.contender import Contender
    from cpsched.comparison.session import Session
    from cpsched.ranking import Standing
    from cpsched.report.stated import DecisionFacts

    if len(scene.views) < 2 or len(scene.instance.tasks) > MOST_TASKS_WITH_REASONS:
        return None
    snapshot = scene.snapshot
    session = Session(scene.title, snapshot.instance, snapshot.policy)
    contenders = [Contender(view.name, view.solution, Standing.of(snapshot, view.solution)) for view in scene.views]
    return DecisionFacts.parse(compared(session, contenders, options).to_dict())


class Stored(NamedTuple):
    """A decision from a file."""

    name: str
    solution: Solution
    file: str


def _facts_of(input_: str) -> DecisionFacts | None:
    """The Comparison in this file, None if it is a cluster."""
    from cpsched.aside import Aside
    from cpsched.files import read_documents
    from cpsched.report.stated import KIND, DecisionFacts

    if not os.path.isfile(input_):
        return None
    documents = read_documents(input_, Aside())
    data = documents[0].data if len(documents) == 1 else None
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if kind in ("Solution", "Solutions"):
        right = "name the cluster, and add --solution for the decision"
        raise InputError("a decision without its cluster", file=input_, right=right)
    return DecisionFacts.parse(data, file=input_) if kind in (KIND, f"{KIND}s") else None


def _cluster_of(facts: DecisionFacts, file: str) -> str | None:
    """A file of the name that the Comparison states, beside it or here, if it holds the same instance."""
    from cpsched.importers.load import load

    if Path(facts.title).is_absolute() or ".." in Path(facts.title).parts:
        # What a Comparison says leads to no other folder.
        return None
    for folder in (Path(file).parent, Path()):
        place = folder / facts.title
        try:
            if place.is_file() and load(place).sha256 == facts.instance_sha256:
                return str(place)
        except (InputError, ValueError, OSError):
            continue
    return None


def _of_facts(facts: DecisionFacts, file: str) -> list[Stored]:
    return [Stored(_name(name, file), one, file) for name, one in zip(facts.names, facts.solutions, strict=True)]


def _stored(files: Iterable[str], model: str | None) -> Iterator[Stored]:
    from cpsched.files import read_document
    from cpsched.report.stated import KIND, DecisionFacts
    from cpsched.solution import Solutions

    for file in files:
        data = read_document(file).data
        if isinstance(data, Mapping) and data.get("kind") == KIND:
            yield from _of_facts(DecisionFacts.parse(data, file=file), file)
        else:
            solution = _one_of(Solutions.parse(data, file=file), model, file)
            yield Stored(_name(solution.engine, file), solution, file)


def _one_of(found: Sequence[Solution], model: str | None, file: str) -> Solution:
    """Of the decisions for two schedulers that of the model; a report on stored decisions has one model."""
    own = [one for one in found if len(found) == 1 or one.model == model]
    if own:
        return own[0]
    named = " or ".join(f"--model {one.model}" for one in found)
    raise InputError(f"{len(found)} decisions, each under a model of its own", file=file, right=f"add {named}")


def _name(engine: str, file: str) -> str:
    """What a decision from a file is called: never the same as an engine that decides here."""
    return f"{one_line(engine, 60)} ({Path(file).name})" if engine else Path(file).name


def _opened(
    cluster: tuple[str, ...], request: ReportRequest, stored: list[Stored]
) -> tuple[Instance, tuple[Policy, ...]]:
    """The cluster, and the policy of every scheduler whose pods wait; stored decisions are checked under one."""
    from cpsched.engines import named_in
    from cpsched.importers.load import load
    from cpsched.importers.policy import load_policies
    from cpsched.together import of_engines

    instance = load(cluster, lenient=request.lenient, strict=request.strict, changes=request.changes)
    named = next((one for one in stored if one.solution.model), None)
    policies = load_policies(
        request.model or (None if named is None else model_of(named.solution, named.file)),
        request.conf,
        instance=instance,
        lenient=request.lenient,
        kube_version=request.kube_version or (None if named is None else named.solution.kube_version or None),
        allow_extenders=request.allow_extenders or None,
    )
    policies = policies[:1] if stored else of_engines(named_in(request.engines or ()), policies)
    for policy in policies:
        announce(policy)
    warn(dict.fromkeys([*instance.warnings, *(text for policy in policies for text in policy.warnings)]))
    return instance, policies


def _checked(instance: Instance, policy: Policy, stored: Iterable[Stored]) -> Iterator[tuple[str, Solution]]:
    """Checked again, whatever the file says."""
    from cpsched.checker import checked_from_outside

    for name, solution, file in stored:
        found = checked_from_outside(instance, policy, solution)
        warn(f"{file}: {note}" for note in found.notes)
        yield name, found


def _decided(instance: Instance, policy: Policy, request: ReportRequest, some: bool) -> Iterator[tuple[str, Solution]]:
    """Decisions taken now; without any stored one those of the scheduler's mirror and the optimum."""
    from cpsched.checker import stamped
    from cpsched.engines import find, named_in, run

    stated = request.engines
    if stated is None:
        names = [] if some else ["kube" if policy.is_kube else "volcano", "optimal"]
    else:
        names = named_in(stated)
        if not names:
            raise InputError("--engines names no engine", right="give names such as volcano,optimal")
    for name in names:
        find(name)
    for name in names:
        with busy(f"Deciding ({name})"):
            yield name, stamped(instance, run(name, instance, policy, request.options))


def unique(names: Iterable[str]) -> list[str]:
    """The names; one that comes again is numbered."""
    found: list[str] = []
    for name in names:
        number = 1
        while (one := name if number == 1 else f"{name} ({number})") in found:
            number += 1
        found.append(one)
    return found
