"""An option that is given twice is repeated or refused, in every command; none is dropped in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from cpsched.cli.commands import app
from cpsched.engines import named_in
from tests.cli.conftest import Command

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
OPTIONS = [
    (name, option)
    for name, command in COMMANDS.items()
    for option in command.params
    if option.param_type_name == "option" and "--help" not in option.opts
]
WHAT_IF = ("--submit", "--cordon", "--drain", "--add-nodes", "--like", "--without")
REPEATED = {
    *((command, name) for command in ("compare", "explain", "import", "report", "solve", "verify") for name in WHAT_IF),
    ("capture", "--as-group"),
    ("check", "--case"),
    ("check", "--max-gap"),
    ("compare", "--engines"),
    ("generate", "--set"),
    ("report", "--engines"),
    ("report", "--solution"),
    ("study", "--engines"),
    ("study", "--exclude"),
    ("study", "--instances"),
}
ONCE = [
    pytest.param(command, name, option, id=f"{command} {name}")
    for command, option in OPTIONS
    if not option.multiple
    for name in (*option.opts, *option.secondary_opts)
]


def test_all_commands_are_here() -> None:
    assert len(COMMANDS) >= 12
    assert {(command, option.opts[0]) for command, option in OPTIONS if option.multiple} == REPEATED
    assert len(ONCE) > 80


@pytest.mark.parametrize(("command", "name", "option"), ONCE)
def test_an_option_is_refused_the_second_time(
    cli: Command, tmp_path: Path, command: str, name: str, option: Any
) -> None:
    """Before anything is read or written, whatever its value."""
    given = [name] if option.is_flag else [name, "1"]
    code, out, err = cli(command, *given, *given, tmp_path / "nothing.json")
    output = f"{'/'.join(option.opts)} is given 2 times; give it once; see cpsched {command} --help"
    assert (code, out, err) == (2, "", f"cpsched: error: {output}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("first", "second"), [("--output", "-o"), ("-o", "--output")])
def test_both_names_of_an_option_are_the_same(cli: Command, tmp_path: Path, first: str, second: str) -> None:
    code, _, err = cli("solve", "x.json", first, tmp_path / "a", second, tmp_path / "b")
    assert (code, err) == (2, "cpsched: error: --output/-o is given 2 times; give it once; see cpsched solve --help\n")


def test_a_flag_and_its_opposite_are_the_same(cli: Command, tmp_path: Path) -> None:
    code, _, err = cli("study", tmp_path / "s", "--lenient", "--no-lenient")
    assert (code, err) == (2, "cpsched: error: --lenient is given 2 times; give it once; see cpsched study --help\n")


@pytest.mark.parametrize(("command", "name"), sorted(REPEATED))
def test_what_may_be_repeated_says_so(command: str, name: str) -> None:
    about = next(option.help for of, option in OPTIONS if of == command and name in option.opts)
    assert any(words in about for words in ("may be repeated", "may be given several times", "repeat the option"))


ENGINE = """
import json, sys
print(json.dumps({"apiVersion": "cpsched/v1", "kind": "Solution"}))
"""


@pytest.fixture
def external(tmp_path: Path) -> str:
    script = tmp_path / "engine, odd.py"
    script.write_text(ENGINE)
    return f"exec:python3 '{script}'"


def test_a_study_runs_the_engines_of_all_lists(cli: Command, tmp_path: Path, external: str) -> None:
    given = ("--engines", "optimal,volcano", "--engines", external)
    code, out, _ = cli(
        "study", tmp_path / "s", "--instances", "instances/tiny/preempt-one-is-enough.json", *given, "--json"
    )
    assert code == 0
    assert {row["engine"] for row in json.loads(out)["summary"]} == {"optimal", "volcano", external}


def test_a_report_runs_the_engines_of_all_lists(cli: Command, external: str) -> None:
    given = ("--engines", "volcano", "--engines", external, "--format", "text")
    code, out, _ = cli("report", "instances/tiny/preempt-one-is-enough.json", *given)
    assert code == 0
    assert "engine, odd.py" in out
    assert "volcano" in out


@pytest.mark.parametrize(
    ("lists", "names"),
    [
        ([], []),
        (["", " , "], []),
        (["volcano,optimal"], ["volcano", "optimal"]),
        (["volcano", "optimal , kube"], ["volcano", "optimal", "kube"]),
        (["volcano, exec:a b,c", "optimal"], ["volcano", "exec:a b,c", "optimal"]),
        (["exec:a", "exec:b,exec:c"], ["exec:a", "exec:b,exec:c"]),
    ],
)
def test_lists_of_engines(lists: list[str], names: list[str]) -> None:
    assert named_in(lists) == names
