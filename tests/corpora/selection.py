"""Which sessions a corpus holds: from every source and profile in turn, in an order that only names decide."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from cpsched.importers.corpus import Case, cases
from cpsched.lab.generate import generate

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "conformance" / "data"
Sources = dict[str, Callable[[], Iterator[Case]]]


def shipped(folder: str) -> Iterator[Case]:
    """The cases of instances/FOLDER."""
    for case in cases(str(ROOT / "instances" / folder)):
        yield replace(case, id=f"{folder}/{case.id}")


def recorded(name: str) -> Iterator[Case]:
    """Sessions that the real scheduler decided, with its decisions."""
    for case in cases(str(RECORDED / f"{name}-recorded.jsonl.gz")):
        yield replace(case, id=f"{name}/{case.id.partition('#')[2]}")


def generated(family: str, number: int) -> Iterator[Case]:
    """Sessions of a generator, each of its own seed."""
    for seed in range(1, number + 1):
        row = {"instance": generate(family, {"nodes": 4}, seed=seed)}
        yield Case(f"{family}/{seed}", f"{family}-{seed}", None, row, row)


SOURCES: Sources = {
    "issues": lambda: shipped("issues"),
    "tiny": lambda: shipped("tiny"),
    "volcano": lambda: recorded("volcano"),
    "volcano-plugins": lambda: recorded("volcano-plugins"),
    "kube": lambda: recorded("kube"),
    "contended": lambda: generated("contended", 100),
}
CORPORA: dict[str, tuple[int, tuple[str, ...]]] = {
    "issues": (1000, ("issues",)),
    "smoke": (200, ("issues", "tiny", "volcano", "volcano-plugins", "kube")),
    "nightly": (2000, tuple(SOURCES)),
}
"""Name → how many cases at most, and from where."""


def sessions(sources: tuple[str, ...]) -> Iterator[Case]:
    """One of every profile of every source, then the next of each, and so on."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for source in sources:
        for case in SOURCES[source]():
            groups.setdefault((source, _profile(case)), []).append(case)
    for found in groups.values():
        found.sort(key=lambda case: hashlib.sha256(case.id.encode()).hexdigest())
    for turn in zip_longest(*(groups[key] for key in sorted(groups))):
        yield from (case for case in turn if case is not None)


def _profile(case: Case) -> str:
    """What a recorder or a generator calls it: `preempt` of `preempt-20261116-87`."""
    name = case.id.partition("/")[2]
    return name.partition("-")[0] if case.row is not None else ""
