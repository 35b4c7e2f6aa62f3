"""Eviction rights given a whole decision: whose task, placed where, may evict whom, and by which action."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cpsched.instance import Task
from cpsched.resources import Vector
from cpsched.shares import Exact
from cpsched.snapshot import Shape
from cpsched.snapshot.rights import Action, is_above_share
from cpsched.solution import Eviction

if TYPE_CHECKING:
    from cpsched.check.decision import Decision

Pair = tuple[Task, Action]
Pairs = tuple[Pair, ...]
Answer = TypeVar("Answer")


class _Entitled(NamedTuple):
    """Who may evict a victim and all that stand beside it and are no different."""

    pairs: Pairs
    actions: frozenset[Action]
    action: Action | None
    """The action that they count under."""


class Rights:
    """For every victim the placed tasks that may evict it.

    Reclaim depends on the other reclaim victims of the same queue. A victim counts under the action its eviction
    names, else under preempt where anybody placed beside it may preempt it, else under reclaim.
    """

    def __init__(self, decision: Decision):
        # Nothing here leads back to the decision, so that it goes as soon as nobody needs it.
        self.snapshot = decision.snapshot
        self._victims, self._placed_by_node = decision.victims, decision.placed_by_node
        self._allocated_after = decision.allocated_after
        tasks, twins = self.snapshot.instance.tasks, self.snapshot.twins
        known: dict[tuple[int | None, str], _Entitled] = {}
        self._entitled: dict[str, _Entitled] = {}
        self._asked: dict[Hashable, _Entitled] = {}
        for item in decision.evictions:
            key = item.task
            if key in tasks:
                # Twins share what they say of themselves, and so their node; nobody may evict who has no number.
                alike = (twins.get(key), item.action)
                entitled = known.get(alike)
                if entitled is None:
                    entitled = known[alike] = self._ask(tasks[key], item)
                self._entitled[key] = entitled

    @cached_property
    def static(self) -> dict[str, Pairs]:
        """Rights before shares are looked at."""
        return {key: entitled.pairs for key, entitled in self._entitled.items()}

    def action(self, victim: str) -> Action | None:
        """The action a victim counts under, None if nobody could have evicted it."""
        entitled = self._entitled.get(victim)
        return None if entitled is None else entitled.action

    @cached_property
    def by_victim(self) -> dict[str, Pairs]:
        """Rights that hold once shares are looked at too."""
        known: dict[tuple[int, bool], Pairs] = {}
        found: dict[str, Pairs] = {}
        for key, (pairs, actions, _) in self._entitled.items():
            goes = "reclaim" in actions and (key in self._given_back or self._would_go_too(key))
            held = known.get((id(pairs), goes))
            if held is None:
                having = [pair for pair in pairs if pair[1] == "preempt" or (goes and self._has_claim(pair[0]))]
                held = known[id(pairs), goes] = tuple(having)
            found[key] = held
        return found

    @cached_property
    def reclaimed(self) -> dict[str, list[Task]]:
        """Per queue the victims that count under reclaim."""
        by_queue: dict[str, list[Task]] = {}
        job_of, entitled = self.snapshot.job_by_task, self._entitled
        for victim in self._victims:
            job = job_of.get(victim.key)
            if job is not None and job.queue is not None and entitled[victim.key].action == "reclaim":
                by_queue.setdefault(job.queue, []).append(victim)
        return by_queue

    @cached_property
    def contested(self) -> frozenset[str]:
        """Victims that somebody could preempt and somebody could reclaim, shares left aside."""
        return frozenset([key for key, entitled in self._entitled.items() if len(entitled.actions) > 1])

    def given_back(self, queue: str, victims: Iterable[Task]) -> list[str]:
        """Those victims that find their queue above its share when they go, in the best order, the last one first.

        A queue is judged by what it holds now: what the decision itself places there gives nobody a right. It only
        shrinks as victims go, so whoever may go last may as well do so.
        """
        found: list[str] = []
        held: dict[str, float] = dict(self.snapshot.shares[queue].allocated) if queue in self.snapshot.shares else {}
        waiting: dict[Shape, list[Task]] = {}
        for victim in victims:
            waiting.setdefault(self.snapshot.shape_of(victim), []).append(victim)
        for alike in waiting.values():
            _change(held, alike[0], -len(alike))
        while (shape := self._last(queue, held, waiting)) is not None:
            # Whoever is asked first and may go last may do so again: the queue then holds more still.
            going = waiting[shape] if shape == next(iter(waiting)) else waiting[shape][:1]
            _change(held, going[0], len(going))
            found += [victim.key for victim in going]
            waiting[shape] = waiting[shape][len(going) :]
            if not waiting[shape]:
                del waiting[shape]
        return found

    def _last(self, queue: str, held: dict[str, float], waiting: dict[Shape, list[Task]]) -> Shape | None:
        """The shape of a victim that, going last, finds the queue above its share."""
        for shape, alike in waiting.items():
            found = dict(held)
            _change(found, alike[0], 1)
            if is_above_share(self.snapshot, queue, alike[0], found):
                return shape
        return None

    @cached_property
    def _given_back(self) -> frozenset[str]:
        """The reclaim victims that find their queue above its share."""
        return frozenset(key for queue, victims in self.reclaimed.items() for key in self.given_back(queue, victims))

    def _ask(self, victim: Task, eviction: Eviction) -> _Entitled:
        """Who may evict the victim; the same for all of its kind where the same are placed."""
        wanted, rights = eviction.action, self.snapshot.rights
        everywhere = self.snapshot.policy.rules.eviction_scope == "cluster"
        alike = (everywhere or victim.node, rights.victim_kind(victim), wanted)
        if alike not in self._asked:
            against = rights.against(victim, self._beside(victim))
            pairs = tuple([pair for pair in against if wanted in ("", pair[1])])
            actions = frozenset([action for _, action in pairs])
            action: Action | None = "preempt" if "preempt" in actions else "reclaim" if actions else None
            self._asked[alike] = _Entitled(pairs, actions, action)
        return self._asked[alike]

    def _beside(self, victim: Task) -> Iterable[Task]:
        placed = self._placed_by_node
        if self.snapshot.policy.rules.eviction_scope == "cluster":
            return [task for on_node in placed.values() for task in on_node]
        return placed.get(victim.node, [])

    def _would_go_too(self, key: str) -> bool:
        """Whether a victim of preempt, were it reclaimed too, would find its queue above its share."""
        if self.action(key) == "reclaim":
            return False
        victim = self.snapshot.instance.tasks[key]
        queue = self.snapshot.queue_of(victim)
        assert queue is not None
        alike = (queue.name, self.snapshot.shape_of(victim))
        if alike not in self._one_more:
            together = [*self.reclaimed.get(queue.name, []), victim]
            self._one_more[alike] = key in self.given_back(queue.name, together)
        return self._one_more[alike]

    @cached_property
    def _one_more(self) -> dict[tuple[str, Shape], bool]:
        """Per queue and shape: whether one more victim of that shape would be given back too."""
        return {}

    def _has_claim(self, task: Task) -> bool:
        """The reclaiming queue stays within its deserved share, as its share plugin tests it."""
        twin = self.snapshot.twins.get(task.key)
        claim = self._claims.get(twin)
        if claim is None:
            job = self.snapshot.job_of(task)
            within = job is not None and job.queue is not None and self._within_share(job.queue, task.requests)
            claim = self._claims[twin] = within
        return claim

    @cached_property
    def _claims(self) -> dict[int | None, bool]:
        """Per twin: whether its queue may reclaim for it."""
        return {}

    def _within_share(self, queue: str, requests: Mapping[str, int]) -> bool:
        shares, after = self.snapshot.shares, self._allocated_after
        if queue not in shares:
            return False
        if self.snapshot.policy.share_plugin == "proportion":
            deserved, held = shares[queue].deserved, after[queue]
            return all(held.get(name, 0) <= deserved.get(name, 0) for name in _asked(requests))
        plugin = self.snapshot.policy.plugin("capacity")
        reach = plugin.arguments.integer("ancestorReclaimLevel") if plugin else 0
        line = shares[queue].ancestors[:0:-1]
        return any(_partly_within(after[name], shares[name].deserved, requests) for name in (queue, *line[:reach]))


def _asked(requests: Mapping[str, int]) -> list[str]:
    return [name for name, amount in requests.items() if amount > 0 and name != "pods"]


def _partly_within(held: Vector, deserved: Mapping[str, Exact], requests: Mapping[str, int]) -> bool:
    """Whether the holding is within the share in something that is asked for, and of which there is any at all."""
    pairs = [(held.get(name, 0), deserved.get(name, 0)) for name in _asked(requests)]
    return any(amount <= due for amount, due in pairs if amount > 0 or due > 0)


def _change(held: dict[str, float], task: Task, count: int) -> None:
    """Add so many like the task, or take them away."""
    for name, amount in task.requests.items():
        held[name] = held.get(name, 0) + count * amount


def by_action(ask: Callable[[Action], Answer]) -> dict[Action, Answer]:
    """What a policy says of each action, for rules that ask it of every victim."""
    return {action: ask(action) for action in ("preempt", "reclaim")}
