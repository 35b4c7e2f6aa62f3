"""How often execution changes from one module of the package to another in a solve: `python -m tests.benchmark hops`.

Counts calls and returns between modules of cpsched, imports excluded, and shows the rooms of the optimum in the order
in which they are entered.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import cpsched
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.optimum.params import SolveParams

ROOT = Path(__file__).parents[2]
TINY = ROOT / "instances" / "tiny" / "preempt-one-is-enough.json"


class Hops:
    """A profile function that follows the stack of modules."""

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.changes = self.deepest = 0
        self.calls: Counter[tuple[str, str]] = Counter()
        self.rooms: list[str] = []

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of a call into, or a return out of, a module of the package."""
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("cpsched") or frame.f_code.co_name == "<module>":
            return
        if event == "call":
            if self.stack and self.stack[-1] != name:
                self.changes += 1
                self.calls[self.stack[-1], name] += 1
            self.stack.append(name)
            self.deepest = max(self.deepest, len([0 for _ in groupby(self.stack)]))
            self.rooms.append(room(name))
        elif event == "return" and self.stack:
            left = self.stack.pop()
            if self.stack and self.stack[-1] != left:
                self.changes += 1


def room(name: str) -> str:
    """The room of the optimum, or the package."""
    parts = name.split(".")
    return ".".join(parts[1:3]) if parts[1:2] == ["optimum"] else parts[1] if len(parts) > 1 else name


def recorded(path: Path) -> Hops:
    """A solve, once for the imports and once followed."""
    from cpsched.optimum.solve import search

    instance = load(path)
    policy = load_policy("volcano", None, instance=instance)
    search(instance, policy, SolveParams(deterministic=True))
    hops = Hops()
    sys.setprofile(hops)
    try:
        search(instance, policy, SolveParams(deterministic=True))
    finally:
        sys.setprofile(None)
    return hops


def main() -> None:
    """Print what was counted."""
    hops = recorded(TINY)
    inside = sum(count for pair, count in hops.calls.items() if all(".optimum." in name for name in pair))
    print(f"{TINY.name}, cpsched {cpsched.__version__}")
    print(f"changes of module: {hops.changes}; calls within optimum: {inside}; nesting: {hops.deepest}")
    for (one, other), count in hops.calls.most_common(15):
        print(f"{count:5} {one.removeprefix('cpsched.')} -> {other.removeprefix('cpsched.')}")
    order = [name for name, _ in groupby(name for name in hops.rooms if name.startswith("optimum"))]
    print("rooms:", " ".join(name for name, _ in groupby(n.removeprefix("optimum.") for n in order)))


if __name__ == "__main__":
    main()
