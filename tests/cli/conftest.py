"""The command line, run in this process (fast) or in its own (what needs a real one)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from cpsched.cli.main import run

ROOT = Path(__file__).parents[2]


class Ended(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*arguments: object) -> Ended:
        monkeypatch.delenv("COLUMNS", raising=False)
        monkeypatch.setattr(sys, "argv", ["cpsched", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def process() -> Command:
    def call(
        *arguments: object, text: bytes = b"", code: str | None = None, cwd: Path = ROOT, **environment: str
    ) -> Ended:
        start = ["-m", "cpsched"] if code is None else ["-c", code]
        ended = subprocess.run(
            [sys.executable, *start, *map(str, arguments)],
            input=text,
            capture_output=True,
            check=False,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    return call


@pytest.fixture
def tiny() -> Path:
    return ROOT / "instances" / "tiny" / "preempt-one-is-enough.json"
