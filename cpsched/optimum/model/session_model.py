"""Program: a session as a CP-SAT model, with its variables."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ortools.sat.python import cp_model

from cpsched.optimum.model.capacity import Room, room_of
from cpsched.optimum.model.constraints import CONSTRAINTS
from cpsched.optimum.model.interactions import Interplay
from cpsched.optimum.model.symmetry import Classes, classes_of
from cpsched.optimum.model.variables import Expr, Variables
from cpsched.snapshot import Snapshot


class Program:
    """The model every level is solved on; levels add their own helper variables when their turn comes.

    It is made when it is first asked for: where a sketch tells everything, only its classes are needed.
    """

    def __init__(self, snapshot: Snapshot, *, like: Program | None = None, lenient: bool = False):
        """`like` is the same session, if it was looked at; with `lenient`, rights may be broken at a price."""
        self.snapshot, self._like, self._lenient = snapshot, like, lenient
        self.classes: Classes = classes_of(snapshot) if like is None else like.classes

    @cached_property
    def variables(self) -> Variables:
        """The variables, with every rule stated about them."""
        v = Variables(cp_model.CpModel(), self.snapshot, self.classes, self._room, lenient=self._lenient)
        for constrain in CONSTRAINTS.values():
            constrain(v.cp, self.snapshot, v)
        return v

    @property
    def cp(self) -> cp_model.CpModel:
        """The model as the solver sees it."""
        return self.variables.cp

    @cached_property
    def interplay(self) -> Interplay:
        """Which tasks filters make depend on each other."""
        return Interplay(self.snapshot, self.classes) if self._like is None else self._like.interplay

    @cached_property
    def _room(self) -> Room:
        return room_of(self.snapshot, self.classes) if self._like is None else self._like._room

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
