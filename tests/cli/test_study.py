"""`cpsched study` as a user meets it: killed, interrupted, resumed, watched."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cpsched.lab.runners.processes import family
from tests.cli.conftest import ROOT, Command

TINY = ROOT / "instances" / "tiny"
CASES = ("gang-all-or-nothing", "victim-count", "queue-deficit", "latest-start", "preempt-one-is-enough")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in CASES:
        shutil.copy(TINY / f"{name}.json", folder)
    return folder


def start(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "cpsched", "study", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, **options)  # type: ignore[call-overload, no-any-return]


def until(condition: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    while not condition():
        assert process.poll() is None, "the study ended before its time"
        time.sleep(0.01)


def keys(run: Path) -> list[str]:
    results = run / "results.jsonl"
    return [json.loads(line)["key"] for line in results.read_text().splitlines()] if results.exists() else []


def state(pid: int) -> str:
    """A letter, as ps shows it; a process that has ended is a Z, whether or not it is still listed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def none_left(pids: list[int]) -> bool:
    """Once they have all ended, which may take a moment; the limit of the test ends the waiting."""
    while any(state(pid) != "Z" for pid in pids):
        time.sleep(0.02)
    return True


def test_nothing_is_lost_by_kill_9(process: Command, corpus: Path, tmp_path: Path) -> None:
    run, stated = tmp_path / "run", ("--instances", corpus, "--seeds", "1..4", "--workers", 2)
    study = start(run, *stated)
    until(lambda: len(keys(run)) >= 8, study)
    members = family(study.pid)
    study.kill()
    study.wait()
    assert len(members) >= 3
    assert none_left(members)
    done = (run / "results.jsonl").read_bytes()
    finished = keys(run)
    assert 8 <= len(finished) < 40
    # What a kill in the middle of a write would leave.
    (run / "results.jsonl").write_bytes(done + done.splitlines()[0][:50])
    (run / "solutions" / ".half.json.gz.x1").write_bytes(b"half")

    ended = process("study", run)
    assert (ended.code, ended.err) == (
        0,
        f"cpsched: warning: {run}/results.jsonl: its last line was torn; what it was about runs again\n",
    )
    assert f"40 of 40 cells done, {len(finished)} of them before, 0 failed" in ended.out
    assert (run / "results.jsonl").read_bytes().startswith(done)
    assert len(keys(run)) == len(set(keys(run))) == 40
    assert {path.name.removesuffix(".json.gz") for path in (run / "solutions").iterdir()} == set(keys(run))
    assert len((run / "cells.csv").read_text().splitlines()) == 41


def test_ctrl_c_keeps_what_is_done_and_stops_the_rest(corpus: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    study = start(
        run, "--instances", corpus, "--seeds", "1..200", "--workers", 2, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until(lambda: len(keys(run)) >= 4, study)
    members = family(study.pid)[1:]
    study.send_signal(signal.SIGINT)
    out, err = study.communicate()
    assert (study.returncode, err) == (130, b"cpsched: interrupted\n")
    assert none_left(members)
    count = len(keys(run))
    assert f"{count} of 2000 cells done, 0 of them before, 0 failed" in out.decode()
    assert "Interrupted; run the same command again to go on." in out.decode()
    assert len((run / "cells.csv").read_text().splitlines()) == count + 1


def test_a_study_file_that_asks_for_other_models_says_so(process: Command, corpus: Path, tmp_path: Path) -> None:
    run, file = tmp_path / "run", tmp_path / "study.json"
    content = {
        "apiVersion": "cpsched/v1",
        "kind": "Study",
        "instances": "corpus/victim-count.json",
        "engines": "mirror",
    }
    file.write_text(json.dumps(content))
    assert process("study", run, "--file", file, "--models", "volcano").err == ""
    again = process("study", run, "--file", file)
    stated = f"cpsched: warning: {run}: this study was begun with --models volcano; {file} asks for auto\n"
    # Its instance asks for volcano, so the cell is there.
    assert (again.code, again.err) == (0, stated)
    assert "1 of 1 cells done, 1 of them before" in again.out
    assert process("study", run, "--file", file).err == process("study", run).err == ""
    # A file begins again where the folder's own cannot be read.
    (run / "study.json").write_text("{")
    assert (process("study", run, "--file", file).code, process("study", run).code) == (0, 0)


def test_a_crash_costs_one_cell_and_is_recorded(process: Command, corpus: Path, tmp_path: Path) -> None:
    """The engine is a program that kills the cell it runs in, until it is fixed."""
    run, fixed, decision = tmp_path / "run", tmp_path / "fixed", tmp_path / "decision.json"
    decision.write_text(json.dumps({"apiVersion": "cpsched/v1", "kind": "Solution"}))
    crashes = f"exec:sh -c 'test -e {fixed} || kill -SEGV $PPID; cat {decision}'"
    stated = ("--instances", corpus / "[lv]*.json", "--engines", f"volcano,{crashes}", "--workers", 1)
    ended = process("study", run, *stated)
    assert ended.code == 1
    assert "4 of 4 cells done, 0 of them before, 2 failed" in ended.out
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    assert [(line["engine"] == "volcano", line["status"], line["error"], line["solution"]) for line in lines] == [
        (True, "ok", None, "heuristic"),
        (False, "crash", "killed by SIGSEGV", None),
    ] * 2

    shown = process("study", run, "--allow-exec")
    assert shown.code == 1
    assert re.search(r"\nlatest-start\.json +volcano +exec:.+ 1 +crash +killed by SIGSEGV\n", shown.out)
    fixed.touch()
    again = process("study", run, "--retry-failed", "--workers", 1, "--allow-exec")
    assert again.code == 0
    assert "4 of 4 cells done, 2 of them before, 0 failed" in again.out
    assert keys(run)[4:] == [line["key"] for line in lines if line["status"] == "crash"]


def test_limits_end_a_cell(process: Command, corpus: Path, tmp_path: Path) -> None:
    stated = ("--instances", corpus / "victim-count.json", "--time-limit", "0.001", "--grace", "0.001")
    ended = process("study", tmp_path / "run", *stated, "--engines", "volcano", "--workers", 1, "--json")
    assert ended.code == 1
    assert json.loads(ended.out)["failed"] == 1
    [line] = (tmp_path / "run" / "results.jsonl").read_text().splitlines()
    assert (json.loads(line)["status"], json.loads(line)["error"]) == ("timeout", "no answer within 0.002 s")


def test_a_study_file_is_a_study(process: Command, corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(
        "apiVersion: cpsched/v1\nkind: Study\ninstances: corpus/*.json\nexclude: corpus/[g-p]*.json\n"
        "models: [volcano, throughput]\nengines: [volcano]\nseeds: [1]\n"
    )
    ended = process("study", tmp_path / "run", "--file", file, "--seeds", "1..2", "--workers", 1, "--json")
    assert (ended.code, ended.err) == (0, "")
    shown = json.loads(ended.out)
    assert (shown["cells"], shown["ran"]) == (8, 8)
    assert [(row["model"], row["engine"], row["cells"]) for row in shown["summary"]] == [
        ("volcano", "volcano", 4),
        ("throughput", "volcano", 4),
    ]
    for path in shown["files"]:
        Path(path).unlink()
    again = process("study", tmp_path / "run", "--export")
    assert again.code == 0
    assert [Path(path).exists() for path in shown["files"]] == [True] * 4


def test_a_terminal_sees_progress_and_a_pipe_does_not(corpus: Path, tmp_path: Path) -> None:
    stated = (tmp_path / "run", "--instances", corpus, "--engines", "volcano", "--workers", 1)
    ours, theirs = pty.openpty()
    study = start(*stated, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        shown += piece
    os.close(ours)
    assert study.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert "5/5" in text
    assert "0 failed" in text
    assert "left" in text
    piped = start(*stated, "--seeds", "1..2", stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert piped.communicate()[1] == b""


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["--export"], "no study here; begin one: add --instances"),
        ([], "instances: no instances; add --instances"),
        (["--instances", "instances/tiny/nope*.json"], "no file matches"),
        (["--instances", "instances/tiny", "--engines", "vulcano"], "unknown engine vulcano"),
        (["--instances", "instances/tiny", "--seeds", "x"], "seeds: 'x' is not a seed"),
        (["--file", "models/volcano.yaml"], "not a study; write kind: Study"),
    ],
)
def test_bad_usage_is_one_line_and_leaves_no_folder(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], output: str
) -> None:
    monkeypatch.chdir(ROOT)
    code, out, err = cli("study", tmp_path / "run", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("cpsched: error: ")
    assert output in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_made_is_one_line(cli: Command, tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = cli("study", tmp_path / "file" / "run", "--instances", tiny)
    assert code == 2
    assert re.fullmatch(r"cpsched: error: \S+/file/run: cannot be written: Not a directory\n", err)


def test_a_file_or_a_run_folder_starts_no_program(cli: Command, corpus: Path, tmp_path: Path) -> None:
    """Only --engines names programs to run; a study from elsewhere must be allowed to."""
    run, touched = tmp_path / "run", tmp_path / "touched"
    decision = tmp_path / "decision.json"
    decision.write_text(json.dumps({"apiVersion": "cpsched/v1", "kind": "Solution"}))
    program = f"exec:sh -c 'touch {touched}; cat {decision}'"
    file = tmp_path / "study.json"
    file.write_text(json.dumps({"kind": "Study", "instances": str(corpus / "l*.json"), "engines": [program]}))
    refused = (2, "")
    code, out, err = cli("study", run, "--file", file, "--workers", 1)
    assert ((code, out), touched.exists(), run.exists()) == (refused, False, False)
    assert err.startswith(f"cpsched: error: {file}: engines: a file starts no program: exec:sh -c ")
    assert err.endswith(" is not run; name it by --engines, or add --allow-exec\n")
    assert cli("study", run, "--file", file, "--workers", 1, "--allow-exec").code == 0
    assert touched.exists()
    touched.unlink()
    (run / "results.jsonl").unlink()
    code, out, err = cli("study", run, "--workers", 1)
    assert ((code, out), touched.exists()) == (refused, False)
    assert cli("study", run, "--workers", 1, "--export").code == 0
    assert not touched.exists()
    assert cli("study", run, "--workers", 1, "--engines", program).code == 0
    assert touched.exists()
