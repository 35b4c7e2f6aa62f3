"""A relaxed solution as a decision: where it attains the bounds no session model is built."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.lab.generate import generate
from cpsched.objectives import value_of
from cpsched.optimum.budget import Budget
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.params import SolveParams
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.search.incumbent import Incumbent, hint
from cpsched.optimum.search.lexicographic import LexicographicSearch
from cpsched.optimum.search.primal.heuristics import PrimalHeuristics
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.rules import violations
from cpsched.snapshot import Snapshot
from tests.judge import cluster, decide, job, pending, running, snapshot_of

SETTINGS = SolveParams(workers=1, deterministic=True)


def reclaimed(nodes: int) -> Snapshot:
    """One queue has lent all its room, the other waits for its share."""
    instance = load(generate("kai-reclaim", {"nodes": nodes}, seed=1))
    return Snapshot(instance, load_policy("volcano", None, instance=instance))


def searched(snapshot: Snapshot) -> LexicographicSearch:
    search = LexicographicSearch(snapshot, SETTINGS)
    search.run()
    return search


@pytest.mark.parametrize("nodes", [5, 8, 30])
def test_what_a_relaxed_model_closes_needs_no_session_model(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = searched(reclaimed(nodes))
    assert not straight._state.has_model
    assert not violations(straight.best)
    assert all(level.proved for level in straight.levels)
    monkeypatch.setattr(PrimalHeuristics, "_disaggregate", lambda *_: False)
    asked = searched(reclaimed(nodes))
    assert asked._state.has_model
    assert [(level.name, level.value) for level in straight.levels] == [
        (level.name, level.value) for level in asked.levels
    ]


def test_evictions_are_spread_over_a_pool() -> None:
    """No node loses more than one victim more than another."""
    best = searched(reclaimed(30)).best
    lost = [len(best.victims_by_node.get(node, ())) for node in best.snapshot.instance.nodes]
    assert sum(lost) == 160
    assert max(lost) - min(lost) == 1


def test_what_cannot_be_spread_evenly_is_asked_of_the_session() -> None:
    """Five tasks of two cores and ten of one, on nine nodes of three: the first node would have to take four."""
    new = [job(f"a{n}", pending(cpu=2), priority=100) for n in range(5)]
    new += [job(f"b{n}", pending(cpu=1), priority=50) for n in range(10)]
    search = searched(snapshot_of(cluster(*new, nodes={f"n{n}": 3 for n in range(9)})))
    assert search._state.has_model
    assert all(level.proved for level in search.levels)
    assert len(search.best.placed) == 15


class TestUsedNodes:
    """Nodes that are used whatever happens are counted without a model; for the others one is needed."""

    def test_all_are_in_use(self) -> None:
        assert not searched(reclaimed(8))._state.has_model

    def test_some_are_empty(self) -> None:
        nodes = {f"n{n}": 2 for n in range(10)}
        search = searched(snapshot_of(cluster(job("a", pending(replicas=3)), nodes=nodes)))
        assert value_of(search.best, "nodes_used", None) == 2
        assert search.levels[-1].proved


class TestIncumbent:
    """The assignment of the best decision is looked for when it is asked for."""

    snapshot = snapshot_of(cluster(job("a", pending(replicas=2)), nodes=4))
    program = SessionModel(snapshot)

    def test_of_nothing_there_is_none(self) -> None:
        assert Incumbent(self.snapshot, Portfolio(Budget(SETTINGS))).values_in(self.program) is None

    def test_it_is_completed(self) -> None:
        incumbent = Incumbent(self.snapshot, Portfolio(Budget(SETTINGS)))
        incumbent.replace(decide(self.snapshot, {"binds": {"a/task-0": "n1", "a/task-1": "n1"}}))
        values = incumbent.values_in(self.program)
        assert values is not None
        assert [values[x.index] for x in self.program.variables.bind.values()] == [2]
        assert incumbent.values_in(self.program) is values
        self.program.cp.new_int_var(7, 7, "of a later level")
        longer = incumbent.values_in(self.program)
        assert longer is not None
        assert longer == [*values, 7]

    def test_only_what_is_better_takes_its_place(self) -> None:
        """Where an exact model stayed open, what it found may be worse than a decision made elsewhere."""
        incumbent = Incumbent(self.snapshot, Portfolio(Budget(SETTINGS)))
        both = decide(self.snapshot, {"binds": {"a/task-0": "n1", "a/task-1": "n1"}})
        incumbent.offer(both)
        assert incumbent.decision is both
        for other in (None, decide(self.snapshot, {}), decide(self.snapshot, {"reserves": both.binds})):
            incumbent.offer(other)
            assert incumbent.decision is both

    def test_what_failed_is_not_tried_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        portfolio, asked = Portfolio(Budget(SETTINGS)), []
        monkeypatch.setattr(portfolio, "complete_hint", asked.append)
        incumbent = Incumbent(self.snapshot, portfolio)
        incumbent.replace(decide(self.snapshot, {"binds": {"a/task-0": "n1", "a/task-1": "n1"}}))
        assert incumbent.values_in(self.program) is None
        assert incumbent.values_in(self.program) is None
        assert len(asked) == 1

    def test_a_hint_replaces_the_one_before(self) -> None:
        program = SessionModel(self.snapshot)
        hint(program, [1, 2])
        hint(program, [3])
        found = program.cp.proto.solution_hint
        assert (list(found.vars), list(found.values)) == ([0], [3])
        hint(program, None)
        assert not program.cp.proto.solution_hint.vars


def test_victims_and_newcomers_meet_on_the_same_nodes() -> None:
    """Where a node class loses fewer than it has nodes, arrivals go to the nodes that lost some."""
    old = [job(f"old{n}", running(node=f"n{n}"), priority=10, minMember=0) for n in range(10)]
    new = [job(f"new{n}", pending(), priority=100) for n in range(4)]
    search = searched(snapshot_of(cluster(*old, *new, nodes={f"n{n}": 1 for n in range(10)})))
    assert not search._state.has_model
    assert {item.node for item in search.best.evictions} == set(search.best.placed.values())


@pytest.mark.parametrize("entitled", ["a", "b"])
@pytest.mark.parametrize("taken", [range(4), range(4, 8)])
def test_who_may_evict_goes_where_a_task_goes(entitled: str, taken: range) -> None:
    """All requests are equal, so the relaxed model has no owners; on the other nodes a task leaves anyway."""
    leaves = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    old = [
        job(f"old{n}", running(node=f"n{n}", **({} if n in taken else leaves)), priority=10, minMember=0)
        for n in range(8)
    ]
    tasks = {name: pending() if name == entitled else pending(preemptionPolicy="Never") for name in "ab"}
    new = [job(f"{name}{i}", task, priority=100) for name, task in tasks.items() for i in range(4)]
    search = searched(snapshot_of(cluster(*old, *new, nodes={f"n{n}": 1 for n in range(8)})))
    assert not search._state.has_model
    assert {node for key, node in search.best.placed.items() if key[0] == entitled} == {f"n{n}" for n in taken}
    assert len(search.best.placed) == 8


def test_a_decision_that_is_worse_than_its_bound_is_only_a_start() -> None:
    snapshot = reclaimed(8)
    search = LexicographicSearch(snapshot, SETTINGS)
    state = search._state
    bounding = LexicographicBounds(state.session, state.portfolio, [])
    bounding.run(60.0)
    state.levels.learn(0, bounding)
    last = len(bounding.levels) - 1
    bounds = state.levels[last].bounds
    assert bounds is not None
    bounds[0] = replace(bounds[0], value=bounds[0].value - 1)
    heuristics = PrimalHeuristics(state)
    assert not heuristics._disaggregate(0, last + 1, bounding)
    assert search.best.placed
    assert heuristics._disaggregate(0, last, bounding)


def test_a_node_may_be_emptied_from_afar() -> None:
    """If evictions are not bound to a node: the one who comes needs no more than what is free beside another."""
    rules, nodes = {"eviction.scope": "cluster"}, {"n1": 1, "n2": 2}
    old = job("old", running(node="n1"), priority=10, minMember=0)
    other = job("other", running(node="n2"), priority=100)
    new = job("new", pending(), priority=100)
    snapshot = snapshot_of(cluster(old, other, new, nodes=nodes), rules=rules, levels=["jobs_admitted", "nodes_used"])
    search = searched(snapshot)
    assert [(level.name, level.value, level.proved) for level in search.levels] == [
        ("jobs_admitted", 1, True),
        ("nodes_used", 1, True),
    ]
