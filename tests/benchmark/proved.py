"""Fresh sessions of every recorded profile: is every level of each proved within ten seconds?

    python -m tests.benchmark proved --sessions 200 --seed 500000

A session is a recorded one with its nodes, pods, gangs and configuration changed at random. The exit code is 1 if one
of them stays open or ends in an exception; its profile and seed are printed.
"""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from cpsched import engines
from cpsched.importers.load import load
from cpsched.optimum import disagreement
from cpsched.options import Options
from cpsched.policy import load_model, policy_for
from tests.oracle.variations import PROFILES, variation

LIMIT = 10.0


@dataclass
class Tally:
    """What came of the sessions of one profile."""

    seconds: list[float] = field(default_factory=list)
    open: list[str] = field(default_factory=list)


def main(arguments: Sequence[str] = ()) -> int:
    """One row per profile: how many sessions, how many proved, the slowest; then those that stay open."""
    options = _options(arguments)
    disagreement.LOUD = True
    tallies = {profile: Tally() for profile in PROFILES}
    for seed in range(options.seed, options.seed + options.sessions):
        for profile, tally in tallies.items():
            _measure(profile, seed, tally)
    table = Table("profile", "sessions", "proved", "median s", "slowest s", title=f"Proved within {LIMIT:g} s")
    for profile, tally in tallies.items():
        times = sorted(tally.seconds)
        proved = len(times) - len(tally.open)
        table.add_row(profile, str(len(times)), str(proved), f"{times[len(times) // 2]:.2f}", f"{times[-1]:.2f}")
    Console().print(table)
    total, left = (sum(map(len, lists)) for lists in zip(*((t.seconds, t.open) for t in tallies.values()), strict=True))
    print(f"{total} sessions, {left} not proved", flush=True)
    return 1 if left else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark proved", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--sessions", type=int, default=10, help="sessions of each profile (default 10)")
    return parser.parse_args(arguments)


def _measure(profile: str, seed: int, tally: Tally) -> None:
    model, objects, conf = variation(profile, seed)
    instance = load(objects, lenient=True)
    policy = policy_for(load_model(model), conf)
    started = time.perf_counter()
    try:
        solution = engines.run("optimal", instance, policy, Options(time_limit=LIMIT))
        left = [level.label for level in solution.levels if not level.proved]
        wrong = f"{left[0]} is open" if left else "".join(f"breaks {one.rule}" for one in solution.findings[:1])
    except Exception:
        wrong = traceback.format_exc()
    tally.seconds.append(time.perf_counter() - started)
    if wrong:
        tally.open.append(wrong)
        print(f"{profile}, seed {seed}: {wrong}", flush=True)
