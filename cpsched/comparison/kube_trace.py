"""The kube mirror's attempts, read for one pod."""

from __future__ import annotations

from cpsched.comparison.session import Session
from cpsched.greedy.kube import Options as MirrorOptions
from cpsched.greedy.kube import decide, replay
from cpsched.greedy.kube.report import Attempt
from cpsched.options import Options


class KubeTrace:
    """What the mirror did, replayed with every verdict, score and candidate."""

    def __init__(self, session: Session, options: Options):
        given = MirrorOptions(only=session.only, seed=options.chance, pod_groups=session.pod_groups, record=True)
        self.solution = decide(session.instance, session.policy, given)
        self._attempts = replay(session.instance, session.policy, given).attempts

    def evicted(self, task: str) -> str:
        """For whom, on which of how many candidate nodes, and together with whom."""
        attempt = next((one for one in self._attempts if task in one.victims), None)
        if attempt is None:
            return "it was evicted with its group"
        candidates = len(attempt.candidates)
        among = f"{attempt.nominated} is first of {candidates} candidate nodes" if candidates > 1 else attempt.nominated
        others = [victim for victim in attempt.victims if victim != task]
        beside = f" beside {', '.join(others)}" if others else ""
        return (
            f"preemption for {attempt.pod}: {among}; there pods are spared most important first, "
            f"and this one no longer fits{beside}"
        )

    def placed(self, task: str) -> str:
        """When it was tried and how the node was found."""
        attempt, turn = self._attempt(task)
        if attempt is None:
            return "it was placed with its group"
        if attempt.nominated:
            return f"{turn}: it fits nowhere, preemption clears {attempt.nominated} for it"
        return f"{turn}: {_choice(attempt)}"

    def waiting(self, task: str) -> str:
        """kube-scheduler's own message."""
        attempt, turn = self._attempt(task)
        if attempt is None:
            return "it was not tried"
        return f"{turn}: {attempt.message or attempt.result}"

    def _attempt(self, task: str) -> tuple[Attempt | None, str]:
        for number, attempt in enumerate(self._attempts, start=1):
            if attempt.pod == task:
                return attempt, f"tried {number} of {len(self._attempts)}"
        return None, ""


def _choice(attempt: Attempt) -> str:
    if attempt.via == "nominated":
        return f"{attempt.node} is its nominated node and does"
    if attempt.via == "only" or len(attempt.scores) < 2:
        return f"{attempt.node} is the only node that passes"
    own = attempt.scores[attempt.node]["total"]
    next_best = max(score["total"] for node, score in attempt.scores.items() if node != attempt.node)
    return f"{attempt.node} scores {own}, the next best {next_best}"
