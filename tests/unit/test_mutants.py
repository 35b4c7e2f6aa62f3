"""`make mutants` changes what it says it changes, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.change import mutants
from tests.mutants.targets import EQUIVALENT, TARGETS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a = b < c", {"a = (b <= c)"}),
        ("a = b not in c", {"a = (b in c)"}),
        ("a = b - c", {"a = (b + c)"}),
        ("a = b and c", {"a = (b or c)"}),
        ("a = not b", {"a = (b)"}),
        ("a = max(b, c)", {"a = (min(b, c))"}),
        ("a = reversed(b)", {"a = (list(b))"}),
        ("a = True", {"a = (False)"}),
        ("a = 3", {"a = (4)"}),
        ("for a in b:\n    continue", {"for a in b:\n    pass"}),
        ("def f() -> a < b:\n    yield c", {"def f() -> a < b:\n    pass"}),
        ("a = 'é' if b == c else d", {"a = 'é' if (b != c) else d"}),
        ("a = b", set()),
    ],
)
def test_one_change_each(source: str, changed: set[str]) -> None:
    assert {one.source for one in mutants(source)} == changed


def test_targets_and_their_tests_exist() -> None:
    for name, tests in TARGETS.items():
        assert all((ROOT / path).is_file() for path in (name, *tests)), name


def test_an_equivalent_mutant_is_a_mutant() -> None:
    for name, before, after in EQUIVALENT:
        assert any((one.before, one.after) == (before, after) for one in mutants((ROOT / name).read_text()))
