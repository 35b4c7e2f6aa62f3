"""Lazy constraints: an assignment is decoded and checked, and what the checker refuses is cut off.

The rows of LAZY_RULES are necessary, not sufficient. A refused solution is excluded exactly: by patterns or an order
that state the rule in full for the node or queue, or by a no-good on the counts that the violation hangs on.
"""

from __future__ import annotations

from collections.abc import Callable

from cpsched.collector import without_collector
from cpsched.optimum.disagreement import SolverDisagreementError
from cpsched.optimum.model.constraints.charge import state_exactly
from cpsched.optimum.model.constraints.reclaim_order import in_some_order
from cpsched.optimum.model.counts import counts_in
from cpsched.optimum.model.decode import decode
from cpsched.optimum.model.nogoods import exclude_refused
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.model.variables import Expr, value_in
from cpsched.rules import Decision, Violation, violations

LAZY_RULES = frozenset({"filters", "charge", "eviction", "cards", "numa"})
"""Rules that the rows may state too weakly; the checker finds what slipped through and a no-good excludes it.

The rows of cards and numa are exact; there the checker may refuse because its own search took too long."""


def accept_or_cut(model: SessionModel, values: list[int]) -> Decision | None:
    """The decision of an assignment; None if the checker refuses it, and then the model excludes it."""

    def value(expr: Expr) -> int:
        return value_in(expr, values)

    with without_collector():
        decision = decode(model.snapshot, model.classes, counts_in(model.variables, values))
        found = violations(decision)
    if not found:
        return decision
    wrong = [item for item in found if item.rule not in LAZY_RULES]
    if wrong:
        raise SolverDisagreementError(f"the decision breaks {wrong[0].rule}: {wrong[0].subject} {wrong[0].message}")
    _exclude(model, decision, found, value)
    return None


def _exclude(model: SessionModel, decision: Decision, found: list[Violation], value: Callable[[Expr], int]) -> None:
    """Make the rows exact where they let the decision pass, or exclude the counts that the violation hangs on."""
    v, charged = model.variables, [item.subject for item in found if item.rule == "charge"]
    queues = {decision.snapshot.job_by_task[item.subject].queue for item in found if item.rule == "eviction"}
    refined = [node for node in charged if state_exactly(model.cp, v, node)]
    refined += [queue for queue in sorted(filter(None, queues)) if in_some_order(model.cp, v, queue)]
    if refined:
        return
    if found[0].rule == "filters":
        exclude_refused(model, decision, value)
    else:
        counts = [*v.bind.values(), *v.reserve.values(), *v.evict.values()]
        model.exclude((count, value(count)) for count in counts)
