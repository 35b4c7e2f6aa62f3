"""How the answers of plugins in tiers become one; mirrors `framework/session_plugins.go`, one function per rule."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")
Answer = TypeVar("Answer")
Tiers = Sequence[Sequence[Callable[..., Answer]]]


def first_nonzero(tiers: Tiers[float], *subjects: object) -> float:
    """Orders: the first plugin that tells the two apart decides, 0 if none does."""
    for tier in tiers:
        for compare in tier:
            if result := compare(*subjects):
                return result
    return 0


def first_refusal(tiers: Tiers[T | None], *subjects: object) -> T | None:
    """Gates and predicates: the first objection counts, None without any."""
    for tier in tiers:
        for ask in tier:
            if (refusal := ask(*subjects)) is not None:
                return refusal
    return None


def all_agree(tiers: Tiers[bool], *subjects: object) -> bool:
    """Readiness: all must agree; without any vote it is agreement."""
    for tier in tiers:
        for ask in tier:
            if not ask(*subjects):
                return False
    return True


def vote(tiers: Tiers[int], *subjects: object) -> bool:
    """Votes: a rejection ends it at once, a tier with a permit and no rejection ends it too, abstention passes on."""
    for tier in tiers:
        permitted = False
        for ask in tier:
            answer = ask(*subjects)
            if answer < 0:
                return False
            permitted = permitted or answer > 0
        if permitted:
            return True
    return True


def first_tier_agrees(tiers: Tiers[bool], *subjects: object) -> bool:
    """Starving: the first tier with a vote decides, unanimously; without any vote the answer is no."""
    for tier in tiers:
        if tier:
            return all(ask(*subjects) for ask in tier)
    return False


def total(tiers: Tiers[float], *subjects: object) -> float:
    """Scores: the sum in tier order."""
    score = 0.0
    for tier in tiers:
        for ask in tier:
            score += ask(*subjects)
    return score


def victims(tiers: Tiers[tuple[Sequence[T], int]], identity: Callable[[T], Hashable], *subjects: object) -> list[T]:
    """Victims: within a tier what all name, from the first tier that names any.

    Two corners are upstream's: a plugin that names no task ends its tier but not the search, so the next tier decides
    without it; and an empty intersection is no verdict, so the next plugin of the tier starts afresh.
    """
    for tier in tiers:
        agreed: list[T] = []
        for ask in tier:
            named, answer = ask(*subjects)
            if answer == 0:
                continue
            if not named:
                agreed = []
                break
            if agreed:
                wanted = {identity(victim) for victim in named}
                agreed = [victim for victim in agreed if identity(victim) in wanted]
            else:
                agreed = list(named)
        if agreed:
            return agreed
    return []
