"""Levels by packing: what each level of a session of single pods says of pods that are placed and victims that go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cpsched.instance import Task
from cpsched.objectives import PRIORITY_OFFSET, out_of_reach
from cpsched.optimum.model.objective.known import KnownLevel, KnownVictims
from cpsched.optimum.model.objective.nodes import used_in_any_case
from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.model.victims import started
from cpsched.optimum.packing.allowance import Allowance, OutOfTimeError
from cpsched.optimum.packing.search import Packing, Result
from cpsched.optimum.params import QUICK_SHARE
from cpsched.optimum.relax.empty_nodes import EmptyNodes
from cpsched.optimum.relax.packing_model import PackingModel
from cpsched.optimum.relax.packing_stage import Objective, PackingStage
from cpsched.optimum.search.level_state import LevelState
from cpsched.optimum.search.state import SearchState
from cpsched.rules import Decision, violations

Closed = list[tuple[Stage, int]]
"""A level's stages, each with the value that is proved."""


class PackingLevels:
    """Closes one level after another, each given those before it.

    A closed level leaves behind a goal that every later placement keeps, or takes away from `limits`, which says how
    many of each victim class may go. The incumbent always keeps both.
    """

    def __init__(self, state: SearchState, model: PackingModel, allowance: Allowance):
        self._state, self._model, self._allowance = state, model, allowance
        self._victims = state.session.classes.victims
        self._limits = [group.most for group in self._victims]
        self._goals: tuple[Objective, ...] = ()
        self._without: tuple[Objective, ...] = ()
        self._bound: int | None = None
        self._nodes_are_counted = False
        """Whether a level was closed that no goal states: what is placed from now on would be on more nodes."""
        self.open_bound: tuple[Stage, int] | None = None
        """What is proved of the stage that stayed open."""

    def pack_without_victims(self) -> None:
        """Pack all tiers into what is free: mostly no task has to go, and one placement closes all levels."""
        tiers = tuple(Objective(tier) for tier in range(len(self._model.priorities)))
        stage = self._model.stage([0] * len(self._limits), tiers)
        assert stage is not None, "no victim is counted"
        search, found = self._search(stage, ())
        self._without = tuple(
            replace(goal, lost=stage.problem.most_of(index) - search.values[index])
            for index, goal in enumerate(tiers[: found.closed])
        )

    def close(self, level: LevelState) -> Closed | None:
        """The stages of a level with the values that they have at best; None if that stays open."""
        self.open_bound = None
        if level.name not in _LEVELS:
            return None
        return _LEVELS[level.name](self, level)

    def admitted(self, level: LevelState) -> Closed | None:
        """As many pods of the priority as possible."""
        assert level.priority is not None
        if self._nodes_are_counted:
            return None
        tier = self._model.priorities.index(level.priority)
        demand = self._model.demand(tier)
        stage = KnownLevel(level.name, level.priority, -demand)
        goals = (*self._goals, Objective(tier, lost=demand + stage.value(self._state.best)))
        is_known = not any(self._limits) and goals == self._without[: len(goals)]
        if goals[-1].lost and not is_known:
            best = self._best(goals)
            if best is None:
                self.open_bound = None if self._bound is None else (stage, self._bound - demand)
                return None
            goals = (*self._goals, best)
        self._goals = goals
        return [(stage, goals[-1].lost - demand)]

    def budgets(self, level: LevelState) -> Closed | None:
        """No budget is exceeded where no task goes."""
        if self._state.best.evictions and self._state.snapshot.instance.budgets:
            return None
        name, priority = level.name, level.priority
        return [(KnownLevel(name, priority, 0), 0)]

    def max_priority(self, level: LevelState) -> Closed | None:
        """The least priority such that all victims above it can stay."""
        groups = self._counted(level)
        thresholds = sorted({self._priority(group) for group in groups})
        rank_of = {priority: rank for rank, priority in enumerate(thresholds, 1)}
        stage = self._stage(groups, lambda gone: max((rank_of[task.pod_priority] for task in gone), default=0))
        for rank in range(stage.value(self._state.best) + 1):
            above = {group for group in groups if rank_of[self._priority(group)] > rank}
            answer = self._can_stay([0 if g in above else limit for g, limit in enumerate(self._limits)])
            if answer is None:
                return None
            if answer:
                return [(stage, rank)]
        return None

    def priority_sum(self, level: LevelState) -> Closed | None:
        """The fewest victims, then among as many the least important ones."""
        groups = self._counted(level)
        priorities = [(self._priority(group), self._victims[group].most) for group in groups]
        if sum(abs(priority) * most for priority, most in priorities) >= PRIORITY_OFFSET:
            return None
        found = self._least(groups, by_priority=False)
        if found is None:
            return None
        closed: Closed = [(self._stage(groups, len), found)]
        if len({priority for priority, _ in priorities}) > 1:
            least = self._least(groups, by_priority=True)
            if least is None:
                return None
            ideal = sum(min(0, priority) * most for priority, most in priorities)
            closed.append((self._stage(groups, lambda gone: sum(task.pod_priority for task in gone), ideal), least))
        return closed

    def count(self, level: LevelState) -> Closed | None:
        """The fewest victims."""
        groups = self._counted(level)
        found = self._least(groups, by_priority=False)
        return None if found is None else [(self._stage(groups, len), found)]

    def start_time(self, level: LevelState) -> Closed | None:
        """Of the victims of the highest priority the first to start as late as possible; by bisection."""
        groups, snapshot = self._counted(level), self._state.snapshot
        starts = sorted({started(snapshot, task) for group in groups for task in self._victims[group].tasks})
        rank_of = {start: len(starts) - index for index, start in enumerate(starts)}

        def rank(gone: list[Task]) -> int:
            top = max((task.pod_priority for task in gone), default=None)
            return max((rank_of[started(snapshot, task)] for task in gone if task.pod_priority == top), default=0)

        stage = self._stage(groups, rank)
        high = stage.value(self._state.best)
        top = max((self._priority(group) for group in self._gone(groups)), default=None)
        low = min(1, high)
        while low < high:
            middle, limits = (low + high) // 2, list(self._limits)
            for group in groups:
                if self._priority(group) == top:
                    late = sum(rank_of[started(snapshot, task)] <= middle for task in self._victims[group].tasks)
                    limits[group] = min(limits[group], late)
            answer = self._can_stay(limits)
            if answer is None:
                return None
            low, high = (low, stage.value(self._state.best)) if answer else (middle + 1, high)
        return [(stage, high)]

    def placed(self, level: LevelState, waiting: int = 0) -> Closed | None:
        """All pods that the admission levels count, less those that do not start."""
        placed = [goal for goal in self._goals if goal.tier is not None]
        if len(placed) < len(self._model.priorities):
            return None
        total = sum(self._model.demand(tier) for tier in range(len(placed)))
        return [(KnownLevel(level.name, None, -total), waiting + sum(goal.lost for goal in placed) - total)]

    def bound(self, level: LevelState) -> Closed | None:
        """All that is placed starts, but for one task on every node that loses a victim: else the victim could stay."""
        stated = self.placed(level)
        if stated is None or not any(self._limits):
            return stated
        stage, least = stated[0]
        if self._state.snapshot.policy.evicts_beside:
            gone = self._least(list(range(len(self._limits))), by_priority=False)
            least += 0 if gone is None else self._fewest_nodes(gone)
        self.open_bound = (stage, least)
        if stage.value(self._state.best) > least:
            best = self._best((*self._goals, Objective(starts=True)))
            if best is not None:
                least = max(least, best.lost + stage.ideal)
            elif self._bound is not None:
                self.open_bound = (stage, max(least, self._bound + stage.ideal))
        return [(stage, least)]

    def nodes(self, level: LevelState) -> Closed | None:
        """The fewest nodes: with one more empty node each time, until all that is to be placed finds a place.

        A decision on as many nodes is a placement on one of the choices, so if none is feasible, neither is the number.
        """
        state, model = self._state, self._model
        used = frozenset(used_in_any_case(state.snapshot, state.session.classes))
        starts = any(one.name == "tasks_bound" for one in state.levels)
        if any(tasks and node not in used for node, tasks in state.snapshot.instance.tasks_by_node.items()):
            return None  # whole nodes could be freed
        if starts and (any(self._limits) or not model.starts_where_it_fits):
            return None  # it matters who waits
        self._nodes_are_counted = True
        stage, empty = KnownLevel(level.name, None, len(used)), EmptyNodes.of(model, used)
        least = self._fewest_counted(empty, stage.value(state.best) - len(used))
        if least is None:
            return None
        for is_quick in (True, False):
            count = least
            while stage.value(state.best) > len(used) + count:
                answer = self._fits(empty, count, is_quick=is_quick)
                least = count + 1 if answer is False else least
                if answer or (answer is None and not is_quick):
                    break
                count += 1
        self.open_bound = (stage, len(used) + least)
        return [(stage, len(used) + least)] if stage.value(state.best) == len(used) + least else None

    def _fits(self, empty: EmptyNodes, count: int, *, is_quick: bool) -> bool | None:
        """Whether the goals can be met on so many empty nodes, and then the incumbent does; None if that stays open."""
        choices, whole = empty.choices(count), self._allowance
        if is_quick:
            self._allowance = replace(whole, until=whole.clock() + QUICK_SHARE * whole.left)
        answers = set()
        for nodes in (None,) if choices is None else choices:
            answers.add(None if nodes is None else self._holds(nodes))
            if True in answers:
                break
        self._allowance = whole
        return True if True in answers else None if None in answers else False

    def _fewest_counted(self, empty: EmptyNodes, most: int) -> int | None:
        """The fewest empty nodes for which counting leaves a choice, by bisection: what too many cannot hold, fewer
        cannot. None if there are too many choices.
        """
        low, high = 0, most
        while low < high:
            middle = (low + high) // 2
            choices = empty.choices(middle)
            if choices is None:
                return None
            low, high = (low, middle) if any(map(self._may_hold, choices)) else (middle + 1, high)
        return low

    def _may_hold(self, nodes: frozenset[str]) -> bool:
        """Whether counting alone does not exclude that the goals are met on these nodes."""
        stage = self._model.stage(self._limits, self._goals, nodes)
        if stage is None:
            return True
        try:
            return Packing(stage.problem, self._allowance, known=stage.known(self._goals)).may_reach_known
        except OutOfTimeError:
            return True

    def _holds(self, nodes: frozenset[str]) -> bool | None:
        """Whether the goals can be met on these nodes alone, and then the incumbent does; None if that stays open."""
        stage = self._model.stage(self._limits, self._goals, nodes)
        if stage is None:
            return None
        search, found = self._search(stage, self._goals)
        if list(search.values) != stage.known(self._goals):
            return False if found.is_infeasible else None
        return self._state.best.placed_by_node.keys() <= nodes or None

    def _fewest_nodes(self, gone: int) -> int:
        """On how many nodes so many victims stand at least."""
        by_node: dict[str, int] = {}
        for group, limit in zip(self._victims, self._limits, strict=True):
            by_node[group.node] = by_node.get(group.node, 0) + limit
        nodes = 0
        for most in sorted(by_node.values(), reverse=True):
            if gone <= 0:
                break
            gone, nodes = gone - most, nodes + 1
        return nodes

    def _search(self, stage: PackingStage, known: tuple[Objective, ...]) -> tuple[Packing, Result]:
        """Search one problem from the incumbent, and offer what is found."""
        state, start = self._state, stage.placement_of(self._state.best)
        seed = state.budget.params.seed
        search = Packing(stage.problem, self._allowance, seed, known=stage.known(known), start=start)
        found = search.run()
        decision = stage.decision(found.placement)
        if violations(decision):
            state.incumbent.offer_without_violations(decision, state.budget.left)
        else:
            state.incumbent.offer(decision)
        return search, found

    def _best(self, goals: tuple[Objective, ...]) -> Objective | None:
        """The last goal as it is at best, given those before it; None if it stays open."""
        self._bound = None
        stage = self._model.stage(self._limits, goals)
        if stage is None:
            return None
        search, found = self._search(stage, goals[:-1])
        reached = list(search.values[: len(goals) - 1]) == stage.known(goals[:-1])
        lost = [stage.problem.most_of(len(goals) - 1) - value for value in (search.values[-1], *found.bounds[-1:])]
        if reached and len(found.bounds) == len(goals):
            self._bound = lost[-1]
        return replace(goals[-1], lost=lost[0]) if reached and found.closed == len(goals) else None

    def _can_stay(self, limits: list[int]) -> bool | None:
        """Whether no more than these victims have to go for the goals; None if that stays open."""
        if any(count > limits[group] for group, count in self._gone(range(len(limits))).items()):
            stage = self._model.stage(limits, self._goals)
            if stage is None:
                return None
            known = stage.known(self._goals)
            if any(value < 0 for value in known):
                return False  # more victims are to stay than is possible with as many gone
            search, found = self._search(stage, self._goals)
            if list(search.values) != known:
                return False if found.is_infeasible else None
            if any(count > limits[group] for group, count in self._gone(range(len(limits))).items()):
                return None  # the placement breaks a rule that packing leaves out
        self._limits = limits
        return True

    def _least(self, groups: list[int], *, by_priority: bool) -> int | None:
        """The fewest victims of these classes, or the least sum of their priorities; None if that stays open."""
        active = frozenset(group for group in groups if self._limits[group])
        everything = frozenset(group for group, limit in enumerate(self._limits) if limit)
        gone = self._gone(groups)
        lowest = min((self._priority(group) for group in groups), default=0) if by_priority else 0
        if not gone:
            self._limits = [0 if group in active else limit for group, limit in enumerate(self._limits)]
            return 0
        for goal in self._goals:
            is_same = goal.tier is None and goal.victims & everything == active and goal.by_priority == by_priority
            if is_same:
                return goal.lost + goal.lowest * sum(gone.values())
        here = sum((self._priority(group) - lowest if by_priority else 1) * number for group, number in gone.items())
        best = self._best((*self._goals, Objective(None, active, by_priority, lowest, lost=here)))
        if best is None:
            return None
        self._goals = (*self._goals, best)
        return best.lost + lowest * sum(self._gone(groups).values())

    def _counted(self, level: LevelState) -> list[int]:
        """The victim classes that the level counts."""
        if level.priority is None:
            return [group.index for group in self._victims]
        beyond = out_of_reach(self._state.snapshot, level.priority)
        return [group.index for group in self._victims if beyond(group.representative)]

    def _priority(self, group: int) -> int:
        return self._victims[group].representative.pod_priority

    def _gone(self, groups: range | list[int]) -> dict[int, int]:
        """How many the incumbent evicts of each class, where it evicts any."""
        evicted = self._state.best.evicted
        counts = {group: sum(task.key in evicted for task in self._victims[group].tasks) for group in groups}
        return {group: count for group, count in counts.items() if count}

    def _stage(self, groups: list[int], measure: Callable[[list[Task]], int], ideal: int = 0) -> KnownVictims:
        """A stage that measures the victims of these classes."""
        counted = {task.key for group in groups for task in self._victims[group].tasks}

        def value(decision: Decision) -> int:
            return measure([task for task in decision.victims if task.key in counted])

        return KnownVictims(value, ideal)


_LEVELS: dict[str, Callable[[PackingLevels, LevelState], Closed | None]] = {
    "jobs_admitted": PackingLevels.admitted,
    "pdb_violations": PackingLevels.budgets,
    "victim_max_priority": PackingLevels.max_priority,
    "victim_priority_sum": PackingLevels.priority_sum,
    "victim_count": PackingLevels.count,
    "victim_start_time": PackingLevels.start_time,
    "tasks_bound": PackingLevels.bound,
    "tasks_placed": PackingLevels.placed,
    "nodes_used": PackingLevels.nodes,
}
"""What packing knows to close."""
