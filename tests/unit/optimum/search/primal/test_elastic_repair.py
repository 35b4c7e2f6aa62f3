"""Repair: a relaxed solution is a start, and the result has the values that were asked for."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.lab.generate import generate
from cpsched.objectives import level_plan
from cpsched.optimum.budget import Budget
from cpsched.optimum.model.counts import values_of
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.params import SolveParams
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.search.primal.disaggregate import disaggregate
from cpsched.optimum.search.primal.elastic_repair import ElasticRepair, Targets
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.rules import violations
from cpsched.snapshot import Snapshot


def contended(seed: int, **parameters: int) -> Snapshot:
    """Gangs of two queues want in where others run, who may be evicted by some of them only."""
    sizes = {"nodes": 5, "gangs": 6, "shapes": 3, "queues": 2, "largest_gang": 6, "running_per_node": 5} | parameters
    instance = load(generate("contended", sizes, seed=seed))
    return Snapshot(instance, load_policy("volcano", None, instance=instance))


class Bounded:
    """A session with its relaxed model, all its levels fixed."""

    def __init__(self, snapshot: Snapshot):
        self.portfolio = Portfolio(Budget(SolveParams(workers=1, deterministic=True)))
        self.model = SessionModel(snapshot)
        self.bounding = LexicographicBounds(self.model, self.portfolio, [])
        self.bounding.run(60.0)
        plan = level_plan(snapshot)[: len(self.bounding.levels)]
        levels = [[bound.value for bound in level] for level in self.bounding.levels]
        self.targets: Targets = list(zip(plan, levels, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_what_is_sketched_is_allowed_once_rights_may_be_broken(seed: int) -> None:
    it = Bounded(contended(seed, nodes=3 + seed % 3 * 6, running_per_node=seed % 4 * 2))
    elastic = SessionModel(it.model.snapshot, shared_with=it.model, elastic=True)
    cp: Any = elastic.cp
    for level, values in it.targets:
        for stage, value in zip(stages_of(elastic.variables, *level), values, strict=True):
            for row in stage.at_most(value):
                cp.add(row)
    start = values_of(elastic.variables, disaggregate(elastic.classes, it.bounding))
    for variable, count in start.items():
        cp.add_hint(variable, count)
    values = it.portfolio.complete_hint(cp)
    assert values is not None
    assert all(values[variable.index] == count for variable, count in start.items())


@pytest.mark.parametrize("seed", [0, 2, 7, 17, 19])
def test_a_repaired_decision_is_as_good_and_breaks_no_rule(seed: int) -> None:
    """In the last two the relaxed solution uses capacity that is not its own."""
    it = Bounded(contended(seed))
    decision = ElasticRepair(it.model, it.portfolio).run(it.bounding, it.targets, 60.0)
    assert decision is not None
    assert not violations(decision)
    for level, values in it.targets:
        for stage, value in zip(stages_of(it.model.variables, *level), values, strict=True):
            assert stage.value(decision) == value


def test_the_same_question_has_the_same_answer() -> None:
    """However long it takes: its strategies take turns by work done."""
    found = [
        ElasticRepair(it.model, it.portfolio).run(it.bounding, it.targets, 60.0)
        for it in (Bounded(contended(19)) for _ in range(2))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert [found[0].placed, found[0].evictions] == [found[1].placed, found[1].evictions]


def test_a_failed_repair_is_a_start_for_fewer_levels() -> None:
    """Nothing is as good as this relaxed solution on all levels, but on some."""
    it = Bounded(contended(3))
    repair = ElasticRepair(it.model, it.portfolio)
    assert repair.run(it.bounding, it.targets, 60.0) is None
    assert repair.run(it.bounding, it.targets[:12], 60.0) is not None
