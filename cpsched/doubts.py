"""Doubts: what the real scheduler would have had decided by something that an answer leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

DoubtKind = Literal["plugin", "action", "argument", "extender", "topology"]


class Doubt(BaseModel):
    """One thing that is left out; a proof holds for the rest of the configuration only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: DoubtKind
    name: str
    decides: str = Field(description="what it would have decided about: node choice, victims, admission of jobs, ...")
    text: str = Field(description="the sentence that names it, with its place in the configuration")

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.decides})"


def without(doubts: Iterable[Doubt]) -> str:
    """What a claim has to say of itself: ` without plugin numa-aware (which nodes fit)`; empty without doubts."""
    names = list(dict.fromkeys(map(str, doubts)))
    if not names:
        return ""
    *before, last = names
    return f" without {', '.join(before)} and {last}" if before else f" without {last}"
