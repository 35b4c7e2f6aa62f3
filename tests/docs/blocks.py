"""Fenced blocks of a Markdown file."""

from __future__ import annotations

import re
from pathlib import Path


def blocks(path: Path, language: str) -> list[str]:
    """The text of every block of that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
