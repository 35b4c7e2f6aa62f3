"""Doubts: what an answer leaves out that the real scheduler would ask, and what its input contradicts or lacks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

InputDoubtKind = Literal["missing pods", "missing nodes", "missing kind", "contradiction"]
"""Of the input; `cpsched.completeness` finds them."""
DoubtKind = Literal["plugin", "action", "argument", "extender", "topology", InputDoubtKind]
_OF_INPUT = frozenset(get_args(InputDoubtKind))


class Doubt(BaseModel):
    """One thing that is left out, or that the input lacks; a proof holds for the rest only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: DoubtKind
    name: str = Field(description="of the plugin, action, argument or extender; for the input, of the check")
    decides: str = Field(description="what it bears on: node choice, victims, admission of jobs, free capacity, ...")
    text: str = Field(description="the sentence that names it, with its place in the configuration")

    @property
    def is_of_input(self) -> bool:
        """Whether the input is in doubt, not the configuration."""
        return self.kind in _OF_INPUT

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}" if self.is_of_input else f"{self.kind} {self.name} ({self.decides})"


def without(doubts: Iterable[Doubt]) -> str:
    """What a claim has to say of its configuration: ` without plugin numa-aware (which nodes fit)`, or nothing."""
    names = list(dict.fromkeys(str(doubt) for doubt in doubts if not doubt.is_of_input))
    if not names:
        return ""
    *before, last = names
    return f" without {', '.join(before)} and {last}" if before else f" without {last}"


def for_this_dump(doubts: Iterable[Doubt]) -> str:
    """What a claim has to say of an input in doubt: ` for this dump`; empty without such doubts."""
    return " for this dump" if any(doubt.is_of_input for doubt in doubts) else ""
