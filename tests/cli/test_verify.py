"""`cpsched verify`: finds what was tampered with, and needs no solver."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cpsched
from cpsched.rules import RULES
from tests.cli.conftest import Command

Tampered = Any


@pytest.fixture
def solution(cli: Command, tiny: Path, tmp_path: Path) -> Tampered:
    file = tmp_path / "solution.json"
    cli("solve", tiny, "-o", file)

    def tamper(**changes: object) -> Path:
        file.write_text(json.dumps(json.loads(file.read_text()) | changes))
        return file

    return tamper


def test_a_good_decision_passes_every_rule(cli: Command, tiny: Path, solution: Tampered) -> None:
    code, out, err = cli("verify", solution(), tiny)
    assert (code, err) == (0, "")
    rows = dict(line.split()[:2] for line in out.splitlines() if line.endswith(" ok"))
    assert rows == dict.fromkeys([*RULES, "levels"], "ok")
    assert "Not verified: 11 of 11 levels are called proved, without evidence" in out
    assert out.endswith("No rule is broken.\n")
    assert cli("verify", solution(), tiny, "--strict").code == 1


def test_a_bind_that_does_not_fit_is_found(cli: Command, tiny: Path, solution: Tampered) -> None:
    path = solution(binds={"urgent/task-0": "gpu-node"}, pipelined={})
    code, out, _ = cli("verify", path, tiny, "--json")
    verdict = json.loads(out)
    assert code == 1
    assert not verdict["rules"]["capacity"]
    assert verdict["rules"]["assignment"]
    assert {"rule": "capacity", "subject": "gpu-node"}.items() <= verdict["findings"][0].items()
    code, out, _ = cli("verify", path, tiny)
    assert code == 1
    assert "capacity" in out
    assert "broken" in out


def test_levels_that_are_not_so_are_found(cli: Command, tiny: Path, solution: Tampered) -> None:
    levels = json.loads(solution().read_text())["levels"]
    by_name = {level["name"]: level for level in levels}
    by_name["victim_count"] |= {"value": 0, "bound": 0}
    by_name["tasks_placed"]["bound"] = 2
    by_name["nodes_used"]["proved"] = False
    dropped = [level for level in levels if level["name"] != "gangs_broken"]
    code, out, _ = cli("verify", solution(levels=dropped), tiny, "--json")
    found = {one["subject"]: one["message"] for one in json.loads(out)["findings"]}
    assert code == 1
    assert {one["rule"] for one in json.loads(out)["findings"]} == {"levels"}
    assert found == {
        "gangs_broken": "its levels are not those of the policy: level 2 is victim_max_priority, gangs_broken is right",
        "victim_count": "min 0 is stated; it is min 1",
        "tasks_placed": "is called proved, but its bound is 2 and its value 1",
        "nodes_used": "is not proved, but the solution is called optimal",
    }


def test_levels_of_another_plan_are_refused(cli: Command, tiny: Path, solution: Tampered) -> None:
    levels = json.loads(solution().read_text())["levels"]
    for wrong in (levels[::-1], levels[:-1], [*levels, levels[0]], [levels[1], levels[0], *levels[2:]], []):
        path = solution(levels=wrong)
        code, out, err = cli("verify", path, tiny)
        assert (code, err) == (1, "")
        assert "its levels are not those of the policy: level " in out
        stored = cpsched.Solution.parse(json.loads(path.read_text()))
        assert [one.rule for one in cpsched.verify(cpsched.load(tiny), stored)] == ["levels"]


def test_who_states_no_levels_claims_nothing_of_them(cli: Command, tiny: Path, solution: Tampered) -> None:
    assert cli("verify", solution(levels=[], status="heuristic"), tiny).code == 0
    assert cli("verify", solution(levels=[], status="optimal"), tiny).code == 1


def test_another_input_is_a_warning(cli: Command, tiny: Path, solution: Tampered) -> None:
    path = solution(instance_sha256="0" * 64)
    code, _, err = cli("verify", path, tiny)
    assert code == 0
    assert err == f"cpsched: warning: {path}: was made from another input (instance_sha256 differs)\n"
    assert json.loads(cli("verify", path, tiny, "--json").out)["same_instance"] is False


def test_the_model_is_the_solutions_own(cli: Command, tiny: Path, solution: Tampered) -> None:
    assert json.loads(cli("verify", solution(), tiny, "--json").out)["model"] == "volcano"
    path = solution(model="throughput", levels=[], status="heuristic")
    code, out, _ = cli("verify", path, tiny, "--json")
    assert (code, json.loads(out)["model"]) == (1, "throughput")
    assert not json.loads(out)["rules"]["eviction"]
    assert cli("verify", path, tiny, "--model", "volcano").code == 0
    assert cli("verify", solution(model="mine"), tiny).code == 2


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('{"kind": "Pod"}', "kind: kind is 'Pod'; give a Solution"),
        ("[]", "a Solution is a mapping; give what cpsched solve --json printed"),
        ('{"binds": {"a": 1}}', "binds.a: 1 should be a text"),
        ('{"bind": {}}', "bind: no such field"),
        ("{} {}", "holds 2 documents; one is needed"),
    ],
)
def test_what_is_no_solution_is_one_line(cli: Command, tiny: Path, tmp_path: Path, text: str, output: str) -> None:
    path = tmp_path / "solution.json"
    path.write_text(text)
    assert cli("verify", path, tiny) == (2, "", f"cpsched: error: {path}: {output}\n")


def test_no_solver_is_imported(process: Command, tiny: Path, solution: Tampered) -> None:
    code = (
        "import sys\nfrom cpsched.cli.main import run\n"
        "try:\n    run()\nfinally:\n    print([name for name in sys.modules if name.split('.')[0] == 'ortools'])"
    )
    ended = process("verify", solution(), tiny, code=code)
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "[]"
