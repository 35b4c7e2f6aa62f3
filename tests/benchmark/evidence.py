"""Bounds of certificates against all decisions of tiny sessions, and how often each rule shapes the optimum."""

from __future__ import annotations

import os
import time
from collections import Counter

from tests.oracle.alternatives import binding_rules
from tests.oracle.brute_force import optimum
from tests.oracle.evidence import Tally, tally_of
from tests.oracle.sessions import contest

SESSIONS = int(os.environ.get("SESSIONS", "100"))
FIRST = int(os.environ.get("FIRST", "10000"))
"""Seeds that no test uses; SESSIONS=3000 FIRST=0 python -m tests.benchmark evidence runs others."""


def main() -> int:
    """Levels closed by each kind of evidence, bounds that a decision beats, and rules; 1 if a bound is beaten."""
    started, rules, tally = time.process_time(), Counter[str](), Tally()
    for seed in range(FIRST, FIRST + SESSIONS):
        snapshot = contest(seed).snapshot()
        tally_of(snapshot, tally)
        rules.update(binding_rules(optimum(snapshot)))
    print(f"{SESSIONS} sessions, {len(tally.beaten)} bounds beaten, {time.process_time() - started:.0f} s")
    print(f"  {tally.closed.total()} of {tally.levels.total()} levels closed by evidence")
    for level in tally.levels:
        kinds = {kind: count for (name, kind), count in tally.closed.items() if name == level}
        print(f"  {level:20} {sum(kinds.values()):6} of {tally.levels[level]:6}  {kinds}")
    print("rules that bind: " + ", ".join(f"{rule} {count}" for rule, count in rules.most_common()))
    return 1 if tally.beaten else 0
