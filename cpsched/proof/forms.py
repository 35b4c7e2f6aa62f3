"""How much a statement tells apart; less makes it smaller, and it may say less."""

from __future__ import annotations

from typing import NamedTuple


class StartCut(NamedTuple):
    """Where victims of one priority are distinguished by their start."""

    priority: int
    starts: tuple[int, ...]


class Form(NamedTuple):
    """Whether nodes that are alike are distinguished, starts from reservations, and victims by their start."""

    each_node: bool
    starts: bool
    cut: StartCut | None = None

    @property
    def name(self) -> str:
        """As a proof names it."""
        return f"{'nodes' if self.each_node else 'classes'}{'-starts' if self.starts else ''}"


FORMS: dict[str, Form] = {
    form.name: form for form in (Form(False, False), Form(False, True), Form(True, False), Form(True, True))
}
"""From what tells the least apart to what tells the most."""
FORM_NAMES = tuple(FORMS)
