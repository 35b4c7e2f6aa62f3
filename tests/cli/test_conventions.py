"""How the command line behaves: streams, colours, interruptions, usage, bugs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import cpsched
from tests.cli.conftest import ROOT, Command

HEAVY = ("ortools", "numpy", "networkx", "yaml", "rich", "pandas", "jinja2", "altair")


def test_version_is_the_packages(cli: Command) -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    code, out, err = cli("--version")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"cpsched {re.escape(stated)}, ortools [0-9.]+, highspy [0-9.]+, Python [0-9.]+\n", out)
    assert cpsched.__version__ == stated


@pytest.mark.parametrize("arguments", [["--help"], ["solve", "--help"], ["report", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(process: Command, arguments: list[str]) -> None:
    code = (
        "import sys\nfrom cpsched.cli.main import run\n"
        f"try:\n    run()\nfinally:\n    print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    ended = process(*arguments, code=code)
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "[]"


def test_importing_the_package_imports_nothing_heavy(process: Command) -> None:
    code = f"import sys, cpsched\nprint([name for name in (*{HEAVY!r}, 'pydantic', 'typer') if name in sys.modules])"
    assert process(code=code).out == "[]\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve"],
        ["salve", "x"],
        ["solve", "x", "--nope"],
        ["solve", "x", "--seed", "many"],
        ["generate", "x", "y"],
        ["solve", "x", "--sharding", "some"],
        ["verify", "x"],
        ["schema", "everything"],
        ["report"],
        ["report", "x", "--format", "pdf"],
    ],
)
def test_wrong_usage_is_one_line(cli: Command, arguments: list[str]) -> None:
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"cpsched: error: .+; see cpsched( \w+)? --help\n", err)


def test_without_a_command_there_is_help_and_no_success(cli: Command) -> None:
    code, out, err = cli()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: cpsched")


def test_no_colour_in_a_pipe_and_none_if_not_wanted(process: Command, tiny: Path) -> None:
    plain = process("solve", tiny, "--engine", "volcano")
    assert "\x1b" not in plain.out
    coloured = process("solve", tiny, "--engine", "volcano", FORCE_COLOR="1")
    assert "\x1b[" in coloured.out
    quiet = process("solve", tiny, "--engine", "volcano", FORCE_COLOR="1", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", quiet.out)


def test_names_cannot_paint_the_terminal(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "escape.json"
    job = {"name": "\x1b[31mred\x1b[0m", "tasks": [{"requests": {"cpu": "1"}}]}
    path.write_text(json.dumps({"apiVersion": "cpsched/v1", "kind": "Instance", "jobs": [job]}))
    out = cli("solve", path, "--engine", "volcano").out
    assert "\x1b" not in out
    assert r"\x1b[31mred" in out


def test_stdin_is_an_input(process: Command, tiny: Path) -> None:
    ended = process("import", "-", text=tiny.read_bytes())
    assert (ended.code, ended.err) == (0, "")
    assert cpsched.load(json.loads(ended.out)).sha256 == cpsched.load(tiny).sha256


def test_a_bug_keeps_its_traceback(cli: Command, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("cpsched.importers.load.load", broken)
    with pytest.raises(ZeroDivisionError):
        cli("import", tiny)


def test_a_reader_that_left_is_no_error(tiny: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "cpsched", "import", str(tiny)]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, "")


def test_ctrl_c_is_one_line_and_leaves_no_file(tmp_path: Path) -> None:
    fifo, file = tmp_path / "slow.json", tmp_path / "out.json"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "cpsched", "import", str(fifo), "-o", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    with fifo.open("w"):  # opens once the other side is about to read, and it waits
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "cpsched: interrupted\n")
    assert os.listdir(tmp_path) == ["slow.json"]


@pytest.mark.parametrize("where", ["missing/out.json", "folder"])
def test_a_file_that_cannot_be_written_is_one_line(cli: Command, tiny: Path, tmp_path: Path, where: str) -> None:
    (tmp_path / "folder").mkdir()
    code, out, err = cli("import", tiny, "-o", tmp_path / where)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"cpsched: error: .+: cannot be written: .+\n", err)
    assert os.listdir(tmp_path) == ["folder"]
