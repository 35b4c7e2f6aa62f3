"""Predicates: may this task be on this node? One file per filter, mirroring kube-scheduler's plugins."""

from __future__ import annotations

from cpsched.filters.args import Args, Features
from cpsched.filters.contract import Filter, PreFilterResult
from cpsched.filters.feasible import PreFiltered, Verdicts, add_task, feasible, first_failure, prefilter, remove_task
from cpsched.filters.final_state import final_state_failures, legal_order
from cpsched.filters.order import Order
from cpsched.filters.registry import FILTERS, chosen
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Code, Status

__all__ = [
    "FILTERS",
    "SUCCESS",
    "Args",
    "ClusterState",
    "Code",
    "Features",
    "Filter",
    "NodeState",
    "Order",
    "PreFilterResult",
    "PreFiltered",
    "Status",
    "Verdicts",
    "add_task",
    "chosen",
    "feasible",
    "final_state_failures",
    "first_failure",
    "legal_order",
    "prefilter",
    "remove_task",
]
