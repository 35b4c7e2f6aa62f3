"""What a release states in several places is the same in all of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

from cpsched.version import __version__, with_solvers

ROOT = Path(__file__).parents[2]


def test_the_version_is_stated_once() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__
    assert f"Version {__version__}, Python 3.11 or newer" in (ROOT / "README.md").read_text()
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == __version__


def test_the_version_names_the_solvers() -> None:
    assert re.fullmatch(rf"cpsched {__version__}, ortools 9\.\S+, highspy 1\.\S+, Python 3\.\S+", with_solvers())
