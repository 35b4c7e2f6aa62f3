"""A folder of clusters with Python files beside them, named like modules that a program imports."""

from __future__ import annotations

import shutil
from pathlib import Path

NAMES = ("gzip", "highspy", "json", "numpy", "ortools", "pickle", "resource", "socket", "subprocess", "yaml")
CODE = """
import os
open(os.path.join({folder!r}, "was-run"), "a").close()
raise ImportError("code of the current folder was run")
"""


def untrusted_folder(folder: Path, instance: Path) -> Path:
    """Holds the instance as cluster.json; whichever of its modules is imported leaves the file was-run."""
    folder.mkdir()
    shutil.copy(instance, folder / "cluster.json")
    for name in NAMES:
        (folder / f"{name}.py").write_text(CODE.format(folder=str(folder)))
    package = folder / "cpsched"
    package.mkdir()
    (package / "__init__.py").write_text(CODE.format(folder=str(folder)))
    return folder


def was_run(folder: Path) -> bool:
    return (folder / "was-run").exists()
