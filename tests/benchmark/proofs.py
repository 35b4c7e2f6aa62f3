"""Proofs of levels: which share of the proved levels has one, how long it takes to write and to check, and its size."""

from __future__ import annotations

import argparse
import csv
import gzip
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from cpsched import engines
from cpsched.checker import decision_of
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.instance import Instance
from cpsched.lab.generate import generate
from cpsched.objectives import level_plan
from cpsched.optimum.proofs.write import LevelProof, LevelWriter
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.policy.levels import LevelRef, Value
from cpsched.proof.counts import is_countable
from cpsched.proof.reading import lines_of
from cpsched.proof.statement import Session
from cpsched.proof.steps import Replayer
from cpsched.snapshot import Snapshot
from tests.benchmark import openb
from tests.benchmark.sessions import CONF
from tests.oracle.sessions import contest

Named = tuple[str, Instance, str | Policy | None]
"""A session's name, its cluster, and its model or policy."""


@dataclass
class ProvedLevel:
    """A level that the search proved, with its proof if one was found; times in CPU seconds."""

    label: str
    prover: str
    proof: LevelProof | None = None
    checking: float = 0.0
    """The statement made again, and the steps replayed."""

    @property
    def size(self) -> int:
        """Bytes as they are stored."""
        return len(gzip.compress(b"".join(lines_of(self.proof.steps)))) if self.proof else 0


@dataclass
class SessionProofs:
    """The levels of one session, and what it took to solve it."""

    name: str
    solving: float
    levels: list[ProvedLevel] = field(default_factory=list)
    open: int = 0
    writing: float = 0.0


def proofs_of(
    name: str, snapshot: Snapshot, *, seconds: float = 60, search: bool = True, limit: float | None = None
) -> SessionProofs:
    """Solve the session, then write and check a proof of every level that is proved."""
    begun = time.process_time()
    options = Options(time_limit=seconds, workers=1)
    solution = engines.run("optimal", snapshot.instance, snapshot.policy, options)
    found = SessionProofs(name, time.process_time() - begun)
    decision = decision_of(snapshot.instance, snapshot.policy, solution)
    if not is_countable(decision):
        found.levels = [ProvedLevel(one.label, one.prover) for one in solution.levels if one.proved]
        return found
    bounds = [
        (ref, ref.value(one.value)) for ref, one in zip(level_plan(decision.snapshot), solution.levels, strict=True)
    ]
    writer = LevelWriter(decision, bounds)
    begun = time.process_time()
    wanted = [number for number, one in enumerate(solution.levels) if one.proved]
    proofs = dict(writer.proofs(wanted, search=search, seconds=seconds if limit is None else limit))
    found.writing = time.process_time() - begun
    checker = Session(decision.snapshot)
    given: dict[LevelRef, Value] = {}
    for number, ((ref, value), level) in enumerate(zip(bounds, solution.levels, strict=True)):
        if level.proved:
            one = ProvedLevel(ref.label, level.prover, proofs.get(number))
            if one.proof is not None:
                begun = time.process_time()
                statement = checker.statement(one.proof.form, given, ref, value)
                Replayer(statement, checker.values(one.proof.form, given, ref, value, decision)).replay(one.proof.steps)
                one.checking = time.process_time() - begun
            found.levels.append(one)
        else:
            found.open += 1
        given[ref] = value
    return found


COLUMNS = (
    *("what", "sessions", "proved levels", "checked", "by sums alone", "by splits too", "kB", "largest kB"),
    *("solve s", "write s", "check s", "slowest check s"),
)
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"


@dataclass
class Measured:
    """One row of the table: several sessions taken together."""

    what: str
    sessions: list[SessionProofs] = field(default_factory=list)

    @property
    def row(self) -> tuple[str, ...]:
        """As the table has it."""
        levels = [one for found in self.sessions for one in found.levels]
        shown = [one for one in levels if one.proof]
        splits = [one for one in shown if one.proof and any(step[0] == "split" for step in one.proof.steps)]
        sizes = [one.size for one in shown] or [0]
        slowest = max((one.checking for one in shown), default=0.0)
        return (
            *(self.what, str(len(self.sessions)), str(len(levels)), f"{len(shown)} ({_percent(shown, levels)})"),
            *(str(len(shown) - len(splits)), str(len(splits)), f"{sum(sizes) / 1000:.0f}", f"{max(sizes) / 1000:.1f}"),
            f"{sum(one.solving for one in self.sessions):.1f}",
            f"{sum(one.writing for one in self.sessions):.1f}",
            *(f"{sum(one.checking for one in shown):.1f}", f"{slowest:.2f}"),
        )


def _percent(some: list[ProvedLevel], of: list[ProvedLevel]) -> str:
    return f"{math.floor(1000 * len(some) / len(of)) / 10:g} %" if of else "–"


def _shipped(folder: str) -> Iterator[Named]:
    for path in sorted((Path(__file__).parents[2] / "instances" / folder).glob("*.json")):
        if path.name not in ("baseline.json", "expected.json"):
            yield path.name, load(str(path)), None


def _made(family: str, seeds: Iterable[int] = (1,), model: str | None = None, **parameters: int) -> Iterator[Named]:
    for seed in seeds:
        raw = generate(family, parameters, seed=seed)
        yield f"{family} {parameters} {seed}", load(raw | ({} if model else {"conf": CONF})), model


def _openb(nodes: int) -> Iterator[Named]:
    yield f"openb {nodes}", load(openb.session(nodes, 0.9, 0) | {"conf": openb.CONF}), None


def _drawn() -> Iterator[Named]:
    for seed in range(9000, 9100):
        snapshot = contest(seed).snapshot()
        yield f"contest {seed}", snapshot.instance, snapshot.policy


def _cells() -> Iterator[Named]:
    for number, (nodes, pods, priorities, usage) in enumerate(product((4, 8, 16, 32), (4, 8), (1, 2, 4), (95, 105))):
        if number % 4 == 0:
            parameters = {"nodes": nodes, "pods_per_node": pods, "priorities": priorities, "usage": usage}
            yield from _made("priority-matters", (7000 + number,), "kube", **parameters)


def _bins(folder: Path) -> Iterator[Named]:
    """Published packing problems on one node fewer than they need."""
    for row in list(csv.DictReader((folder / "instances.csv").open()))[::20]:
        lines = (folder / row["benchmark"] / f"{row['name']}.vbp").read_text().split("\n")
        room, items = lines[1].split(), [line.split() for line in lines[3:] if line.strip()]
        names = [f"example.com/r{number}" for number in range(len(room))]
        most = dict(zip(names, room, strict=True)) | {"pods": "1000"}
        nodes = [{"name": f"n{number}", "allocatable": most} for number in range(int(row["our_bins"]) - 1)]
        jobs = [
            {
                "name": f"p{number}",
                "tasks": [{"count": int(item[-1]), "requests": dict(zip(names, item, strict=False))}],
            }
            for number, item in enumerate(items)
        ]
        yield row["name"], load({"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": nodes, "jobs": jobs}), "kube"


SMALL: dict[str, Callable[[], Iterator[Named]]] = {
    "`instances/tiny`": lambda: _shipped("tiny"),
    "`instances/issues`": lambda: _shipped("issues"),
    "drawn, tiny": _drawn,
    "contended, 8 nodes": lambda: _made("contended", range(1, 4)),
    "gang-heavy, 4 nodes": lambda: _made("gang-heavy", range(1, 4)),
    "queue-borrowing, 4 nodes": lambda: _made("queue-borrowing", range(1, 4)),
    "gpu-pool, 8 nodes": lambda: _made("gpu-pool", range(1, 4)),
    "contended, 30 nodes": lambda: _made("contended", nodes=30, gangs=12),
    "kai-reclaim, 100 nodes": lambda: _made("kai-reclaim", nodes=100),
    "openb, 50 nodes": lambda: _openb(50),
    "Priority Matters, 4 to 32 nodes": _cells,
}
"""What `make proofs` measures."""
LARGE: dict[str, Callable[[], Iterator[Named]]] = {
    "openb, 200 nodes": lambda: _openb(200),
    "contended, 100 nodes, 40 gangs": lambda: _made("contended", nodes=100, gangs=40, queues=1),
    "kai-reclaim, 500 nodes": lambda: _made("kai-reclaim", nodes=500),
    "kai-reclaim, 2,000 nodes": lambda: _made("kai-reclaim", nodes=2000),
}
"""What the benchmark adds."""


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, and print the table; with --write into the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark proofs", description=__doc__)
    parser.add_argument("--write", action="store_true", help="only what docs/proofs.md has, and write it there")
    parser.add_argument("--only", metavar="TEXT", help="rows whose name holds this")
    parser.add_argument("--vectorpack", type=Path, metavar="DIR", help="a folder of published packing problems")
    parser.add_argument(
        "--seconds", type=float, default=60, help="limit for solving, and again for writing (default 60)"
    )
    options = parser.parse_args(arguments)
    chosen = SMALL if options.write else SMALL | LARGE
    if options.vectorpack:
        chosen = chosen | {"vectorpack": lambda: _bins(options.vectorpack)}
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    print("\n".join(lines), flush=True)
    for what, sessions in chosen.items():
        if options.only and options.only not in what:
            continue
        found = Measured(what)
        for name, instance, model in sessions():
            policy = model if isinstance(model, Policy) else load_policy(model, None, instance=instance)
            found.sessions.append(proofs_of(name, Snapshot(instance, policy), seconds=options.seconds))
            for line in missing(found.sessions[-1]):
                print(line, file=sys.stderr, flush=True)
        lines.append(f"| {' | '.join(found.row)} |")
        print(lines[-1], flush=True)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(before + "\n".join([BEGIN, *lines, END]) + after, encoding="utf-8")


def missing(found: SessionProofs) -> Iterator[str]:
    """The levels that have no proof."""
    for one in found.levels:
        if one.proof is None:
            yield f"{found.name}: {one.label} ({one.prover}) has no proof"
