"""Agreement at length: optimum and oracle, CP-SAT and HiGHS, bounds and all decisions, over as many seeds as wanted."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import cpsched
from tests.oracle.brute_force import optimum
from tests.oracle.evidence import Tally, tally_of
from tests.oracle.midsize import midsize
from tests.oracle.neighbours import FAMILIES, neighbourly
from tests.oracle.rivals import binding_rules
from tests.oracle.sessions import contest
from tests.oracle.test_random_optimum import compare

SESSIONS = int(os.environ.get("SESSIONS", "100"))
FIRST = int(os.environ.get("FIRST", "10000"))
"""Seeds that no test uses; SESSIONS=3000 FIRST=0 python -m tests.benchmark agreement runs others."""


def main() -> None:
    """One line each: how many sessions, how many disagree, CPU seconds."""
    rules: Counter[str] = Counter()
    tally = Tally()

    def count_rules(seed: int) -> None:
        rules.update(binding_rules(optimum(contest(seed).snapshot())))

    _run("optimum = oracle", lambda seed: compare(contest(seed), seed))
    _run("optimum = oracle, scope cluster", lambda seed: compare(contest(seed, scope="cluster"), seed))
    for family in FAMILIES:
        _run(f"optimum = oracle, {family}", partial(_neighbours, family))
    _run("cp-sat = highs", _provers)
    _run("no decision beats a bound", lambda seed: tally_of(contest(seed).snapshot(), tally))
    closed, levels = tally.closed.total(), tally.levels.total()
    print(f"  {len(tally.beaten)} bounds beaten; {closed} of {levels} levels closed by evidence")
    for level in tally.levels:
        kinds = {kind: count for (name, kind), count in tally.closed.items() if name == level}
        print(f"  {level:20} {sum(kinds.values()):6} of {tally.levels[level]:6}  {kinds}")
    _run("rules that bind", count_rules)
    print("  " + ", ".join(f"{rule} {count}" for rule, count in rules.most_common()))


def _neighbours(family: str, seed: int) -> None:
    compare(neighbourly(seed, family), seed)


def _provers(seed: int) -> None:
    instance = cpsched.load(midsize(seed))
    one = cpsched.solve(instance, prover="cp-sat", deterministic=True)
    other = cpsched.solve(instance, prover="highs")
    first, second = ([(level.value, level.proved) for level in found.levels] for found in (one, other))
    assert first == second, seed


def _run(what: str, judge: Callable[[int], None]) -> None:
    started, wrong = time.process_time(), []
    for seed in range(FIRST, FIRST + SESSIONS):
        try:
            judge(seed)
        except AssertionError:
            wrong.append(seed)
    seconds = time.process_time() - started
    print(f"{what:32} {SESSIONS} sessions, {len(wrong)} disagree {wrong[:5] or ''} {seconds:.0f} s")
