"""`cpsched diff`: what changed between two baselines, by level and by tag, in every form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Command
from tests.cli.hostile import EVIL, obeyed

TINY = ROOT / "instances" / "tiny"
WORSE, BETTER, SAME = "preempt-one-is-enough.json", "gang-all-or-nothing.json", "affinity-first-pod.json"
Entries = dict[str, Any]


@pytest.fixture
def corpus(cli: Command, tmp_path: Path) -> Path:
    folder, file = tmp_path / "cases", tmp_path / "corpus.jsonl"
    folder.mkdir()
    for name in (WORSE, BETTER, SAME):
        (folder / name).write_text((TINY / name).read_text())
    assert cli("corpus", "export", folder, "--no-optimum", "-o", file).code == 0
    return file


@pytest.fixture
def files(cli: Command, corpus: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Before: the optimum, but for one case; after: the mirror, but for that one."""
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    for engine, file in (("optimal", before), ("mirror", after)):
        cli("check", corpus, "--engine", engine, "--no-optimum", "--baseline", file, "--update")
    one, other = (json.loads(file.read_text()) for file in (before, after))
    key = f"{corpus.name}#{BETTER}"
    one["cases"][key], other["cases"][key] = other["cases"][key], one["cases"][key]
    for file, data in ((before, one), (after, other)):
        file.write_text(json.dumps(data))
    return before, after


def test_worse_and_better_are_named_with_level_values_and_victims(
    cli: Command, files: tuple[Path, Path], corpus: Path
) -> None:
    ended = cli("diff", *files, "--corpus", corpus, "--json")
    found = json.loads(ended.out)
    assert (ended.code, found["counts"]) == (1, {"worse": 1, "better": 1, "same": 1})
    worse = next(one for one in found["cases"] if one["change"] == "worse")
    assert (worse["id"], worse["level"]) == (f"{corpus.name}#{WORSE}", "victim_priority_sum")
    assert (worse["before"], worse["after"]) == ("1 victim, priority sum 100", "3 victims, priority sum 120")
    assert worse["names"].startswith("2 victims more (victims before: finetune/task-0; now: finetune/task-0, notebook")
    assert found["by_level"] == {
        "victim_priority_sum": {"worse": 1, "better": 0},
        "findings": {"worse": 0, "better": 1},
    }
    assert found["by_tag"]["plugin gang"] == {"worse": 1, "better": 1}


def test_the_same_file_twice_is_fine(cli: Command, files: tuple[Path, Path]) -> None:
    ended = cli("diff", files[0], files[0])
    assert (ended.code, ended.err) == (0, "")
    assert "3 cases, 3 same." in ended.out


FORMS: dict[str, Callable[[str], bool]] = {
    "text": lambda text: "reproduce" not in text and "Worse" in text,
    "markdown": lambda text: text.startswith("# Two baselines\n") and "## Worse" in text,
    "html": lambda text: text.startswith("<!doctype html>") and WORSE in text,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ending", ["", "-o"])
def test_every_form(cli: Command, files: tuple[Path, Path], tmp_path: Path, form: str, ending: str) -> None:
    place = tmp_path / {"text": "d.txt", "markdown": "d.md", "html": "d.html"}[form]
    given = ("-o", place) if ending else ("--format", form)
    ended = cli("diff", *files, *given)
    assert (ended.code, ended.err) == (1, "")
    text = place.read_text() if ending else ended.out
    assert FORMS[form](text)
    assert (ended.out == "") == bool(ending)


def test_json_by_its_ending(cli: Command, files: tuple[Path, Path], tmp_path: Path) -> None:
    assert cli("diff", *files, "-o", tmp_path / "d.json").code == 1
    assert json.loads((tmp_path / "d.json").read_text())["kind"] == "BaselineDiff"


def test_a_command_reproduces_what_is_worse(cli: Command, files: tuple[Path, Path], corpus: Path) -> None:
    text = cli("diff", *files, "--corpus", corpus, "--format", "markdown").out
    assert f"--engine mirror --baseline {files[0]} --case" in text.replace("\\", "")


def changed(entry: Entries) -> None:
    entry["instance"] = "0" * 12 + "-" + "0" * 8


def other_names(entry: Entries) -> None:
    entry["decision"]["victims"] = ["notebook/task-9"]


@pytest.mark.parametrize(
    ("change", "counted"),
    [(changed, "changed"), (other_names, "other decision"), (None, "removed")],
)
def test_what_is_neither_better_nor_worse(
    cli: Command, files: tuple[Path, Path], change: Callable[[Entries], None] | None, counted: str
) -> None:
    data = json.loads(files[0].read_text())
    key = next(name for name in data["cases"] if name.endswith(WORSE))
    if change is None:
        del data["cases"][key]
    else:
        change(data["cases"][key])
    files[1].write_text(json.dumps(data))
    ended = cli("diff", *files, "--json")
    assert (ended.code, json.loads(ended.out)["counts"]) == (0, {"same": 2, counted: 1})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[]", "not a baseline"),
        ("{", "d.json"),
        ('{"apiVersion": "cpsched/v1", "kind": "Baseline", "engine": "x", "cases": {"a": 3}}', "cases"),
        (
            '{"apiVersion": "cpsched/v1", "kind": "Baseline", "engine": "x", '
            '"cases": {"a": {"instance": "", "model": "", "levels": {"nonsense": 1}}}}',
            "nonsense is not a level",
        ),
    ],
)
def test_what_is_no_baseline_is_one_line(
    cli: Command, files: tuple[Path, Path], tmp_path: Path, text: str, wrong: str
) -> None:
    file = tmp_path / "d.json"
    file.write_text(text)
    for pair in ((file, files[0]), (files[0], file)):
        code, out, err = cli("diff", *pair)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert wrong in err


@pytest.mark.parametrize("form", FORMS)
def test_hostile_names(cli: Command, files: tuple[Path, Path], form: str) -> None:
    for file in files:
        data = json.loads(file.read_text())
        data["engine"] = EVIL
        data["cases"] = {f"{EVIL}<script>|{name}": entry for name, entry in data["cases"].items()}
        for entry in data["cases"].values():
            entry["decision"]["victims"] = [*entry["decision"].get("victims", []), EVIL, file.name]
        file.write_text(json.dumps(data))
    ended = cli("diff", *files, "--format", form)
    assert ended.code == 1
    assert obeyed((ended.out + ended.err).replace("\t", "")) == []
    assert "<script>|" not in ended.out or form == "text"
