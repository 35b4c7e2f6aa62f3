"""decide(): the best decision with a proof, as a Solution."""

from __future__ import annotations

from collections.abc import Callable

from cpsched.collector import without_collector
from cpsched.instance import Instance
from cpsched.optimum.params import SolveParams
from cpsched.optimum.search.continuation import continued
from cpsched.optimum.search.lexicographic import LexicographicSearch
from cpsched.optimum.search.result import LevelResult
from cpsched.policy import Policy
from cpsched.policy.levels import SENSES, LevelRef
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from cpsched.solution import Level, Solution, SolutionStatus


def decide(
    instance: Instance,
    policy: Policy,
    params: SolveParams | None = None,
    hint: Callable[[], Solution] | None = None,
) -> Solution:
    """Solve the session to optimality, level by level, as far as the time limit allows.

    `hint` gives a decision to start from; it is asked only if a level does not close without it.
    """
    return search(instance, policy, params, hint)[0]


def search(
    instance: Instance,
    policy: Policy,
    params: SolveParams | None = None,
    hint: Callable[[], Solution] | None = None,
) -> tuple[Solution, Decision]:
    """The same, together with the decision as the search left it, checked."""
    with without_collector():
        snapshot = Snapshot(instance, policy)
        ask = None if hint is None else lambda: Decision.of(snapshot, hint())
        found = LexicographicSearch(snapshot, params or SolveParams(), ask)
    found.run()
    found = continued(found)
    return _solution(found), found.best


def _solution(search: LexicographicSearch) -> Solution:
    best = search.best
    phases = dict.fromkeys(sorted(best.entered), "Inqueue")
    proved = all(level.proved for level in search.levels)
    return Solution(
        engine="optimal",
        model=search.snapshot.policy.name,
        status=SolutionStatus.OPTIMAL if proved else SolutionStatus.FEASIBLE,
        binds=dict(sorted(best.binds.items())),
        pipelined=dict(sorted(best.reserves.items())),
        evictions=best.evictions,
        phases=phases,
        levels=tuple(_level(result) for result in search.levels),
        seed=search.params.seed,
        interrupted=search.budget.interrupted and not proved,
        notes=tuple(search.budget.notes),
    )


def _level(result: LevelResult) -> Level:
    ref = LevelRef(result.name, result.priority)
    return Level(
        name=ref.name,
        priority=ref.priority,
        sense=SENSES[ref.name],
        value=ref.stated(result.value),
        bound=ref.stated(result.bound),
        proved=result.proved,
        prover="" if result.prover is None else result.prover.name,
        given_open_levels=result.given_open_levels,
        seconds=round(result.seconds, 3),
    )
