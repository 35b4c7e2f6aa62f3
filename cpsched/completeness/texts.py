"""What a scheduler has stated of a pod that it could not place, as it stands in the pod's condition."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cpsched.instance import PENDING, Instance, Task
from cpsched.objects.event import Event

_COUNT = re.compile(r"\b0/(\d{1,9}) nodes are (available|unavailable): ")
_REASON = re.compile(r"(\d{1,9}) (\S[^,]*?)(?=, \d|\.\s|\.?$)")
_LONGEST = 120
SCHEDULED = "PodScheduled"


@dataclass(frozen=True)
class RefusedPod:
    """A pod that no node would take, by the scheduler's own words."""

    task: Task
    nodes: int
    by_kube: bool
    """Whether kube-scheduler says so, which counts all nodes that it knows."""
    reasons: dict[str, int]
    """reason → how many nodes gave it; empty if the pod was refused before any node was asked."""
    text: str

    @property
    def quoted(self) -> str:
        """The words, cut to what fits into a sentence."""
        text = self.text if len(self.text) <= _LONGEST else f"{self.text[: _LONGEST - 3]}..."
        return f'"{text}"'


def refusals(instance: Instance) -> list[RefusedPod]:
    """One for each pending pod of which its condition, or else its last event, says that no node took it."""
    events: dict[str, Event] = {}
    for event in sorted(instance.of_kind(Event), key=lambda one: one.moment):
        events[f"{event.about.namespace}/{event.about.name}"] = event
    found = []
    for task in instance.tasks.values():
        if task.status is PENDING and not task.node:
            event = events.get(task.pod.key)
            texts = [
                one.message for one in task.pod_status.conditions if one.type == SCHEDULED and one.status == "False"
            ]
            texts += [event.text] if event is not None and event.about.uid in ("", task.uid) else []
            found += [one for one in (_refusal(task, text) for text in texts) if one is not None][:1]
    return found


def _refusal(task: Task, text: str) -> RefusedPod | None:
    found = _COUNT.search(text)
    if found is None:
        return None
    own = text[found.start() :].partition(" preemption: ")[0]
    reasons = {reason: int(count) for count, reason in _REASON.findall(own[found.end() - found.start() :])}
    return RefusedPod(task, int(found[1]), found[2] == "available", reasons, own)
