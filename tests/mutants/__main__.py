"""`python -m tests.mutants`: change the rules one operator at a time; the tests of each rule must notice.

The tree is copied to a temporary folder and changed there. Mutants that survive are listed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutants.change import Mutant, mutants
from tests.mutants.targets import EQUIVALENT, TARGETS

ROOT = Path(__file__).parents[2]
COPIED = ("cpsched", "models", "instances", "tests", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md")
SECONDS = 300
"""A mutant that makes its tests run longer than this counts as noticed."""
PYTEST = ("-q", "-x", "-n", "2", "-p", "no:cacheprovider", "-p", "no:cpsched")


def main() -> int:
    """Sample mutants of every target and run the tests of each."""
    options = _options()
    chosen = [name for name in TARGETS if any(part in name for part in options.only or [""])]
    survivors: list[tuple[str, Mutant]] = []
    print(f"{'file':44} {'mutants':>8} {'tried':>6} {'noticed':>8} {'equivalent':>11}")
    with tempfile.TemporaryDirectory(prefix="cpsched-mutants-") as folder:
        tree = _copied(Path(folder))
        for name in chosen:
            if not _notices_nothing(tree, TARGETS[name]):
                print(f"{name}: its tests are red without any change", file=sys.stderr)
                return 2
            every = list(mutants((ROOT / name).read_text(encoding="utf-8")))
            tried = random.Random(options.seed).sample(every, min(options.number or len(every), len(every)))
            equal = [one for one in tried if (name, one.before, one.after) in EQUIVALENT]
            alive = [one for one in tried if one not in equal and _survives(tree, name, one)]
            survivors += [(name, one) for one in alive]
            noticed = len(tried) - len(equal) - len(alive)
            print(f"{name:44} {len(every):8} {len(tried):6} {noticed:8} {len(equal):11}", flush=True)
    for name, one in survivors:
        print(f"survived: {name} {one}")
    print(f"{len(survivors)} survived")
    return 1 if survivors else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("only", nargs="*", help="parts of file names; default: every target")
    parser.add_argument("--number", type=int, default=8, help="mutants per file, 0 for all of them (default 8)")
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn (default 1)")
    return parser.parse_args()


def _copied(folder: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    return folder


def _survives(tree: Path, name: str, mutant: Mutant) -> bool:
    original = (tree / name).read_bytes()
    (tree / name).write_text(mutant.source, encoding="utf-8")
    try:
        return _notices_nothing(tree, TARGETS[name])
    finally:
        (tree / name).write_bytes(original)


def _notices_nothing(tree: Path, tests: tuple[str, ...]) -> bool:
    """Whether the tests pass on the changed tree, which stands before the installed package on the path."""
    command = [sys.executable, "-m", "pytest", *PYTEST, *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
