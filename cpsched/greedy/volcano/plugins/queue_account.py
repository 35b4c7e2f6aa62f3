"""A queue's share while a session runs; mirrors `queueAttr` of the proportion and capacity plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cpsched.greedy.volcano.amounts import Amounts, give, take
from cpsched.greedy.volcano.hooks import PERMIT, REJECT, Refusal
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import insufficient_for, sub
from cpsched.shares import QueueShare

ShareRule = Callable[[Mapping[str, float], Mapping[str, float]], float]


class QueueAccount:
    """What a queue is due and what it holds now."""

    def __init__(self, name: str, opened: QueueShare[float], rule: ShareRule):
        self.name, self._rule = name, rule
        self.deserved, self.limit, self.guarantee = opened.deserved, opened.real_capability, opened.guarantee
        self.allocated: Amounts = dict(opened.allocated)
        self.inqueue: Amounts = dict(opened.inqueue)
        self.elastic: Amounts = dict(opened.elastic)
        self.ancestors, self.is_leaf = opened.ancestors, opened.is_leaf
        self._share: float | None = rule(opened.allocated, opened.deserved)
        self.over_limit = f"queue {name} would exceed its capability"
        self.over_deserved = f"queue {name} would exceed its deserved share"

    @property
    def share(self) -> float:
        """The share by the plugin's rule, as of the last refresh."""
        if self._share is None:
            self._share = self._rule(self.allocated, self.deserved)
        return self._share

    def give(self, request: Amounts) -> None:
        """A task took room."""
        give(self.allocated, request)

    def take(self, request: Amounts) -> None:
        """A task gave room back."""
        take(self.allocated, request)

    def refresh(self) -> None:
        """Let the share follow what is allocated now."""
        self._share = None

    def with_(self, request: Amounts) -> Amounts:
        """What it would hold with one more task."""
        held = dict(self.allocated)
        give(held, request)
        return held

    def without(self, tasks: Iterable[TaskState]) -> Amounts:
        """What it would hold if some tasks went."""
        held = dict(self.allocated)
        for task in tasks:
            take(held, task.request)
        return held

    def refuses(self, plugin: str, job: JobState) -> list[str]:
        """In what the job's minimum does not fit beside what is held and promised; none if it does."""
        minimum = job.job.min_resources or {}
        wanted: Amounts = dict(minimum)
        give(wanted, self.allocated)
        give(wanted, self.inqueue)
        return insufficient_for(sub(wanted, self.elastic), self.limit, minimum)


def over(
    plugin: str, rule: str, held: Mapping[str, float], limit: Mapping[str, float], request: Mapping[str, float]
) -> Refusal | None:
    """A refusal that names what one more request would exceed, None if it fits (as `insufficient_for`, but quick)."""
    exceeded = None
    for name, amount in request.items():
        if amount > 0 and name != "pods" and held.get(name, 0) + amount > limit.get(name, 0):
            exceeded = (*(exceeded or ()), (name, held.get(name, 0) + amount, limit.get(name, 0)))
    return Refusal(plugin, rule, exceeded) if exceeded else None


def quota_vote(job: JobState, missing: list[str]) -> int:
    """The enqueue vote, with upstream's event text where it refuses."""
    if not missing:
        return PERMIT
    job.enqueue_refusal = f"queue resource quota insufficient: {', '.join(f'insufficient {name}' for name in missing)}"
    return REJECT
