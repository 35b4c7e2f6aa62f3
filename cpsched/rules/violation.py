"""A broken rule."""

from __future__ import annotations

from typing import NamedTuple


class Violation(NamedTuple):
    """Which rule, by whom, and how."""

    rule: str
    subject: str
    message: str
