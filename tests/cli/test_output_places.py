"""Files that results are written to: links, pipes, devices, full and missing places, found out before the search."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from cpsched.solution import Solution
from tests.cli.conftest import ROOT, Command

WRITES: dict[str, tuple[str, ...]] = {
    "solve -o": ("solve", "{input}", "-o", "{file}"),
    "solve --certificate": ("solve", "{input}", "--certificate", "{file}"),
    "import -o": ("import", "{input}", "-o", "{file}"),
    "compare -o": ("compare", "{input}", "--cache", "none", "-o", "{file}"),
    "check --junit": ("check", "{input}", "--cache", "none", "--junit", "{file}"),
    "check --markdown": ("check", "{input}", "--cache", "none", "--markdown", "{file}"),
    "corpus export -o": ("corpus", "export", "{input}", "--no-optimum", "-o", "{file}"),
    "explain -o": ("explain", "{input}", "--job", "default/urgent", "-o", "{file}"),
    "report -o": ("report", "{input}", "--format", "text", "-o", "{file}"),
    "generate -o": ("generate", "contended", "--set", "nodes=2", "-o", "{file}"),
}


def run(cli: Command, name: str, tiny: Path, file: Path) -> int:
    return cli(*(part.format(input=tiny, file=file) for part in WRITES[name])).code


@pytest.mark.parametrize("name", WRITES)
def test_a_link_is_followed(cli: Command, tiny: Path, tmp_path: Path, name: str) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to("real.json")
    assert run(cli, name, tiny, link) in (0, 1)
    assert link.is_symlink()
    assert len(real.read_text()) > 20
    assert sorted(os.listdir(tmp_path)) == ["link.json", "real.json"]


@pytest.mark.parametrize("name", WRITES)
def test_a_pipe_is_written_into(cli: Command, tiny: Path, tmp_path: Path, name: str) -> None:
    pipe, read = tmp_path / "pipe.json", list[str]()
    os.mkfifo(pipe)
    reader = Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert run(cli, name, tiny, pipe) in (0, 1)
    reader.join()
    assert len(read[0]) > 20
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_stays_a_device(cli: Command, tiny: Path, tmp_path: Path) -> None:
    """Written through a link, so that a mistake here would replace the link and not the machine's own device."""
    link = tmp_path / "null.json"
    link.symlink_to(os.devnull)
    assert cli("solve", tiny, "-o", link).code == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert link.is_symlink()


def test_stdout_is_appended_to(tiny: Path, tmp_path: Path) -> None:
    """A file that stdout goes to is not written again from its beginning."""
    out = tmp_path / "out"
    with out.open("wb") as stream:
        stream.write(b"before\n")
        stream.flush()
        command = [sys.executable, "-m", "cpsched", "solve", str(tiny), "--json", "-o", "/dev/stdout"]
        subprocess.run(command, stdout=stream, check=True, cwd=ROOT)
    text = out.read_text()
    assert text.startswith("before\n")
    assert text.count('"kind": "Solution"') == 2


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: object, **__: object) -> None:
        raise AssertionError("the search was begun")

    monkeypatch.setattr("cpsched.engines.run", search)
    monkeypatch.setattr("cpsched.optimum.solve.search", search)


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("name", [name for name in WRITES if name.split()[0] not in ("import", "generate")])
def test_a_place_that_cannot_be_written_is_found_out_first(cli: Command, tiny: Path, tmp_path: Path, name: str) -> None:
    assert run(cli, name, tiny, tmp_path / "missing" / "file.json") == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", [name for name in WRITES if name.split()[0] != "import"])
def test_a_name_that_is_too_long_is_one_line(cli: Command, tiny: Path, tmp_path: Path, name: str) -> None:
    assert run(cli, name, tiny, tmp_path / f"{'x' * 300}.json") == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("option", ["-o", "--certificate"])
def test_what_was_found_is_printed_before_a_file_fails(cli: Command, tiny: Path, option: str) -> None:
    code, out, err = cli("solve", tiny, option, "/dev/full")
    assert (code, err) == (2, "cpsched: error: /dev/full: cannot be written: No space left on device\n")
    assert "finetune/task-0" in out
    assert "optimal, every level proved" in out


def test_a_log_that_fails_costs_no_answer(cli: Command, tiny: Path) -> None:
    code, out, err = cli("solve", tiny, "--json", "--log", "/dev/full")
    assert (code, err) == (0, "cpsched: warning: /dev/full: the log ends here: No space left on device\n")
    assert Solution.parse(json.loads(out)).status == "optimal"


@pytest.mark.parametrize("prover", ["cp-sat", "both"])
def test_a_log_that_may_not_grow_costs_no_answer_either(tiny: Path, tmp_path: Path, prover: str) -> None:
    """Fails in the solver's own thread."""
    log = tmp_path / "log"
    command = [sys.executable, "-m", "cpsched", "solve", str(tiny), "--prover", prover, "--log", str(log)]
    limited = ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *command]
    ended = subprocess.run(limited, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ended.returncode, ended.stderr) == (0, f"cpsched: warning: {log}: the log ends here: File too large\n")
    assert "every level proved" in ended.stdout
    assert log.stat().st_size <= 1024
