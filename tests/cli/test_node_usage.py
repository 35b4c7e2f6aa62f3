"""--node-usage: the measured load of nodes, from a file, for every command that reads a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cpsched
from tests.cli.conftest import Command

LOADED = Path(__file__).parents[2] / "instances" / "tiny" / "loaded-node.json"
CALM = {"n1": {"cpu": 20, "memory": 20, "age": 60}}


@pytest.fixture
def calm(tmp_path: Path) -> str:
    """A file in which no node has much to do."""
    file = tmp_path / "calm.yaml"
    file.write_text("n1: {cpu: 20, memory: 20, age: 60}\n", encoding="utf-8")
    return str(file)


def test_solve_goes_by_the_file(cli: Command, calm: str) -> None:
    def started(*more: str) -> int:
        return len(json.loads(cli("solve", str(LOADED), "--json", *more).out)["binds"])

    assert started() == 1
    assert started("--node-usage", calm) == 2


def test_other_commands_do_too(cli: Command, calm: str, tmp_path: Path) -> None:
    assert "starts on" in cli("explain", str(LOADED), "new/task-1", "--node-usage", calm).out
    assert cli("compare", str(LOADED), "--node-usage", calm).code == 0
    assert cli("report", str(LOADED), "--node-usage", calm, "-o", str(tmp_path / "r.html")).code == 0
    written = json.loads(cli("import", str(LOADED), "--node-usage", calm).out)
    assert written["nodeUsage"] == CALM
    certificate = str(tmp_path / "c.json")
    assert cli("solve", str(LOADED), "--node-usage", calm, "--certificate", certificate).code == 0
    assert cli("verify", certificate, str(LOADED), "--node-usage", calm).code == 0
    assert cli("verify", certificate, str(LOADED)).code == 1


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("[]", "holds no loads of nodes"),
        ('{"nodeUsage": 5}', "nodeUsage: holds no loads of nodes"),
        ('{"n1": {"cpu": "x"}}', 'n1.cpu: "x" should be a number'),
        ('{"n1": {"cpu": -1}}', "n1.cpu"),
        ('{"n1": {"gpu": 1}}', "n1.gpu"),
    ],
)
def test_bad_files_are_one_line(cli: Command, tmp_path: Path, text: str, output: str) -> None:
    file = tmp_path / "load.json"
    file.write_text(text, encoding="utf-8")
    found = cli("solve", str(LOADED), "--node-usage", str(file))
    assert found.code == 2
    assert found.err.startswith(f"cpsched: error: {file}: ")
    assert output in found.err
    assert found.err.count("\n") == 1


def test_two_inputs_from_stdin_are_refused(cli: Command) -> None:
    found = cli("solve", "-", "--node-usage", "-")
    assert found.code == 2
    assert "--node-usage: two inputs are stdin" in found.err


def test_load_takes_a_file(calm: str) -> None:
    for given in (calm, Path(calm), CALM):
        instance = cpsched.load(LOADED, node_usage=given)
        assert instance.node_usage is not None
        assert instance.node_usage["n1"].cpu == 20
