"""filters: what a static filter refuses has no variable; of filters that look at other tasks, pairs on a node."""

from __future__ import annotations

from cpsched.proof.draft import Draft


def filters(draft: Draft) -> None:
    """Every predicate holds for every placed task; only what is certain whatever else is decided is stated."""
