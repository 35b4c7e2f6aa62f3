"""What is known of levels while a search runs: a bound by packing is not lost to a weaker one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cpsched.optimum.model.objective.known import KnownLevel, KnownVictims
from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.provers import LP, PACKING, Prover
from cpsched.optimum.relax.stage_bounds import StageBound
from cpsched.optimum.search.level_state import Levels
from cpsched.policy.levels import LevelRef

NODES = KnownLevel("nodes_used", None, 0)
VICTIMS = KnownVictims(lambda decision: len(decision.evictions))


def learned(stage: Stage, known: StageBound, found: list[int]) -> tuple[list[int], Prover | None]:
    """The bounds of the open level after a pass that found these, and who proved the first."""
    levels = Levels([LevelRef("nodes_used")])
    levels[0].open_stages, levels[0].open_bounds = [stage], [known]
    bounding: Any = SimpleNamespace(
        levels=[],
        stages=[],
        first_open=[StageBound(value, LP, 0.0) for value in found],
        first_open_stages=[NODES for _ in found],
    )
    levels.learn(0, bounding)
    bounds = levels[0].open_bounds
    return [one.value for one in bounds], bounds[0].prover if bounds else None


@pytest.mark.parametrize(("found", "kept"), [([], [8]), ([7], [8]), ([8], [8]), ([9], [9])])
def test_the_better_of_a_bound_by_packing_and_another_is_kept(found: list[int], kept: list[int]) -> None:
    assert learned(NODES, StageBound(8, PACKING, 0.0), found)[0] == kept


def test_a_bound_of_another_pass_is_replaced_since_levels_before_it_may_have_other_values_now() -> None:
    assert learned(NODES, StageBound(8, LP, 0.0), [7]) == ([7], LP)


def test_a_stage_of_victims_is_replaced_since_it_counts_in_other_ranks() -> None:
    assert learned(VICTIMS, StageBound(8, PACKING, 0.0), [7]) == ([7], LP)
