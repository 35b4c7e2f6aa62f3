"""Which decision the search keeps: never one that is worse on a later level than what it had."""

from __future__ import annotations

from cpsched.optimum.budget import Budget
from cpsched.optimum.params import SolveParams
from cpsched.optimum.search.incumbent import Incumbent
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.rules import Decision
from tests.judge import cluster, conf, job, pending, snapshot_of

STATED = conf("allocate", "priority", "gang", "predicates", "proportion")


def test_an_answer_that_is_as_good_on_its_level_and_worse_later_is_not_taken() -> None:
    jobs = [job(f"j{n}", pending(1, 1), minMember=1, priority=p) for n, p in enumerate((100, 10, 10))]
    snapshot = snapshot_of(cluster(*jobs, nodes=1), conf=STATED)
    first, second, third = (snapshot.jobs[key].tasks[0].key for key in sorted(snapshot.jobs))
    incumbent = Incumbent(snapshot, Portfolio(Budget(SolveParams(deterministic=True))))
    both = Decision(snapshot, {first: "n0", second: "n0"}, {})
    incumbent.take(both)
    incumbent.take(Decision(snapshot, {first: "n0"}, {}))
    assert incumbent.decision is both
    equal = Decision(snapshot, {first: "n0", third: "n0"}, {})
    incumbent.offer(equal)
    assert incumbent.decision is both
    incumbent.take(equal)
    assert incumbent.decision is equal
