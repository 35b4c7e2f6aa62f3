"""The Volcano mirror's story, read for one task."""

from __future__ import annotations

import re
from functools import cached_property

from cpsched.compare.session import Session
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


class VolcanoStory:
    """What the mirror did, replayed with its story."""

    def __init__(self, session: Session, options: Options):
        self.session = session
        told = replay(session.instance, session.policy, MirrorOptions(seed=options.chance, trace=True))
        self.solution, self._lines = told.solution, told.trace

    def evicted(self, task: str) -> str:
        """Which action cleared which node for whom, and in what order it took victims."""
        eviction = next(one for one in self.solution.evictions if one.task == task)
        served, order = self._sweeps.get(task, (eviction.for_job, (task,)))
        among = f", number {order.index(task) + 1} of {', '.join(order)}" if len(order) > 1 else ""
        if eviction.action == "preempt" and self._topology_aware:
            return f"preempt's dry run cleared {eviction.node} for {served}{among}"
        return f"{eviction.action} cleared {eviction.node} for {served}, victims in its order{among}, none given back"

    def placed(self, task: str) -> str:
        """Which action placed it, on whose turn."""
        for index in range(len(self._lines) - 1, -1, -1):
            line = self._lines[index]
            if (found := _BACKFILL.match(line)) and found[1] == task:
                return f"backfill put it on {found[2]}, the best of the nodes that pass"
            if (found := _PLACED.match(line)) and found[1] == task:
                return self._turn(index, found[2], "reserves" in line)
        return "no action of the session tells of it"

    def waiting(self, task: str) -> str:
        """What Volcano says of it, and what it keeps to itself."""
        return "; ".join(self.solution.unplaced.get(task, ())) or "no action reached it"

    def _turn(self, index: int, node: str, reserves: bool) -> str:
        turns = [(at, found) for at, line in enumerate(self._lines) if (found := _TURN.match(line))]
        before = [(at, found) for at, found in turns if at < index]
        if not before:
            return f"it was given {node}"
        action, job = before[-1][1].groups()
        same = [at for at, found in turns if found[1] == action]
        number = f"turn {same.index(before[-1][0]) + 1} of {len(same)}"
        how = "reserved room on" if reserves else "took room on"
        return f"{action} served {job} ({number}) and {how} {node}, {_CHOICE[action]}"

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
