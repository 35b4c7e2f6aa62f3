"""Agreement at length: every prover against exhaustive search, over all kinds of tiny sessions, on fresh seeds.

    python -m tests.benchmark agreement --seconds 3600 --seed 500000 --processes 2

A difference is a level that is called proved with another value than exhaustive search finds, a bound that excludes
that value, a decision that breaks a rule, or an exception. It is printed at once with its seed; the exit code is 1
then. A level that stays open is counted by itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from functools import cache, partial
from itertools import count, islice

from rich.console import Console
from rich.table import Table

from cpsched import engines, timestamps
from cpsched.importers.load import load
from cpsched.objectives import comparable
from cpsched.optimum import disagreement
from cpsched.optimum.solvers import second_solver
from cpsched.options import Options, Prover
from cpsched.policy import load_model, policy_for
from cpsched.snapshot import Snapshot
from cpsched.solution import Level
from tests.oracle import plugin_sessions, topology_sessions
from tests.oracle.brute_force import TooLargeError, optimum
from tests.oracle.neighbours import FAMILIES, neighbourly
from tests.oracle.samples import session
from tests.oracle.sessions import Contest, contest, entering, overcommitted
from tests.unit.optimum.solvers.second_solver import SharedWorker

PROVERS: tuple[Prover, ...] = ("both", "cp-sat", "highs")
LIMIT = 30.0
AGREES, DIFFERENT, OPEN, TOO_LARGE = "agrees", "different", "open", "too large"
Verdict = tuple[str, str, str]
"""Kind, prover and what came of it."""
Checked = tuple[Counter[Verdict], list[str]]


def uneven(seed: int) -> Contest:
    """A contest between queues whose shares are seldom whole numbers."""
    one, r = contest(seed), random.Random(f"uneven {seed}")
    queues = [{**queue, "weight": r.choice([1, 3, 7, 9, 11, 13, 17])} for queue in one.source["queues"]]
    return replace(one, source={**one.source, "queues": queues})


def _recorded(model: str, seed: int) -> Snapshot:
    objects, conf = session(f"{model}-recorded.jsonl.gz", seed)
    instance = load(objects, lenient=True)
    return Snapshot(instance, policy_for(load_model(model), conf))


def _made(make: Callable[[int], Contest], seed: int) -> Snapshot:
    return make(seed).snapshot()


KINDS: dict[str, Callable[[int], Snapshot]] = {
    "contest": partial(_made, contest),
    "scope cluster": partial(_made, partial(contest, scope="cluster")),
    "uneven queues": partial(_made, uneven),
    "entering": partial(_made, entering),
    "overcommitted": partial(_made, overcommitted),
    **{family: partial(_made, partial(neighbourly, family=family)) for family in FAMILIES},
    "recorded volcano": partial(_recorded, "volcano"),
    "recorded kube": partial(_recorded, "kube"),
    **{kind: partial(plugin_sessions.session, kind) for kind in plugin_sessions.KINDS},
    **{kind: partial(topology_sessions.topology_session, kind) for kind in topology_sessions.KINDS},
}


def main(arguments: Sequence[str] = ()) -> int:
    """One row per kind and prover: how many agree, differ, stay open; then all differences."""
    options = _options(arguments)
    counts: Counter[Verdict] = Counter()
    started, ran = time.monotonic(), 0
    with ProcessPoolExecutor(options.processes, multiprocessing.get_context("spawn")) as pool:
        working: set[Future[Checked]] = set()
        seeds = _seeds(options, started)
        try:
            while True:
                wanted = options.processes - len(working)
                working |= {pool.submit(_checked, seed) for seed in islice(seeds, wanted)}
                if not working:
                    break
                done, working = wait(working, return_when=FIRST_COMPLETED)
                for verdicts, lines in (future.result() for future in done):
                    counts.update(verdicts)
                    ran += 1
                    for line in lines:
                        print(line, flush=True)
        except KeyboardInterrupt:
            print("interrupted: so far", flush=True)
    different = sum(number for (_, _, verdict), number in counts.items() if verdict == DIFFERENT)
    Console().print(_table(counts))
    seconds = time.monotonic() - started
    print(f"seeds {options.seed} to {options.seed + ran - 1}, {seconds:.0f} s: different = {different}", flush=True)
    return 1 if different else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark agreement", description=__doc__)
    parser.add_argument("--seed", type=int, default=10000, help="first seed; tests use those below (default 10000)")
    parser.add_argument("--sessions", type=int, default=0, help="how many seeds; each is one session of every kind")
    parser.add_argument("--seconds", type=float, default=0.0, help="go on with further seeds for so long")
    parser.add_argument("--processes", type=int, default=1, help="how many seeds at the same time (default 1)")
    options = parser.parse_args(arguments)
    if not options.sessions and not options.seconds:
        options.sessions = 20
    return options


def _seeds(options: argparse.Namespace, started: float) -> Iterator[int]:
    """One seed after the other, until time is over or so many were asked for."""
    for seed in count(options.seed):
        late = options.seconds and time.monotonic() > started + options.seconds
        if late or (options.sessions and seed >= options.seed + options.sessions):
            return
        yield seed


@cache
def _prepare() -> None:
    shared = SharedWorker()
    second_solver.SolverProcess = lambda module: shared  # type: ignore[assignment, misc]
    disagreement.LOUD = True


def _checked(seed: int) -> Checked:
    """All kinds of one seed."""
    _prepare()
    counts: Counter[Verdict] = Counter()
    lines: list[str] = []
    for kind, make in KINDS.items():
        snapshot = make(seed)
        try:
            best = optimum(snapshot)
        except TooLargeError:
            counts.update((kind, prover, TOO_LARGE) for prover in PROVERS)
            continue
        truth = list(zip(best.labels, best.values, strict=True))
        for prover in PROVERS:
            try:
                verdict, line = _verdict(snapshot, truth, prover)
            except Exception:
                verdict, line = DIFFERENT, traceback.format_exc()
            counts[kind, prover, verdict] += 1
            if verdict != AGREES:
                lines.append(f"{verdict}: seed {seed}, {kind}, {prover}: {line}")
    return counts, lines


def _verdict(snapshot: Snapshot, truth: list[tuple[str, int | None]], prover: Prover) -> tuple[str, str]:
    solution = engines.run("optimal", snapshot.instance, snapshot.policy, Options(prover=prover, time_limit=LIMIT))
    if solution.findings:
        return DIFFERENT, f"breaks {solution.findings[0].rule}"
    if [level.label for level in solution.levels] != [label for label, _ in truth]:
        return DIFFERENT, "other levels"
    for level, (label, value) in zip(solution.levels, truth, strict=True):
        mine, bound, best = (_ranked(level.name, one) for one in (_number(level.value), _number(level.bound), value))
        if mine < best or (level.proved and mine != best):
            return DIFFERENT, f"{label} is {level.value}, exhaustive search finds {value}"
        if level.prover and bound > best:
            return DIFFERENT, f"{label} has the bound {level.bound} by {level.prover}, exhaustive search finds {value}"
        if mine != best:
            return OPEN, f"{label} is {level.value}, not proved; exhaustive search finds {value}"
    if solution.status != "optimal":
        return OPEN, f"{_first_open(solution.levels)} is not proved"
    return AGREES, ""


def _first_open(levels: Sequence[Level]) -> str:
    return next(level.label for level in levels if not level.proved)


def _ranked(name: str, value: int | None) -> tuple[int, int]:
    """Sorts what is better first."""
    return comparable([(name, None)], [value])[0]


def _number(value: int | str | None) -> int | None:
    return timestamps.parse(value) if isinstance(value, str) else value


def _table(counts: Counter[Verdict]) -> Table:
    table = Table("kind", "prover", AGREES, DIFFERENT, OPEN, TOO_LARGE, title="Provers against exhaustive search")
    for kind in KINDS:
        for prover in PROVERS:
            table.add_row(
                kind, prover, *(str(counts[kind, prover, one]) for one in (AGREES, DIFFERENT, OPEN, TOO_LARGE))
            )
    return table
