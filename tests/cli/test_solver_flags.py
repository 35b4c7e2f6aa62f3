"""What the solver can be stated: deterministic, who proves, its log, the model as a file, and Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import text_format
from ortools.sat import cp_model_pb2
from ortools.sat.python import cp_model

import cpsched
from cpsched.errors import InputError
from cpsched.options import Options
from tests.benchmark.sessions import contended
from tests.cli.conftest import ROOT, Command


def crowded(folder: Path, size: int) -> Path:
    """A session that no solver closes soon."""
    path = folder / "crowded.json"
    path.write_text(json.dumps(contended(nodes=size, gangs=size, shapes=8, queues=2, seed=1)))
    return path


def test_deterministic_gives_the_same_bytes_even_when_cut_short(cli: Command, tmp_path: Path) -> None:
    options = ("solve", crowded(tmp_path, 16), "--json", "--deterministic", "--time-limit", "0.05")
    one, other = cli(*options), cli(*options, "--workers", "7")
    assert one.code == 0
    assert one == other


@pytest.mark.parametrize("prover", ["cp-sat", "highs"])
def test_one_prover_alone_proves_the_same(cli: Command, tiny: Path, prover: str) -> None:
    both = json.loads(cli("solve", tiny, "--json").out)
    alone = json.loads(cli("solve", tiny, "--json", "--prover", prover).out)
    assert alone["status"] == "optimal"
    assert [level["value"] for level in alone["levels"]] == [level["value"] for level in both["levels"]]
    provers = [level["prover"] for level in alone["levels"]]
    names = [level["name"] for level in alone["levels"]]
    # Deficits count millionths, too fine for a solver that forgives as much: from there on CP-SAT stands in for HiGHS.
    assert set(provers[: names.index("queue_deficit_max")]) == {"bound", prover}


def test_log_goes_to_stderr_or_into_a_file(cli: Command, tiny: Path, tmp_path: Path) -> None:
    code, out, err = cli("solve", tiny, "--json", "--log", "-")
    assert (code, json.loads(out)["kind"]) == (0, "Solution")
    assert "level victim_count\n" in err
    assert "CP-SAT solver" in err
    file = tmp_path / "solver.log"
    code, _, err = cli("solve", tiny, "--log", file, "--prover", "highs")
    assert (code, err) == (0, "")
    assert "highs: optimal, bound" in file.read_text()
    code, _, err = cli("solve", tiny, "--log", tmp_path / "missing" / "solver.log")
    assert (code, err.count("\n")) == (2, 1)
    assert "cannot be written" in err


@pytest.mark.parametrize("name", ["model.pb.txt", "model.textproto", "model.pb"])
def test_export_is_the_first_levels_program(cli: Command, tiny: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    code, out, _ = cli("solve", tiny, "--json", "--export", file)
    proto = cp_model_pb2.CpModelProto()
    if name == "model.pb":
        proto.ParseFromString(file.read_bytes())
    else:
        text_format.Parse(file.read_text(), proto)
    model = cp_model.CpModel()
    model.proto.parse_text_format(text_format.MessageToString(proto))
    solver = cp_model.CpSolver()
    first = json.loads(out)["levels"][0]
    assert code == 0
    assert solver.solve(model) == cp_model.OPTIMAL
    assert first["name"] == "jobs_admitted"
    assert -round(solver.objective_value) == first["value"] == 1


@pytest.mark.parametrize(
    ("options", "output"),
    [
        (["--engine", "volcano", "--log", "-"], "log: engine volcano has no solver; engine optimal has"),
        (["--engine", "volcano", "--export", "x.pb"], "export: engine volcano has no solver; engine optimal has"),
        (["--deterministic", "--prover", "highs"], "prover: HiGHS has no deterministic limit; give cp-sat, or both"),
    ],
)
def test_what_cannot_be_is_one_line(cli: Command, tiny: Path, options: list[str], output: str) -> None:
    assert cli("solve", tiny, *options) == (2, "", f"cpsched: error: {output}\n")


def test_heuristics_are_deterministic_anyway(cli: Command, tiny: Path) -> None:
    plain = cli("solve", tiny, "--engine", "volcano", "--json")
    assert cli("solve", tiny, "--engine", "volcano", "--json", "--deterministic", "--prover", "cp-sat") == plain


def test_python_has_the_flags_names(tiny: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    solution = cpsched.solve(
        cpsched.load(tiny), deterministic=True, prover="cp-sat", log=lines.append, export=str(tmp_path / "model.pb")
    )
    assert solution.status == "optimal"
    assert any("CP-SAT solver" in line for line in lines)
    assert (tmp_path / "model.pb").stat().st_size > 0
    with pytest.raises(InputError, match="the prover is scip; give one of cp-sat, highs, both"):
        Options(prover="scip")  # type: ignore[arg-type]


@pytest.mark.parametrize("prover", ["cp-sat", "highs", "both"])
def test_ctrl_c_gives_the_best_so_far_and_says_so(tmp_path: Path, prover: str) -> None:
    path = str(crowded(tmp_path, 25))
    command = [sys.executable, "-m", "cpsched", "solve", path, "--json", "--time-limit", "600", "--log", "-"]
    process = subprocess.Popen(
        [*command, "--prover", prover], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("relaxation: level "):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    solution = json.loads(out)
    assert process.returncode == 0
    assert err.endswith("cpsched: warning: interrupted: this is the best decision so far\n")
    assert (solution["status"], solution["interrupted"], solution["findings"]) == ("feasible", True, [])
    assert not all(level["proved"] for level in solution["levels"])
    better = {"max": lambda value, bound: value <= bound, "min": lambda value, bound: value >= bound}
    for level in solution["levels"]:
        if isinstance(level["value"], int) and isinstance(level["bound"], int):
            assert better[level["sense"]](level["value"], level["bound"]), level
