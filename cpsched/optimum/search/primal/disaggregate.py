"""Unfolding: what an assignment of a sketch looks like in the session, with pools spread out and classes named."""

from __future__ import annotations

from collections import Counter

from cpsched.optimum.model.counts import Outline, outlined
from cpsched.optimum.model.symmetry import Classes, TaskClass, VictimGroup
from cpsched.optimum.relax.bounding import Foresight
from cpsched.snapshot.rights import Action

Going = Counter[tuple[int, Action]]
"""How many of each group go, and by which action."""
Places = Counter[tuple[int, str]]
"""How many of each class, or kind, are where."""


def unfolded(classes: Classes, sight: Foresight, *, waiting: bool = False) -> Outline:
    """Counts of everything that both know; with `waiting`, whoever starts there waits here."""
    drawn = outlined(sight.sketch.variables, sight.values or [])
    bound_of, reserved_of = Counter(drawn.bound_of), Counter(drawn.reserved_of)
    bind, reserve = Counter(drawn.bind), Counter(drawn.reserve)
    ready, pipelined = drawn.ready, drawn.pipelined
    if waiting:
        pipelined, ready = [a + b for a, b in zip(ready, pipelined, strict=True)], [0] * len(ready)
        reserved_of, bound_of = bound_of + reserved_of, Counter()
        reserve, bind = bind + reserve, Counter()
    going = _going(classes, sight, drawn)
    spread = _Spread(classes, sight, going)
    return Outline(
        spread.named(bind, bound_of), spread.named(reserve, reserved_of), going, bound_of, reserved_of, ready, pipelined
    )


def _going(classes: Classes, sight: Foresight, drawn: Outline) -> Going:
    """Victims of a pool go evenly from its nodes."""
    groups = {(group.node, group.kind): group for group in classes.victims}
    going: Going = Counter()
    for (index, action), count in drawn.evict.items():
        group = sight.sketch.variables.classes.victims[index]
        nodes = sight.sketch.nodes_by_pool[group.node]
        for node, part in zip(nodes, _evenly(count, len(nodes)), strict=True):
            if part:
                going[groups[node, group.kind].index, action] += part
    return going


class _Spread:
    """Who is where, for those who start and for those who wait."""

    def __init__(self, classes: Classes, sight: Foresight, going: Going):
        self._sketch = sight.sketch
        self._members: dict[int, list[TaskClass]] = {}
        for one in classes.tasks:
            self._members.setdefault(sight.sketch.variables.room.kind_of[one.index], []).append(one)
        self._lost: dict[str, Counter[int]] = {}
        """Per node and class how many of those who go from there it may evict."""
        for (index, action), count in going.items():
            group: VictimGroup = classes.victims[index]
            lost = self._lost.setdefault(group.node, Counter())
            for one_index in group.rights[action]:
                lost[one_index] += count

    def named(self, there: Places, taken: Counter[tuple[int, int]]) -> Places:
        """Which class is where: where most go, those first who may evict most of them."""
        left: Counter[int] = Counter()
        for (_, index), count in taken.items():
            left[index] += count
        slots = [
            (node, kind, part)
            for (kind, pool), count in there.items()
            for nodes in (self._sketch.nodes_by_pool[pool],)
            for node, part in zip(nodes, _evenly(count, len(nodes)), strict=True)
            if part
        ]
        nobody: Counter[int] = Counter()
        most = {node: max(lost.values(), default=0) for node, lost in self._lost.items()}
        found: Places = Counter()
        for node, kind, part in sorted(slots, key=lambda slot: -most.get(slot[0], 0)):
            lost = self._lost.get(node, nobody)
            for one in sorted(self._members[kind], key=lambda one: -lost[one.index]):
                count = min(part, left[one.index])
                if count:
                    found[one.index, node] += count
                    left[one.index] -= count
                    part -= count
        return found


def _evenly(count: int, parts: int) -> list[int]:
    each, rest = divmod(count, parts)
    return [each + (number < rest) for number in range(parts)]
