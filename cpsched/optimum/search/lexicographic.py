"""Level by level: solve, let the judge look, fix, go on; nothing is called proved that was not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import cached_property
from typing import Any

from cpsched.check import Decision
from cpsched.collector import without_collector
from cpsched.objectives import level_plan
from cpsched.optimum import disagreement as mismatch
from cpsched.optimum.disagreement import MismatchError
from cpsched.optimum.model.decode import extract
from cpsched.optimum.model.lazy import judged
from cpsched.optimum.model.objective.levels import steps_of, used_at_least
from cpsched.optimum.model.objective.stage import Step
from cpsched.optimum.model.session_model import Program
from cpsched.optimum.model.variables import sum_of, value_in
from cpsched.optimum.relax.bounding import SEES_TASKS, Foresight
from cpsched.optimum.relax.relaxed_model import Detail
from cpsched.optimum.relax.stage_bounds import Foreseen
from cpsched.optimum.search.incumbent import Incumbent, hint
from cpsched.optimum.search.known_bounds import ForeseenLevels
from cpsched.optimum.search.primal.disaggregate import unfolded
from cpsched.optimum.search.primal.elastic_repair import Repair
from cpsched.optimum.search.primal.fix_and_solve import plans
from cpsched.optimum.search.result import LevelResult, LevelResults
from cpsched.optimum.search.tuning import ATTEMPTS, CLIMB, FIND_EFFORT, SHARES, START_UP
from cpsched.optimum.solvers.interrupt import on_interrupt
from cpsched.optimum.solvers.portfolio import Outcome, Race, Settings, objective_of
from cpsched.snapshot import Snapshot
from cpsched.solution import ProverName

Hint = Callable[[], Decision] | None
BOUND: ProverName = "bound"
"""Who holds what is known of a step without any search."""


class Search:
    """A lexicographic search; `best` is always a decision without findings."""

    def __init__(self, snapshot: Snapshot, settings: Settings, hint: Hint = None, after: Search | None = None):
        """`after` is a search that left levels open: this one goes on from there and gives each level all its time."""
        self.snapshot, self.settings = snapshot, settings
        self.race = Race(settings)
        self._clock = self.race.clock
        self._end = self._clock() + settings.time_limit
        self._session = Program(snapshot)
        self._incumbent = Incumbent(snapshot, self.race, hint)
        self._plan = level_plan(snapshot)
        self._results = LevelResults(self._plan)
        self._repair = Repair(self._session, self.race)
        self._made: dict[int, list[Step]] = {}
        self._settled: list[list[int]] = []
        self._foreseen = ForeseenLevels()
        self._is_second, self._has_failed = after is not None, False
        if after is not None:
            self._results.levels = after.proved_levels
            self._settled = after._settled[: len(self._results.levels)]
            self._incumbent.take(after.best)

    @cached_property
    def program(self) -> Program:
        """The session itself, with the levels settled so far; where sketches settle all, nobody asks for it."""
        for position, values in enumerate(self._settled):
            self._made[position] = steps_of(self._session.variables, *self._plan[position])
            for step, value in zip(self._made[position], values, strict=False):
                for row in step.no_worse(value):
                    self._session.cp.add(row)
        return self._session

    @property
    def _needs_program(self) -> bool:
        return "program" in self.__dict__

    @property
    def best(self) -> Decision:
        """The best decision so far."""
        return self._incumbent.decision

    @property
    def levels(self) -> list[LevelResult]:
        """What came of the levels."""
        return self._results.levels

    @property
    def proved_levels(self) -> list[LevelResult]:
        """Those before the first one that is open."""
        return self._results.proved

    @property
    def seconds_left(self) -> float:
        """How much of the time limit is left; none after an interruption or a disagreement."""
        return 0.0 if self.race.stopped or self._has_failed else max(0.0, self._end - self._clock())

    def run(self) -> None:
        """Settle every level in order; Ctrl-C and the time limit leave the rest as the best decision has it.

        So does a disagreement between solver, model and judge that nothing can go on from; then no solver is believed.
        """
        try:
            with on_interrupt(self.race.interrupt), closing(self.race):
                for position in range(len(self._settled), len(self._plan)):
                    if position not in self._foreseen and self._results.are_proved:
                        self._foresee(position)
                    self._level(position)
            if not self._results.are_proved:
                self._incumbent.let_start()
            for wrong in self._results.read_again(self.best):
                raise MismatchError(wrong)
        except MismatchError as error:
            if mismatch.LOUD:
                raise
            self._has_failed = True
            self.race.note(f"internal error, please report it: {error}; what only a solver proved is left open")
            self._incumbent.let_start()
            self._results.leave_open(self.best)

    def _foresee(self, begin: int) -> None:
        """Look at the levels ahead on a sketch, and find a decision that is as good on as many as can be.

        Where a sketch says more than can be, one with more detail is asked, in the end the session itself; where that
        takes too long, the sketch is repaired.
        """
        if self._seen_at_once(begin):
            return
        sight: Foresight | None = None
        for detail in Detail:
            now, before = self._clock(), sight
            if now >= self._end or self.race.stopped:
                return
            if detail is Detail.NODES and before is not None and not before.sketch.has_pools:
                continue
            sight = Foresight(self._session, self.race, self._settled, detail, before)
            if not sight.sketch.knows(self._plan[begin][0]):
                continue
            sight.look(now + (self._end - now) * SHARES[detail])
            sight.repeat(self._end)
            self._foreseen.remember(begin, sight)
            self._incumbent.take_better(sight.decision)
            if sight.falls_short and before is not None:
                self._repair_part(begin, before)
            elif sight.sketch.is_exact or not sight.levels or self._realised(begin, sight):
                return

    def _seen_at_once(self, position: int) -> bool:
        """Whether it takes no sketch to say that the best decision so far is as good on the level as any can be."""
        if self._needs_program:
            return all(step.measure(self.best) == step.least for step in self._steps(position))
        if self._plan[position][0] != "nodes_used":
            return False
        step = used_at_least(self.snapshot, self._session.classes)
        if step.measure(self.best) > step.least:
            return False
        self._foreseen.state(position, step)
        return True

    def _realised(self, begin: int, sight: Foresight) -> bool:
        """Whether a decision was found that is as good as foreseen on all levels; maybe one is found on the first."""
        end = begin + len(sight.levels)
        if self._unfolded(begin, end, sight) or self._planned(begin, end, sight):
            return True
        victims = next((p for p in range(begin, end) if self._plan[p][0] in SEES_TASKS), end)
        if begin < victims < end:
            self._planned(begin, victims, sight)
        if sight.sketch.has_pools or self._repaired(end, sight, 1 / 3):
            return not sight.sketch.has_pools
        if self._clock() > self._end - self.settings.time_limit / 2:
            # What comes next may take all the time that is left.
            self._repair_part(begin, sight, 1 / 6)
        return False

    def _unfolded(self, begin: int, end: int, sight: Foresight) -> bool:
        """Whether the best decision so far is as good as foreseen, now that the sketch as it stands was looked at.

        Its pools are spread out; where rules are in the way, what is left may still be better than what there was.
        """
        with without_collector():
            outline = unfolded(self._session.classes, sight)
            drawn = extract(self.snapshot, self._session.classes, outline)
            self._incumbent.take_legal(drawn, self._end - self._clock())
        return all(self._is_as_foreseen(position) for position in range(begin, end))

    def _repair_part(self, begin: int, sight: Foresight, share: float = 1 / 2) -> None:
        """Make up the sketch into a decision that is as good on more levels than the best so far, but not on all."""
        least, most = begin, begin + len(sight.levels) - 1
        while least < most and self._is_as_foreseen(least):
            least += 1
        while least < most and not self.race.stopped:
            end = (least + most + 1) // 2
            if self._repaired(end, sight, share):
                least = end
            else:
                most = end - 1

    def _is_as_foreseen(self, position: int) -> bool:
        return self._foreseen.are_reached(position, self.best)

    def _repaired(self, end: int, sight: Foresight, share: float) -> bool:
        """Whether the sketch could be made up into a decision that is as good on all levels up to this one."""
        values = [*self._settled, *([step.value for step in self._foreseen[p]] for p in range(len(self._settled), end))]
        until = self._clock() + (self._end - self._clock()) * share
        decision = self._repair.decision(sight, list(zip(self._plan, values, strict=False)), until)
        if decision is not None:
            self._incumbent.take(decision)
        return decision is not None

    def _planned(self, begin: int, end: int, sight: Foresight) -> bool:
        """Whether a plan led to a decision that is as good as foreseen on these levels."""
        wanted = [
            (step, foreseen.value)
            for position in range(begin, end)
            for step, foreseen in zip(self._steps(position), self._foreseen[position], strict=True)
        ]
        rows = [row for step, value in wanted for row in step.no_worse(value)]
        if all(name != "tasks_bound" for name, _ in self._plan[:end]):
            rows += self._only_waiting
        for plan in plans(self.program.variables, sight):
            until = self._clock() + (self._end - self._clock()) / 4
            if self._find([*rows, *plan], until, alone=True).solutions:
                for step, value in wanted:
                    if step.measure(self.best) > value:
                        raise MismatchError(
                            f"a decision worth {step.measure(self.best)} is claimed to be worth {value}"
                        )
                return True
        return False

    def _find(self, rows: list[Any], until: float, *, alone: bool = False) -> Outcome:
        """Look for a decision that satisfies the rows; if there is one, it is the best from now on."""
        for _ in range(ATTEMPTS):
            model: Any = self.program.cp.clone()
            model.clear_objective()
            model.clear_hints()
            for row in rows:
                model.add(row)
            outcome = self.race.find(model, until - self._clock(), FIND_EFFORT, alone=alone)
            if not outcome.solutions:
                return outcome
            decision = judged(self.program, outcome.solutions[0])
            if decision is not None:
                self._incumbent.take(decision, outcome.solutions[0])
                return outcome
        return Outcome([])

    @cached_property
    def _only_waiting(self) -> list[Any]:
        """Nobody starts at once, where that is as good for every level but the one that counts it."""
        v = self.program.variables
        return [sum_of(list(v.bind.values())) == 0] if v.waiting_will_do and v.bind else []

    @property
    def _starts_count(self) -> bool:
        """Whether the levels settled so far, or the one at hand, count tasks that start at once."""
        return any(name == "tasks_bound" for name, _ in self._plan[: len(self._settled)])

    def _steps(self, position: int) -> list[Step]:
        """The level in the program; its helper variables are made when it is first asked for."""
        if position not in self._made:
            self._made[position] = steps_of(self.program.variables, *self._plan[position])
        return self._made[position]

    def _level(self, position: int) -> None:
        name, priority = self._plan[position]
        self.race.say(f"level {name if priority is None else f'{name}[{priority}]'}")
        if not self._needs_program and position in self._foreseen and self._is_as_foreseen(position):
            self._close(position)
        else:
            self._solve(position)

    def _close(self, position: int) -> None:
        """The best decision so far is as good as a sketch says that any can be."""
        foreseen = self._foreseen[position]
        pairs = self._foreseen.pairs(position)
        holders: list[ProverName] = ["bound" if step.least == known.value else known.holder for step, known in pairs]
        self._settled.append([known.value for known in foreseen])
        self._results.record(self.best, holders, sum(known.seconds for known in foreseen))

    def _solve(self, position: int) -> None:
        started, left = self._clock(), len(self._plan) - position
        holders: list[ProverName] = []
        open_step: tuple[Step, int] | None = None
        foreseen = dict(enumerate(self._foreseen.at_least(position)))
        share = 1 if self._is_second else 1 / 2 if foreseen else 2 / (left + 1)
        end = started + max(0.1, (self._end - started) * share) if started < self._end else started
        started -= sum(step.seconds for step in foreseen.values())
        self._settled.append([])
        for number, step in enumerate(self._steps(position)):
            bound, holder = self._settle(step, end, foreseen.get(number))
            value = step.measure(self.best)
            self._settled[-1].append(value)
            for row in step.no_worse(value) if bound == value else [step.expr <= value]:
                self.program.cp.add(row)
            if number not in foreseen or foreseen[number].value != value:
                self._foreseen.forget_after(position)
                foreseen = {}
            holders.append(holder)
            if bound != value:
                open_step = (step, bound)
                break
        self._results.record(self.best, holders, self._clock() - started, open_step)

    def _settle(self, step: Step, end: float, foreseen: Foreseen | None) -> tuple[int, ProverName]:
        """(bound, who holds it); decisions that the judge refuses are excluded and the step is repeated."""
        least, holder = step.least, BOUND
        if foreseen is not None and foreseen.value > least:
            least, holder = foreseen.value, foreseen.holder
        if step.measure(self.best) > least:
            self._incumbent.take_hint(self._end - self._clock())
            if foreseen is not None:
                self._approach(step, least, end)
                least, holder = self._climbed(step, least, holder, end)
            self.program.cp.add(step.expr >= least)
        while True:
            value = step.measure(self.best)
            if value < least:
                self._drop(holder, least, value)
                least, holder = step.least, BOUND
            if value == step.least:
                return value, BOUND
            if value == least:
                return value, holder
            seconds = end - self._clock()
            if seconds <= START_UP * len(self.program.cp.proto.variables) or self.race.stopped:
                return least, holder if least > step.least else ""
            hint(self.program, self._incumbent.assignment(self.program))
            self.program.cp.minimize(step.expr)
            outcome = self.race.minimise(self.program.cp, max(0.05, seconds))
            refused = self._refused(outcome.solutions, step)
            value = step.measure(self.best)
            if refused and value != outcome.bound:
                continue
            if outcome.bound is None or outcome.bound <= least:
                return (value, holder) if value == least else (least, holder if least > step.least else "")
            if outcome.bound > value:
                self._drop(outcome.holder, outcome.bound, value)
                return least, holder if least > step.least else ""
            return outcome.bound, outcome.holder

    def _drop(self, holder: ProverName, bound: int, value: int) -> None:
        """Go on without a bound that a decision beats, and say so."""
        wrong = f"{holder} reported that nothing is below {bound}, but a decision has {value}"
        if mismatch.LOUD or holder == BOUND:
            raise MismatchError(wrong)
        self.race.note(f"{wrong}: its bound was dropped")

    def _approach(self, step: Step, least: int, end: float) -> None:
        """Look around the best decision for one that is as good as foreseen; what is refused is close to the next."""
        near, expr = self._incumbent.assignment(self.program), step.expr
        while (left := end - self._clock()) > 0 and not self.race.stopped:
            hint(self.program, near)
            model: Any = self.program.cp.clone()
            model.minimize(expr)
            model.add(expr >= least)
            outcome = self.race.approach(model, left)
            if not outcome.solutions:
                return
            near = outcome.solutions[0]
            if self._accept(near, step):
                return

    def _climbed(self, step: Step, least: int, holder: ProverName, end: float) -> tuple[int, ProverName]:
        """What was foreseen is close: ask for that value, then for the next, as long as the answer is a clear no.

        Millionths are asked for once only: the next value that there is may be thousands of them away.
        """
        rows = [] if self._starts_count else self._only_waiting
        for _ in range(1 if step.in_millionths else CLIMB):
            if self._clock() >= end or step.measure(self.best) <= least:
                break
            until = self._clock() + max(0.1, (end - self._clock()) / 4)
            outcome = self._find([step.expr <= least, *rows], until)
            if not outcome.refuted or not outcome.holder:
                break
            least, holder = step.attainable(least + 1), outcome.holder
        return least, holder

    def _refused(self, solutions: list[list[int]], step: Step) -> bool:
        """Take the best of the solutions that the judge accepts; whether a better one was refused."""
        refused = False
        for values in sorted(solutions, key=lambda values: objective_of(self.program.cp, values)):
            if self._accept(values, step):
                break
            refused = True
        return refused

    def _accept(self, values: list[int], step: Step) -> bool:
        """Take a decision if the judge has nothing against it and it is no worse; else exclude it."""
        decision = judged(self.program, values)
        if decision is None:
            return False
        worth, claimed = step.measure(decision), value_in(step.expr, values)
        if worth > claimed:
            raise MismatchError(f"a decision worth {worth} is claimed to be worth {claimed}")
        if worth <= step.measure(self.best):
            self._incumbent.take(decision, values)
        return True
