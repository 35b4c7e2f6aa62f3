"""The worst decisions of a study, each with the picture of its cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cpsched.checker import checked_from_outside
from cpsched.errors import InputError
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.instance import Instance
from cpsched.lab.study.matrix import StudyPlan
from cpsched.lab.study.results import Results
from cpsched.policy import Policy
from cpsched.report.decisions import decision_sections, verdict
from cpsched.report.document import Section, Text
from cpsched.report.scene import Scene
from cpsched.report.study_numbers import OPTIMAL, Row
from cpsched.solution import Solution

MOST_NODES = 8
MOST_TASKS = 5000
"""A larger cluster is not drawn inside a study's report; `cpsched report` draws it on its own."""
SHOWN = ("cluster", "levels", "moves", "findings")


def embedding(results: Results) -> Callable[[str, Row, str | None], list[Section]]:
    """Makes a section of a cell: its decision beside the optimum's."""

    def embed(key: str, cell: Row, best: str | None) -> list[Section]:
        tasks = (cell["tasks_pending"] or 0) + (cell["tasks_running"] or 0)
        if tasks > MOST_TASKS:
            return []
        instance = _instance(results, cell["instance_sha256"])
        keys = {cell["engine"]: cell["key"]} | ({} if best is None else {OPTIMAL: best})
        policy = _policy(results.plan, cell, instance.conf)
        solutions = [checked_from_outside(instance, policy, _solution(results, one)) for one in keys.values()]
        scene = Scene.of(instance, policy, solutions, list(keys))
        parts = [part for part in decision_sections(scene, most_nodes=MOST_NODES) if part.key in SHOWN]
        texts = [Text(line.text) for line in verdict(scene)]
        title = f"{cell['instance']}: {cell['engine']} against {OPTIMAL}, model {cell['model']}"
        return [Section(key, title, (*texts, *(block for part in parts for block in part.blocks)), depth=3)]

    return embed


def _instance(results: Results, sha256: str) -> Instance:
    file = str(results.folder.instance_path(sha256))
    try:
        instance = load(results.instance(sha256), lenient=True)
    except InputError as error:
        raise error.within(file=file) from None
    if instance.sha256 != sha256:
        raise InputError(
            "not the instance that the study decided on", file=file, right="delete it and run the study again"
        )
    return instance


def _solution(results: Results, key: str) -> Solution:
    return Solution.parse(results.solution(key), file=str(results.folder.solution_path(key)))


def _policy(plan: StudyPlan, cell: Row, own: Mapping[str, Any] | None) -> Policy:
    model = next(one for one in plan.models if one.name == cell["model"])
    return load_policy(
        model.content,
        plan.conf,
        lenient=True,
        kube_version=plan.recipe.kube_version,
        stated=own,
        allow_extenders=plan.recipe.allow_extenders,
        model_file=model.file,
    )
