"""Proofs in certificates and beside them: written by solve, replayed by verify, refused when they are not whole."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cpsched.certificate import Certificate
from tests.cli.conftest import ROOT, Command

Raw = dict[str, Any]
INPUT = ROOT / "instances" / "issues" / "volcano-5994.json"


@pytest.fixture
def written(cli: Command, tmp_path: Path) -> Path:
    file = tmp_path / "certificate.json"
    assert cli("solve", INPUT, "--certificate", file, "--proofs", "all").code == 0
    return file


def level(content: Raw, name: str) -> Raw:
    return next(one for one in content["levels"] if one["name"] == name)


def rewrite(file: Path, change: Callable[[Raw], None]) -> None:
    """Change the file as a forger would: the checksum is made to fit."""
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(Certificate.parse(content).sealed().to_dict()))


def moved_beside(file: Path, name: str, lines: bytes | None = None, *, named: str | None = None) -> Path:
    """The level's proof as a file beside the certificate, as a long one is."""
    packed: list[Path] = []

    def change(content: Raw) -> None:
        evidence = level(content, name)["evidence"]
        steps = evidence.pop("steps")
        text = lines if lines is not None else b"".join(json.dumps(step).encode() + b"\n" for step in steps)
        content_ = gzip.compress(text, mtime=0)
        evidence["file"] = named or hashlib.sha256(content_).hexdigest()
        packed.append(file.parent / f"{evidence['file']}.steps.gz")
        packed[0].write_bytes(content_)

    rewrite(file, change)
    return packed[0]


def test_every_level_is_checked(cli: Command, written: Path) -> None:
    code, out, _ = cli("verify", written, INPUT, "--strict")
    rows = [line.split() for line in out.splitlines()]
    assert code == 0
    assert sum(row[-2:] == ["steps", "checked"] for row in rows) == 11
    assert "Optimal: every bound was computed again" in out
    shown = level(json.loads(written.read_text()), "victim_count")["evidence"]
    assert shown["kind"] == "steps"
    assert shown["steps"][0] == ["solution"]
    assert shown["steps"][-1] == ["end"]


def test_none_leaves_the_certificate_as_it_was(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    assert cli("solve", INPUT, "--certificate", file, "--proofs", "none").code == 0
    assert "steps" not in file.read_text()


def test_a_proof_beside_the_certificate_is_found_by_its_hash(cli: Command, written: Path) -> None:
    moved_beside(written, "victim_count")
    code, out, _ = cli("verify", written, INPUT)
    assert code == 0
    assert "victim_count" in out


def other_multiplier(content: Raw) -> None:
    level(content, "victim_max_priority")["evidence"]["steps"][1][2][0][1] = 2


def other_sign(content: Raw) -> None:
    level(content, "victim_max_priority")["evidence"]["steps"][1][2][0][1] = -1


def other_row(content: Raw) -> None:
    level(content, "victim_max_priority")["evidence"]["steps"][1][2][0][0] = "capacity[n2,cpu]"


def later(content: Raw) -> None:
    level(content, "victim_max_priority")["evidence"]["steps"][1][2][0][0] = 7


def no_end(content: Raw) -> None:
    del level(content, "victim_max_priority")["evidence"]["steps"][-1]


def another_levels(content: Raw) -> None:
    level(content, "victim_max_priority")["evidence"]["steps"] = level(content, "tasks_placed")["evidence"]["steps"]


@pytest.mark.parametrize("change", [other_multiplier, other_sign, other_row, later, no_end, another_levels])
def test_a_proof_that_does_not_hold_is_a_finding(cli: Command, written: Path, change: Callable[[Raw], None]) -> None:
    rewrite(written, change)
    code, out, _ = cli("verify", written, INPUT)
    assert code == 1
    assert "its proof does not hold" in out
    assert "Optimal" not in out


def test_a_proof_of_another_input_is_a_finding(cli: Command, written: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(INPUT.read_text().replace('"cpu": "11"', '"cpu": "40"'))
    assert other.read_text() != INPUT.read_text()
    code, out, _ = cli("verify", written, other)
    assert code == 1
    assert "another input" in out
    assert "Optimal" not in out


def test_files_that_are_not_whole_are_one_line(cli: Command, written: Path) -> None:
    place = moved_beside(written, "victim_count")
    whole = place.read_bytes()
    place.write_bytes(whole[:-9])
    code, out, err = cli("verify", written, INPUT)
    assert (code, out) == (2, "")
    assert "its hash differs" in err
    place.unlink()
    code, out, err = cli("verify", written, INPUT)
    assert (code, out) == (2, "")
    assert "No such file" in err
    assert err.count("\n") == len(err.splitlines())


LONG = b'["sum",1,[["capacity[n1,cpu]",' + b"9" * 20_000 + b"]]]\n"
BAD_LINES = {
    "no JSON": b"sum 1\n",
    "a float": b"1.5\n",
    "a long number": LONG,
    "nested": b"[" * 100_000 + b"\n",
    "NaN": b"NaN\n",
}


@pytest.mark.parametrize("lines", BAD_LINES.values(), ids=BAD_LINES.keys())
def test_lines_that_hold_no_step_are_named(cli: Command, written: Path, lines: bytes) -> None:
    moved_beside(written, "victim_count", b'["solution"]\n' + lines)
    code, out, err = cli("verify", written, INPUT)
    assert (code, out) == (2, "")
    assert "line 2: is no step of a proof" in err


def test_truncated_gzip_of_the_right_name_is_one_line(cli: Command, written: Path) -> None:
    place = moved_beside(written, "victim_count")
    cut = place.read_bytes()[:-9]
    name = hashlib.sha256(cut).hexdigest()
    (written.parent / f"{name}.steps.gz").write_bytes(cut)
    rewrite(written, lambda content: level(content, "victim_count")["evidence"].update(file=name))
    code, out, err = cli("verify", written, INPUT)
    assert (code, out) == (2, "")
    assert "broken gzip data" in err


def test_a_million_nested_splits_are_refused(cli: Command, written: Path) -> None:
    split = b'["split",[["serve[default/reclaimer]",1]],0]\n'
    moved_beside(written, "victim_count", split * 1_000_000)
    code, out, _ = cli("verify", written, INPUT)
    assert code == 1
    assert "inside too many others" in out


def test_a_proof_about_a_session_that_no_statement_is_made_of_is_refused(cli: Command, tmp_path: Path) -> None:
    """Gang actions evict for jobs elsewhere, which no row knows: not even a level with nothing to show is checked."""
    file, instance = tmp_path / "certificate.json", ROOT / "instances" / "tiny" / "gang-eviction-in-domain.json"
    assert cli("solve", instance, "--certificate", file, "--proofs", "all").code == 0
    assert "steps" not in file.read_text()
    shown = {"kind": "steps", "form": "nodes-starts", "steps": [["end"]]}
    rewrite(file, lambda content: level(content, "gangs_broken").update(evidence=shown))
    code, out, _ = cli("verify", file, instance)
    assert code == 1
    assert "its proof is about sessions without actions that evict for whole jobs" in out


def test_long_proofs_are_written_beside_and_larger_ones_not_at_all(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "certificate.json"
    monkeypatch.setattr("cpsched.optimum.proofs.write.LARGEST_INLINE", 50)
    assert cli("solve", INPUT, "--certificate", file, "--proofs", "all").code == 0
    named = {one["evidence"].get("file") for one in json.loads(file.read_text())["levels"]} - {None}
    assert {path.name for path in tmp_path.glob("*.steps.gz")} == {f"{name}.steps.gz" for name in named}
    assert len(named) > 5
    assert cli("verify", file, INPUT, "--strict").code == 0
    monkeypatch.setattr("cpsched.optimum.proofs.write.LARGEST_FILE", 10)
    assert cli("solve", INPUT, "--certificate", file, "--proofs", "all").code == 0
    assert "file" not in {key for one in json.loads(file.read_text())["levels"] for key in one["evidence"]}


def test_a_bomb_is_one_line(cli: Command, written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpsched.proof.reading.LONGEST_PROOF", 10**6)
    moved_beside(written, "victim_count", b'["sum",1,[]]\n' * 100_000)
    code, out, err = cli("verify", written, INPUT)
    assert (code, out) == (2, "")
    assert "a proof of more than 1000000 bytes" in err


def test_a_pipe_in_a_proofs_place_is_one_line(cli: Command, written: Path) -> None:
    place = moved_beside(written, "victim_count")
    place.unlink()
    os.mkfifo(place)
    code, out, err = cli("verify", written, INPUT)
    assert (code, out) == (2, "")
    assert "is no file" in err


@pytest.mark.parametrize("name", ["../victim", "a" * 63, "A" * 64, "/etc/passwd"])
def test_what_is_no_hash_names_no_file(cli: Command, written: Path, name: str) -> None:
    content = json.loads(written.read_text())
    evidence = level(content, "victim_count")["evidence"]
    del evidence["steps"]
    evidence["file"] = name
    written.write_text(json.dumps(content))
    code, out, err = cli("verify", written, INPUT)
    assert (code, out) == (2, "")
    assert "SHA-256" in err


def test_an_unknown_form_is_one_line(cli: Command, written: Path) -> None:
    content = json.loads(written.read_text())
    level(content, "victim_count")["evidence"]["form"] = "pods"
    written.write_text(json.dumps(content))
    code, out, err = cli("verify", written, INPUT)
    assert (code, out) == (2, "")
    assert "classes-starts" in err
