"""The real schedulers as engines: built once from released modules into a cache outside the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.go.toolchain import MODULES

ENGINES = {"kube": "kube-engine", "volcano": "volcano-engine"}
"""Module below docs/go → its command."""


def folder() -> Path:
    """Where the programs are, or will be."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "cpsched-go"


def engine(module: str) -> Path:
    """The program of a module."""
    return folder() / ENGINES[module]


def missing(module: str) -> str | None:
    """Why the engine cannot be asked; None if it can."""
    return None if engine(module).is_file() else f"{ENGINES[module]} is not built: make adapters"


def build(module: str) -> str | None:
    """Build it; why it is not possible, if it is not."""
    if shutil.which("go") is None:
        return "Go is not installed, so no adapter can be built"
    print(f"Building {ENGINES[module]} into {folder()}: 8 to 10 minutes of CPU time, once.", flush=True)
    folder().mkdir(parents=True, exist_ok=True)
    words = ["go", "build", "-p", "1", "-buildvcs=false", "-o", f"{folder()}/", f"./{ENGINES[module]}"]
    ended = subprocess.run(words, cwd=MODULES / module, check=False)
    return None if ended.returncode == 0 else f"{ENGINES[module]} cannot be built; what go says is above"


def main() -> int:
    """Build those that are named, or all."""
    wrong = [found for module in sys.argv[1:] or ENGINES if (found := build(module)) is not None]
    for line in wrong:
        print(line, file=sys.stderr)
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
