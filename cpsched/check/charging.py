"""Whether victims can be charged: an exact search, small because only contended nodes and shared queues meet in it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

from cpsched.check.decision import Decision
from cpsched.check.rights import Pair, Pairs
from cpsched.instance import Task

STEPS = 200_000
Charged = dict[str, tuple[Task, ...]]
Missing = dict[str, float]


def uncharged_nodes(decision: Decision) -> Iterator[tuple[str, bool]]:
    """(node, decided) of contended nodes whose victims' room goes to nobody with a right to and a need for it."""
    missing = {node: short for node in decision.victims_by_node if (short := _missing(decision, node))}
    known: dict[Hashable, _Search] = {}
    for nodes in _components(decision, missing):
        search = _Search(decision, nodes, missing)
        content = search.content()
        search = search if content is None else known.setdefault(content, search)
        if not search.succeeds:
            yield nodes[0], search.steps <= STEPS


class _Search:
    """Hands the victims of some nodes out, node by node, until the charged ones free all the room that is used."""

    def __init__(self, decision: Decision, nodes: Sequence[str], missing: dict[str, Missing]):
        self.decision, self.rights, self._shape_of = decision, decision.rights, decision.snapshot.shape_of
        self.nodes, self.missing = nodes, missing
        self.steps = 0

    @cached_property
    def succeeds(self) -> bool:
        """Whether some way of charging works for all the nodes together."""
        return self._node(0, {}, ())

    def content(self) -> Hashable:
        """All that the answer depends on, by number instead of name; None unless it is about one node on its own.

        Who asks for the same mostly shares a vector, and the instance keeps it.
        """
        victims, contested = self._victims(self.nodes[0]), self.rights.contested
        if len(self.nodes) > 1 or (contested and any(victim.key in contested for victim in victims)):
            return None
        job_of = self.decision.snapshot.job_by_task
        jobs: dict[str, int] = {}
        entitled: dict[int, tuple[int, Hashable]] = {}
        each = []
        for victim in victims:
            pairs = self._pairs(victim)
            if id(pairs) not in entitled:
                # Payers of one job that are alike have the same rights: how many there are tells them apart enough.
                described = [
                    (jobs.setdefault(job_of[payer.key].key, len(jobs)), payer.priority, id(payer.requests), action)
                    for payer, action in pairs
                ]
                entitled[id(pairs)] = (len(entitled), tuple(described))
            each.append((id(victim.requests), entitled[id(pairs)][0]))
        return tuple(each), tuple(entitled.values()), tuple(sorted(self.missing[self.nodes[0]].items()))

    def _node(self, position: int, charged: Charged, also_reclaimed: tuple[Task, ...]) -> bool:
        if position == len(self.nodes):
            return True
        node = self.nodes[position]
        return self._victim(position, self._victims(node), charged, self.missing[node], also_reclaimed)

    def _victims(self, node: str) -> list[Task]:
        """Those whose room may be charged to somebody, the largest first."""
        by_victim, static = self.rights.by_victim, self.rights.static
        victims = [v for v in self.decision.victims_by_node[node] if by_victim[v.key] or static[v.key]]
        victims.sort(key=attrgetter("key"), reverse=True)
        if len({id(v.requests) for v in victims}) > 1:
            victims.sort(key=lambda v: [amount for _, amount in self._shape_of(v)], reverse=True)
        return victims

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
        for (payer, action), mine in self._ways(victim, charged):
            reclaimed = also_reclaimed
            if action == "reclaim" and self.rights.action(victim.key) == "preempt":
                reclaimed = (*also_reclaimed, victim)
                if not self._still_given_back(victim, reclaimed):
                    continue
            if self._victim(position, rest, {**charged, payer.key: mine}, fewer, reclaimed):
                return True
        return self._victim(position, rest, charged, missing, also_reclaimed)

    def _ways(self, victim: Task, charged: Charged) -> Iterator[tuple[Pair, tuple[Task, ...]]]:
        tried: list[object] = []
        for payer, action in self._pairs(victim):
            mine = (*charged.get(payer.key, ()), victim)
            job = self.decision.snapshot.job_key(payer)
            alike = (payer.requests, job, payer.priority, action, [v.key for v in mine])
            if alike not in tried and _needs_each(payer, mine):
                tried.append(alike)
                yield (payer, action), mine

    def _pairs(self, victim: Task) -> Pairs:
        """A victim that breaks `eviction` by its queue's share alone is not held against its room a second time."""
        return self.rights.by_victim[victim.key] or self.rights.static[victim.key]

    def _still_given_back(self, victim: Task, also_reclaimed: tuple[Task, ...]) -> bool:
        queue = self.decision.snapshot.queue_of(victim)
        assert queue is not None
        same = [v for v in also_reclaimed if self.decision.snapshot.queue_of(v) is queue]
        together = [*self.rights.reclaimed.get(queue.name, []), *same]
        found = self.rights.given_back(queue.name, together)
        return all(v.key in found for v in same)


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
    if not everywhere and not by_queue:
        return [[node] for node in missing]
    import networkx

    graph: Any = networkx.Graph()
    graph.add_nodes_from(missing)
    if everywhere:
        networkx.add_path(graph, missing)
    for nodes in by_queue.values():
        networkx.add_path(graph, nodes)
    return [sorted(nodes) for nodes in networkx.connected_components(graph)]
