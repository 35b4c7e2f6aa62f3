"""Budgets that evictions would break; mirrors `FilterVictimsWithPDBViolation` and its predecessor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cpsched.instance import Task
from cpsched.objects.groups import PodDisruptionBudget
from cpsched.policy.kube_registry import KubeVersion
from cpsched.selectors import NOTHING, Selector, SelectorError, label_selector


class Budgets:
    """All budgets, their selectors parsed once; one without a selector, or with an empty one, covers no pod."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget]):
        self._budgets = [(budget, _selector(budget)) for budget in budgets]
        self._covering: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[int]] = {}

    def covering(self, task: Task) -> list[int]:
        """Places of the budgets that an eviction of the task is charged to, in order."""
        if not task.labels:
            return []
        key = (task.namespace, task.name, tuple(task.labels.items()))
        found = self._covering.get(key)
        if found is None:
            found = self._covering[key] = [
                place
                for place, (budget, selector) in enumerate(self._budgets)
                if budget.metadata.namespace == task.namespace
                and selector.matches(task.labels)
                and task.name not in budget.status.disrupted_pods
            ]
        return found

    def allowed(self) -> list[int]:
        """How many evictions each budget allows now."""
        return [budget.status.disruptions_allowed for budget, _ in self._budgets]

    def violations(self, units: Iterable[Sequence[Task]], version: KubeVersion) -> list[int]:
        """Per unit how many of its pods break a budget, each unit charged after those before it.

        Up to 1.36 a pod is charged to every budget that covers it; later releases stop at the first that is broken.
        """
        left = self.allowed()
        return [sum(self._charge(task, left, version) for task in unit) for unit in units]

    def true_violations(self, victims: Iterable[Task]) -> int:
        """Evictions beyond what budgets allow, of these victims alone."""
        used = [0] * len(self._budgets)
        for task in victims:
            for place in self.covering(task):
                used[place] += 1
        pairs = zip(used, self.allowed(), strict=True)
        return sum(max(0, count - max(0, allowed)) for count, allowed in pairs)

    def _charge(self, task: Task, left: list[int], version: KubeVersion) -> bool:
        broken = False
        for place in self.covering(task):
            left[place] -= 1
            if left[place] < 0:
                broken = True
                if version == "head":
                    break
        return broken


def _selector(budget: PodDisruptionBudget) -> Selector:
    try:
        selector = label_selector(budget.spec.selector)
    except SelectorError:
        return NOTHING
    return NOTHING if selector.is_empty else selector
