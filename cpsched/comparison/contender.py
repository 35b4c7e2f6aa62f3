"""Contenders: engines by name, each with the decision it takes in a session and where that stands."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cpsched import engines
from cpsched.checker import checked_from_outside, stamped
from cpsched.comparison.optima import Optima
from cpsched.comparison.session import Session
from cpsched.errors import InputError
from cpsched.external import PREFIX
from cpsched.importers.recorded import RECORDED
from cpsched.options import Options
from cpsched.ranking import Standing
from cpsched.snapshot import Snapshot
from cpsched.solution import NO_DECISION, Solution

OPTIMAL = "optimal"


@dataclass(frozen=True)
class Contender:
    """One engine's checked decision."""

    engine: str
    """As it was asked for; `solution.engine` says who decided."""
    solution: Solution
    standing: Standing | None
    """None if there is no decision."""
    note: str = ""
    seconds: float = 0.0
    cache_warning: str = ""
    """What kept its optimum from being remembered or believed."""

    @property
    def rules(self) -> tuple[str, ...]:
        """Keys of the rules that the decision breaks."""
        return tuple(sorted({finding.rule for finding in self.solution.findings}))


def checked(names: Sequence[str], others: Iterable[str] = ()) -> tuple[str, ...]:
    """The names, if each is an engine and none comes twice, also not among the other contenders."""
    for name in names:
        if name not in (engines.MIRROR, RECORDED):
            engines.find(name)
    every = [*names, *others]
    if len(set(every)) < len(every):
        twice = next(name for name in every if every.count(name) > 1)
        raise InputError(f"engine {twice} is named twice", right="name each engine once")
    if not every:
        raise InputError("no engine is named", right=f"name at least one: {', '.join(engines.ENGINES)}")
    return tuple(names)


def contend(session: Session, name: str, options: Options, optima: Optima) -> Contender:
    """Let one engine decide."""
    started, instance, policy = time.perf_counter(), session.instance, session.policy
    if name == RECORDED:
        return _recorded(session, Snapshot(instance, policy))
    engine = session.mirror if name == engines.MIRROR else name
    if engine == OPTIMAL:
        solution = optima.best(instance, policy, options)
        seconds = time.perf_counter() - started
        standing = Standing.of(Snapshot(instance, policy), solution)
        return Contender(name, solution, standing, seconds=seconds, cache_warning=optima.warning)
    found, decision = engines.decide(engine, instance, policy, session.options(engine, options))
    solution, seconds = stamped(instance, found), time.perf_counter() - started
    standing = None if solution.status in NO_DECISION else Standing.of_decision(decision, len(solution.findings))
    return Contender(name, solution, standing, seconds=seconds)


def given(session: Session, name: str, solution: Solution) -> Contender:
    """A decision that was taken elsewhere."""
    verdict = _from_outside(session, solution, name)
    return Contender(name, verdict, Standing.of(Snapshot(session.instance, session.policy), verdict))


def _from_outside(session: Session, solution: Solution, name: str) -> Solution:
    """Checked; under this name if it bears that of an engine which decides here."""
    found = checked_from_outside(session.instance, session.policy, solution)
    is_ours = found.engine in engines.ENGINES or found.engine.startswith(PREFIX)
    return found.model_copy(update={"engine": name}) if is_ours else found


def recorded(session: Session, snapshot: Snapshot) -> list[tuple[Solution, Standing, int]]:
    """Every recorded decision, checked, with the number of runs it was seen in."""
    found = []
    for outcome in session.outcomes:
        solution = _from_outside(session, outcome.solution, RECORDED)
        standing = Standing.of(snapshot, solution)
        if standing is None:
            raise InputError("a recorded decision without a decision", file=session.file, right="drop the row")
        found.append((solution, standing, outcome.count))
    return found


def _recorded(session: Session, snapshot: Snapshot) -> Contender:
    """The worst of the recorded decisions: a scheduler that chooses at random is measured by its worst outcome."""
    found = recorded(session, snapshot)
    if not found:
        right = "give outcomes or a decision in the row, or CASE.solution.json beside the instance"
        raise InputError("no decision is recorded", file=session.file or session.id, right=right)
    solution, standing, count = max(found, key=lambda one: one[1].key)
    runs = sum(one[2] for one in found)
    note = f"the worst of {len(found)} recorded decisions, seen in {count} of {runs} runs" if len(found) > 1 else ""
    return Contender(RECORDED, solution, standing, note)
