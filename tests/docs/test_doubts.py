"""docs/doubts.md lists the checks of an input with their kinds, in the order of the registry."""

from __future__ import annotations

import re
from pathlib import Path

from cpsched.completeness.registry import CHECKS

TEXT = (Path(__file__).parents[2] / "docs" / "doubts.md").read_text(encoding="utf-8")


def test_the_table_is_the_registry() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ([a-z ]+) \|", TEXT, re.MULTILINE)
    assert rows == [(name, kind) for name, (kind, _) in CHECKS.items()]
