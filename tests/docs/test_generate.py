"""docs/generate.md: its tables are the registry's, its commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from cpsched.cli.generate import values_of
from cpsched.lab.families import FAMILIES
from tests.docs.blocks import blocks
from tests.docs.test_commands import run

PAGE = Path(__file__).parents[2] / "docs" / "generate.md"


def test_every_family_and_parameter_is_documented() -> None:
    text = PAGE.read_text(encoding="utf-8")
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    assert [section.split("\n")[0] for section in sections] == list(FAMILIES)
    for section, family in zip(sections, FAMILIES.values(), strict=True):
        about = family.about[0].upper() + family.about[1:]
        assert f"\n{about}. Model: `{family.model}`.\n" in section
        rows = [line for line in section.splitlines() if line.startswith("| `")]
        assert rows == [
            f"| `{key}` | {field.default} | {values_of(field)} | {field.description} |"
            for key, field in family.parameters.model_fields.items()
        ]


def test_the_commands_run(tmp_path: Path) -> None:
    simple, grid = blocks(PAGE, "sh")
    commands = [*simple.splitlines(), grid.replace("\\\n", " ")]
    assert len(commands) == 6
    for command in commands:
        ended = run(shlex.join(shlex.split(command)), tmp_path)
        assert (ended.returncode, ended.stderr) == (0, ""), command
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "one.json").read_bytes()
    assert len(list((tmp_path / "pool").iterdir())) == 10
    assert len(list((tmp_path / "grid").iterdir())) == 96
