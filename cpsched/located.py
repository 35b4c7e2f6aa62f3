"""Instances that come with the package, by name: @tiny/gated is the file instances/tiny/gated.json."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from cpsched.errors import InputError

SIGN = "@"
_PACKAGE = Path(__file__).resolve().parent


def instances_folder() -> Path:
    """Where the shipped instances lie: inside the package in a wheel, beside it in a checkout."""
    inside, beside = _PACKAGE / "instances", _PACKAGE.parent / "instances"
    return inside if inside.is_dir() else beside


def located(path: str | os.PathLike[str]) -> str:
    """The path itself, or that of the shipped instance or folder that it names; a file of that name comes first."""
    name = os.fspath(path)
    if not name.startswith(SIGN) or os.path.exists(name):
        return name
    folder = instances_folder()
    known = {found.relative_to(folder).with_suffix("").as_posix(): found for found in _shipped(folder)}
    wanted = name.removeprefix(SIGN).rstrip("/")
    if wanted in known:
        return str(known[wanted])
    near = get_close_matches(wanted, known, n=3, cutoff=0.4) or ["tiny", "issues"]
    raise InputError("no such shipped instance", file=name, right=", ".join(f"{SIGN}{one}" for one in near))


def _shipped(folder: Path) -> list[Path]:
    """The folders and the instances in them, without what lies beside cases."""
    below = [one for one in sorted(folder.iterdir()) if one.is_dir()]
    files = [file for one in below for file in sorted(one.iterdir()) if file.suffix in (".json", ".yaml")]
    return [*below, *(file for file in files if file.name not in ("expected.json", "baseline.json"))]
