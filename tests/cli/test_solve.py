"""`cpsched solve`: who decides, what is shown, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cpsched.cli.solve import exit_code
from cpsched.solution import Finding, Solution
from tests.cli.conftest import ROOT, Command

PARTIAL = {
    "apiVersion": "cpsched/v1",
    "kind": "Instance",
    "nodes": [{"name": "n", "allocatable": {"cpu": "1", "pods": 9}}],
    "jobs": [
        {"name": "small", "tasks": [{"requests": {"cpu": "1"}}]},
        {"name": "big", "tasks": [{"replicas": 2, "requests": {"cpu": "2"}}]},
    ],
}


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    path = tmp_path / "partial.json"
    path.write_text(json.dumps(PARTIAL))
    return path


def test_tables_show_jobs_victims_and_proofs(cli: Command, tiny: Path) -> None:
    code, out, err = cli("solve", tiny)
    assert (code, err) == (0, "")
    read = "1 node, 3 pods running, 1 pending; scheduler volcano"
    assert out.startswith(f"{read}\nEngine optimal, model volcano: optimal, every level proved\n")
    rows = [line.split() for line in out.splitlines()]
    assert ["default/urgent", "default", "1000", "0/1", "0", "1", "0", "admitted"] in rows
    assert ["default/urgent", "urgent/task-0", "gpu-node", "reserved"] in rows
    assert ["victim_priority_sum", "less", "1", "victim,", "priority", "sum", "100", "proved"] in [r[:8] for r in rows]
    assert ["finetune/task-0", "gpu-node", "100", "preempt", "default/urgent"] in rows
    assert any(row[:5] == ["victim_count", "less", "1", "proved", "(lp,"] for row in rows)
    assert out.endswith("No rule is broken.\n")


def test_a_heuristic_claims_no_proof_and_tells_who_stays(cli: Command, partial: Path) -> None:
    code, out, _ = cli("solve", partial, "--engine", "volcano")
    assert code == 0
    _, head, *rest = out.splitlines()
    assert head == "Engine volcano, model volcano: heuristic decision, no optimality proof"
    assert not any("proof" in line or "proved" in line for line in rest)
    assert ["default/small", "default", "0", "0/1", "1", "0", "0", "admitted"] in [
        line.split() for line in out.splitlines()
    ]
    assert "big/task-0 and 1 more" in out


def test_where_tasks_go_is_grouped_by_job_the_most_important_first_and_capped(cli: Command, tmp_path: Path) -> None:
    jobs = [
        {"name": "wide", "tasks": [{"replicas": 45, "requests": {"cpu": "1"}}]},
        {"name": "top", "priorityClassName": "high", "tasks": [{"replicas": 2, "requests": {"cpu": "1"}}]},
    ]
    node = {"name": "n", "allocatable": {"cpu": "99", "pods": 99}}
    file = tmp_path / "wide.json"
    head = {"apiVersion": "cpsched/v1", "kind": "Instance", "priorityClasses": {"high": 9}}
    file.write_text(json.dumps({**head, "nodes": [node], "jobs": jobs}))
    out = cli("solve", file, "--engine", "volcano").out
    rows = [line.split() for line in out.partition("Placed tasks")[2].splitlines()]
    assert [row for row in rows if row[-2:] == ["starts", "now"]][:4] == [
        ["default/top", "top/task-0", "n", "starts", "now"],
        ["top/task-1", "n", "starts", "now"],
        ["default/wide", "wide/task-0", "n", "starts", "now"],
        ["wide/task-1", "n", "starts", "now"],
    ]
    assert "... and 7 more; --json shows all." in out


def test_json_is_the_solution(cli: Command, tiny: Path) -> None:
    code, out, _ = cli("solve", tiny, "--json")
    solution = Solution.parse(json.loads(out))
    assert code == 0
    assert solution.status == "optimal"
    assert all(level.proved and level.value == level.bound for level in solution.levels)
    assert solution.versions.keys() == {"cpsched", "ortools"}
    assert len(solution.instance_sha256) == 64
    assert json.loads(out) == solution.to_dict()


def test_output_file_holds_the_same_json_and_tables_stay_on_stdout(cli: Command, tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "solution.json"
    _, tables, _ = cli("solve", tiny, "--engine", "volcano", "-o", file)
    _, text, _ = cli("solve", tiny, "--engine", "volcano", "--json")
    assert json.loads(file.read_text()) == json.loads(text)
    assert tables.splitlines()[1].startswith("Engine volcano")


def test_findings_end_with_one(cli: Command, tiny: Path) -> None:
    code, out, err = cli("solve", tiny, "--engine", "kube")
    assert code == 1
    assert "Findings" in out
    assert "eviction" in out
    assert err == "cpsched: warning: engine kube is checked by model volcano, which is made for volcano; see --model\n"


def test_no_answer_ends_with_three_before_findings_count() -> None:
    finding = Finding(rule="gang", message="x")
    assert exit_code(Solution()) == 0
    assert exit_code(Solution(findings=(finding,))) == 1
    assert exit_code(Solution.parse({"status": "unknown", "findings": [finding.model_dump()]})) == 3


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("optimum", "unknown engine optimum; did you mean optimal? known: optimal, volcano, kube, exec:CMD"),
        (
            "exec:./mine --fast",
            "exec:./mine --fast: cannot be started: No such file or directory; "
            "name a program that can be run, with its path",
        ),
    ],
)
def test_an_engine_that_is_not_there_is_one_line(cli: Command, tiny: Path, name: str, output: str) -> None:
    assert cli("solve", tiny, "--engine", name) == (2, "", f"cpsched: error: {output}\n")


@pytest.mark.parametrize(
    ("options", "output"),
    [
        (["--time-limit", "0"], "the time limit is 0.0; give a number of seconds above zero"),
        (["--time-limit", "nan"], "the time limit is nan; give a number of seconds above zero"),
        (["--workers", "0"], "the number of workers is 0; give 1 to 1024"),
        (["--seed", "-1"], "the seed is -1; give a number from 0 to 2147483647"),
        (["--shard-nodes", "a"], "--shard-nodes without a sharding mode; add --sharding soft or --sharding hard"),
        (["--only", "urgent/task-0"], "only: engine optimal does not try one pod alone; engine kube does"),
        (["--kube-version", "1.2"], 'kube-scheduler release "1.2" is not known; known: 1.36, head'),
        (["--model", "x"], 'unknown model "x"; known: kube, throughput, volcano, volcano-fair, volcano-near'),
    ],
)  # fmt: skip
def test_an_option_out_of_range_is_one_line(cli: Command, tiny: Path, options: list[str], output: str) -> None:
    assert cli("solve", tiny, *options) == (2, "", f"cpsched: error: {output}\n")


def test_only_tries_one_pod(cli: Command, partial: Path) -> None:
    _, out, _ = cli("solve", partial, "--engine", "kube", "--model", "kube", "--only", "small/task-0", "--json")
    assert json.loads(out)["binds"] == {"small/task-0": "n"}
    _, out, _ = cli("solve", partial, "--engine", "kube", "--model", "kube", "--only", "big/task-0", "--json")
    assert json.loads(out)["binds"] == {}
    code, _, err = cli("solve", partial, "--engine", "kube", "--model", "kube", "--only", "big/task-9")
    assert (code, err.count("\n")) == (2, 1)
    assert "no task big/task-9; did you mean big/task-" in err


def test_sharding_keeps_tasks_off_other_nodes(cli: Command, partial: Path) -> None:
    options = ("--engine", "volcano", "--json", "--sharding")
    assert json.loads(cli("solve", partial, *options, "none").out)["binds"] == {"small/task-0": "n"}
    assert json.loads(cli("solve", partial, *options, "hard", "--shard-nodes", "n, x").out)["binds"] == {
        "small/task-0": "n"
    }
    _, out, err = cli("solve", partial, *options, "hard", "--shard-nodes", "x")
    assert json.loads(out)["binds"] == {}
    assert err == "cpsched: warning: sharding: node x is not in the input\n"


def test_conf_overrules_the_input_which_overrules_the_model(cli: Command, tmp_path: Path) -> None:
    idle = {"actions": "backfill", "tiers": []}
    path, conf = tmp_path / "instance.json", tmp_path / "volcano-scheduler.conf"
    path.write_text(json.dumps({**PARTIAL, "conf": idle}))
    conf.write_text('actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n')
    assert json.loads(cli("solve", path, "--json").out)["binds"] == {}
    assert json.loads(cli("solve", path, "--json", "--conf", conf).out)["binds"] == {"small/task-0": "n"}
    path.write_text(json.dumps(PARTIAL))
    conf.write_text(json.dumps(idle))
    assert json.loads(cli("solve", path, "--json").out)["binds"] == {"small/task-0": "n"}
    assert json.loads(cli("solve", path, "--json", "--conf", conf).out)["binds"] == {}


def test_an_unknown_setting_is_a_warning_with_the_nearest_one(cli: Command, partial: Path, tmp_path: Path) -> None:
    conf = tmp_path / "volcano-scheduler.conf"
    conf.write_text('actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n  - name: gong\n')
    code, _, err = cli("solve", partial, "--conf", conf)
    assert code == 0
    assert err.startswith(f'cpsched: warning: {conf}: tiers[0].plugins[1]: unknown plugin "gong"')
    assert "did you mean gang?" in err


def test_long_tables_say_what_they_leave_out(cli: Command, tmp_path: Path) -> None:
    jobs = [{"name": f"job{number}", "tasks": [{"requests": {"cpu": "1"}}]} for number in range(45)]
    path = tmp_path / "many.json"
    path.write_text(json.dumps({**PARTIAL, "jobs": jobs}))
    out = cli("solve", path, "--engine", "volcano").out
    assert "... and 5 more; --json shows all." in out


def test_kube_tells_its_own_count_of_violations_and_the_true_one(cli: Command) -> None:
    """The documented oddity: a budget violation counted that is none."""
    instance = ROOT / "instances" / "tiny" / "kube-pdb-false-violation.yaml"
    done = cli("solve", instance, "--model", "kube", "--engine", "kube", "--json")
    (one,) = json.loads(done.out)["preemptions"]
    assert (one["victims"], one["pdbViolations"], one["truePdbViolations"]) == (["default/b"], 1, 0)
    assert "Preemptions" in cli("solve", instance, "--model", "kube", "--engine", "kube").out
