"""Whether victims can be charged: an exact search, small because only contended nodes and shared queues meet in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from cpsched.components import components
from cpsched.instance import Task
from cpsched.resources import add, total_of
from cpsched.rules.decision import Decision
from cpsched.rules.identical import charge_of, payers
from cpsched.rules.rights import Pair, Pairs

STEPS = 200_000
Charged = dict[str, tuple[Task, ...]]
Missing = dict[str, float]


class ChargeVerdict(NamedTuple):
    """Whether some way of charging works, and whether the search came to its end."""

    succeeds: bool
    decided: bool


def uncharged_nodes(decision: Decision) -> Iterator[tuple[str, bool]]:
    """(node, decided) of contended nodes whose victims' room goes to no task with a right to and a need for it."""
    missing = {node: short for node in decision.victims_by_node if (short := _missing(decision, node))}
    charges = Charges(decision, missing)
    verdict_on = decision.snapshot.identical.once(charges.verdict, partial(charge_of, charges))
    for nodes in _components(decision, missing):
        verdict = verdict_on(tuple(nodes))
        if not verdict.succeeds:
            yield nodes[0], verdict.decided


def charged_victims(decision: Decision) -> dict[str, tuple[Task, ...]]:
    """Per task the victims it is charged, in the first way that works; nothing of nodes for which none does."""
    missing = {node: short for node in decision.victims_by_node if (short := _missing(decision, node))}
    charges, found = Charges(decision, missing), dict[str, tuple[Task, ...]]()
    for nodes in _components(decision, missing):
        search = _Search(charges, nodes)
        if search.run():
            found |= search.found
    return found


class Charges:
    """What can be charged on each contended node: its victims, those who may pay, and what is used beyond its room."""

    def __init__(self, decision: Decision, missing: dict[str, Missing]):
        self.decision, self.rights, self.missing = decision, decision.rights, missing

    def verdict(self, nodes: tuple[str, ...]) -> ChargeVerdict:
        """Whether the victims of all the nodes together can be charged."""
        search = _Search(self, nodes)
        succeeds = search.run()
        return ChargeVerdict(succeeds, search.steps <= STEPS)

    def victims(self, node: str) -> list[Task]:
        """Those whose capacity may be charged to a task."""
        return [victim for victim in self.decision.victims_by_node[node] if self.payers[victim.key]]

    @cached_property
    def payers(self) -> dict[str, Pairs]:
        """Who may pay for each victim."""
        tasks = self.decision.snapshot.instance.tasks
        return {key: self.rights.payers(tasks[key]) for key in self.rights.by_victim}


class _Search:
    """Hands the victims of some nodes out, node by node, until the charged ones free all the room that is used."""

    def __init__(self, charges: Charges, nodes: Sequence[str]):
        self.charges, self.nodes = charges, nodes
        self.found: Charged = {}
        self.rights, self.snapshot = charges.rights, charges.decision.snapshot
        self.steps = 0

    def run(self) -> bool:
        """Whether some way of charging works for all the nodes together."""
        return self._node(0, {}, ())

    def _node(self, position: int, charged: Charged, also_reclaimed: tuple[Task, ...]) -> bool:
        if position == len(self.nodes):
            self.found = charged
            return True
        node = self.nodes[position]
        largest_first = sorted(self.charges.victims(node), key=_amounts, reverse=True)
        return self._victim(position, largest_first, charged, self.charges.missing[node], also_reclaimed)

    def _victim(
        self, position: int, left: Sequence[Task], charged: Charged, missing: Missing, also_reclaimed: tuple[Task, ...]
    ) -> bool:
        if all(amount <= 0 for amount in missing.values()):
            return self._node(position + 1, charged, also_reclaimed)
        self.steps += 1
        if self.steps > STEPS or any(a > sum(v.requests.get(n, 0) for v in left) for n, a in missing.items()):
            return False
        victim, rest = left[0], left[1:]
        fewer = {name: amount - victim.requests.get(name, 0) for name, amount in missing.items()}
        for payer, action in self._ways(victim, charged):
            reclaimed = also_reclaimed
            if action == "reclaim" and self.rights.action(victim.key) == "preempt":
                reclaimed = (*also_reclaimed, victim)
                if not self._still_given_back(victim, reclaimed):
                    continue
            mine = (*charged.get(payer.key, ()), victim)
            if self._victim(position, rest, {**charged, payer.key: mine}, fewer, reclaimed):
                return True
        return self._victim(position, rest, charged, missing, also_reclaimed)

    def _ways(self, victim: Task, charged: Charged) -> Iterator[Pair]:
        """Those who may pay for the victim and need it beside what they are charged already."""
        pairs = self.snapshot.identical.one_of_each(self.charges.payers[victim.key], payers(self.snapshot, charged))
        for payer, action in pairs:
            if _needs_each(payer, (*charged.get(payer.key, ()), victim)):
                yield payer, action

    def _still_given_back(self, victim: Task, also_reclaimed: tuple[Task, ...]) -> bool:
        queue = self.snapshot.queue_of(victim)
        assert queue is not None
        same = [v for v in also_reclaimed if self.snapshot.queue_of(v) is queue]
        found = self.rights.given_back(queue.name, [*self.rights.reclaimed.get(queue.name, []), *same])
        return all(v.key in found for v in same)


def _amounts(task: Task) -> list[int]:
    return [amount for _, amount in sorted(task.requests.items())]


def _needs_each(payer: Task, victims: Sequence[Task]) -> bool:
    """Take any one away and the others alone do not cover the request in some dimension."""
    return not any(_cover([victim for victim in victims if victim is not one], payer) for one in victims)


def _cover(victims: Sequence[Task], payer: Task) -> bool:
    for name, amount in payer.requests.items():
        if sum([victim.requests.get(name, 0) for victim in victims]) < amount:
            return False
    return True


def _missing(decision: Decision, node: str) -> Missing:
    """What is placed on the node beyond the room it has without any eviction."""
    room, asked = decision.snapshot.future_idle.get(node, {}), decision.asked_by_node.get(node, {})
    if decision.shuffled:
        # A task that shuffle moves goes for no other, so any task may use the room.
        left = [victim.requests for victim in decision.victims_by_node.get(node, ()) if victim.key in decision.shuffled]
        room = add(room, total_of(left))
    return {name: amount - room.get(name, 0) for name, amount in asked.items() if 0 < amount > room.get(name, 0)}


def _components(decision: Decision, missing: dict[str, Missing]) -> list[list[str]]:
    """Nodes whose charges can meet: in a queue from which either action may take, or anywhere if scope is cluster."""
    everywhere = decision.snapshot.policy.rules.eviction_scope == "cluster"
    by_queue: dict[str, list[str]] = {}
    contested = decision.rights.contested
    for node in missing if contested else ():
        for victim in decision.victims_by_node[node]:
            if victim.key in contested and (queue := decision.snapshot.queue_of(victim)):
                by_queue.setdefault(queue.name, []).append(node)
    together = [list(missing)] if everywhere else list(by_queue.values())
    return [sorted(nodes) for nodes in components(missing, together)]
