"""The model of a study's cells: the one that each instance asks for, unless the user names one."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.matrix import StudyPlan
from cpsched.lab.study.recipe import Recipe
from cpsched.lab.study.results import read
from cpsched.lab.study.run import Means, StudyTally, run
from cpsched.lab.study.state import described
from cpsched.lab.study.summary import StudySummary
from cpsched.report.study import study_report

ROOT = Path(__file__).parents[3]
TINY = ROOT / "instances" / "tiny"
NODE: dict[str, Any] = {
    **{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}},
    "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}},
}
TOO = "1 pod of Volcano pending too; each scheduler is decided as if the other did nothing"
ASKED = [
    ("conf.json", "kube", "the configuration", "the configuration is kube-scheduler's"),
    ("conf.json", "volcano", "the pending pods", TOO),
    ("kube.json", "kube", "the pending pods", "1 pod of kube-scheduler pending, none of Volcano"),
    ("made.json", "volcano", "the default", None),
    ("volcano.json", "volcano", "the pending pods", "1 pod of Volcano pending"),
]
CONF = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def pod(scheduler: str) -> dict[str, Any]:
    spec = {"schedulerName": scheduler, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    metadata = {"name": scheduler, "namespace": "a", "uid": scheduler}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    shutil.copy(TINY / "victim-count.json", folder / "made.json")
    contents = {
        "kube.json": [NODE, pod("default-scheduler")],
        "volcano.json": [NODE, pod("volcano")],
        "conf.json": [NODE, pod("volcano"), pod("default-scheduler")],
    }
    for name, objects in contents.items():
        instance = {"apiVersion": "cpsched/v1", "kind": "Instance", "objects": objects}
        (folder / name).write_text(json.dumps(instance | ({"conf": CONF} if name == "conf.json" else {})))
    return folder


def recipe(corpus: Path, **fields: Any) -> Recipe:
    return Recipe.parse({"kind": "Study", "instances": [str(corpus)], **fields})


def run_here(folder: Path, stated: Recipe) -> StudyTally:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        return run(RunFolder(folder), stated, Means(workers=1))


def rows(folder: Path) -> dict[tuple[str, str, str], tuple[Any, ...]]:
    shown = ("status", "model_by", "model_reason")
    cells = read(folder).cells()
    return {(row["instance"], row["model"], row["engine"]): tuple(row[name] for name in shown) for row in cells}


@pytest.fixture(scope="module")
def finished(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert run_here(folder, recipe(corpus)).ran == 10
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def test_each_instance_has_its_own_model_and_the_mirror_made_for_it(finished: Path) -> None:
    assert rows(finished) == {
        (name, model, engine): ("ok", by, reason) for name, model, by, reason in ASKED for engine in (model, "optimal")
    }
    records = [json.loads(line) for line in (finished / "results.jsonl").read_text().splitlines()]
    assert {(one["model"], one["model_by"], one["model_reason"] or None) for one in records} == {
        asked[1:] for asked in ASKED
    }


def test_the_summary_counts_instances_by_what_decided(finished: Path) -> None:
    summary = StudySummary.of(read(finished).cells())
    stated = {(one["model"], one["by"], one["instances"]) for one in summary.models()}
    counts = Counter((model, by) for _, model, by, _ in ASKED)
    assert stated == {(*choice, count) for choice, count in counts.items()}
    report = study_report("s", read(finished).rows(), lambda *_: [], drawn=False)
    [line] = [one.text for one in report.verdict if ": model" in one.text]
    assert set(line.rstrip(".").split("; ")) == {
        "1 instance: model kube (by the configuration)",
        "1 instance: model kube (by the pending pods)",
        "1 instance: model volcano (the default)",
        "2 instances: model volcano (by the pending pods)",
    }


def test_a_named_model_needs_no_reason_and_has_the_same_keys(copied: Path, corpus: Path) -> None:
    tally = run_here(copied, recipe(corpus, models="volcano", engines="mirror"))
    # The pods of volcano.json and made.json are decided under Volcano's rules already.
    assert (tally.cells, tally.kept, tally.ran) == (4, 3, 1)
    assert {row[1:] for row in rows(copied).values()} == {(None, None)}


def test_a_study_begun_before_goes_on_as_it_was(tmp_path: Path, corpus: Path) -> None:
    """Then the default was written out, no instance was asked, and no cell stated why."""
    folder = tmp_path / "run"
    run_here(folder, recipe(corpus, models="volcano", engines="volcano,optimal"))
    for name in ("instances.jsonl", "results.jsonl"):
        lines = [json.loads(line) for line in (folder / name).read_text().splitlines()]
        for line in lines:
            line.pop("model_by")
            line.pop("model_reason")
            if name == "instances.jsonl":
                line.pop("model")
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    study = json.loads((folder / "study.json").read_text())
    for model in study["models"]:
        model.pop("own")
    (folder / "study.json").write_text(json.dumps(study))
    instances = (folder / "instances.jsonl").read_bytes()

    kept = RunFolder(folder).read_study()[0]
    again = run(RunFolder(folder), kept.recipe, Means(workers=1), kept=kept)
    assert (again.cells, again.kept, again.ran, again.notes) == (8, 8, 0, [])
    assert (folder / "instances.jsonl").read_bytes() == instances
    assert len(described(RunFolder(folder))) == 4
    assert described(RunFolder(folder), by_model=True) == set()

    asked = run_here(folder, recipe(corpus))
    assert (asked.cells, asked.kept, asked.ran, asked.failed) == (10, 6, 4, 0)
    assert {(name, model) for name, model, _ in rows(folder)} == {(name, model) for name, model, *_ in ASKED}


def test_the_configuration_of_the_study_decides_for_all(tmp_path: Path, corpus: Path) -> None:
    conf = tmp_path / "kube.json"
    conf.write_text(json.dumps(CONF))
    run_here(tmp_path / "run", recipe(corpus, conf=str(conf), engines="mirror"))
    reason = ("ok", "the configuration", "the configuration is kube-scheduler's")
    assert rows(tmp_path / "run") == {(name, "kube", "kube"): reason for name, *_ in ASKED}


def test_the_mirror_named_twice_is_one_engine(finished: Path, corpus: Path) -> None:
    sources = read(finished).sources
    for fields in ({"engines": "mirror,kube,volcano"}, {"models": "auto,volcano-fair"}, {"models": "kube"}):
        plan = StudyPlan.of(recipe(corpus, **fields))
        cells = list(plan.cells(sources))
        assert (
            plan.size(sources)
            == len(cells)
            == len({cell.key for cell in cells})
            == {"kube": 8}.get(fields.get("models", ""), 18 if "models" in fields else 10)
        )


def test_a_model_that_the_instances_have_already_is_refused(corpus: Path) -> None:
    with pytest.raises(InputError, match="two models are called kube; auto takes it where an instance asks for it"):
        StudyPlan.of(recipe(corpus, models="auto,kube"))
