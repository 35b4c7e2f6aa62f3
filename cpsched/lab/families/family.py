"""What a family is: its parameters, and a function that makes one instance of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

Raw = dict[str, Any]
"""A part of a compact instance."""


class Parameters(BaseModel):
    """Whole numbers and words only, so that a recipe is exact; each with its range and what it means."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


@dataclass(frozen=True)
class Family:
    """A seeded way of making instances."""

    about: str
    parameters: type[Parameters]
    make: Callable[..., Raw]
    """(parameters, draw) → compact instance; a family from a trace takes the trace as its third argument."""
    model: str = "volcano"
    """The model that its instances are meant for."""
    trace: Callable[[Path, Any], Any] | None = None
    """Reads the trace's folder, for families that sample one."""
