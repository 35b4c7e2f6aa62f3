"""`cpsched explain` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Command

STAYS = ROOT / "instances" / "tiny" / "gang-all-or-nothing.json"
USUAL = ("--workers", 1)


def test_tables(cli: Command) -> None:
    ended = cli("explain", STAYS, "--job", "default/gang", *USUAL)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.partition("\n\n")[2].startswith("Job default/gang cannot be placed by any feasible decision")
    assert "minAvailable 3 → 2" in ended.out


def test_json_and_file_hold_the_same(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "why.json"
    ended = cli("explain", STAYS, "--task", "gang/task-0", "--json", "-o", file, *USUAL)
    assert json.loads(ended.out) == json.loads(file.read_text())
    found = json.loads(ended.out)
    assert (found["kind"], found["verdict"], found["task"]) == ("Explanation", "impossible", "gang/task-0")


def test_markdown_goes_to_the_file_too(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "why.md"
    ended = cli("explain", STAYS, "--job", "gang", "--markdown", "-o", file, *USUAL)
    assert ended.out == file.read_text()
    assert "| capacity: cpu on n1 |" in ended.out


def test_without_a_name_everything_that_waits_is_listed(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "waits.json"
    ended = cli("explain", STAYS, "--engine", "optimal", "-o", file, *USUAL)
    assert (ended.code, ended.err) == (0, "")
    assert "4 tasks of 2 jobs pending; decision of engine optimal." in ended.out
    assert ended.out.endswith("what would place it: cpsched explain INPUT default/gang\n")
    found = json.loads(file.read_text())
    assert (found["kind"], [group["jobs"] for group in found["groups"]]) == ("Waiting", [["default/gang"]])
    assert json.loads(cli("explain", STAYS, "--engine", "optimal", "--json", *USUAL).out) == found
    assert "decision of engine volcano" in cli("explain", STAYS, "--markdown", *USUAL).out


def test_candidates_of_a_preemptor(cli: Command, tiny: Path) -> None:
    ended = cli("explain", tiny, "--task", "urgent/task-0", "--engine", "volcano", *USUAL)
    assert ended.code == 0
    assert "finetune/task-0, notebook/task-0, notebook/task-1" in ended.out
    assert "chosen, best" in ended.out


def test_many_rows_are_cut(cli: Command, tmp_path: Path) -> None:
    nodes = [{"name": f"n{i}", "labels": {"own": str(i)}, "allocatable": {"cpu": 1 + i, "pods": 9}} for i in range(60)]
    holders = [
        {"name": f"r{i}", "minMember": 0, "tasks": [{"requests": {"cpu": 1 + i}, "running": f"n{i}"}]}
        for i in range(60)
    ]
    new = {"name": "new", "priorityClassName": "high", "tasks": [{"requests": {"cpu": 1}}]}
    source = {"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": nodes, "jobs": [*holders, new]}
    file = tmp_path / "wide.json"
    file.write_text(json.dumps({**source, "priorityClasses": {"high": 9}}))
    ended = cli("explain", file, "--task", "new/task-0", "--engine", "volcano", *USUAL)
    assert "... and 20 more; --json shows all." in ended.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--job", "default/gnag"), "no job default/gnag; did you mean default/gang"),
        (("--task", "default/gang"), "default/gang is a job, not a task; give it as --job"),
        (("gang", "--job", "gang"), "name one job or one task; give its name, or --job ns/job, or --task ns/pod"),
        (("default/gnag",), "no job or task default/gnag; did you mean default/gang"),
        (("--job", "gang", "--engine", "nosuch"), "unknown engine nosuch"),
        (("--job", "gang", "--time-limit", "0"), "the time limit is 0.0"),
    ],
    ids=["misspelt", "other kind", "named twice", "misspelt without option", "unknown engine", "no time"],
)
def test_bad_usage_is_one_line(cli: Command, arguments: tuple[str, ...], says: str) -> None:
    ended = cli("explain", STAYS, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert says in ended.err
    assert ended.err.count("\n") == 1


def test_an_engine_under_anothers_model_is_doubted(cli: Command) -> None:
    ended = cli("explain", STAYS, "--job", "gang", "--engine", "kube", *USUAL)
    assert "engine kube is checked by model volcano" in ended.err


def test_no_answer_in_time_has_its_own_exit_code(cli: Command) -> None:
    ended = cli("explain", STAYS, "--job", "gang", "--time-limit", "1e-9", *USUAL)
    assert ended.code == 3
    assert "was not found out within" in ended.out
