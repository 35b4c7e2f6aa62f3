"""Ctrl-C: one line from the first import on, and nothing at all where the signal is ignored."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cpsched.interrupts import Interrupts
from tests.cli.conftest import ROOT, Command

INTERRUPTED = (130, "cpsched: interrupted\n")
AT_IMPORT = """
import importlib.abc, os, signal, sys
class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Watch())
sys.argv = ["cpsched", *{arguments!r}]
from cpsched.cli.main import run
run()
"""
"""The program, with a Ctrl-C at the moment in which a module is first looked for."""


def interrupted_at(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    code = AT_IMPORT.format(name=name, arguments=[str(one) for one in arguments])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize(
    "name", ["typer", "cpsched.cli.solve", "rich.console", "pydantic", "cpsched.importers.load", "ortools", "numpy"]
)
def test_an_import_is_interrupted_by_one_line(tiny: Path, name: str) -> None:
    ended = interrupted_at(name, "solve", tiny)
    assert (ended.returncode, ended.stderr) == INTERRUPTED
    assert ended.stdout == ""


def test_little_comes_before_it() -> None:
    """`typing` alone takes longer to import than all that is needed until Ctrl-C is in hand."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import cpsched.cli.main; print('typing' in sys.modules)"
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


@pytest.mark.parametrize("name", ["jinja2", "cpsched.report.html"])
def test_so_are_those_of_a_report(tiny: Path, tmp_path: Path, name: str) -> None:
    ended = interrupted_at(name, "report", tiny, "-o", tmp_path / "report.html")
    assert (ended.returncode, ended.stderr) == INTERRUPTED
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["altair", "vl_convert"])
def test_so_are_those_that_draw_a_study(cli: Command, tiny: Path, tmp_path: Path, name: str) -> None:
    run = tmp_path / "run"
    assert cli("study", run, "--instances", tiny, "--engines", "volcano,optimal", "--workers", "1").code == 0
    ended = interrupted_at(name, "report", run, "-o", tmp_path / "report.html")
    assert (ended.returncode, ended.stderr) == INTERRUPTED
    assert os.listdir(tmp_path) == ["run"]


def test_the_module_is_looked_for_at_all(tiny: Path) -> None:
    ended = interrupted_at("no.such.module", "solve", tiny)
    assert (ended.returncode, ended.stderr) == (0, "")


def ignoring(command: list[str]) -> list[str]:
    """The command, started with SIGINT ignored as a shell starts background jobs."""
    return ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]


def test_an_ignored_signal_does_not_end_a_search(tiny: Path) -> None:
    """The signal comes while CP-SAT works: its log has begun."""
    command = [sys.executable, "-m", "cpsched", "solve", str(tiny), "--json", "--log", "-", "--prover", "cp-sat"]
    process = subprocess.Popen(ignoring(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stderr is not None
    assert process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    solution = json.loads(out)
    assert (process.returncode, solution["status"]) == (0, "optimal")
    assert "interrupted" not in solution
    assert "interrupted" not in err


def test_an_ignored_signal_is_not_handled() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGINT)
        assert not interrupts.came
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_tests_hear_of_ctrl_c_where_it_is_ignored() -> None:
    """A test that interrupts a child would otherwise wait for ever."""
    one = "tests/cli/test_conventions.py::test_ctrl_c_is_one_line_and_leaves_no_file"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "300", one]
    ended = subprocess.run(ignoring(command), capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stdout
