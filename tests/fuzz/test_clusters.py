"""A slice of the spoiled dumps; `python -m tests.fuzz FOLDER 10000` tries as many as one has time for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.clusters import MUTATORS, spoiled
from tests.fuzz.real import dumps, end

CHUNK = 50
DUMPS = dumps(Path(__file__).parents[1] / "snapshots")


@pytest.mark.parametrize("chunk", range(4))
def test_a_spoiled_dump_is_read_and_decided_on(chunk: int) -> None:
    """Whatever is missing, odd or there twice: no refusal, no traceback."""
    names = sorted(DUMPS)
    numbers = range(chunk * CHUNK, (chunk + 1) * CHUNK)
    ends = Counter(end(name, DUMPS[name], number) for number in numbers for name in [names[number // 10 % len(names)]])
    assert ends["decided"] > 0
    assert ends["loaded"] > ends["decided"]


@pytest.mark.parametrize("mutator", dict.fromkeys(MUTATORS), ids=lambda one: one.__name__)
def test_every_mutator_changes_a_dump_and_leaves_its_input(mutator: object) -> None:
    items = DUMPS["plain.json.gz"]
    before = repr(items)
    assert any(repr(mutator(Random(seed), items)) != before for seed in range(5))  # type: ignore[operator]
    assert repr(items) == before
    assert repr(spoiled(Random(1), items)) == repr(spoiled(Random(1), items))
