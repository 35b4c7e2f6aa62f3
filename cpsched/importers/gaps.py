"""References that lead nowhere: errors, or warnings, of which a few per kind are shown and the others counted."""

from __future__ import annotations

from cpsched.errors import InputError

MOST_SHOWN = 3
"""Lines per kind of warning: a cluster can have thousands of one kind."""


class Gaps:
    """Collects warnings, or raises at the first error."""

    def __init__(self, lenient: bool):
        self._lenient = lenient
        self._by_kind: dict[str, list[str]] = {}

    def fault(self, kind: str, error: InputError) -> None:
        """Something to correct; a warning where the user is lenient."""
        if not self._lenient:
            raise error
        self.warn(kind, error)

    def warn(self, kind: str, warning: InputError) -> None:
        """Something to know; `kind` names all that are like it, in the plural."""
        self._by_kind.setdefault(kind, []).append(str(warning))

    def warnings(self, file: str | None) -> tuple[str, ...]:
        """The lines, kind after kind."""
        lines: list[str] = []
        for kind, found in self._by_kind.items():
            lines += found[:MOST_SHOWN]
            if len(found) > MOST_SHOWN:
                lines.append(str(InputError(f"{len(found) - MOST_SHOWN} more of this kind: {kind}", file=file)))
        return tuple(lines)
