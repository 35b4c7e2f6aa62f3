"""The Volcano mirror's trace, read for one task."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from cpsched.comparison.session import Session
from cpsched.greedy.volcano.engine import Options as MirrorOptions
from cpsched.greedy.volcano.engine import replay
from cpsched.options import Options

_TURN = re.compile(r"(\w+): queue \S+: job (\S+)$")
_GOES = re.compile(r"  (\S+) on (\S+) goes for (\S+)$")
_PLACED = re.compile(r"  (\S+) (?:takes|reserves) room on (\S+)$")
_BACKFILL = re.compile(r"backfill: (\S+) goes to (\S+)$")

_CHOICE = {
    "allocate": "the best by score of those that pass",
    "preempt": "the first in order of score that works",
    "reclaim": "the first that gives enough up",
}


class VolcanoTrace:
    """What the mirror did, replayed with its trace."""

    def __init__(self, session: Session, options: Options):
        self.session = session
        replayed = replay(session.instance, session.policy, MirrorOptions(seed=options.chance, brief=True))
        self.solution, self._lines = replayed.solution, replayed.trace

    def evicted(self, task: str) -> str:
        """Which action cleared which node for whom, and in what order it took victims."""
        eviction = next(one for one in self.solution.evictions if one.task == task)
        served, order = self._sweeps.get(task, (eviction.for_job, (task,)))
        among = f", number {order.index(task) + 1} of {', '.join(order)}" if len(order) > 1 else ""
        if eviction.action == "preempt" and self._topology_aware:
            return f"preempt's dry run cleared {eviction.node} for {served}{among}"
        order_ = f"victims in Volcano's order{among}, none spared afterwards"
        return f"{eviction.action} cleared {eviction.node} for {served}, {order_}"

    def placed(self, task: str) -> str:
        """Which action placed it, on whose turn."""
        return self._places.get(task, "no action of the session placed it")

    def waiting(self, task: str) -> str:
        """What Volcano says of it, and what it keeps to itself."""
        return "; ".join(self.solution.unplaced.get(task, ())) or "no action reached it"

    @cached_property
    def _places(self) -> dict[str, str]:
        """Task → the last time it was placed."""
        turns = Counter(found[1] for line in self._lines if (found := _TURN.match(line)))
        places: dict[str, str] = {}
        so_far, action, job = Counter[str](), "", ""
        for line in self._lines:
            if turn := _TURN.match(line):
                action, job = turn.groups()
                so_far[action] += 1
            elif found := _BACKFILL.match(line):
                places[found[1]] = f"backfill put it on {found[2]}, the best of the nodes that pass"
            elif (found := _PLACED.match(line)) and not action:
                places[found[1]] = f"it was given {found[2]}"
            elif found:
                number = f"turn {so_far[action]} of {turns[action]}"
                how = "reserved capacity on" if "reserves" in line else "started it on"
                text = f"{action} served {job} ({number}) and {how} {found[2]}, {_CHOICE[action]}"
                places[found[1]] = text
        return places

    @cached_property
    def _sweeps(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Victim → for which task it went, and all who went for that task on that node, in order."""
        found: dict[str, tuple[str, tuple[str, ...]]] = {}
        clearing, gone = ("", ""), list[str]()
        for line in self._lines:
            if goes := _GOES.match(line):
                victim, node, preemptor = goes.groups()
                if clearing != (node, preemptor):
                    clearing, gone = (node, preemptor), []
                gone.append(victim)
            elif (placed := _PLACED.match(line)) and clearing == (placed[2], placed[1]):
                found |= dict.fromkeys(gone, (clearing[1], tuple(gone)))
                clearing = ("", "")
        return found

    @property
    def _topology_aware(self) -> bool:
        return self.session.policy.volcano.configurations["preempt"].boolean("enableTopologyAwarePreemption")
