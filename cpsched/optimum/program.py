"""Program: a session as a CP-SAT model, with its variables."""

from __future__ import annotations

from collections.abc import Iterable

from ortools.sat.python import cp_model

from cpsched.optimum.classes import Classes, classes_of
from cpsched.optimum.constraints import CONSTRAINTS
from cpsched.optimum.interplay import Interplay
from cpsched.optimum.room import Room, room_of
from cpsched.optimum.variables import Expr, Variables
from cpsched.snapshot import Snapshot


class Program:
    """The model every level is solved on; levels add their own helper variables when their turn comes."""

    def __init__(self, snapshot: Snapshot, *, like: Program | None = None, lenient: bool = False):
        """`like` is the same session, if it was looked at; with `lenient`, rights may be broken at a price."""
        self.snapshot = snapshot
        self.cp = cp_model.CpModel()
        classes: Classes = classes_of(snapshot) if like is None else like.variables.classes
        room: Room = room_of(snapshot, classes) if like is None else like.variables.room
        self.variables: Variables = Variables(self.cp, snapshot, classes, room, lenient=lenient)
        self.interplay: Interplay = Interplay(snapshot, classes) if like is None else like.interplay
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
