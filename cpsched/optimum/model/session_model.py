"""SessionModel: a session as a CP-SAT model, all variables with all constraints."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ortools.sat.python import cp_model

from cpsched.optimum.model.capacity import NodeCapacity, node_capacity
from cpsched.optimum.model.classes import Classes
from cpsched.optimum.model.constraints import CONSTRAINTS
from cpsched.optimum.model.interactions import Interactions
from cpsched.optimum.model.symmetry import build_classes
from cpsched.optimum.model.variables import Expr, Variables
from cpsched.snapshot import Snapshot


class SessionModel:
    """The model that levels are solved on; they add auxiliary variables when they are reached.

    It is built when it is first asked for: where relaxations close all levels, only its classes are needed.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        shared_with: SessionModel | None = None,
        elastic: bool = False,
        presolve: bool = True,
    ):
        """`shared_with` is a model of the same session, whose classes are used; if `elastic`, rights may be broken."""
        self.snapshot, self._shared_with, self._elastic = snapshot, shared_with, elastic
        self.classes: Classes = (
            build_classes(snapshot, presolve=presolve) if shared_with is None else shared_with.classes
        )

    @cached_property
    def variables(self) -> Variables:
        """The variables, with every rule stated about them."""
        v = Variables(cp_model.CpModel(), self.snapshot, self.classes, self.capacity, elastic=self._elastic)
        for constrain in CONSTRAINTS.values():
            constrain(v.cp, self.snapshot, v)
        return v

    @property
    def cp(self) -> cp_model.CpModel:
        """The model as the solver sees it."""
        return self.variables.cp

    @cached_property
    def interactions(self) -> Interactions:
        """Which tasks filters make depend on each other."""
        return (
            Interactions(self.snapshot, self.classes) if self._shared_with is None else self._shared_with.interactions
        )

    @cached_property
    def capacity(self) -> NodeCapacity:
        """What every node can hold of every class."""
        return node_capacity(self.snapshot, self.classes) if self._shared_with is None else self._shared_with.capacity

    def exclude(self, counts: Iterable[tuple[Expr, int]], unless: Iterable[cp_model.LiteralT] = ()) -> None:
        """Exclude every decision in which all these counts are so many, unless one of the others holds."""
        ways = list(unless)
        for count, value in counts:
            ways.append(self.variables.flag("above"))
            self.cp.add(count >= value + 1).only_enforce_if(ways[-1])
            if value > 0:
                ways.append(self.variables.flag("below"))
                self.cp.add(count <= value - 1).only_enforce_if(ways[-1])
        self.cp.add_bool_or(ways)
