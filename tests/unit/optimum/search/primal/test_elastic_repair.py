"""Repair: a sketch's assignment is a start, and what comes of it has the values that were asked for."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.check import violations
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.lab.generate import generate
from cpsched.objectives import level_plan
from cpsched.optimum.model.counts import assigned
from cpsched.optimum.model.objective.levels import steps_of
from cpsched.optimum.model.session_model import Program
from cpsched.optimum.relax.bounding import Foresight
from cpsched.optimum.search.primal.disaggregate import unfolded
from cpsched.optimum.search.primal.elastic_repair import Pinned, Repair
from cpsched.optimum.solvers.portfolio import Race, Settings
from cpsched.snapshot import Snapshot


def contended(seed: int, **parameters: int) -> Snapshot:
    """Gangs of two queues want in where others run, who may be evicted by some of them only."""
    sizes = {"nodes": 5, "gangs": 6, "shapes": 3, "queues": 2, "largest_gang": 6, "running_per_node": 5} | parameters
    instance = load(generate("contended", sizes, seed=seed))
    return Snapshot(instance, load_policy("volcano", None, instance=instance))


class Sketched:
    """A session with its sketch, all levels of it settled."""

    def __init__(self, snapshot: Snapshot):
        self.race = Race(Settings(workers=1, deterministic=True))
        self.program = Program(snapshot)
        self.sight = Foresight(self.program, self.race, [])
        self.sight.look(60.0)
        plan = level_plan(snapshot)[: len(self.sight.levels)]
        levels = [[foreseen.value for foreseen in level] for level in self.sight.levels]
        self.pinned: Pinned = list(zip(plan, levels, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_what_is_sketched_is_allowed_once_rights_may_be_broken(seed: int) -> None:
    it = Sketched(contended(seed, nodes=3 + seed % 3 * 6, running_per_node=seed % 4 * 2))
    lenient = Program(it.program.snapshot, like=it.program, lenient=True)
    model: Any = lenient.cp
    for level, values in it.pinned:
        for step, value in zip(steps_of(lenient.variables, *level), values, strict=True):
            for row in step.no_worse(value):
                model.add(row)
    start = assigned(lenient.variables, unfolded(lenient.classes, it.sight))
    for variable, count in start.items():
        model.add_hint(variable, count)
    values = it.race.completed(model)
    assert values is not None
    assert all(values[variable.index] == count for variable, count in start.items())


@pytest.mark.parametrize("seed", [0, 2, 7, 17, 19])
def test_a_repaired_decision_is_as_good_and_breaks_no_rule(seed: int) -> None:
    """In the last two the sketch uses room that is not its own."""
    it = Sketched(contended(seed))
    decision = Repair(it.program, it.race).decision(it.sight, it.pinned, 60.0)
    assert decision is not None
    assert not violations(decision)
    for level, values in it.pinned:
        for step, value in zip(steps_of(it.program.variables, *level), values, strict=True):
            assert step.measure(decision) == value


def test_the_same_question_has_the_same_answer() -> None:
    """However long it takes: its strategies take turns by work done."""
    found = [
        Repair(it.program, it.race).decision(it.sight, it.pinned, 60.0)
        for it in (Sketched(contended(19)) for _ in range(2))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert [found[0].placed, found[0].evictions] == [found[1].placed, found[1].evictions]


def test_what_was_in_vain_is_a_start_for_fewer_levels() -> None:
    """Nothing is as good as this sketch on all levels, but on some."""
    it = Sketched(contended(3))
    repair = Repair(it.program, it.race)
    assert repair.decision(it.sight, it.pinned, 60.0) is None
    assert repair.decision(it.sight, it.pinned[:12], 60.0) is not None
