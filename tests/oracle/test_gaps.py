"""PodGroups without pods and jobs of unknown queues: what upstream does with them, and the optimum beside them."""

from __future__ import annotations

import pytest

from cpsched.greedy.volcano import replay
from cpsched.optimum.solve import decide
from cpsched.solution import SolutionStatus
from tests.oracle.brute_force import optimum
from tests.oracle.gaps import as_objects, with_empty_groups, without_a_job, without_a_queue
from tests.oracle.sessions import Contest, contest, entering
from tests.oracle.test_random_optimum import ONE_WORKER, as_shown, compare

CONTESTS, CHUNK = 100, 50
VOLCANO = [seed for seed in range(CONTESTS) if contest(seed).model != "kube"]


def heuristic(session: Contest) -> tuple[object, ...]:
    """What the mirror decides."""
    snapshot = session.snapshot()
    found = replay(snapshot.instance, snapshot.policy).solution
    return found.binds, found.allocated, found.pipelined, sorted(found.evicted)


def best(session: Contest) -> list[object]:
    """The optimum's values, all proved."""
    snapshot = session.snapshot()
    solution = decide(snapshot.instance, snapshot.policy, ONE_WORKER)
    assert solution.status is SolutionStatus.OPTIMAL
    return [(level.label, level.value) for level in solution.levels]


@pytest.mark.parametrize("start", range(0, CONTESTS, CHUNK))
def test_the_optimum_beside_groups_without_pods_is_the_oracles(start: int) -> None:
    for seed in range(start, start + CHUNK):
        compare(with_empty_groups(contest(seed), seed, stated=True), seed)


def test_the_optimum_where_groups_without_pods_enter_is_the_oracles() -> None:
    """Their minimum counts against overcommit as any task's; those that were let in earlier keep others out."""
    kept_out = 0
    for seed in range(60):
        session = with_empty_groups(entering(seed), seed, stated=True)
        compare(session, seed)
        kept_out += as_shown(optimum(session.snapshot())) != as_shown(optimum(entering(seed).snapshot()))
    assert kept_out >= 10


@pytest.mark.parametrize("start", range(0, CONTESTS, CHUNK))
def test_the_optimum_beside_jobs_of_unknown_queues_is_the_oracles(start: int) -> None:
    for seed in range(start, start + CHUNK):
        compare(without_a_queue(contest(seed), seed)[0], seed)


def test_a_group_without_pods_that_asks_for_nothing_changes_nothing() -> None:
    """Neither what Volcano decides nor what would be best: it has nothing to place and nothing to lose."""
    for seed in VOLCANO:
        plain = as_objects(contest(seed))
        more = with_empty_groups(contest(seed), seed, stated=False)
        assert heuristic(more) == heuristic(plain), seed
        assert best(more) == best(plain), seed


def test_a_job_of_an_unknown_queue_is_another_schedulers() -> None:
    """Its pods keep the room they have, get none, and are never victims."""
    differing = 0
    for seed in VOLCANO:
        lost, chosen = without_a_queue(contest(seed), seed)
        theirs = without_a_job(contest(seed), chosen)
        assert heuristic(lost) == heuristic(theirs), seed
        assert best(lost) == best(theirs), seed
        differing += heuristic(lost) != heuristic(as_objects(contest(seed)))
    assert differing >= 10
