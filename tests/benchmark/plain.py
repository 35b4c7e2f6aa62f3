"""The easy way: a Boolean per pod and node, CP-SAT as it comes, level after level. The product is measured against it.

For sessions of single pods under kube-scheduler's policy, without filters beyond requests. What it finds is checked
like anything else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ortools.sat.python import cp_model

from cpsched.instance import Task
from cpsched.objectives import level_plan, out_of_reach, value_of
from cpsched.policy.levels import SENSES, Value
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import Eviction


class Found(NamedTuple):
    """One level as the model left it."""

    name: str
    priority: int | None
    value: Value
    proved: bool


def solve(
    snapshot: Snapshot, limit: float, clock: Callable[[], float] = time.monotonic
) -> tuple[list[Found], list[str]]:
    """Every level's value and whether it is proved, and the rules that the decision breaks."""
    model = _Plain(snapshot)
    end, plan = clock() + limit, level_plan(snapshot)
    proved: list[bool] = []
    for position, (name, priority) in enumerate(plan):
        share = (end - clock()) * 2 / (len(plan) - position + 1)
        proved.append(model.minimise(model.objective(name, priority), share) and all(proved))
    decision = model.decision()
    levels = [Found(*level, value_of(decision, *level), shown) for level, shown in zip(plan, proved, strict=True)]
    return levels, [one.rule for one in violations(decision)]


class _Plain:
    """Placed, bound and evicted; capacity, one node per pod, and a victim only where a pod above it is placed."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self.cp: Any = cp_model.CpModel()
        self.last: dict[str, int] = {}
        """Who is evicted in what was found last."""
        self.places: dict[tuple[str, str], int] = {}
        self.starts: dict[tuple[str, str], int] = {}
        tasks = [task for job in snapshot.starving for task in job.pending]
        nodes = snapshot.instance.nodes
        self.placed = {(t.key, n): self.cp.new_bool_var("") for t in tasks for n in nodes}
        self.bound = dict(self.placed)
        self.priority = {task.key: task.pod_priority for task in tasks}
        self.evicted: dict[str, cp_model.IntVar] = {}
        for task in tasks:
            self.cp.add_at_most_one(self.placed[task.key, n] for n in nodes)
        for node in nodes:
            lowest = max(self.priority.values(), default=0)
            victims = [v for v in snapshot.instance.tasks_by_node[node] if v.pod_priority < lowest]
            self._node(node, tasks, victims)

    def _node(self, node: str, tasks: list[Task], victims: list[Task]) -> None:
        cp = self.cp
        for victim in victims:
            self.evicted[victim.key] = cp.new_bool_var("")
            above = [self.placed[t.key, node] for t in tasks if t.pod_priority > victim.pod_priority]
            cp.add(sum(above) >= self.evicted[victim.key])
        for task in tasks if victims else ():
            self.bound[task.key, node] = cp.new_bool_var("")
            cp.add_implication(self.bound[task.key, node], self.placed[task.key, node])
        for name, room in self.snapshot.idle[node].items():
            asked = [(t.key, t.requests.get(name, 0)) for t in tasks if t.requests.get(name, 0)]
            freed = [v.requests.get(name, 0) * self.evicted[v.key] for v in victims]
            cp.add(sum(size * self.placed[key, node] for key, size in asked) <= int(room) + sum(freed))
            if victims:
                cp.add(sum(size * self.bound[key, node] for key, size in asked) <= int(room))

    def objective(self, name: str, priority: int | None) -> Any:
        """What is minimised for a level."""
        tasks = self.snapshot.instance.tasks
        reach = (lambda _: True) if priority is None else out_of_reach(self.snapshot, priority)
        gone = {key: one for key, one in self.evicted.items() if reach(tasks[key])}
        rank_of = {level: number for number, level in enumerate(sorted({tasks[k].pod_priority for k in gone}), 1)}
        if name == "jobs_admitted":
            return -sum(one for (key, _), one in self.placed.items() if self.priority[key] == priority)
        if name == "victim_max_priority":
            return self._largest([(rank_of[tasks[key].pod_priority], one) for key, one in gone.items()])
        if name == "victim_priority_sum":
            return sum((len(gone) * 10 + tasks[key].pod_priority) * one for key, one in gone.items())
        if name == "victim_count":
            return sum(gone.values())
        if name == "victim_start_time":
            top = max((tasks[key].pod_priority for key in gone if self.last.get(key)), default=0)
            group = [key for key in gone if tasks[key].pod_priority == top]
            starts = sorted({tasks[key].pod_status.start_time or 0 for key in group}, reverse=True)
            number = {start: rank for rank, start in enumerate(starts, 1)}
            return self._largest([(number[tasks[key].pod_status.start_time or 0], gone[key]) for key in group])
        if name == "tasks_bound":
            return -sum(self.bound.values())
        assert SENSES[name] == "min", name
        return 0  # no budgets and no gangs here

    def _largest(self, terms: list[tuple[int, cp_model.IntVar]]) -> Any:
        largest = self.cp.new_int_var(0, max((rank for rank, _ in terms), default=0), "")
        for rank, one in terms:
            self.cp.add(largest >= rank).only_enforce_if(one)
        return largest

    def minimise(self, objective: Any, seconds: float) -> bool:
        """Whether the optimum is proved; the best found is kept from now on, and is the next hint."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 2
        solver.parameters.max_time_in_seconds = max(0.02, seconds)
        self.cp.minimize(objective)
        status = solver.solve(self.cp)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return False
        self.cp.add(objective <= solver.value(objective))
        self.cp.clear_hints()
        for index in range(len(self.cp.proto.variables)):
            variable = self.cp.get_int_var_from_proto_index(index)
            self.cp.add_hint(variable, solver.value(variable))
        self.last = {key: solver.value(one) for key, one in self.evicted.items()}
        self.places = {place: solver.value(one) for place, one in self.placed.items()}
        self.starts = {place: solver.value(one) for place, one in self.bound.items()}
        return bool(status == cp_model.OPTIMAL)

    def decision(self) -> Decision:
        """What was found last; nothing if nothing was."""
        binds = {key: node for (key, node), one in self.starts.items() if one}
        reserves = {key: node for (key, node), one in self.places.items() if one and key not in binds}
        tasks = self.snapshot.instance.tasks
        gone = [Eviction(task=key, node=tasks[key].node, action="preempt") for key, one in self.last.items() if one]
        return Decision(self.snapshot, binds, reserves, tuple(gone))
