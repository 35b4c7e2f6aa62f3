"""Program: a session as a CP-SAT model, with its variables."""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.optimum.classes import Classes, classes_of
from cpsched.optimum.constraints import CONSTRAINTS, ON_POOLS
from cpsched.optimum.interplay import Interplay
from cpsched.optimum.pools import pooled
from cpsched.optimum.room import Room, room_of
from cpsched.optimum.variables import Variables
from cpsched.snapshot import Snapshot


class Program:
    """The model every level is solved on; levels add their own helper variables when their turn comes."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self.cp = cp_model.CpModel()
        classes = classes_of(snapshot)
        self.variables = Variables(self.cp, snapshot, classes, room_of(snapshot, classes))
        self.interplay = Interplay(snapshot, classes)
        for constrain in CONSTRAINTS.values():
            constrain(self.cp, snapshot, self.variables)

    def forbid(self, values: dict[cp_model.IntVar, int]) -> None:
        """Exclude every decision in which all these variables have these values."""
        ways = []
        for variable, value in values.items():
            below, above = self.variables.flag("below"), self.variables.flag("above")
            self.cp.add(variable <= value - 1).only_enforce_if(below)
            self.cp.add(variable >= value + 1).only_enforce_if(above)
            ways += [below, above]
        self.cp.add_bool_or(ways)


class PooledProgram:
    """A relaxation of a Program: nodes that are alike are one, and filters that look at neighbours are left out."""

    def __init__(self, snapshot: Snapshot, classes: Classes, room: Room):
        self.cp = cp_model.CpModel()
        self.variables = Variables(self.cp, snapshot, classes, room)
        for key in ON_POOLS:
            CONSTRAINTS[key](self.cp, snapshot, self.variables)


def relaxation(program: Program) -> PooledProgram | None:
    """The program on pools of nodes; None if that would be no smaller."""
    v = program.variables
    found = pooled(v.classes, v.room)
    return None if found is None else PooledProgram(program.snapshot, *found)
