"""The same key twice: whatever the file is, the program says where and which, and goes no further."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command

TWICE = '{\n "kind": "List",\n "items": [],\n "kind": "List"\n}\n'
STATED = "line 4: the key kind is there twice (first in line 2); keep one of them"
YAML = "kind: List\nitems: []\n---\nkind: List\nitems: []\nkind: List\n"
YAML_STATED = "line 6: the key kind is there twice (first in line 4); keep one of them"
VOLCANO_CONF = 'actions: "allocate"\ntiers: []\nactions: "allocate, preempt"\n'
CONF_STATED = "line 3: the key actions is there twice (first in line 1); keep one of them"


def refused(cli: Command, output: str, *arguments: object) -> None:
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert err == f"cpsched: error: {output}\n"


@pytest.mark.parametrize(("name", "text", "output"), [("a.json", TWICE, STATED), ("a.yaml", YAML, YAML_STATED)])
@pytest.mark.parametrize("command", [("solve",), ("import",), ("explain", "--job", "d/j"), ("report",)])
def test_in_an_input(cli: Command, tmp_path: Path, name: str, text: str, output: str, command: tuple[str, ...]) -> None:
    file = tmp_path / name
    file.write_text(text)
    refused(cli, f"{file}: {output}", command[0], file, *command[1:])


def test_in_a_case(cli: Command, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(TWICE)
    code, _, err = cli("check", file, "--no-optimum")
    assert (code, err) == (2, f"cpsched: error: {file}: {STATED}\n")


@pytest.mark.parametrize("option", ["--conf", "--model"])
def test_in_a_file_that_an_option_names(cli: Command, tmp_path: Path, tiny: Path, option: str) -> None:
    file = tmp_path / "named.yaml"
    file.write_text(VOLCANO_CONF)
    refused(cli, f"{file}: {CONF_STATED}", "solve", tiny, option, file)


def test_in_the_text_inside_a_config_map(cli: Command, tmp_path: Path, tiny: Path) -> None:
    file = tmp_path / "map.json"
    file.write_text(json.dumps({"kind": "ConfigMap", "apiVersion": "v1", "data": {"scheduler.yaml": VOLCANO_CONF}}))
    refused(cli, f"{file}: data.scheduler.yaml: {CONF_STATED}", "solve", tiny, "--conf", file)


def test_in_a_certificate_or_solution(cli: Command, tmp_path: Path, tiny: Path) -> None:
    certificate = tmp_path / "c.json"
    assert cli("solve", tiny, "--certificate", certificate).code == 0
    certificate.write_text(certificate.read_text().replace('"levels":', '"levels": [],\n "levels":', 1))
    code, out, err = cli("verify", certificate, tiny)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "the key levels is there twice" in err
    solution = tmp_path / "s.json"
    solution.write_text(TWICE)
    refused(cli, f"{solution}: {STATED}", "report", tiny, "--solution", solution)


def test_in_a_baseline_an_expectation_and_a_study_file(cli: Command, tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "twice.json").write_text(TWICE)
    refused(cli, f"{tmp_path / 'twice.json'}: {STATED}", "check", tiny, "--baseline", tmp_path / "twice.json")
    refused(cli, f"{tmp_path / 'twice.json'}: {STATED}", "study", tmp_path / "run", "--file", tmp_path / "twice.json")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "case.json").write_bytes(tiny.read_bytes())
    (corpus / "expected.json").write_text(TWICE)
    refused(cli, f"{corpus / 'expected.json'}: {STATED}", "check", corpus)


def test_in_a_row(cli: Command, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "a", "objects": []}\n{"id": "b", "objects": [], "conf": {"x": 1, "x": 2}}\n')
    code, _, err = cli("check", rows)
    assert code == 2
    assert err == f"cpsched: error: {rows}: line 2: the key x is there twice (first in line 2); keep one of them\n"


def test_in_what_a_program_prints(cli: Command, tmp_path: Path, tiny: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text(f"print({TWICE!r})")
    name = f"exec:{sys.executable} {script}"
    refused(cli, f"{name}: {STATED}", "solve", tiny, "--engine", name)
