"""How evaluating a CEL selector can end other than with a value."""

from __future__ import annotations


class CelError(Exception):
    """The expression fails on this device, as it would upstream."""


class NotUnderstoodError(Exception):
    """Something that CEL refuses before it evaluates anything, or that is not evaluated here."""


class TooExpensiveError(Exception):
    """The bound on steps or sizes is exceeded."""
