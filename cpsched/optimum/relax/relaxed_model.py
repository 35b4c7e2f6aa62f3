"""Sketch: a model that admits every decision of a session and is smaller, by how little it tells apart."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any

from ortools.sat.python import cp_model

from cpsched.check import Decision
from cpsched.optimum.model.constraints import CONSTRAINTS, IN_SKETCHES
from cpsched.optimum.model.constraints.charge import refine
from cpsched.optimum.model.lazy import judged
from cpsched.optimum.model.session_model import Program
from cpsched.optimum.model.variables import Variables
from cpsched.optimum.relax.node_classes import alike_nodes, pooled, pools_of
from cpsched.optimum.relax.request_classes import room_by_kind

MOST_VARIABLES = 60_000
"""Beyond this many, charges are stated exactly only on nodes where an answer was refused."""


class Detail(Enum):
    """What a sketch tells apart; each is closer to the session than the one before."""

    POOLS = "kinds of tasks, and nodes of which few are alike"
    NODES = "kinds of tasks, and all nodes"
    CLASSES = "everything: the session itself"


class Sketch:
    """A relaxation of a Program, or another one like it.

    Below CLASSES, nodes do not see whose tasks they hold, only what these ask for; filters that look at neighbours and
    the rule `charge` are left out, and a victim needs somebody entitled anywhere.
    """

    def __init__(self, program: Program, detail: Detail = Detail.POOLS):
        self.nodes_by_pool: dict[str, list[str]] = {}
        self.has_pools = False
        self._exact: Program | None = None
        if detail is Detail.CLASSES:
            self._exact = Program(program.snapshot, like=program)
            self.cp, self.variables = self._exact.cp, self._exact.variables
            self._refine()
        else:
            self.cp = cp_model.CpModel()
            self.variables = self._drawn(program, detail)
            for key in IN_SKETCHES:
                CONSTRAINTS[key](self.cp, program.snapshot, self.variables)

    def knows(self, level: str) -> bool:
        """Whether it can tell anything of the level: a pool does not know how many of its nodes are used."""
        return level != "nodes_used" or not self.has_pools

    @property
    def is_exact(self) -> bool:
        """Whether what it admits is a decision."""
        return self._exact is not None

    def decision(self, values: list[int]) -> Decision | None:
        """What an assignment of an exact sketch stands for; None if the judge refuses it, and then it is excluded."""
        assert self._exact is not None
        return judged(self._exact, values)

    def _refine(self) -> None:
        """State the charges on all nodes exactly, as far as that is not too much: few answers are refused then."""
        proto: Any = self.cp.proto
        for node in list(self.variables.charged):
            if len(proto.variables) < MOST_VARIABLES:
                refine(self.cp, self.variables, node)

    def _drawn(self, program: Program, detail: Detail) -> Variables:
        snapshot, classes = program.snapshot, program.classes
        room = room_by_kind(snapshot, classes)
        alike = alike_nodes(classes, room)
        pool_by_node = pools_of(alike) if detail is Detail.POOLS else {node: node for node in room.idle}
        for node, pool in pool_by_node.items():
            self.nodes_by_pool.setdefault(pool, []).append(node)
        self.has_pools = len(self.nodes_by_pool) < len(pool_by_node)
        if self.has_pools:
            classes, room = pooled(classes, room, pool_by_node)
        else:
            room = replace(room, alike=alike)
        return Variables(self.cp, snapshot, classes, room, knows_who=False)
