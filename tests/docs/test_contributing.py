"""What CONTRIBUTING.md says about the code is so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
CODE = sorted((ROOT / "cpsched").rglob("*.py"))
SOURCES = [*CODE, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "docs").rglob("*.py"))]
MOST_LINES, USUAL_LINES = 400, 150

CALLED_FROM_OUTSIDE = {
    "_repr_html_": "a notebook",
    "to_dataframe": "users of pandas",
    "do_GET": "Python's HTTP server",
    "do_POST": "Python's HTTP server",
    "log_message": "Python's HTTP server",
    "encoding": "writers of a text stream",
    "sub_evaluator": "cel-python, whose method of this name it replaces",
    "pytest_addoption": "pytest",
    "pytest_configure": "pytest",
    "pytest_generate_tests": "pytest",
    "pytest_sessionfinish": "pytest",
    "IN_PART": "the test that docs/proofs.md names what is left out",
    "LEFT_OUT": "the test that docs/proofs.md names what is left out",
    "ELSEWHERE": "the test that walks all keys, and docs/optimum.md",
    "RULES_OF_PLUGIN": "the test that walks all keys",
    "LIFTED": "the test that walks all keys",
    "NEVER_LIFTED": "the test that walks all keys",
    "PROVERS": "the test that walks all keys, and docs/optimum.md",
}
"""Name → what uses it, if not the package."""


def test_no_file_is_long() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
    assert median(lines.values()) < USUAL_LINES


def test_the_limits_are_those_stated() -> None:
    stated = f"Most are under {USUAL_LINES} lines, none over {MOST_LINES}."
    assert stated in " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())


def test_nothing_is_kept_that_nothing_uses() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in CODE]
    used = {name for tree in trees for name in _used(tree)}
    defined = {name for tree in trees for name in _defined(tree.body) if not name.startswith("__")}
    assert defined - used - CALLED_FROM_OUTSIDE.keys() == set()


def test_unused_names_are_found() -> None:
    tree = ast.parse("A = 1\nclass B:\n    c: int\n    def d(self): return f'{e()}'\ndef e(): pass\n")
    assert set(_defined(tree.body)) - set(_used(tree)) == {"A", "B", "d"}


def _used(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """Names of a module and methods of its classes; a decorator other than Python's own uses what it decorates."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) if all(map(_is_plain, node.decorator_list)):
                yield name
            case ast.ClassDef(name=name, body=inside):
                yield name
                yield from _defined([one for one in inside if isinstance(one, ast.FunctionDef)])
            case ast.Assign(targets=targets):
                yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def _is_plain(decorator: ast.expr) -> bool:
    return ast.unparse(decorator) in ("property", "cached_property", "staticmethod", "classmethod")
