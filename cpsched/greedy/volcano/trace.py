"""The trace of a session, line by line, if it is wanted; and why tasks stay where upstream says nothing."""

from __future__ import annotations

from cpsched.greedy.volcano.hooks import Refusal


class SessionTrace:
    """Collects lines if wanted or if the brief is, and reasons always.

    Where it is wanted, every attempt is made as upstream makes it; the brief tells what was done, at no cost.
    """

    def __init__(self, *, wanted: bool = False, brief: bool = False):
        self.wanted = wanted
        self._kept = wanted or brief
        self.lines: list[str] = []
        self._reasons: dict[str, dict[tuple[str, str], Refusal | None]] = {}

    def tell(self, line: str) -> None:
        """Add a line."""
        if self._kept:
            self.lines.append(line)

    def note(self, task: str, action: str, reason: Refusal | str) -> None:
        """Remember why an action passed a task over; of refusals by one rule the last one's numbers stay."""
        noted = self._reasons.setdefault(task, {})
        if isinstance(reason, Refusal):
            noted[action, reason.rule] = reason
        else:
            noted[action, reason] = None

    def reasons(self, task: str) -> list[str]:
        """What was noted about a task, each reason once."""
        noted = self._reasons.get(task, {})
        return [f"{action}: {refusal.text() if refusal else text}" for (action, text), refusal in noted.items()]
