"""Eviction rights given a whole decision: whose task, placed where, may evict whom, and by which action."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cpsched.instance import Task
from cpsched.policy.policy import GANG_ACTIONS, VICTIM_ACTIONS, AnyAction, GangAction
from cpsched.resources import Vector, add, total_of
from cpsched.rules.gang_rights import GangRights
from cpsched.rules.identical import holding_of, request_of, right_of, victims
from cpsched.shares import Exact
from cpsched.snapshot.rights import Action, is_above_share

if TYPE_CHECKING:
    from cpsched.rules.decision import Decision

Pair = tuple[Task, Action]
Pairs = tuple[Pair, ...]
Answer = TypeVar("Answer")


class Entitled(NamedTuple):
    """Who may evict a victim, each with the action, and by which actions that is."""

    pairs: Pairs
    actions: frozenset[Action]
    action: Action | None
    """The action that the victim counts under; None if no task could have evicted it."""


class Rights:
    """For every victim the placed tasks that may evict it.

    Reclaim depends on the other reclaim victims of the same queue. A victim counts under the action its eviction
    names, else under preempt where any task placed beside it may preempt it, else under reclaim.
    """

    def __init__(self, decision: Decision):
        # Nothing here leads back to the decision, so that it goes as soon as it is not needed.
        self.snapshot = decision.snapshot
        self.everywhere = self.snapshot.policy.rules.eviction_scope == "cluster"
        self._evictions = decision.evictions
        self._gang_rights, self._node_by_task = GangRights(decision), decision.placed
        self._victims_by_queue, self._placed_by_node = decision.victims_by_queue, decision.placed_by_node
        self._allocated_after = decision.allocated_after

    @cached_property
    def _by_gang(self) -> dict[str, GangAction]:
        """Victims of the gang actions; of those that name no action the ones that only these may evict."""
        found: dict[str, GangAction] = {}
        tasks, exist = self.snapshot.instance.tasks, self.snapshot.gang_rights.exist
        for item in self._evictions:
            if item.action in GANG_ACTIONS:
                found[item.task] = "gangpreempt" if item.action == "gangpreempt" else "gangreclaim"
            elif exist and not item.action and item.task in tasks and not any(self._plain(tasks[item.task])):
                able = [one for one in sorted(GANG_ACTIONS) if self._gang_rights.entitled(tasks[item.task], one)]
                if able:
                    found[item.task] = able[0]
        return found

    def _plain(self, victim: Task, named: str = "") -> Iterator[Pair]:
        """The tasks placed beside the victim that may evict it, each with the action."""
        actions_of = self.snapshot.rights.against(victim)
        return ((task, how) for task in self._beside(victim) for how in actions_of(task) if named in ("", how))

    @cached_property
    def _entitled(self) -> dict[str, Entitled]:
        entitled = self.snapshot.identical.once(self._entitled_to, victims(self))
        tasks = self.snapshot.instance.tasks
        return {item.task: entitled(item.task, item.action) for item in self._evictions if item.task in tasks}

    def _entitled_to(self, key: str, named: str) -> Entitled:
        """The tasks placed beside the victim that may evict it, by the action that the eviction names, or by any."""
        victim = self.snapshot.instance.tasks[key]
        if key in self._by_gang:
            return self._entitled_by_gang(victim, self._by_gang[key])
        pairs = list(self._plain(victim, named))
        actions = frozenset([action for _, action in pairs])
        return Entitled(tuple(pairs), actions, "preempt" if "preempt" in actions else "reclaim" if actions else None)

    def _entitled_by_gang(self, victim: Task, action: GangAction) -> Entitled:
        """The tasks of jobs for which a gang action may evict the victim, with the kind of right that it is."""
        how: Action = "reclaim" if self.snapshot.policy.asks_shares(action) else "preempt"
        pairs: Pairs = tuple([(task, how) for task in self._gang_rights.entitled(victim, action)])
        return Entitled(pairs, frozenset([how]) if pairs else frozenset(), how if pairs else None)

    def _beside(self, victim: Task) -> Iterable[Task]:
        placed = self._placed_by_node
        if self.everywhere:
            return [task for on_node in placed.values() for task in on_node]
        return placed.get(victim.node, [])

    @cached_property
    def static(self) -> dict[str, Pairs]:
        """Rights before shares are looked at."""
        return {key: entitled.pairs for key, entitled in self._entitled.items()}

    def payers(self, victim: Task) -> Pairs:
        """Who may be charged for a victim; one that breaks `eviction` by its queue's share alone is no second breach.

        A gang action evicts for a job wherever it is placed, but only tasks beside the victim can use its room.
        """
        pairs = self.by_victim[victim.key] or self.static[victim.key]
        if victim.key not in self._by_gang or self.everywhere:
            return pairs
        return tuple([pair for pair in pairs if self._node_by_task[pair[0].key] == victim.node])

    def protection(self, victim: str) -> AnyAction | None:
        """The action by whose rules a victim is protected, None if no task could have evicted it."""
        action = self.action(victim)
        return action if action is None else self._by_gang.get(victim, action)

    def action(self, victim: str) -> Action | None:
        """The action a victim counts under, None if no task could have evicted it."""
        entitled = self._entitled.get(victim)
        return None if entitled is None else entitled.action

    @cached_property
    def by_victim(self) -> dict[str, Pairs]:
        """Rights that hold once shares are looked at too: reclaim takes a claim, and a victim that is given back."""
        once, tasks, given_back = self.snapshot.identical.once, self.snapshot.instance.tasks, self._given_back
        has_claim = once(self._has_claim, self.snapshot.identities.__getitem__)
        would_go_too = once(self._would_go_too, partial(holding_of, self))
        holding = once(partial(_holding, has_claim), right_of)
        found: dict[str, Pairs] = {}
        for key, (pairs, actions, action) in self._entitled.items():
            goes = "reclaim" in actions and (key in given_back or (action == "preempt" and would_go_too(tasks[key])))
            found[key] = holding(pairs, goes)
        return found

    @cached_property
    def reclaimed(self) -> dict[str, list[Task]]:
        """Per queue the victims that count under reclaim."""
        entitled = self._entitled
        return {
            queue: [victim for victim in victims if entitled[victim.key].action == "reclaim"]
            for queue, victims in self._victims_by_queue.items()
        }

    @cached_property
    def contested(self) -> frozenset[str]:
        """Victims that some task could preempt and some task could reclaim, shares left aside."""
        return frozenset([key for key, entitled in self._entitled.items() if len(entitled.actions) > 1])

    def given_back(self, queue: str, victims: Iterable[Task]) -> frozenset[str]:
        """Those victims that find their queue above its share when they go, in the best order.

        A queue is checked by what it holds now: what the decision itself places there gives no right. It only
        shrinks as victims go, so seen from the last victim backwards: a victim that may go last may as well do so.
        """
        share = self.snapshot.shares.get(queue)
        waiting = list(victims)
        held = _less({} if share is None else share.allocated, total_of([victim.requests for victim in waiting]))
        found: set[str] = set()
        while last := self._last(queue, held, waiting):
            held = add(held, total_of([victim.requests for victim in last]))
            found.update([victim.key for victim in last])
            waiting = [victim for victim in waiting if victim.key not in found]
        return frozenset(found)

    def _last(self, queue: str, held: Vector, waiting: list[Task]) -> list[Task]:
        """The victims each of which, going last, finds the queue above its share."""
        is_above = self.snapshot.identical.once(
            lambda victim: is_above_share(self.snapshot, queue, victim, add(held, victim.requests)), request_of
        )
        return [victim for victim in waiting if is_above(victim)]

    @cached_property
    def _given_back(self) -> frozenset[str]:
        """The reclaim victims that find their queue above its share."""
        return frozenset(key for queue, victims in self.reclaimed.items() for key in self.given_back(queue, victims))

    def _would_go_too(self, victim: Task) -> bool:
        """Whether a victim of preempt, were it reclaimed too, would find its queue above its share."""
        queue = self.snapshot.queue_of(victim)
        assert queue is not None
        return victim.key in self.given_back(queue.name, [*self.reclaimed.get(queue.name, []), victim])

    def _has_claim(self, key: str) -> bool:
        """The queue of the task that reclaims stays within its deserved share, as its share plugin tests it."""
        job, task = self.snapshot.job_by_task[key], self.snapshot.instance.tasks[key]
        return job.queue is not None and self.within_share(job.queue, task.requests)

    def within_share(self, queue: str, requests: Mapping[str, int]) -> bool:
        """Whether the queue is within its deserved share of what is asked for, as its share plugin tests it."""
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


def _holding(has_claim: Callable[[str], bool], pairs: Pairs, goes: bool) -> Pairs:
    """The rights to preempt, and those to reclaim if the victim goes when its queue is above its share."""
    return tuple([pair for pair in pairs if pair[1] == "preempt" or (goes and has_claim(pair[0].key))])


def _asked(requests: Mapping[str, int]) -> list[str]:
    return [name for name, amount in requests.items() if amount > 0 and name != "pods"]


def _partly_within(held: Vector, deserved: Mapping[str, Exact], requests: Mapping[str, int]) -> bool:
    """Whether the holding is within the share in something that is asked for, and of which there is any at all."""
    pairs = [(held.get(name, 0), deserved.get(name, 0)) for name in _asked(requests)]
    return any(amount <= due for amount, due in pairs if amount > 0 or due > 0)


def _less(held: Vector, gone: Vector) -> dict[str, float]:
    return {name: held.get(name, 0) - gone.get(name, 0) for name in {**held, **gone}}


def by_action(ask: Callable[[AnyAction], Answer]) -> dict[AnyAction, Answer]:
    """What a policy says of each action, for rules that ask it of every victim."""
    return {action: ask(action) for action in VICTIM_ACTIONS}
