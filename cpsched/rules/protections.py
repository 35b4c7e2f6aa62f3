"""Rules that keep certain pods and queues from harm."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.instance import Task
from cpsched.objects.groups import PodDisruptionBudget
from cpsched.rules.decision import Decision
from cpsched.rules.rights import by_action
from cpsched.rules.violation import Violation
from cpsched.selectors import SelectorError, label_selector


def protect_conformance(decision: Decision) -> Iterator[Violation]:
    """System-critical pods and everything in kube-system are never victims."""
    rights, protects = decision.rights, by_action(decision.snapshot.policy.conformance_protects)
    for victim in decision.victims if any(protects.values()) else ():
        if not victim.pod.is_critical:
            continue
        action = rights.protection(victim.key)
        if action is not None and protects[action]:
            yield Violation("protect.conformance", victim.key, "is critical to the system")


def protect_cooldown(decision: Decision) -> Iterator[Violation]:
    """Pods that started a short while ago, and say for how long, are never victims."""
    snapshot, rights = decision.snapshot, decision.rights
    protects = by_action(snapshot.policy.cooldown_protects)
    for victim in decision.victims if any(protects.values()) else ():
        action = rights.protection(victim.key)
        if action is not None and protects[action] and snapshot.cools_down(victim):
            yield Violation("protect.cooldown", victim.key, "started too short a while ago")


def protect_pdb(decision: Decision) -> Iterator[Violation]:
    """With `hard`, no budget is exceeded."""
    rights, protects = decision.rights, by_action(decision.snapshot.policy.pdb_protects)
    if "hard" not in protects.values():
        return
    hard = {v.key for v in decision.victims if (action := rights.protection(v.key)) and protects[action] == "hard"}
    if not hard:
        return
    for budget, covered in budget_use(decision).items():
        if len(covered) > budget_allowed(decision, budget) and hard & set(covered):
            yield Violation(
                "protect.pdb",
                budget,
                f"{len(covered)} of its pods are evicted, {budget_allowed(decision, budget)} allowed",
            )


def budget_use(decision: Decision) -> dict[str, list[str]]:
    """Victims counted against each budget; pods already being disrupted do not count again."""
    return {
        budget.key: [v.key for v in decision.victims if covers(budget, v)]
        for budget in decision.snapshot.instance.budgets
    }


def budget_allowed(decision: Decision, key: str) -> int:
    """Disruptions the budget still allows."""
    return next(b.status.disruptions_allowed for b in decision.snapshot.instance.budgets if b.key == key)


def covers(budget: PodDisruptionBudget, task: Task) -> bool:
    """Whether the budget counts the task's eviction; an absent or empty selector covers no pod."""
    selector = budget.spec.selector
    if selector is None or not (selector.match_labels or selector.match_expressions):
        return False
    if task.namespace != budget.metadata.namespace or task.name in budget.status.disrupted_pods:
        return False
    try:
        return label_selector(selector).matches(task.labels)
    except SelectorError:
        return False


def protect_guarantee(decision: Decision) -> Iterator[Violation]:
    """A queue that loses tasks keeps its guarantee."""
    snapshot, rights = decision.snapshot, decision.rights
    protects = by_action(snapshot.policy.guarantee_protects)
    losers = set()
    shares = snapshot.shares
    for victim in decision.victims if any(protects.values()) else ():
        action, queue = rights.protection(victim.key), snapshot.queue_of(victim)
        if action and queue and queue.name in shares and protects[action]:
            losers.add(queue.name)
    for name in sorted(losers):
        after, least = decision.allocated_after[name], {"cpu": 0, "memory": 0, **shares[name].guarantee}
        if any(amount > after.get(resource, 0) for resource, amount in least.items()):
            yield Violation("protect.guarantee", name, "is pushed below its guarantee")
