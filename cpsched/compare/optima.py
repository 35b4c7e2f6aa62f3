"""Optima, remembered: what was solved once for a cluster and a policy is read from disk the next time."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path

import cpsched
from cpsched import engines
from cpsched.errors import InputError
from cpsched.files import read_bytes, write_whole
from cpsched.instance import Instance
from cpsched.judge import stamped
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.solution import Solution

NO_CACHE = "none"
"""In place of a folder: remember nothing."""
_MEANING = (
    *("check", "filters", "objects", "optimum", "policy", "shares", "snapshot"),
    *("instance.py", "objectives.py", "quantity.py", "requests.py", "resources.py", "selectors.py", "timestamps.py"),
)
"""What of the package says which decision is best."""


class Optima:
    """The best decisions, by the content of instance and policy and by the versions that found them."""

    def __init__(self, folder: Path | None):
        self.folder = folder

    def best(self, instance: Instance, policy: Policy, options: Options) -> Solution:
        """The optimum; one that was not proved is sought again if there is more time than there was then.

        Ctrl-C ends the run, not just this search: half a search is nothing to measure others by, or to remember.
        """
        place = None if self.folder is None else self.folder / _name(instance, policy)
        if place is not None and (known := _read(place, options.time_limit)) is not None:
            return known
        best = stamped(instance, engines.run("optimal", instance, policy, options))
        if best.interrupted:
            raise KeyboardInterrupt
        if place is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"time_limit": options.time_limit, "solution": best.to_dict()}, separators=(",", ":"))
            write_whole(place, text + "\n")
        return best


def default_folder() -> Path:
    """Where programs keep what they can make again."""
    stated = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(stated) if os.path.isabs(stated) else Path.home() / ".cache") / "cpsched" / "optima"


def optima_in(folder: str | None) -> Optima:
    """None is the usual place, `none` no place at all."""
    if folder == NO_CACHE:
        return Optima(None)
    return Optima(default_folder() if folder is None else Path(folder))


def _name(instance: Instance, policy: Policy) -> Path:
    parts = (instance.sha256, policy.sha256, cpsched.__version__, version("ortools"), _meaning())
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return Path(key[:2]) / f"{key[2:34]}.json"


def _read(place: Path, time_limit: float) -> Solution | None:
    """What is remembered, if it is whole and would not come out better now."""
    if not place.is_file():
        return None
    try:
        stored = json.loads(read_bytes(place))
        solution = Solution.parse(stored["solution"])
        enough = solution.status == "optimal" or stored["time_limit"] >= time_limit
    except (InputError, ValueError, KeyError, TypeError):
        return None
    return solution if enough else None


@cache
def _meaning() -> str:
    """Hash of the code that rules, levels and the program are written in: a checkout changes without a new version."""
    root = Path(cpsched.__file__).parent
    digest = hashlib.sha256()
    for part in _MEANING:
        for file in [root / part] if part.endswith(".py") else sorted((root / part).rglob("*.py")):
            digest.update(read_bytes(file))
    return digest.hexdigest()
