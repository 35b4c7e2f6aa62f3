"""Eviction rights given a whole decision: whose task, placed where, may evict whom, and by which action."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from cpsched.instance import Task
from cpsched.resources import less_equal_partly_for_zero_filtered
from cpsched.snapshot.rights import Action, actions_against, is_above_share
from cpsched.solution import Eviction

if TYPE_CHECKING:
    from cpsched.check.decision import Decision

Pair = tuple[Task, Action]


class Rights:
    """For every victim the placed tasks that may evict it.

    Reclaim depends on the other reclaim victims of the same queue. A victim counts under the action its eviction
    names, else under preempt where anybody placed beside it may preempt it, else under reclaim.
    """

    def __init__(self, decision: Decision):
        self.decision, self.snapshot = decision, decision.snapshot
        tasks = self.snapshot.instance.tasks
        self.static: dict[str, list[Pair]] = {
            item.task: self._static(tasks[item.task], item) for item in decision.evictions if item.task in tasks
        }

    def action(self, victim: str) -> Action | None:
        """The action a victim counts under, None if nobody could have evicted it."""
        actions = {action for _, action in self.static.get(victim, ())}
        return "preempt" if "preempt" in actions else "reclaim" if actions else None

    @cached_property
    def by_victim(self) -> dict[str, list[Pair]]:
        """Rights that hold once shares are looked at too."""
        return {key: [pair for pair in pairs if self._holds(key, *pair)] for key, pairs in self.static.items()}

    @cached_property
    def reclaimed(self) -> dict[str, list[Task]]:
        """Per queue the victims that count under reclaim."""
        by_queue: dict[str, list[Task]] = {}
        for victim in self.decision.victims:
            queue = self.snapshot.queue_of(victim)
            if queue is not None and self.action(victim.key) == "reclaim":
                by_queue.setdefault(queue.name, []).append(victim)
        return by_queue

    def given_back(self, queue: str, victims: Iterable[Task]) -> list[str]:
        """Those victims that find their queue above its share when they go, in the best order, the last one first.

        A queue is judged by what it holds now: what the decision itself places there gives nobody a right. It only
        shrinks as victims go, so whoever may go last may as well do so.
        """
        found: list[str] = []
        held: dict[str, float] = dict(self.snapshot.shares[queue].allocated) if queue in self.snapshot.shares else {}
        waiting: dict[tuple[tuple[str, int], ...], list[Task]] = {}
        for victim in victims:
            held = _changed(held, victim, -1)
            waiting.setdefault(tuple(sorted(victim.requests.items())), []).insert(0, victim)
        while waiting:
            after = {shape: _changed(held, alike[-1], 1) for shape, alike in waiting.items()}
            above = (s for s in waiting if is_above_share(self.snapshot, queue, waiting[s][-1], after[s]))
            if (shape := next(above, None)) is None:
                break
            held = after[shape]
            found.append(waiting[shape].pop().key)
            if not waiting[shape]:
                del waiting[shape]
        return found

    @cached_property
    def _given_back(self) -> dict[str, frozenset[str]]:
        """Per queue those of its reclaim victims that find it above its share."""
        return {queue: frozenset(self.given_back(queue, victims)) for queue, victims in self.reclaimed.items()}

    def _static(self, victim: Task, eviction: Eviction) -> list[Pair]:
        return [
            (task, action)
            for task in self._beside(victim)
            for action in actions_against(self.snapshot, task, victim)
            if eviction.action in ("", action)
        ]

    def _beside(self, victim: Task) -> Iterable[Task]:
        placed = self.decision.placed_by_node
        if self.snapshot.policy.rules.eviction_scope == "cluster":
            tasks = [task for on_node in placed.values() for task in on_node]
        else:
            tasks = placed.get(victim.node, [])
        return [task for task in tasks if self.snapshot.job_of(task) is not None]

    def _holds(self, key: str, task: Task, action: Action) -> bool:
        if action == "preempt":
            return True
        victim = self.snapshot.instance.tasks[key]
        queue = self.snapshot.queue_of(victim)
        assert queue is not None
        if self.action(key) == "reclaim":
            return key in self._given_back[queue.name] and self._has_claim(task)
        together = [*self.reclaimed.get(queue.name, []), victim]
        return key in self.given_back(queue.name, together) and self._has_claim(task)

    def _has_claim(self, task: Task) -> bool:
        """The reclaiming queue stays within its deserved share, as its share plugin tests it."""
        queue, shares, after = self.snapshot.queue_of(task), self.snapshot.shares, self.decision.allocated_after
        if queue is None or queue.name not in shares:
            return False
        if self.snapshot.policy.share_plugin == "proportion":
            deserved, held = shares[queue.name].deserved, after[queue.name]
            asked = (name for name, amount in task.requests.items() if amount > 0 and name != "pods")
            return all(held.get(name, 0) <= deserved.get(name, 0) for name in asked)
        plugin = self.snapshot.policy.plugin("capacity")
        reach = plugin.arguments.integer("ancestorReclaimLevel") if plugin else 0
        line = shares[queue.name].ancestors[:0:-1]
        return any(
            less_equal_partly_for_zero_filtered(after[name], shares[name].deserved, task.requests)
            for name in (queue.name, *line[:reach])
        )


def _changed(held: dict[str, float], task: Task, sign: int) -> dict[str, float]:
    return {name: held.get(name, 0) + sign * task.requests.get(name, 0) for name in {**held, **task.requests}}
