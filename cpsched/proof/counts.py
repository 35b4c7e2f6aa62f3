"""The counts of a decision: what every variable of a statement is in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property

from cpsched.proof.counted import CountedSession
from cpsched.rules import Decision
from cpsched.rules.charging import charged_victims
from cpsched.snapshot.rights import Action


def is_countable(decision: Decision) -> bool:
    """Whether a statement speaks of such a session: its rows know no action that evicts for a job elsewhere."""
    return not decision.snapshot.gang_rights.exist


class Counts:
    """A decision, counted; names of nodes and tasks that do not exist are no part of a legal one."""

    def __init__(self, counted: CountedSession, decision: Decision):
        self.counted, self.decision = counted, decision
        self.place: Counter[tuple[int, int]] = Counter()
        self.bind: Counter[tuple[int, int]] = Counter()
        self.take: Counter[tuple[int, int]] = Counter()
        self.begin: Counter[tuple[int, int]] = Counter()
        for places, at, of in (
            (decision.placed, self.place, self.take),
            (decision.binds, self.bind, self.begin),
        ):
            for key, node in places.items():
                kind = counted.kind_of[key]
                at[kind, counted.place_of[node]] += 1
                of[counted.jobs_of[decision.snapshot.job_by_task[key].key], kind] += 1
        self.evict: Counter[tuple[int, Action]] = Counter()
        rights = decision.rights
        for victim in decision.victims:
            action = rights.action(victim.key)
            assert action is not None
            self.evict[counted.victim_of[victim.key], action] += 1

    @cached_property
    def serve(self) -> Counter[int]:
        """Per jobs how many of them receive something."""
        return Counter(self.counted.jobs_of[job.key] for job in self.decision.jobs_served())

    @cached_property
    def ready(self) -> Counter[int]:
        """Per jobs how many of those are ready."""
        binds, evicted = self.decision.binds, self.decision.evicted
        served = self.decision.jobs_served()
        return Counter(self.counted.jobs_of[job.key] for job in served if job.is_ready(binds, evicted))

    @cached_property
    def charged(self) -> Counter[int]:
        """Per group how many victims are charged to a task."""
        found = charged_victims(self.decision)
        return Counter(self.counted.victim_of[victim.key] for victims in found.values() for victim in victims)

    def nodes_with(self, place: int, kinds: Collection[int]) -> int:
        """On how many nodes of the place a task of these kinds is placed."""
        kind_of, by_node = self.counted.kind_of, self.decision.placed_by_node
        nodes = self.counted.places[place].nodes
        return sum(any(kind_of[task.key] in kinds for task in by_node.get(node, ())) for node in nodes)

    def takes_any(self, pairs: Iterable[tuple[int, int]]) -> int:
        """1 if any of these jobs gets a task of its kind, else 0."""
        return int(any(self.take[pair] for pair in pairs))

    def loses_any(self, pairs: Iterable[tuple[int, Action]]) -> int:
        """1 if a victim of any of these groups goes by its action, else 0."""
        return int(any(self.evict[pair] for pair in pairs))

    def gone(self, group: int) -> int:
        """How many of the group are evicted."""
        return sum(self.evict[group, action] for action in self.counted.victims[group].rights)
