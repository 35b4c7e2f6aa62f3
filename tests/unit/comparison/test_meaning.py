"""Every module that an engine or the checker imports is part of what a remembered optimum is found by."""

from __future__ import annotations

import ast
from importlib.metadata import version
from pathlib import Path

import pytest

import cpsched
from cpsched.comparison import meaning
from cpsched.comparison.meaning import SHOWING, deciding_files
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from tests.judge import cluster, job, pending

ROOT = Path(cpsched.__file__).parent


def file_of(module: str) -> Path | None:
    place = ROOT.joinpath(*module.split(".")[1:])
    found = (place / "__init__.py", place.with_suffix(".py"))
    return next((file for file in found if file.is_file()), None)


def imported(file: Path) -> set[Path]:
    """The package's own modules that a file imports, at its top or inside a function, and the packages they lie in."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)  # such as the command line of a child: -m cpsched.optimum.solvers.worker
    own = [name.split(".") for name in names if name.startswith("cpsched.") and name.isprintable()]
    parts = {".".join(name[:length]) for name in own for length in range(2, len(name) + 1)}
    return {found for name in parts if (found := file_of(name)) is not None}


def reached(*modules: str) -> set[Path]:
    waiting = [file for name in modules if (file := file_of(name)) is not None]
    found: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += imported(file)
    return found


def test_all_code_that_decides_is_covered() -> None:
    deciding = reached("cpsched.engines", "cpsched.checker", "cpsched.objectives", "cpsched.certificate")
    names = {file.relative_to(ROOT).parts[0] for file in deciding}
    assert {"optimum", "greedy", "rules", "filters", "snapshot", "shares", "policy", "objectives.py"} <= names
    assert deciding <= set(deciding_files())


def test_what_is_left_out_is_there_and_decides_nothing() -> None:
    for part in SHOWING:
        assert (ROOT / part).exists(), part
    assert not any(file.relative_to(ROOT).parts[0] in SHOWING for file in deciding_files())


def test_changed_code_or_another_solver_is_another_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def key() -> str:
        meaning.code_sha256.cache_clear()
        return meaning.question_key(instance, load_policy(instance=instance))

    instance, file = load(cluster(job("a", pending(1)))), tmp_path / "rule.py"
    file.write_text("LIMIT = 1")
    monkeypatch.setattr(meaning, "deciding_files", lambda: [file])
    first = key()
    assert key() == first
    file.write_text("LIMIT = 2")
    second = key()
    monkeypatch.setattr(meaning, "version", lambda name: "2.0" if name == "highspy" else version(name))
    assert len({first, second, key()}) == 3
    meaning.code_sha256.cache_clear()
