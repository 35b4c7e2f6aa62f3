"""Level by level: solve, let the judge look, fix, go on; nothing is called proved that was not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ortools.sat.python import cp_model

from cpsched.check import Decision, Violation, violations
from cpsched.objectives import comparable, level_plan, value_of, vector
from cpsched.optimum.constraints.charging import refine
from cpsched.optimum.constraints.own_room import own_room
from cpsched.optimum.extract import counts_of, extract
from cpsched.optimum.foresight import Foreseen, Foresight
from cpsched.optimum.interrupt import on_interrupt
from cpsched.optimum.levels import Step, steps_of
from cpsched.optimum.program import Program
from cpsched.optimum.race import MismatchError, Race, Settings, objective_of
from cpsched.optimum.variables import Expr, sum_of
from cpsched.snapshot import Snapshot

LAZY_RULES = frozenset({"filters", "charge", "eviction"})
"""Rules that the rows may state too weakly; the checker finds what slipped through and a no-good excludes it."""

FIND_EFFORT = 1.0
"""Deterministic time that CP-SAT has to itself to find a decision that is as good as foreseen."""
ATTEMPTS = 8
"""How often that is tried again after the judge refused what came of it and the rows were made exact there."""

CLIMB = 12
"""How many values above a bound are asked for one by one."""

GIVEN = "given open levels"
"""What is said of a level that was closed after one that stayed open."""


def rank(decision: Decision) -> tuple[tuple[int, int], ...]:
    """The smaller, the better."""
    return comparable(level_plan(decision.snapshot), vector(decision))


@dataclass
class LevelResult:
    """One settled level."""

    name: str
    priority: int | None
    value: int | None
    bound: int | None
    proved: bool
    prover: str
    seconds: float


class Search:
    """A lexicographic search; `best` is always a decision without findings."""

    def __init__(self, snapshot: Snapshot, settings: Settings, hint: Callable[[], Decision] | None = None):
        self.snapshot, self.settings = snapshot, settings
        self.race = Race(settings)
        self._clock = self.race.clock
        self._end = self._clock() + settings.time_limit
        self.program = Program(snapshot)
        self.best = Decision(snapshot, {}, {})
        self.levels: list[LevelResult] = []
        self._values: list[int] | None = None
        self._ask_hint = hint
        self._plan = level_plan(snapshot)
        self._made: dict[int, list[Step]] = {}
        self._settled: list[list[int]] = []
        self._foreseen: dict[int, list[Foreseen]] = {}

    def run(self) -> None:
        """Settle every level in order; Ctrl-C and the time limit leave the rest as the best decision has it."""
        with on_interrupt(self.race.interrupt), closing(self.race):
            for position in range(len(self._plan)):
                if position not in self._foreseen and all(level.proved for level in self.levels):
                    self._foresee(position)
                self._level(position)
        for level in self.levels:
            # A decision found for a later level may be better on one that stayed open.
            level.value = value_of(self.best, level.name, level.priority)

    def _foresee(self, begin: int) -> None:
        """Look at the levels ahead on a sketch, and find a decision that is as good on as many as can be."""
        now = self._clock()
        if now >= self._end or self.race.interrupted:
            return
        sight = Foresight(self.program, self.race, self._settled)
        sight.look(now + (self._end - now) / 2)
        self._foreseen |= {begin + offset: steps for offset, steps in enumerate(sight.levels)}
        most, least = len(sight.levels), 0
        count = most
        while least < count and not self.race.interrupted:
            end = self._clock() + max(0.1, (self._end - self._clock()) / 4)
            if self._realised(begin, begin + count, sight, end):
                least = count
            else:
                most = count - 1
            count = (least + most + 1) // 2

    def _realised(self, begin: int, end: int, sight: Foresight, until: float) -> bool:
        """Whether a decision was found that is as good as foreseen on these levels."""
        for plan in (self._same_places(sight), self._same_served(sight), self._own_room, []):
            found = self._found(self._as_foreseen(begin, end), plan, until)
            if found or found is None:
                return bool(found)
        return False

    def _found(self, rows: list[Any], plan: list[Any], until: float) -> bool | None:
        """Whether a decision that satisfies the rows and the plan was taken as the best; None if time ran out."""
        for _ in range(ATTEMPTS):
            model: Any = self.program.cp.clone()
            model.clear_objective()
            model.clear_hints()
            for row in (*rows, *plan):
                model.add(row)
            outcome = self.race.find(model, until - self._clock(), FIND_EFFORT)
            if not outcome.solutions:
                return False if outcome.holder else None
            decision = self._judged(outcome.solutions[0])
            if decision is not None:
                self.best, self._values = decision, outcome.solutions[0]
                return True
        return None

    def _as_foreseen(self, begin: int, end: int) -> list[Any]:
        """Rows of a decision that is as good as foreseen on these levels."""
        rows: list[Any] = []
        for position in range(begin, end):
            for step, foreseen in zip(self._steps(position), self._foreseen[position], strict=True):
                rows += step.no_worse(foreseen.value)
        if all(name != "tasks_bound" for name, _ in self._plan[:end]):
            rows += self._only_waiting
        return rows

    @cached_property
    def _only_waiting(self) -> list[Any]:
        """Nobody starts at once, where that is as good for every level but the one that counts it."""
        v = self.program.variables
        return [sum_of(list(v.bind.values())) == 0] if v.waiting_will_do and v.bind else []

    def _same_places(self, sight: Foresight) -> list[Any]:
        """As many of each kind on each place, and the same victims, as in the sketch."""
        v, theirs, values = self.program.variables, sight.sketch.variables, sight.values or []
        rows: list[Any] = []
        for mine, drawn in ((v.bind, theirs.bind), (v.reserve, theirs.reserve)):
            together: dict[tuple[int, str], list[Expr]] = {}
            for (index, node), count in mine.items():
                together.setdefault((theirs.room.kind_of[index], node), []).append(count)
            rows += [
                sum_of(counts) == values[drawn[place].index]
                for place, counts in together.items()
                if place in drawn and place[1] in sight.sketch.lone
            ]
        return rows

    def _same_served(self, sight: Foresight) -> list[Any]:
        """The same jobs served as in the sketch, and nobody in room of victims whom it may not evict."""
        v, theirs, values = self.program.variables, sight.sketch.variables, sight.values or []
        return [
            *self._own_room,
            *(
                v.served(jobs) == sum(values[x[jobs.index].index] for x in (theirs.ready, theirs.pipelined))
                for jobs in v.classes.jobs
            ),
        ]

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
        started, left = self._clock(), len(self._plan) - position
        self.race.say(f"level {name if priority is None else f'{name}[{priority}]'}")
        end = started + max(0.1, (self._end - started) * 2 / (left + 1))
        holders: list[str] = []
        open_step: tuple[Step, int] | None = None
        foreseen = dict(enumerate(self._foreseen.get(position, [])))
        started -= sum(step.seconds for step in foreseen.values())
        self._settled.append([])
        for number, step in enumerate(self._steps(position)):
            bound, holder = self._settle(step, end, foreseen.get(number))
            value = step.measure(self.best)
            self._settled[-1].append(value)
            for row in step.no_worse(value) if bound == value else [step.expr <= value]:
                self.program.cp.add(row)
            if number not in foreseen or foreseen[number].value != value:
                # What was foreseen beyond this step is only what would be best if this were.
                foreseen, self._foreseen = {}, {p: f for p, f in self._foreseen.items() if p <= position}
            holders.append(holder)
            if bound != value:
                open_step = (step, bound)
                break
        if open_step is None:
            solver = next((holder for holder in holders if holder != "bound"), "bound")
            self._record(name, priority, value_of(self.best, name, priority), solver, started, closed=True)
        else:
            self._record(name, priority, open_step[0].level(open_step[1]), holders[-1], started)

    def _record(
        self, name: str, priority: int | None, bound: int | None, holder: str, started: float, *, closed: bool = False
    ) -> None:
        earlier_open = any(not level.proved for level in self.levels)
        prover = f"{holder}, {GIVEN}" if closed and earlier_open and holder else holder
        value = value_of(self.best, name, priority)
        proved = closed and not earlier_open
        self.levels.append(LevelResult(name, priority, value, bound, proved, prover, self._clock() - started))

    @cached_property
    def _own_room(self) -> list[Any]:
        return list(own_room(self.program.variables))

    def _settle(self, step: Step, end: float, foreseen: Foreseen | None) -> tuple[int, str]:
        """(bound, who holds it); decisions that the judge refuses are excluded and the step is repeated."""
        least, holder = step.least, "bound"
        if foreseen is not None and foreseen.value > least:
            least, holder = foreseen.value, foreseen.holder
        if step.measure(self.best) > least:
            self._take_hint()
            if foreseen is not None:
                least, holder = self._climbed(step, least, holder, end)
            self.program.cp.add(step.expr >= least)
        while True:
            value = step.measure(self.best)
            if value == step.least:
                return value, "bound"
            if value == least:
                return value, holder
            seconds = end - self._clock()
            if seconds <= 0 or self.race.interrupted:
                return least, holder if least > step.least else ""
            self._hint()
            self.program.cp.minimize(step.expr)
            outcome = self.race.minimise(self.program.cp, max(0.05, seconds))
            refused = self._refused(outcome.solutions, step)
            value = step.measure(self.best)
            if refused and value != outcome.bound:
                continue
            if outcome.bound is None or outcome.bound <= least:
                return (value, holder) if value == least else (least, holder if least > step.least else "")
            if outcome.bound > value:
                raise MismatchError(f"{outcome.holder} claims that nothing is below {outcome.bound}, but {value} is")
            return outcome.bound, outcome.holder

    def _climbed(self, step: Step, least: int, holder: str, end: float) -> tuple[int, str]:
        """What was foreseen is close: ask for that value, then for the next, as long as the answer is a clear no."""
        rows = [] if self._starts_count else self._only_waiting
        for _ in range(CLIMB):
            if self._clock() >= end or step.measure(self.best) <= least:
                break
            until = self._clock() + max(0.1, (end - self._clock()) / 4)
            if self._found([step.expr <= least, *rows], [], until) is not False:
                break
            least, holder = least + 1, "cp-sat"
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
        decision = self._judged(values)
        if decision is None:
            return False
        worth, claimed = step.measure(decision), self._value(step.expr, values)
        if worth > claimed:
            raise MismatchError(f"a decision worth {worth} is claimed to be worth {claimed}")
        if worth <= step.measure(self.best):
            self.best, self._values = decision, values
        return True

    def _judged(self, values: list[int]) -> Decision | None:
        """The decision that an assignment stands for; None if the judge refuses it, and then it is excluded."""

        def value(expr: Expr) -> int:
            return self._value(expr, values)

        decision = Decision(self.snapshot, *extract(self.program.variables, value))
        found = violations(decision)
        if not found:
            return decision
        wrong = [item for item in found if item.rule not in LAZY_RULES]
        if wrong:
            raise MismatchError(f"the decision breaks {wrong[0].rule}: {wrong[0].subject} {wrong[0].message}")
        self._exclude(found, value)
        return None

    @staticmethod
    def _value(expr: Expr, values: list[int]) -> int:
        flat = cp_model.FlatIntExpr(expr)
        total: int = flat.offset + sum(c * values[x.index] for x, c in zip(flat.vars, flat.coeffs, strict=True))
        return total

    def _exclude(self, found: list[Violation], value: Callable[[Expr], int]) -> None:
        """Make the rows exact where they let the decision pass, or exclude the counts that the violation hangs on."""
        v, charged = self.program.variables, [item.subject for item in found if item.rule == "charge"]
        refined = [node for node in charged if refine(self.program.cp, v, node)]
        if refined:
            return
        if found[0].rule == "filters":
            task = self.snapshot.instance.tasks[found[0].subject]
            tasks, victims = self.program.interplay.company(task)
            counts = [x for places in (v.bind, v.reserve) for (index, _), x in places.items() if index in tasks]
            counts += [x for (index, _), x in v.evict.items() if index in victims]
        else:
            counts = [*v.bind.values(), *v.reserve.values(), *v.evict.values()]
        self.program.forbid({count: value(count) for count in counts})

    def _take_hint(self) -> None:
        """Go on from the decision made elsewhere, once, if it is better so far."""
        if self._ask_hint is None:
            return
        hint, self._ask_hint = self._ask_hint(), None
        if not violations(hint) and rank(hint) < rank(self.best):
            self._adopt(hint)

    def _adopt(self, decision: Decision) -> None:
        """Start from a decision made elsewhere."""
        cp: Any = self.program.cp
        cp.clear_hints()
        for variable, count in counts_of(self.program.variables, decision).items():
            cp.add_hint(variable, count)
        if (values := self._completed()) is not None:
            self.best, self._values = decision, values

    def _hint(self) -> None:
        """Start from the best decision; helper variables that a new level added are filled in by the solver first."""
        cp: Any = self.program.cp
        cp.clear_hints()
        if self._values is None:
            return
        for index, value in enumerate(self._values):
            cp.add_hint(cp.get_int_var_from_proto_index(index), value)
        if len(self._values) < len(cp.proto.variables) and (values := self._completed()) is not None:
            self._values = values
            self._hint()

    def _completed(self) -> list[int] | None:
        """All values that go with those hinted; None if there are none."""
        solver = cp_model.CpSolver()
        parameters: Any = solver.parameters
        parameters.fix_variables_to_their_hinted_value = True
        parameters.num_workers = 1
        parameters.catch_sigint_signal = False
        if self.settings.deterministic:
            parameters.max_deterministic_time = 10.0
        else:
            parameters.max_time_in_seconds = 10.0
        cp: Any = self.program.cp
        cp.clear_objective()
        if solver.solve(cp) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return list(solver.response_proto.solution)
