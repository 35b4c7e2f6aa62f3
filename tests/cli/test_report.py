"""`cpsched report`: what it takes, what it writes, and what it refuses."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command


@pytest.fixture
def decision(cli: Command, tiny: Path, tmp_path: Path) -> Path:
    file = tmp_path / "volcano.json"
    assert cli("solve", tiny, "--engine", "volcano", "-o", file).code == 0
    return file


def test_without_a_wish_the_mirror_meets_the_optimum_in_tables(cli: Command, tiny: Path) -> None:
    code, out, err = cli("report", tiny)
    assert (code, err) == (0, "")
    assert "volcano is behind optimal, first at victim_priority_sum: 6442451064 instead of 2147483748." in out
    assert re.search(
        r"notebook/task-0 +10 +1 cpu, 1 gpu +on gpu-node +evicted \(preempt for default/urgent\) +stays", out
    )
    assert re.search(r"gpu-node +gpu +8 +8 +6 +8", out)


def test_stored_decisions_are_judged_and_nobody_else_decides(
    cli: Command, tiny: Path, decision: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise AssertionError("an engine was asked")

    monkeypatch.setattr("cpsched.engines.run", fails)
    code, out, _ = cli("report", tiny, "--solution", decision, "--solution", decision)
    assert code == 0
    assert "volcano (2) is as good as volcano on every level." in out


def test_a_stored_decision_beside_an_engine(cli: Command, tiny: Path, decision: Path) -> None:
    out = cli("report", tiny, "--solution", decision, "--engines", "optimal").out
    assert "What volcano and optimal would do" in out


def test_a_broken_decision_is_shown_with_its_findings(cli: Command, tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    file.write_text('{"engine": "mine", "binds": {"urgent/task-0": "gpu-node"}}')
    code, out, _ = cli("report", tiny, "--solution", file)
    assert code == 0
    assert re.search(r"mine +capacity +gpu-node", out)


@pytest.mark.parametrize(
    ("name", "begins"), [("r.html", "<!doctype html>"), ("r.md", "# preempt-one"), ("r.txt", "preempt-one")]
)
def test_the_ending_says_the_form(
    cli: Command, tiny: Path, decision: Path, tmp_path: Path, name: str, begins: str
) -> None:
    file = tmp_path / name
    assert cli("report", tiny, "--solution", decision, "-o", file) == (0, "", "")
    assert file.read_text().startswith(begins)
    assert "\x1b" not in file.read_text()
    before = file.stat().st_ino
    assert cli("report", tiny, "--solution", decision, "-o", file).code == 0
    assert file.stat().st_ino != before  # written anew and put in its place
    assert sorted(os.listdir(tmp_path)) == sorted([name, "volcano.json"])


@pytest.mark.parametrize(
    ("form", "begins"), [("html", "<!doctype html>"), ("markdown", "# preempt-one"), ("text", "preempt-one")]
)
def test_a_form_without_a_file_goes_to_stdout(cli: Command, tiny: Path, decision: Path, form: str, begins: str) -> None:
    code, out, err = cli("report", tiny, "--solution", decision, "--format", form)
    assert (code, err) == (0, "")
    assert out.startswith(begins)


def test_a_decision_on_another_input_is_doubted(cli: Command, tiny: Path, decision: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(tiny.read_text().replace('"cpu": "64"', '"cpu": "65"'))
    assert "made from another input" in cli("report", other, "--solution", decision).err


def test_few_nodes_are_drawn_if_few_are_wanted(cli: Command, tiny: Path, decision: Path, tmp_path: Path) -> None:
    out = cli("report", tiny, "--solution", decision, "--nodes", "0", "--format", "html").out
    assert 'class="node"' not in out
    assert "1 nodes on which something changes are left out" in out


def test_what_cannot_be_reported_is_one_line(cli: Command, tiny: Path, decision: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.json"
    many.write_text('{"apiVersion": "cpsched/v1", "kind": "Comparisons", "cases": []}')
    half = tmp_path / "half.json"
    half.write_text('{"apiVersion": "cpsched/v1", "kind": "Comparison", "id": "x"}')
    for arguments, wrong in {
        (decision,): "a decision without its cluster; name the cluster, and add --solution for the decision",
        (many,): "kind: kind is 'Comparisons'; give what compare -o wrote about one instance",
        (half,): "not a whole Comparison ('engines'); give what compare -o wrote about one instance",
        (tiny, "--engines", ","): "--engines names nobody; give names such as volcano,optimal",
        (tiny, "--engines", "vulcano"): "unknown engine vulcano; did you mean volcano? known: ",
        (tiny, "--solution", tiny): "kind: kind is 'Instance'; give a Solution",
        (tmp_path / "nothing",): "no such file",
    }.items():
        code, out, err = cli("report", *arguments)
        assert (code, out) == (2, "")
        assert wrong in err
        assert err.count("\n") == 1


COMPARISON = {
    "apiVersion": "cpsched/v1",
    "kind": "Comparison",
    "id": "preempt-one-is-enough.json",
    "model": "volcano",
    "reference": "best",
    "engines": [
        {
            "engine": "mine",
            "verdict": "behind",
            "sentence": "behind at victim_count: 3 against 1",
            "differences": [
                {"task": "notebook/task-0", "here": "evicted", "there": "keeps running", "reason": "was not needed"}
            ],
        },
        {"engine": "best", "verdict": "optimal", "sentence": "nothing is better", "differences": []},
    ],
}


def test_a_comparison_brings_its_verdicts_and_reasons(cli: Command, tiny: Path, decision: Path, tmp_path: Path) -> None:
    solution = json.loads(decision.read_text())
    told = json.loads(json.dumps(COMPARISON)) | {"instance_sha256": solution["instance_sha256"]}
    for one in told["engines"]:
        one["solution"] = solution
    file = tmp_path / "comparison.json"
    file.write_text(json.dumps(told))
    alone = cli("report", file)
    assert alone.code == 0
    assert "mine: behind at victim_count: 3 against 1." in alone.out
    assert re.search(r"notebook/task-0 +evicted +keeps running +was not needed", alone.out)
    assert "A Comparison does not hold the cluster" in alone.out
    drawn = cli("report", tiny, "--solution", file, "--format", "html").out
    assert 'aria-label="gpu-node, mine"' in drawn
    (tmp_path / tiny.name).write_text(tiny.read_text())
    beside = cli("report", file, "--format", "html").out
    assert 'aria-label="gpu-node, best"' in beside
    assert "was not needed" in beside
    (tmp_path / tiny.name).write_text(tiny.read_text().replace('"cpu": "64"', '"cpu": "65"'))
    assert "A Comparison does not hold the cluster" in cli("report", file).out
