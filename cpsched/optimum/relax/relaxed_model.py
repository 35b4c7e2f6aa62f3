"""Relaxed models: models that admit every decision of a session and are smaller, by how little they tell apart."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any

from ortools.sat.python import cp_model

from cpsched.optimum.model.constraints import CONSTRAINTS, IN_RELAXATIONS
from cpsched.optimum.model.constraints.charge import state_exactly
from cpsched.optimum.model.lazy import accept_or_cut
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.model.variables import Variables
from cpsched.optimum.params import MOST_VARIABLES
from cpsched.optimum.relax.aggregate import aggregate_nodes, aggregate_requests, identical_nodes, node_classes
from cpsched.policy.levels import ABOUT_NEARNESS
from cpsched.rules import Decision


class Granularity(Enum):
    """What a relaxed model tells apart; each member is a tighter relaxation than the one before."""

    NODE_CLASSES = "request classes and node classes"
    NODES = "request classes and all nodes"
    EXACT = "task classes and all nodes: the session model itself"


class RelaxedModel:
    """A relaxation of a SessionModel; at granularity EXACT another SessionModel of the same session.

    Coarser than EXACT, tasks on a node have no owner, only requests. So rows that ask for the owner are dropped or
    summed: `filters` and `charge` are left out, and a victim needs an entitled task anywhere instead of on its node.
    Leaving out a row or summing rows admits every decision that the rows admitted.
    """

    def __init__(self, model: SessionModel, granularity: Granularity = Granularity.NODE_CLASSES):
        self.nodes_by_class: dict[str, list[str]] = {}
        self.has_node_classes = False
        self._exact: SessionModel | None = None
        if granularity is Granularity.EXACT:
            self._exact = SessionModel(model.snapshot, shared_with=model)
            self.cp, self.variables = self._exact.cp, self._exact.variables
            self._state_charges()
        else:
            self.cp = cp_model.CpModel()
            self.variables = self._aggregated(model, granularity)
            for key in IN_RELAXATIONS:
                CONSTRAINTS[key](self.cp, model.snapshot, self.variables)
        self.unbounded_levels = self._unbounded_levels()
        """Levels that it says nothing of."""

    def _unbounded_levels(self) -> frozenset[str]:
        """A node class does not know how many of its nodes are used, and tasks without owner belong to no unit."""
        nodes = {"nodes_used"} if self.has_node_classes else set[str]()
        near = not self.is_exact and self.variables.snapshot.nearness.units
        return frozenset(nodes | set(ABOUT_NEARNESS)) if near else frozenset(nodes)

    @property
    def is_exact(self) -> bool:
        """Whether its solutions are decisions, up to what the checker refuses."""
        return self._exact is not None

    def decision(self, values: list[int]) -> Decision | None:
        """The decision of a solution of an exact model; None if the checker refuses it, and then it is cut off."""
        assert self._exact is not None
        return accept_or_cut(self._exact, values)

    def _state_charges(self) -> None:
        """State `charge` exactly on all nodes in advance, as far as that is not too much: few solutions are cut then.

        This is only about effort: a node that is left out is stated once a solution was refused there.
        """
        proto: Any = self.cp.proto
        for node in list(self.variables.charged):
            if len(proto.variables) < MOST_VARIABLES:
                state_exactly(self.cp, self.variables, node)

    def _aggregated(self, model: SessionModel, granularity: Granularity) -> Variables:
        snapshot, classes = model.snapshot, model.classes
        capacity = aggregate_requests(snapshot, classes)
        class_by_node = {node: node for node in capacity.idle}
        if granularity is Granularity.NODE_CLASSES:
            class_by_node = node_classes(identical_nodes(classes, capacity, starts=False))
        for node, name in class_by_node.items():
            self.nodes_by_class.setdefault(name, []).append(node)
        self.has_node_classes = len(self.nodes_by_class) < len(class_by_node)
        if self.has_node_classes:
            classes, capacity = aggregate_nodes(snapshot, classes, capacity, class_by_node)
        else:
            capacity = replace(capacity, identical_nodes=identical_nodes(classes, capacity, starts=True))
        return Variables(self.cp, snapshot, classes, capacity, tracks_owner=False)
