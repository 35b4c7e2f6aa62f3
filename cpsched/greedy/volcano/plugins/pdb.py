"""pdb: budgets limit the victims; mirrors `plugins/pdb/pdb.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.hooks import PERMIT, Hooks
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.objects.groups import PodDisruptionBudget
from cpsched.policy import PluginConf
from cpsched.selectors import NOTHING, Selector, SelectorError, label_selector


def pdb(session: Session, conf: PluginConf) -> Hooks:
    """Every candidate uses up its budgets, named or not; a pod without labels is never named."""
    budgets = [(budget, _selector(budget)) for budget in session.instance.budgets]

    def victims(preemptor: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        allowed = [budget.status.disruptions_allowed for budget, _ in budgets]
        named = []
        for candidate in candidates:
            if not candidate.task.labels:
                continue
            kept = True
            for number, (budget, selector) in enumerate(budgets):
                if _covers(budget, selector, candidate):
                    allowed[number] -= 1
                    kept = kept and allowed[number] >= 0
            if kept:
                named.append(candidate)
        return named, PERMIT

    def willing(candidates: Sequence[TaskState]) -> list[TaskState]:
        """Every pod that may go does go: shuffle asks who is to be evicted."""
        covered = any(_covers(budget, selector, one) for budget, selector in budgets for one in candidates)
        return (
            victims(candidates[0], session.choices.order(candidates) if covered else candidates)[0]
            if candidates
            else []
        )

    return Hooks(preemptable=victims, reclaimable=victims, victim_tasks=willing, order_matters=True)


def _selector(budget: PodDisruptionBudget) -> Selector:
    try:
        selector = label_selector(budget.spec.selector)
    except SelectorError:
        return NOTHING
    return NOTHING if selector.is_empty else selector


def _covers(budget: PodDisruptionBudget, selector: Selector, candidate: TaskState) -> bool:
    task = candidate.task
    if budget.metadata.namespace != task.namespace or not selector.matches(task.labels):
        return False
    return task.name not in budget.status.disrupted_pods
