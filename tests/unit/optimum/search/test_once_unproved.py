"""Tiny sessions that the search once left unproved are proved on every level, within a deterministic limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cpsched
from cpsched.solution import SolutionStatus
from tests.oracle.variations import variation

DATA = Path(__file__).parents[1] / "data"
LIMIT = 0.5
"""Deterministic seconds of one worker."""


@pytest.mark.parametrize("name", ["capacity-77-363"])
def test_every_level_is_proved(name: str) -> None:
    row = json.loads((DATA / f"{name}.json").read_text())
    solution = cpsched.solve(cpsched.load(row["objects"]), conf=row["conf"], deterministic=True, time_limit=LIMIT)
    assert solution.status is SolutionStatus.OPTIMAL


@pytest.mark.parametrize("seed", [20025, 20100, 20190, 20199])
def test_overcommitted_nodes_are_proved_too(seed: int) -> None:
    """More is missing there than is requested, so that charging limits victims that every task present may evict."""
    model, objects, conf = variation("kube", seed)
    instance = cpsched.load(objects, lenient=True)
    solution = cpsched.solve(instance, model=model, conf=conf, deterministic=True, time_limit=LIMIT)
    assert solution.status is SolutionStatus.OPTIMAL


def test_levels_that_packing_closed_are_repaired_too() -> None:
    """Packing knows that there are no victims by one value, where the model has two stages of the priority sum."""
    model, objects, conf = variation("kube", 62000011)
    instance = cpsched.load(objects, lenient=True)
    solution = cpsched.solve(instance, model=model, conf=conf, deterministic=True, time_limit=LIMIT)
    assert solution.status is SolutionStatus.OPTIMAL
