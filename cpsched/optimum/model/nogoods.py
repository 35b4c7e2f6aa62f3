"""No-goods: a decision that the filters refuse excludes all that look the same to who is refused."""

from __future__ import annotations

from collections.abc import Callable

from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.model.variables import Expr, sum_of
from cpsched.rules import Decision
from cpsched.snapshot.predicates import dynamic_failures


def exclude_refused(model: SessionModel, decision: Decision, value: Callable[[Expr], int]) -> None:
    """Exclude the counts that a filter's refusal hangs on.

    All that is placed is checked once the victims are gone, and whether it starts or waits is not seen. What starts is
    checked beside the victims, if there are any at all; neither who waits nor who makes way is seen then.
    """
    predicates, v = decision.snapshot.predicates, model.variables
    refused = [task for task, _, _ in dynamic_failures(predicates, decision.placed, decision.evicted)]
    starting = not refused
    if starting:
        refused = [task for task, _, _ in dynamic_failures(predicates, dict(decision.binds), frozenset())]
    variables = (v.bind,) if starting else (v.bind, v.reserve)
    done: set[int] = set()
    for task in refused:
        tasks, victims = model.interactions.component_of(task)
        if not tasks <= done:
            done |= tasks
            places = dict.fromkeys(place for of in variables for place in of if place[0] in tasks)
            counts = [sum_of([of[place] for of in variables if place in of]) for place in places]
            if not starting:
                counts += [v.evicted(v.classes.victims[index]) for index in sorted(victims)]
            unless = [~v.some_eviction] if starting else []
            model.exclude(((count, value(count)) for count in counts), unless)
