"""Program: a session as a CP-SAT model, with its variables; Sketch: a smaller model that admits every decision."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ortools.sat.python import cp_model

from cpsched.optimum.classes import classes_of
from cpsched.optimum.constraints import CONSTRAINTS, IN_SKETCHES
from cpsched.optimum.interplay import Interplay
from cpsched.optimum.kinds import room_by_kind
from cpsched.optimum.pools import alike_nodes, pooled, pools_of
from cpsched.optimum.room import room_of
from cpsched.optimum.variables import Expr, Variables
from cpsched.snapshot import Snapshot


class Program:
    """The model every level is solved on; levels add their own helper variables when their turn comes."""

    def __init__(self, snapshot: Snapshot, *, lenient_with: Program | None = None):
        """`lenient_with` is the same session with all rules; here those about rights may be broken at a price."""
        self.snapshot = snapshot
        self.cp = cp_model.CpModel()
        if lenient_with is None:
            classes = classes_of(snapshot)
            self.variables = Variables(self.cp, snapshot, classes, room_of(snapshot, classes))
            self.interplay = Interplay(snapshot, classes)
        else:
            known = lenient_with.variables
            self.variables = Variables(self.cp, snapshot, known.classes, known.room, lenient=True)
            self.interplay = lenient_with.interplay
        for constrain in CONSTRAINTS.values():
            constrain(self.cp, snapshot, self.variables)

    def forbid(self, counts: Iterable[tuple[Expr, int]], unless: Iterable[cp_model.LiteralT] = ()) -> None:
        """Exclude every decision in which all these counts are so many, unless one of the others holds."""
        ways = list(unless)
        for count, value in counts:
            ways.append(self.variables.flag("above"))
            self.cp.add(count >= value + 1).only_enforce_if(ways[-1])
            if value > 0:
                ways.append(self.variables.flag("below"))
                self.cp.add(count <= value - 1).only_enforce_if(ways[-1])
        self.cp.add_bool_or(ways)


class Sketch:
    """A relaxation of a Program.

    Nodes do not see whose tasks they hold, only what these ask for; filters that look at neighbours and the rule
    `charge` are left out, and a victim needs somebody entitled anywhere. With `pools`, many nodes alike are one.
    """

    def __init__(self, program: Program, *, pools: bool = True):
        snapshot, classes = program.snapshot, program.variables.classes
        self.cp = cp_model.CpModel()
        room = room_by_kind(snapshot, classes)
        alike = alike_nodes(classes, room)
        pool_by_node = pools_of(alike) if pools else {node: node for node in room.idle}
        self.nodes_by_pool: dict[str, list[str]] = {}
        for node, pool in pool_by_node.items():
            self.nodes_by_pool.setdefault(pool, []).append(node)
        self.has_pools = len(self.nodes_by_pool) < len(pool_by_node)
        if self.has_pools:
            classes, room = pooled(classes, room, pool_by_node)
        else:
            room = replace(room, alike=alike)
        self.variables = Variables(self.cp, snapshot, classes, room, knows_who=False)
        for key in IN_SKETCHES:
            CONSTRAINTS[key](self.cp, snapshot, self.variables)

    def knows(self, level: str) -> bool:
        """Whether it can tell anything of the level: a pool does not know how many of its nodes are used."""
        return level != "nodes_used" or not self.has_pools
