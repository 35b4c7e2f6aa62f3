"""Pseudonyms for the strings of one cluster: equal ones stay equal, and all stay in their order.

Schedulers break ties by the order of names, of namespace/name, and of uids; so of two strings the smaller one has the
smaller pseudonym. A few names mean something to a scheduler and stay; the others are numbered between them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from itertools import count

KEPT = frozenset({"default", "kube-system", "root", "system-cluster-critical", "system-node-critical"})
"""Names that schedulers look for."""
MADE = "podgroup-"
"""Begins the name of a job that is made for a bare pod; its uid follows."""
_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_ORDINAL = re.compile(r".*-.*-(\d{1,4})", re.DOTALL)
_WORD = re.compile(r"[A-Za-z0-9]")


class Pseudonyms:
    """One for every string that was found."""

    def __init__(self, found: Iterable[str], *, namespaces: Collection[str] = (), pods: Collection[str] = ()):
        """Number the strings.

        Args:
            found: every string that gets a pseudonym.
            namespaces: those of them that are namespaces. Names that begin with one of them and a dash begin with its
                pseudonym, because a-b stands behind a, and a-b/x before a/x.
            pods: those that are names of pods. Volcano reads a number at the end of one as the place in its job.
        """
        self._namespaces, self._pods = frozenset(namespaces), frozenset(pods)
        self.by_name: dict[str, str] = {text: text for text in KEPT}
        strings = sorted(_with_made(found) - KEPT)
        below: dict[str, list[str]] = {}
        free: list[str] = []
        made: list[str] = []
        for text in strings:
            parent = self._parent(text)
            if parent is not None:
                below.setdefault(parent, []).append(text)
            else:
                (made if text.startswith(MADE) else free).append(text)
        self._number_free(free)
        for parent in sorted(below, key=len):
            self._number(below[parent], f"{self.by_name[parent]}-x")
        for text in sorted(made, key=len):
            self.by_name[text] = MADE + self[text.removeprefix(MADE)]

    def __getitem__(self, text: str) -> str:
        """The pseudonym; a string without letters and digits is its own."""
        return self.by_name[text] if _WORD.search(text) else text

    def _parent(self, text: str) -> str | None:
        """The longest namespace that the string begins with."""
        cut = len(text)
        while (cut := text.rfind("-", 0, cut)) > 0:
            if text[:cut] in self._namespaces and not text.startswith(MADE):
                return text[:cut]
        return None

    def _number_free(self, strings: list[str]) -> None:
        """Number the strings between each two that stay."""
        ends = sorted([(text, text) for text in KEPT] + [(MADE, MADE + "~")])
        groups: dict[int, list[str]] = {}
        for text in strings:
            groups.setdefault(bisect_left(ends, (text,)), []).append(text)
        for place, group in groups.items():
            low = ends[place - 1][1] if place else ""
            high = ends[place][0] if place < len(ends) else None
            self._number(group, _between(low, high))

    def _number(self, strings: list[str], start: str) -> None:
        width = len(str(len(strings)))
        for number, text in zip(count(1), strings, strict=False):
            self.by_name[text] = f"{start}{number:0{width}d}{self._ordinal(text)}"

    def _ordinal(self, text: str) -> str:
        found = _ORDINAL.fullmatch(text) if text in self._pods else None
        return "" if found is None else f"-n-{found[1]}"


def _with_made(found: Iterable[str]) -> set[str]:
    """The strings, and what follows in the names of jobs that are made for bare pods."""
    strings = set(found)
    for text in list(strings):
        while text.startswith(MADE):
            text = text.removeprefix(MADE)
            strings.add(text)
    return {text for text in strings if _WORD.search(text)}


def _between(low: str, high: str | None) -> str:
    """A short beginning so that whatever begins with it stands behind `low` and before `high`; it ends in a letter."""
    for start in _starts(low):
        last = start + "~"
        if start > low and (high is None or last < high):
            return start if start[-1].isalpha() else start + "x"
    raise AssertionError(f"nothing fits between {low} and {high}")


def _starts(low: str) -> Iterator[str]:
    for length in range(len(low) + 2):
        for character in _CHARACTERS:
            yield low[:length] + character
