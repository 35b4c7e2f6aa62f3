"""What is spoilt in a run folder is stated with its line, and costs only itself."""

from __future__ import annotations

import copy
import json
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.gaps import MOST_LINES, gaps
from cpsched.lab.study.recipe import Recipe
from cpsched.lab.study.results import read
from cpsched.lab.study.run import Means, StudyTally, run
from cpsched.lab.study.summary import StudySummary
from cpsched.lab.study.tables import export
from cpsched.report.study import study_report

ROOT = Path(__file__).parents[3]
NAMES = ("gated.json", "nodes-used.json", "preempt-one-is-enough.json")
INSTANCES = [str(ROOT / "instances" / "tiny" / name) for name in NAMES]
STRANGE: list[Any] = [None, [1], {"x": "y"}, "text", True, -1, 10**30, 1.5, math.nan]


def go_on(folder: Path) -> StudyTally:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        stated = Recipe.parse({"kind": "Study", "instances": INSTANCES, "engines": "volcano,optimal"})
        return run(RunFolder(folder), stated, Means(workers=1))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gaps") / "run"
    assert go_on(folder).failed == 0
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def lines(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True)


def shown(folder: Path) -> tuple[int, list[str]]:
    """How many rows the tables and the report have, and what is stated to be missing."""
    results = read(folder)
    export(results)
    StudySummary.of(results.cells()).rows()
    study_report("study", results.rows(), lambda *_: [], drawn=False)
    return len((folder / "cells.csv").read_text().splitlines()) - 1, gaps(results)


def test_a_sound_folder_has_no_gaps(folder: Path) -> None:
    assert shown(folder) == (6, [])


def test_a_line_that_is_no_json_is_stated_and_only_its_cell_is_missing(folder: Path) -> None:
    file = folder / "results.jsonl"
    parts = lines(file)
    file.write_bytes(b"".join([*parts[:2], b"#" + parts[2], *parts[3:]]))
    rows, stated = shown(folder)
    assert rows == 5
    assert stated == [
        f"{file}: line 3 column 1: not valid JSON: a value is missing",
        f"{folder}: 1 of 6 cells have no result: nodes-used.json (model volcano, engine volcano, seed 1); "
        "run the study again, without --export, to run them",
    ]


def test_a_torn_last_line_is_nobodys_fault(folder: Path) -> None:
    file = folder / "results.jsonl"
    file.write_bytes(file.read_bytes()[:-5])
    assert shown(folder) == (5, [])


def test_the_next_run_sets_it_aside_and_runs_its_cell_again(folder: Path) -> None:
    file = folder / "results.jsonl"
    parts = lines(file)
    bare = b'{"key": "x"}\n'
    file.write_bytes(b"".join([*parts[:2], bare, *parts[3:]]))
    tally = go_on(folder)
    assert (tally.kept, tally.ran) == (5, 1)
    first, second = tally.notes
    assert first.startswith(f'{file}: line 3: key: "x" should match ^')
    assert second == f"{file}: 1 line set aside in results.jsonl.unreadable; what has no other record runs again"
    assert (folder / "results.jsonl.unreadable").read_bytes() == bare
    assert lines(file)[:5] == [*parts[:2], *parts[3:]]
    assert shown(folder) == (6, [])
    assert go_on(folder).notes == []


def test_a_spoilt_record_of_an_instance_is_stated_and_read_again(folder: Path) -> None:
    file = folder / "instances.jsonl"
    parts = lines(file)
    file.write_bytes(b"".join([parts[0], json.dumps({"key": json.loads(parts[1])["key"]}).encode() + b"\n", parts[2]]))
    rows, stated = shown(folder)
    assert rows == 4
    assert stated == [
        f"{file}: line 2: status: is missing",
        f"{file}: nothing about nodes-used.json, so their cells are missing",
    ]
    tally = go_on(folder)
    assert (tally.kept, tally.ran, len(tally.notes)) == (6, 0, 2)
    assert shown(folder) == (6, [])


def test_a_decision_that_is_gone_is_stated(folder: Path) -> None:
    next((folder / "solutions").iterdir()).unlink()
    rows, stated = shown(folder)
    assert rows == 5
    assert stated[0] == f"{folder}/solutions: 1 decisions are not there any more"
    assert "1 of 6 cells have no result: " in stated[1]


def test_many_lines_are_stated_in_short(folder: Path) -> None:
    file = folder / "results.jsonl"
    file.write_bytes(file.read_bytes() + b"[]\n" * (MOST_LINES + 5))
    rows, stated = shown(folder)
    assert (rows, len(stated)) == (6, MOST_LINES + 1)
    assert stated[-1] == f"{file}: 5 more lines cannot be read"


def test_records_of_other_versions_may_have_another_form(folder: Path) -> None:
    file = folder / "results.jsonl"
    other = json.dumps({"key": "1", "form": "another", "versions": {"cpsched": "99", "ortools": "9"}}) + "\n"
    file.write_bytes(file.read_bytes() + other.encode())
    assert shown(folder) == (6, [])
    assert go_on(folder).notes == ["1 results here were made by other versions; they are ignored"]
    assert lines(file)[-1] == other.encode()


def test_levels_that_do_not_fit_the_optimum_are_stated(folder: Path) -> None:
    file = folder / "results.jsonl"
    parts = lines(file)
    number = next(n for n, line in enumerate(parts) if json.loads(line)["engine"] == "volcano")
    record = json.loads(parts[number])
    record["levels"].pop()
    parts[number] = json.dumps(record).encode() + b"\n"
    file.write_bytes(b"".join(parts))
    rows, stated = shown(folder)
    assert rows == 5
    assert stated[0].startswith(f"{file}: line {number + 1}: levels: not those of the optimum of the same instance")


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside; of a list, into its first item."""
    inside = value.items() if isinstance(value, dict) else list(enumerate(value))[:1] if isinstance(value, list) else ()
    for name, part in inside:
        yield (*above, name)
        yield from places(part, (*above, name))


def doctored(record: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The record with one value dropped or replaced, for every value and many replacements."""
    for place in places(record):
        for change in (None, *(lambda _, new=new: new for new in STRANGE)):
            whole = copy.deepcopy(record)
            inner = whole
            for step in place[:-1]:
                inner = inner[step]
            if change is None:
                del inner[place[-1]]
            else:
                inner[place[-1]] = change(None)
            yield place, whole


@pytest.mark.parametrize("name", ["results.jsonl", "instances.jsonl"])
def test_no_record_is_beyond_telling(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever becomes of a value, the rest is shown, and what is left out is stated with file, line and name."""
    monkeypatch.setattr("cpsched.lab.study.tables.has_parquet", _now_and_then())
    file = folder / name
    parts = lines(file)
    seen = {"stated": 0, "shown": 0}
    for place, record in doctored(json.loads(parts[0])):
        file.write_bytes(b"".join([json.dumps(record).encode() + b"\n", *parts[1:]]))
        rows, stated = shown(folder)
        seen["stated" if stated else "shown"] += 1
        if stated:
            assert rows < 6
            assert stated[0].startswith((f"{file}: line 1: ", f"{file}: line 1 column ")), place
            assert str(place[0]) in stated[0] or place[0] == "key" or "is not a number in JSON" in stated[0], (
                place,
                stated,
            )
        else:
            assert rows == 6, place
    assert seen["stated"] > 3 * seen["shown"] > 0


def test_a_study_file_that_is_not_as_written_is_one_line(folder: Path) -> None:
    file = folder / "study.json"
    refused: list[str] = []
    for _, study in doctored(json.loads(file.read_text())):
        file.write_text(json.dumps(study))
        try:
            read(folder)
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert [line for line in refused if not line.startswith(f"{file}: ")] == []


def _now_and_then() -> Callable[[], bool]:
    """Writing Parquet is slow; a third of the tables in it, in turn, is enough."""
    turns = iter(range(10**6))
    return lambda: next(turns) % 3 == 0
