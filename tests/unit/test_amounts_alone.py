"""No module but `cpsched.amounts` turns amounts into text by itself: none has units' suffixes or divides by a unit."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import cpsched

ROOT = Path(cpsched.__file__).parent
ALLOWED = {
    "quantity.py": "reads the suffixes",
    "amounts.py": "writes them",
    "importers/kai_snapshot.py": "writes objects",
    "importers/trace_objects.py": "writes objects",
    "lab/families/dlrm.py": "writes objects",
    "lab/families/gang_evict.py": "writes objects",
    "lab/families/openb.py": "writes objects",
    "lab/families/pieces.py": "writes objects",
    "lab/families/priority_matters.py": "writes objects",
    "what_if/assumed.py": "writes objects",
    "hardware/cpus.py": "counts CPUs",
    "greedy/volcano/plugins/task_buckets.py": "adds up MiB as Volcano does",
    "policy/durations.py": "m is a minute",
    "archives.py": "sizes of files",
    "capture/kubectl.py": "sizes of files",
    "cli/capture.py": "sizes of files",
    "external.py": "sizes of files",
    "packed.py": "sizes of files",
    "parsing.py": "sizes of files",
}
SUFFIX = r"(?:m|[KMGTPE]i)"
UNITS = {1000, *(2 ** (10 * step) for step in range(1, 7))}


def is_suffix(node: ast.AST) -> bool:
    """A constant such as "Gi", also as a part of an f-string."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(re.fullmatch(SUFFIX, node.value))


def has_suffix_behind_a_value(node: ast.AST) -> bool:
    """An f-string such as f"{size}Gi of memory"."""
    if not isinstance(node, ast.JoinedStr):
        return False
    pairs = zip(node.values, node.values[1:], strict=False)
    return any(
        isinstance(value, ast.FormattedValue)
        and isinstance(behind, ast.Constant)
        and re.match(rf"{SUFFIX}\b", str(behind.value))
        for value, behind in pairs
    )


def divides_by_a_unit(node: ast.AST) -> bool:
    """A quotient or rest such as amount / 1000 or size // 2**30."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
        return False
    match node.right:
        case ast.Constant(value=int(number)):
            return number in UNITS
        case ast.BinOp(left=ast.Constant(value=2), op=ast.Pow(), right=ast.Constant(value=int(power))):
            return 2**power in UNITS
    return False


def imports_the_suffixes(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and any(alias.name == "BINARY" for alias in node.names)


CRITERIA = (is_suffix, has_suffix_behind_a_value, divides_by_a_unit, imports_the_suffixes)


def formats_amounts(source: str) -> bool:
    return any(criterion(node) for node in ast.walk(ast.parse(source)) for criterion in CRITERIA)


@pytest.mark.parametrize(
    "source",
    [
        'table = ((2**40, "Ti"), (2**30, "Gi"))',
        'text = f"{size:.2f}Gi of memory"',
        'text = f"{milli}m"',
        "cores = amount / 1000",
        "cores = amount // 1000 if amount % 1000 == 0 else None",
        'text = f"{size / 2**20:.0f} MiB"',
        "from cpsched.quantity import BINARY, nano",
    ],
)
def test_what_is_found(source: str) -> None:
    assert formats_amounts(source)


@pytest.mark.parametrize("source", ['text = f"{many} more"', 'text = f"{count}minutes"', "limit = 4 * 2**30"])
def test_what_is_no_amount(source: str) -> None:
    assert not formats_amounts(source)


def test_only_one_module_shows_amounts() -> None:
    files = (file for file in ROOT.rglob("*.py") if formats_amounts(file.read_text(encoding="utf-8")))
    assert {file.relative_to(ROOT).as_posix() for file in files} == ALLOWED.keys()
