"""Proofs of levels: which share of the proved levels has one, how long it takes to write and to check, and its size."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from cpsched import engines
from cpsched.checker import decision_of
from cpsched.objectives import level_plan
from cpsched.optimum.proofs.write import LevelProof, LevelWriter
from cpsched.options import Options
from cpsched.policy.levels import LevelRef, Value
from cpsched.proof.reading import lines_of
from cpsched.proof.statement import Session
from cpsched.proof.steps import Replayer
from cpsched.snapshot import Snapshot


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


COLUMNS = ("levels", "open", "proofs", "share", "solve s", "write s", "check s", "bytes")
HEAD = f"{'session':34} " + " ".join(f"{name:>8}" for name in COLUMNS)


def line(found: SessionProofs) -> str:
    """One session as a row."""
    with_proof = [one for one in found.levels if one.proof]
    share = 100 * len(with_proof) / len(found.levels) if found.levels else 100
    checking = sum(one.checking for one in found.levels)
    return (
        f"{found.name:34} {len(found.levels):8} {found.open:8} {len(with_proof):8} {share:7.0f}% {found.solving:8.2f} "
        f"{found.writing:8.2f} {checking:8.2f} {sum(one.size for one in found.levels):8}"
    )


def report(found: SessionProofs) -> Iterator[str]:
    """The row, and the levels that have no proof."""
    yield line(found)
    missing = [f"{one.label} ({one.prover})" for one in found.levels if one.proof is None]
    if missing:
        yield f"    without a proof: {', '.join(missing)}"
