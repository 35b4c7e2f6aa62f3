"""How often execution changes from one module to another in `cpsched solve`: `python -m tests.benchmark hops`.

Counts calls and returns between modules of the package, imports excluded, for one small cluster: first the whole
command by the package that works, then the search alone, by its rooms in the order in which they are entered.
"""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
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
MOST_SHOWN = 15
ROOMS = frozenset({f"optimum.{name}" for name in ("model", "packing", "solvers", "relax", "search", "queries")})
MOST_TOGETHER = 3
"""Rooms that work together until a further one is entered."""


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

    @property
    def modules(self) -> int:
        """How many modules were entered from another one."""
        return len({name for pair in self.calls for name in pair})

    def between(self, packages: Callable[[str], str]) -> Counter[str]:
        """Changes of module by the package whose module was called."""
        found: Counter[str] = Counter()
        for (_, called), count in self.calls.items():
            found[packages(called)] += 2 * count
        return found


def room(name: str) -> str:
    """The room of the optimum, or the package."""
    parts = name.split(".")
    return ".".join(parts[1:3]) if parts[1:2] == ["optimum"] else parts[1] if len(parts) > 1 else name


def followed(work: Callable[[], object]) -> Hops:
    """The work, once for the imports and once followed."""
    work()
    hops = Hops()
    sys.setprofile(hops)
    try:
        work()
    finally:
        sys.setprofile(None)
    return hops


def command() -> None:
    """The command as a user gives it, its output thrown away."""
    from cpsched.cli.main import run

    before, sys.argv = sys.argv, ["cpsched", "solve", str(TINY), "--deterministic"]
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            run()
    except SystemExit:
        pass
    finally:
        sys.argv = before


def searching(path: Path) -> Callable[[], object]:
    """The search alone, on an instance and a policy that are read already."""
    from cpsched.optimum.solve import search

    instance = load(path)
    policy = load_policy("volcano", None, instance=instance)
    return lambda: search(instance, policy, SolveParams(deterministic=True))


def main() -> None:
    """Print what was counted."""
    print(f"{TINY.name}, cpsched {cpsched.__version__}")
    for title, hops in (("cpsched solve", followed(command)), ("the search alone", followed(searching(TINY)))):
        print(f"\n{title}: {hops.changes} changes among {hops.modules} modules, nested up to {hops.deepest} deep")
        parts = hops.between(room).most_common()
        print("into:", ", ".join(f"{name} {count}" for name, count in parts))
        for (one, other), count in hops.calls.most_common(MOST_SHOWN):
            print(f"{count:5} {one.removeprefix('cpsched.')} -> {other.removeprefix('cpsched.')}")
        order = [name for name, _ in groupby(name for name in hops.rooms if name in ROOMS)]
    print("\nrooms in order:", " | ".join(", ".join(f"{name} ×{n}" for name, n in one.items()) for one in runs(order)))


def runs(order: list[str]) -> list[dict[str, int]]:
    """The rooms in order and how often each is entered, cut where a fourth joins three that work together."""
    found: list[dict[str, int]] = [{}]
    for name in (one.removeprefix("optimum.") for one in order):
        if name not in found[-1] and len(found[-1]) == MOST_TOGETHER:
            found.append({})
        found[-1][name] = found[-1].get(name, 0) + 1
    return found


if __name__ == "__main__":
    main()
