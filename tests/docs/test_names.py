"""Every dotted name of the package in a page is one that Python finds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
IMPORT = re.compile(r"\bfrom (cpsched[\w.]*) import (\w+(?:, \w+)*)")
DOTTED = re.compile(r"(?<![\w./-])cpsched(?:\.[A-Za-z_]\w*)+(?![\w/-])")


def imported(text: str) -> Iterator[tuple[str, str]]:
    """(module, name) of every name that a page imports."""
    for module, names in IMPORT.findall(text):
        yield from ((module, name) for name in names.split(", "))


def dotted(text: str) -> set[str]:
    """The names that a page writes with dots, from the package downwards."""
    return set(DOTTED.findall(IMPORT.sub("", text)))


def resolve(name: str) -> object:
    """What `import cpsched`, and of the modules on the way each that there is, makes of the name."""
    found: object = import_module("cpsched")
    parts = name.split(".")
    for number, part in enumerate(parts[1:], start=2):
        if not hasattr(found, part):
            import_module(".".join(parts[:number]))
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in dotted(text):
        resolve(name)
    for module, name in imported(text):
        assert hasattr(import_module(module), name), f"from {module} import {name}"


def test_names_are_found() -> None:
    """So that the test above is about something."""
    found = set().union(*(dotted(page.read_text(encoding="utf-8")) for page in PAGES))
    assert {"cpsched.solve", "cpsched.greedy.volcano", "cpsched.lab.generate.generate"} <= found
    assert ("cpsched.rules", "RULES") in imported((ROOT / "docs" / "model.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["cpsched.nothing", "cpsched.rules.NOTHING"])
def test_a_name_that_is_not_there(name: str) -> None:
    with pytest.raises((AttributeError, ModuleNotFoundError)):
        resolve(name)
