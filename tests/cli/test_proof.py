"""`cpsched proof export`, `check` and `verify --with`: the programs here are stand-ins with fixed answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cpsched.cli import outside
from tests.cli.conftest import ROOT, Command

INPUT = ROOT / "instances" / "issues" / "volcano-5994.json"
YES = {"veripb": "s VERIFIED BOUNDS 1 <= obj <= INF", "viprchk": "Successfully verified optimal value range [1, inf)."}
Install = Callable[..., None]


@pytest.fixture
def written(cli: Command, tmp_path: Path) -> Path:
    file = tmp_path / "certificate.json"
    assert cli("solve", INPUT, "--certificate", file, "--proofs", "all").code == 0
    return file


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Programs of these names on the PATH, and no others of them."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def put(*names: str, body: str | None = None) -> None:
        for name in names:
            output = body if body is not None else f"echo '{YES[name]}'"
            (folder / name).write_text(f"#!/bin/sh\n{output}\n")
            (folder / name).chmod(0o755)

    return put


def exported(cli: Command, written: Path, *options: object) -> Path:
    folder = written.parent / "proofs"
    assert cli("proof", "export", written, INPUT, "-o", folder, *options).code == 0
    return folder


def test_every_level_has_its_files_and_the_readme_names_the_commands(cli: Command, written: Path) -> None:
    folder = exported(cli, written)
    names = {path.name for path in folder.iterdir()}
    assert {f"03-victim_max_priority.{suffix}" for suffix in ("opb", "pbp", "vipr")} <= names
    readme = (folder / "README.md").read_text()
    assert "    veripb 03-victim_max_priority.opb 03-victim_max_priority.pbp" in readme
    assert "    viprchk 03-victim_max_priority.vipr" in readme
    proof = (folder / "03-victim_max_priority.pbp").read_text().splitlines()
    assert proof[0] == "pseudo-Boolean proof version 3.0"
    assert proof[2].startswith("@d1_0 pol ")
    assert proof[-2] == "conclusion BOUNDS 1 : @d1_0 INF;"
    assert "RTP range 1 inf" in (folder / "03-victim_max_priority.vipr").read_text()
    assert '* "capacity[n1,cpu]"' in (folder / "03-victim_max_priority.opb").read_text()


def test_one_format_and_one_level(cli: Command, written: Path) -> None:
    folder = exported(cli, written, "--format", "vipr", "--level", "victim_count")
    assert {path.name for path in folder.iterdir()} == {"05-victim_count.vipr", "README.md"}


def test_an_unknown_level_and_a_certificate_that_does_not_hold_are_one_line(cli: Command, written: Path) -> None:
    code, out, err = cli("proof", "export", written, INPUT, "-o", written.parent / "p", "--level", "victims")
    assert (code, out) == (2, "")
    assert "victims is no level of it" in err
    content = json.loads(written.read_text())
    content["levels"][2]["evidence"]["steps"][1][2][0][1] = 9
    written.write_text(json.dumps(content))
    code, out, err = cli("proof", "export", written, INPUT, "-o", written.parent / "p")
    assert (code, out) == (2, "")
    assert "does not hold" in err
    assert not (written.parent / "p").exists()


def test_programs_are_asked_and_a_refusal_is_exit_code_1(cli: Command, written: Path, install: Install) -> None:
    install("veripb", "viprchk")
    folder = exported(cli, written)
    code, out, _ = cli("proof", "check", folder)
    assert code == 0
    assert "All 20 accepted." in out
    install("viprchk", body="echo 'Failed to derive constraint C7'; exit 1")
    code, out, _ = cli("proof", "check", folder)
    assert code == 1
    assert "refuses it (exit code 1): Failed to derive constraint C7" in out
    assert "10 of 20 refused." in out
    assert cli("proof", "check", folder, "--with", "veripb").code == 0


@pytest.mark.parametrize(
    "body",
    [
        f"echo '{YES['veripb']}' >&2",
        f"echo '{YES['veripb']}'; exit 1",
        "echo 's VERIFIED NO CONCLUSION'",
        "echo 'it is stated: s VERIFIED BOUNDS 1 <= obj <= INF'",
        "true",
        "exit 3",
        "kill -9 $$",
    ],
)
def test_only_a_yes_on_stdout_is_one(cli: Command, written: Path, install: Install, body: str) -> None:
    folder = exported(cli, written, "--level", "victim_count")
    install("veripb", body=body)
    code, out, _ = cli("proof", "check", folder, "--with", "veripb")
    assert code == 1
    assert "accepted" not in out
    code, out, _ = cli("verify", written, INPUT, "--with", "veripb")
    assert code == 1
    assert "by veripb too" not in out


def test_a_program_that_hangs_is_ended(
    cli: Command, written: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = exported(cli, written, "--level", "victim_count")
    install("veripb", body="sleep 1000")
    monkeypatch.setattr(outside, "SECONDS", 0.2)
    code, out, _ = cli("proof", "check", folder, "--with", "veripb")
    assert code == 1
    assert "did not end within 0.2 s" in out


def test_verify_says_who_checked(cli: Command, written: Path, install: Install) -> None:
    install("veripb")
    code, out, _ = cli("verify", written, INPUT, "--with", "veripb")
    assert code == 0
    assert out.count("checked, by veripb too") == 10
    verdict = json.loads(cli("verify", written, INPUT, "--with", "veripb", "--json").out)
    assert verdict["levels"][4]["checked_by"] == {"veripb": True}


def test_programs_that_are_missing_or_unknown_are_one_line(cli: Command, written: Path, install: Install) -> None:
    folder = exported(cli, written)
    for arguments, output in (
        (("proof", "check", folder), "no program that checks proofs is installed"),
        (("proof", "check", folder, "--with", "veripb"), "--with veripb: it is not installed"),
        (("verify", written, INPUT, "--with", "sh"), "--with sh: no program that is known"),
    ):
        code, out, err = cli(*arguments)
        assert (code, out) == (2, "")
        assert output in err
        assert len(err.splitlines()) == 1 + err.startswith("cpsched: Model")
    install("veripb")
    code, _, err = cli("proof", "check", written.parent, "--with", "veripb")
    assert code == 2
    assert "holds no proof" in err
    assert cli("proof", "check", folder / "missing", "--with", "veripb").code == 2
    assert cli("proof", "check", folder, "--with", "veripb").code == 0


LOGS = {
    "right": "pol 1 2 d;\n",
    "searched": "rup >= 1;\n",
    "wrong": "conclusion BOUNDS 1 : 1 INF;\n",
}


@pytest.fixture
def hard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of our own finds a proof, so that the program is asked."""
    for name in ("at_once", "prove_at", "prove_by_prices", "prove_deeply"):
        monkeypatch.setattr(f"cpsched.optimum.proofs.write.{name}", lambda *_: None)


@pytest.mark.usefixtures("hard")
def test_a_solver_is_asked_for_what_is_left_and_its_log_is_translated(cli: Command, tmp_path: Path) -> None:
    """The stand-in answers with proofs that were exported before; what it does not know it leaves unproved."""
    solver, file = tmp_path / "solver.py", tmp_path / "certificate.json"
    solver.write_text(SOLVER)
    code = cli("solve", INPUT, "--certificate", file, "--proofs", "all", "--prover", f"exec:{sys.executable} {solver}")
    assert code.code == 0
    kinds = {one["name"]: one["evidence"]["kind"] for one in json.loads(file.read_text())["levels"]}
    assert kinds["victim_count"] == "steps"
    code, out, _ = cli("verify", file, INPUT)
    assert code == 0
    assert "checked" in out


SOLVER = """
import re, sys
text = open(sys.argv[1]).read()
rows = [line for line in text.splitlines() if line.endswith(";") and not line.startswith("min:")]
number = {row: n for n, row in enumerate(re.findall(r'^\\* "(.*)"$', text, re.M), start=1)}
wanted = ["assignment[default/reclaimer-w-0] or more", "assignment[default/reclaimer]", "capacity[n1,cpu]"]
wanted += ["given[jobs_admitted[10]] or more"]
lines = ["pseudo-Boolean proof version 3.0", f"f {len(rows)};"]
if all(name in number for name in wanted):
    lines.append("@a pol " + " ".join(f"{number[name]}" + " +" * (n > 0) for n, name in enumerate(wanted)) + ";")
    lines += ["output NONE;", "conclusion BOUNDS 1 : @a INF;", "end pseudo-Boolean proof;"]
open(sys.argv[2], "w").write("\\n".join(lines))
"""


@pytest.mark.usefixtures("hard")
@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS.keys())
def test_a_log_of_other_kinds_is_kept_and_proves_nothing(cli: Command, tmp_path: Path, log: str) -> None:
    solver, file = tmp_path / "solver.sh", tmp_path / "certificate.json"
    solver.write_text(f"#!/bin/sh\nprintf '%s' '{log}' > \"$2\"\nexit 30\n")
    solver.chmod(0o755)
    code, _, err = cli("solve", INPUT, "--certificate", file, "--proofs", "all", "--prover", f"exec:{solver}")
    assert code == 0
    kinds = {one["name"]: one["evidence"]["kind"] for one in json.loads(file.read_text())["levels"]}
    assert kinds["victim_count"] != "steps"
    assert "of other kinds of steps; kept for veripb" in err
    assert {path.suffix for path in tmp_path.iterdir()} >= {".opb", ".pbp"}
    assert cli("verify", file, INPUT).code in (0, 3)


@pytest.mark.parametrize("command", ["/nowhere/solver", "true", "kill -9 $$", "sh -c 'mkfifo \"$1\"' x"])
@pytest.mark.usefixtures("hard")
def test_a_solver_that_writes_nothing_leaves_the_level_as_it_is(cli: Command, tmp_path: Path, command: str) -> None:
    file = tmp_path / "certificate.json"
    code, _, err = cli("solve", INPUT, "--certificate", file, "--proofs", "all", "--prover", f"exec:{command}")
    assert code == 0
    assert "Traceback" not in err
    assert "steps" not in file.read_text()


@pytest.mark.parametrize(("prover", "text"), [("exec:", "names no program"), ("exec:'a", "quot"), ("glpk", "glpk")])
def test_a_prover_that_is_none_is_one_line(cli: Command, prover: str, text: str) -> None:
    code, out, err = cli("solve", INPUT, "--prover", prover)
    assert (code, out) == (2, "")
    assert text in err
    assert len([line for line in err.splitlines() if line.startswith("cpsched: error")]) == 1
