"""docs/security.md: every sentence names tests, and they exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from cpsched.cli.commands import app

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))


@cache
def functions(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize(("file", "function"), NAMED, ids=["::".join(one) for one in NAMED])
def test_the_tests_that_are_named_exist(file: str, function: str) -> None:
    assert function in functions(file)


def test_every_row_of_every_table_names_a_test() -> None:
    tables = re.findall(r"(?m)^\|[^\n]+\|\n\|[-| ]+\|\n((?:\|[^\n]+\|\n)+)", TEXT)
    rows = [row for table in tables for row in table.splitlines()]
    assert len(rows) > 30
    assert [row for row in rows if not re.search(r"`tests/[\w/]+\.py::\w+`", row)] == []


def test_every_command_has_its_row() -> None:
    commands = {one.name or one.callback.__name__ for one in app.registered_commands if one.callback}
    commands |= {one.name or one.typer_instance.info.name for one in app.registered_groups if one.typer_instance}
    section = TEXT.split("## Per command")[1].split("\n## ")[0]
    assert set(re.findall(r"(?m)^\| `cpsched (\w+)`", section)) == commands
