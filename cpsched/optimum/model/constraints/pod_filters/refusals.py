"""What a filter that looks at others refuses whatever they are."""

from __future__ import annotations

from cpsched.filters import FILTERS
from cpsched.optimum.model.constraints.pod_filters.context import FilterModel


def refusals(board: FilterModel) -> None:
    """A task whose wishes do not parse, or whose claims are not there, goes nowhere."""
    predicates = board.snapshot.predicates
    for one in board.tasks:
        for name in predicates.dynamic_names(one.representative):
            status = (
                FILTERS[name]
                .prefilter(one.representative, predicates.cluster, predicates.args(one.representative))
                .status
            )
            if not status.is_success and not status.is_skip:
                board.forbid(one, one.nodes)
                break
