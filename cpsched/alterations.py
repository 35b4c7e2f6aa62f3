"""What was changed in a cluster before anything was decided; instances, solutions and answers state it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

UNALTERED = "unaltered"
"""Where an altered Instance keeps what it was before, among what was found out about it."""


class Alteration(BaseModel):
    """One what-if."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    option: str = Field(description="as it is given on the command line: --cordon n1")
    effect: str = Field(description="what came of it")

    @property
    def text(self) -> str:
        """One line."""
        return f"What if: {self.effect} ({self.option})"
