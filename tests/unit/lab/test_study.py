"""A study from beginning to end, and what another run finds of it."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

import cpsched
from cpsched.errors import InputError
from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.matrix import Source, StudyPlan
from cpsched.lab.study.recipe import Recipe
from cpsched.lab.study.results import read
from cpsched.lab.study.run import Means, StudyTally, run
from cpsched.lab.study.summary import StudySummary
from cpsched.lab.study.tables import CELLS, LEVELS, export
from cpsched.solution import Solution

ROOT = Path(__file__).parents[3]
TINY = ROOT / "instances" / "tiny"
CASE = TINY / "preempt-one-is-enough.json"


def recipe(corpus: Path, **fields: Any) -> Recipe:
    return Recipe.parse({"kind": "Study", "instances": [str(corpus)], **fields})


def run_here(folder: Path, stated: Recipe, **means: Any) -> StudyTally:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        return run(RunFolder(folder), stated, Means(workers=1, **means))


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two names for one content, a generated instance, one that cannot be read, and files that are no instances."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "more").mkdir()
    shutil.copy(CASE, folder / "a.json")
    data = json.loads(CASE.read_text())
    (folder / "more" / "same.json").write_text(json.dumps(data, indent=3))
    made = {**json.loads((TINY / "victim-count.json").read_text())}
    made["recipe"] = {"family": "tiny", "parameters": {"nodes": 3, "mix": ["a", 1]}, "seed": 7}
    (folder / "made.json").write_text(json.dumps(made))
    (folder / "broken.json").write_text('{"kind": "Instance", ')
    (folder / "expected.json").write_text("{}")
    (folder / "notes.txt").write_text("no instance")
    return folder


@pytest.fixture(scope="module")
def finished(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    tally = run_here(folder, recipe(corpus, seeds="1,2"))
    assert (tally.cells, tally.kept, tally.ran, tally.failed, tally.notes) == (12, 0, 12, 4, [])
    export(read(folder))
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def test_every_cell_has_one_row_in_the_order_of_the_matrix(finished: Path) -> None:
    rows = list(read(finished).cells())
    expected = [
        (name, engine, seed)
        for name in ("a.json", "broken.json", "made.json")
        for engine in ("volcano", "optimal")
        for seed in (1, 2)
    ]
    assert [(row["instance"], row["engine"], row["seed"]) for row in rows] == expected
    assert len({row["key"] for row in rows}) == 12


def test_two_files_with_one_content_are_one_instance(finished: Path) -> None:
    also = {row["instance"]: row["also"] for row in read(finished).cells()}
    assert also == {"a.json": "more/same.json", "broken.json": None, "made.json": None}


def test_what_cannot_be_read_fails_and_the_rest_goes_on(finished: Path) -> None:
    by_status = Counter((row["instance"], row["status"]) for row in read(finished).cells())
    assert by_status == {("a.json", "ok"): 4, ("broken.json", "input"): 4, ("made.json", "ok"): 4}
    errors = {row["error"] for row in read(finished).cells() if row["status"] == "input"}
    assert len(errors) == 1
    assert re.search(r"broken\.json: line 1 column \d+: not valid JSON", errors.pop())


def test_a_cell_decides_as_solve_does(finished: Path) -> None:
    results, instance = read(finished), cpsched.load(CASE)
    for row in results.cells():
        if row["instance"] != "a.json":
            continue
        solution = Solution.parse(results.solution(row["key"]))
        alone = cpsched.solve(instance, engine=row["engine"], seed=row["seed"], workers=1, time_limit=600)
        assert [(one.label, one.value, one.bound, one.proved) for one in solution.levels] == [
            (one.label, one.value, one.bound, one.proved) for one in alone.levels
        ]
        assert solution.instance_sha256 == row["instance_sha256"] == instance.sha256
        assert json.loads(row["vector"]) == [one.value for one in alone.levels]
        assert (row["evictions"], row["pipelined"]) == (len(alone.evictions), len(alone.pipelined))
        assert row["levels_proved"] == sum(one.proved for one in alone.levels)
    assert cpsched.load(results.instance(instance.sha256)).sha256 == instance.sha256


def test_the_first_difference_is_stated(finished: Path) -> None:
    rows = {(row["instance"], row["engine"], row["seed"]): row for row in read(finished).cells()}
    row = rows["a.json", "volcano", 1]
    assert (row["compared"], row["first_difference"], row["first_difference_rank"]) == (
        "behind",
        "victim_priority_sum",
        4,
    )
    assert (row["first_difference_value"], row["first_difference_optimal"]) == ("6442451064", "2147483748")
    assert row["first_difference_text"] == "3 victims, priority sum 120 against 1 victim, priority sum 100"
    assert row["optimal_proved"] is True
    assert rows["a.json", "optimal", 1]["compared"] is None
    [summary] = [one for one in StudySummary.of(rows.values()).rows() if one["engine"] == "volcano"]
    assert (summary["cells"], summary["failed"], summary["behind"] + summary["same"]) == (6, 2, 4)


def test_levels_are_stated_beside_the_optimum(finished: Path) -> None:
    levels = [one for one in read(finished).levels() if (one["instance"], one["engine"]) == ("a.json", "volcano")]
    count = next(one for one in levels if one["level"] == "victim_count")
    assert (count["value"], count["optimal_value"], count["proved"], count["rank"]) == (3, 1, False, 5)
    priorities = next(one for one in levels if one["level"] == "victim_priority_sum")
    assert (priorities["value"], priorities["value_text"]) == (6442451064, "3 victims, priority sum 120")
    assert priorities["optimal_value_text"] == "1 victim, priority sum 100"
    start = next(one for one in levels if one["level"] == "victim_start_time")
    assert start["value_text"] == "2026-01-01T01:00:00Z"
    assert start["value"] == 1767229200 * 10**9


@pytest.mark.parametrize(("name", "types"), [("cells", CELLS), ("levels", LEVELS)])
def test_csv_and_parquet_hold_the_rows(finished: Path, name: str, types: dict[str, str]) -> None:
    rows = list(getattr(read(finished), name)())
    table = parquet.read_table(finished / f"{name}.parquet")
    columns = [*types, *(["recipe.family", "recipe.parameters.mix", "recipe.parameters.nodes", "recipe.seed"])]
    assert table.column_names == (columns if name == "cells" else [*types])
    assert table.to_pylist() == [{column: row.get(column) for column in table.column_names} for row in rows]
    with (finished / f"{name}.csv").open(newline="") as stream:
        texts = list(csv.DictReader(stream))
    assert texts == [
        {
            column: "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            for column, value in row.items()
        }
        for row in table.to_pylist()
    ]


def test_recipes_become_columns(finished: Path) -> None:
    made = next(row for row in read(finished).cells() if row["instance"] == "made.json")
    assert {name: value for name, value in made.items() if name.startswith("recipe")} == {
        "recipe.family": "tiny",
        "recipe.parameters.nodes": "3",
        "recipe.parameters.mix": '["a", 1]',
        "recipe.seed": "7",
    }


def test_the_documentation_has_every_column() -> None:
    text = (ROOT / "docs" / "study.md").read_text()
    for heading, types in (("cells", CELLS), ("levels", LEVELS)):
        section = text.split(f"### `{heading}`")[1].split("\n### ")[0]
        first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
        documented = [name for cell in first for name in re.findall(r"`([^`]+)`", cell)]
        assert [name for name in documented if name != "recipe.NAME"] == [*types]


def test_a_second_run_does_nothing(copied: Path, corpus: Path) -> None:
    before = (copied / "results.jsonl").read_bytes()
    tally = run_here(copied, recipe(corpus, seeds="1,2"))
    assert (tally.cells, tally.kept, tally.ran, tally.failed) == (12, 12, 0, 4)
    assert (copied / "results.jsonl").read_bytes() == before


def test_limits_of_a_cell_and_order_change_no_key(copied: Path, corpus: Path) -> None:
    stated = recipe(corpus, seeds="2,1", engines="optimal,volcano", memory="1Gi", grace=7)
    assert run_here(copied, stated).ran == 0


def test_a_larger_study_runs_only_what_is_new(copied: Path, corpus: Path) -> None:
    tally = run_here(copied, recipe(corpus, seeds="1..3", engines="volcano"))
    assert (tally.cells, tally.kept, tally.ran) == (9, 6, 3)
    assert len(list(read(copied).cells())) == 9
    assert len(lines(copied)) == 15


def test_failed_cells_run_again_when_stated(copied: Path, tmp_path: Path, corpus: Path) -> None:
    tally = run_here(copied, recipe(corpus, seeds="1,2"), retry_failed=True)
    assert (tally.kept, tally.ran, tally.failed) == (8, 4, 4)
    fixed = tmp_path / "fixed"
    shutil.copytree(corpus, fixed)
    shutil.copy(TINY / "gang-all-or-nothing.json", fixed / "broken.json")
    tally = run_here(copied, recipe(fixed, seeds="1,2"))
    assert (tally.kept, tally.ran, tally.failed) == (8, 4, 0)
    assert {row["status"] for row in read(copied).cells()} == {"ok"}


def test_a_result_whose_decision_is_gone_runs_again(copied: Path, corpus: Path) -> None:
    key = next(one["key"] for one in lines(copied) if one["status"] == "ok")
    (copied / "solutions" / f"{key}.json.gz").unlink()
    for instance in (copied / "instances").iterdir():
        instance.unlink()
    tally = run_here(copied, recipe(corpus, seeds="1,2"))
    assert (tally.kept, tally.ran) == (11, 1)
    assert lines(copied)[-1]["key"] == key
    assert len(list(read(copied).cells())) == 12


def test_a_torn_line_costs_that_cell_alone(copied: Path, corpus: Path) -> None:
    whole = (copied / "results.jsonl").read_bytes()
    (copied / "results.jsonl").write_bytes(whole[:-9])
    assert len(list(read(copied).cells())) == 11
    tally = run_here(copied, recipe(corpus, seeds="1,2"))
    assert (tally.kept, tally.ran) == (11, 1)
    assert tally.notes == [f"{copied}/results.jsonl: its last line was torn; what it was about runs again"]
    assert len(lines(copied)) == 12


def test_results_of_another_version_are_left_aside(copied: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpsched.version.__version__", "99.0")
    tally = run_here(copied, recipe(corpus, engines="volcano"))
    assert tally.notes == ["12 results here were made by other versions; they are ignored"]
    assert (tally.cells, tally.kept, tally.ran) == (3, 0, 3)
    assert {row["cpsched"] for row in read(copied).cells()} == {"99.0"}


def test_the_tables_of_an_older_version_can_still_be_made(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpsched.version.__version__", "99.0")
    assert len(list(read(copied).cells())) == 12


def test_a_folder_of_another_format_is_refused(copied: Path) -> None:
    study = copied / "study.json"
    study.write_text(study.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(InputError, match=r"another format \(2; this one has 1\); give another folder"):
        read(copied)
    study.write_text("{}")
    with pytest.raises(InputError, match="another format"):
        read(copied)
    study.write_text('{"format": 1}')
    with pytest.raises(InputError, match="not as it was written"):
        read(copied)


def test_one_study_at_a_time(tmp_path: Path, corpus: Path) -> None:
    with RunFolder(tmp_path).locked(), pytest.raises(InputError, match=r"a study is running here \(process \d+ on "):
        run_here(tmp_path, recipe(corpus))


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"instances": "nowhere/*.json"}, "nowhere/*.json: instances: no file matches"),
        ({"instances": []}, "instances: no instances"),
        ({"engines": "vulcano"}, "unknown engine vulcano; did you mean volcano?"),
        ({"models": "vulcano"}, 'unknown model "vulcano"'),
        ({"models": "volcano,kube", "conf": "tests/fuzz/data/volcano-scheduler.conf"}, "needs one of kube-scheduler"),
        ({"models": "volcano,models/volcano.yaml"}, "models: two models are called volcano"),
    ],
)
def test_what_is_wrong_is_stated_before_anything_runs(
    fields: dict[str, Any], output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(InputError, match=re.escape(output)):
        run_here(tmp_path / "run", recipe(CASE, **fields))
    assert not (tmp_path / "run").exists()


def test_everything_that_can_change_a_result_is_in_the_key() -> None:
    def key(source: str = "s", versions: str = "1", content: str = "m", conf: Any = None, **fields: Any) -> str:
        stated = recipe(CASE, **fields)
        plan = StudyPlan.of(stated.model_copy(update={"conf": None}))
        model = plan.models[0]._replace(content={**plan.models[0].content, "description": content})
        whole = StudyPlan(plan.recipe, (model,), conf, {"cpsched": versions})
        return next(whole.cells([Source(source, ("name",))])).key

    changes: list[dict[str, Any]] = [
        {},
        {"source": "t"},
        {"versions": "2"},
        {"content": "n"},
        {"conf": {"actions": "allocate"}},
        {"engines": "optimal"},
        {"seeds": "2"},
        {"time_limit": 31},
        {"threads": 2},
        {"deterministic": True},
        {"prover": "cp-sat"},
        {"kube_version": "head"},
        {"pod_groups": True},
        {"lenient": True},
    ]
    assert len({key(**change) for change in changes}) == len(changes)
    assert key(memory="1Gi", grace=1) == key()
