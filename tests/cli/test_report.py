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
    assert (
        "volcano: worse than the proved optimum at victim_priority_sum: it has 3 victims with priority sum 120" in out
    )
    assert "it was not needed: without this eviction no further rule is broken" in out
    assert "optimal: proved optimal on every level. It reserves capacity for 1 pod and evicts 1 pod." in out
    assert re.search(
        r"notebook/task-0 and 1 alike +10 +1 cpu, 1 gpu +on gpu-node +evicted \(preempt for default/urgent\) +stays",
        out,
    )
    assert re.search(r"gpu-node +gpu +8 +8 +0 +0 +6 +8", out)


def test_nothing_is_called_proved_and_without_proof_at_once(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "fits.json"
    node = {"name": "n", "allocatable": {"cpu": "1", "pods": 9}}
    jobs = [{"name": "small", "tasks": [{"requests": {"cpu": "1"}}]}]
    file.write_text(json.dumps({"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": [node], "jobs": jobs}))
    both = cli("report", file).out
    assert "volcano: equal on every level to the optimum, which is proved. It starts 1 pod." in both
    assert "no optimality proof" not in both
    alone = cli("report", file, "--engines", "volcano").out
    assert "volcano: heuristic decision, no optimality proof. It starts 1 pod." in alone


def test_stored_decisions_are_checked_and_no_task_else_decides(
    cli: Command, tiny: Path, decision: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise AssertionError("an engine was asked")

    monkeypatch.setattr("cpsched.engines.run", fails)
    code, out, _ = cli("report", tiny, "--solution", decision, "--solution", decision)
    assert code == 0
    assert (
        "volcano (volcano.json) (2): equal on every level to volcano (volcano.json); that it is optimal is not proved."
        in out
    )


def test_a_stored_decision_beside_an_engine(cli: Command, tiny: Path, decision: Path) -> None:
    out = cli("report", tiny, "--solution", decision, "--engines", "optimal").out
    assert "Decisions of volcano (volcano.json) and optimal, checked under" in out


def test_the_proofs_of_a_file_are_claims(cli: Command, tiny: Path, decision: Path, tmp_path: Path) -> None:
    best = tmp_path / "best.json"
    assert cli("solve", tiny, "-o", best).code == 0
    out = cli("report", tiny, "--solution", decision, "--solution", best).out
    assert "optimal (best.json): the best decision here; that it is optimal is not proved." in out
    assert "evicts 1 pod. It is stated to be optimal; the proofs are not checked here." in out
    assert "proved (" not in out


def test_a_broken_decision_is_shown_with_its_findings(cli: Command, tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    file.write_text('{"engine": "mine", "binds": {"urgent/task-0": "gpu-node"}}')
    code, out, _ = cli("report", tiny, "--solution", file)
    assert code == 0
    assert re.search(r"mine \(wrong.json\) +capacity +gpu-node", out)


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
    assert file.stat().st_ino != before  # written again and put in its place
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
        (tiny, "--engines", ","): "--engines names no engine; give names such as volcano,optimal",
        (tiny, "--engines", "vulcano"): "unknown engine vulcano; did you mean volcano? known: ",
        (tiny, "--solution", tiny): "kind: kind is 'Instance'; give a Solution",
        (tmp_path / "nothing",): "no such file",
    }.items():
        code, out, err = cli("report", *arguments)
        assert (code, out) == (2, "")
        assert wrong in err
        assert err.count("\n") == 1


def test_a_comparison_is_checked_again_or_shown_as_unchecked(cli: Command, tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "comparison.json"
    assert cli("compare", tiny, "-o", file).code == 0
    stated = json.loads(file.read_text())
    stated["engines"][0]["sentence"] = "stated so in the file"
    file.write_text(json.dumps(stated))
    alone = cli("report", file)
    assert alone.code == 0
    assert "Stated, not checked: volcano: stated so in the file." in alone.out
    assert "Everything here is what comparison.json states; without the cluster nothing of it was checked." in alone.out
    assert "proved (" not in alone.out
    assert re.search(r"notebook/task-0 +evicted for default/urgent +keeps running +preempt cleared", alone.out)
    assert "A Comparison does not hold the cluster" in alone.out
    drawn = cli("report", tiny, "--solution", file, "--format", "html").out
    assert 'aria-label="gpu-node, volcano (comparison.json)"' in drawn
    (tmp_path / tiny.name).write_text(tiny.read_text())
    beside = cli("report", file, "--format", "html").out
    assert 'aria-label="gpu-node, optimal (comparison.json)"' in beside
    assert "stated so in the file" not in beside
    assert (
        "volcano (comparison.json): worse than optimal (comparison.json) at victim_priority_sum: it has 3 victims"
        in beside
    )
    (tmp_path / tiny.name).write_text(tiny.read_text().replace('"cpu": "64"', '"cpu": "65"'))
    assert "A Comparison does not hold the cluster" in cli("report", file).out


def test_a_study_in_all_forms(cli: Command, tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert cli("study", folder, "--instances", tiny, "--workers", "1").code == 0
    code, out, err = cli("report", folder)
    assert (code, err) == (0, "")
    assert "volcano under volcano, 1 decision against the optimum: worse in 1." in out
    assert re.search(
        r"preempt-one-is-enough.json +volcano +volcano +1 +1 +4 +victim_priority_sum +3 victims, priority sum 120", out
    )
    assert re.search(r"notebook/task-0 and 1 alike +10 +1 cpu, 1 gpu +on gpu-node +evicted", out)
    page = cli("report", folder, "--format", "html").out
    assert page.count("<svg") == 3
    assert "2 victims, priority sum 20" in page
    assert not re.search(r"[46],?[24]94,?967|6,?442,?451|2,?147,?483", page + out)
    assert 'id="worst-1"' in page
    assert cli("report", folder, "--format", "markdown").out.startswith("# run\n")


def test_a_folder_without_a_study_is_a_cluster(cli: Command, tmp_path: Path) -> None:
    assert "no .json or .yaml file in this folder" in cli("report", tmp_path).err
