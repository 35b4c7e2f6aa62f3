"""Optima, remembered: what was solved once for a cluster and a policy is read from disk the next time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cpsched import engines
from cpsched.checker import doubts_about, findings, stamped
from cpsched.comparison.meaning import question_key
from cpsched.comparison.seal import seal_of
from cpsched.errors import InputError
from cpsched.files import read_bytes, write_whole
from cpsched.instance import Instance
from cpsched.json_values import unique_keys
from cpsched.objectives import levels
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution, SolutionStatus

NO_CACHE = "none"
"""In place of a folder: remember nothing."""
_UNUSABLE = (InputError, OSError, ValueError, RuntimeError)
"""What a folder that cannot be used raises: ValueError for a name with a null character, RuntimeError for no home."""


class Optima:
    """The best decisions, by the content of instance and policy and by the versions that found them.

    A folder that cannot be used costs time, never the answer: `warning` says what is wrong with it.
    """

    def __init__(self, folder: Path | None, warning: str = ""):
        self.folder = folder
        self.warning = warning

    def best(self, instance: Instance, policy: Policy, options: Options) -> Solution:
        """The optimum; one that was not proved is sought again if there is more time than there was then.

        Ctrl-C ends the run, not just this search: half a search is nothing to measure others by, or to remember.
        """
        if options.deterministic:
            # What is remembered may be another decision of the same worth, found by more threads.
            return self._solved(instance, policy, options)
        if (known := self._recalled(instance, policy, options.time_limit)) is not None:
            return known
        best = self._solved(instance, policy, options)
        self._remember(instance, policy, options.time_limit, best)
        return best

    def _solved(self, instance: Instance, policy: Policy, options: Options) -> Solution:
        best = stamped(instance, engines.run("optimal", instance, policy, options))
        if best.interrupted:
            raise KeyboardInterrupt
        return best

    def _recalled(self, instance: Instance, policy: Policy, time_limit: float) -> Solution | None:
        """What is remembered, if it holds and would not come out better now; what does not hold is removed."""
        if self.folder is None:
            return None
        key = question_key(instance, policy)
        try:
            place = self.folder / _file(key)
            if place.is_symlink() or not place.is_file():
                return None
            entry = _entry(read_bytes(place))
            if entry is None or entry.pop("seal", None) != seal_of(default_folder().parent, entry):
                wrong = "does not carry this user's seal: it was changed, or comes from elsewhere"
            elif (solution := _holding(instance, policy, entry, key)) is None:
                wrong = "breaks a rule or misstates its levels"
            else:
                is_enough = solution.status is SolutionStatus.OPTIMAL or entry["time_limit"] >= time_limit
                found = {"doubts": doubts_about(instance, policy, solution)}
                return solution.model_copy(update=found) if is_enough else None
            self._doubt(f"{place}: this remembered optimum {wrong}; it is removed and solved again")
            place.unlink()
        except _UNUSABLE as error:
            self._doubt(f"{self._reason(error)}; optima are solved again")
        return None

    def _remember(self, instance: Instance, policy: Policy, time_limit: float, best: Solution) -> None:
        if self.folder is None:
            return
        key = question_key(instance, policy)
        entry: dict[str, Any] = {"key": key, "time_limit": time_limit, "solution": best.to_dict()}
        try:
            place = self.folder / _file(key)
            text = json.dumps({**entry, "seal": seal_of(default_folder().parent, entry)}, separators=(",", ":"))
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.parent.mkdir(exist_ok=True)
            _make_way(place)
            write_whole(place, text + "\n")
        except _UNUSABLE as error:
            self._doubt(f"{self._reason(error)}; optima are not remembered")

    def _reason(self, error: Exception) -> str:
        if isinstance(error, OSError):
            # mkdir(exist_ok=True) says "File exists" of what is no folder.
            why = "not a folder" if isinstance(error, FileExistsError) else error.strerror or error
            return f"{error.filename or self.folder}: cannot be used as a cache: {why}"
        return str(error) if isinstance(error, InputError) else f"{self.folder}: cannot be used as a cache: {error}"

    def _doubt(self, warning: str) -> None:
        """Only the first is kept: what follows has the same cause as a rule."""
        self.warning = self.warning or warning


def default_folder() -> Path:
    """Where programs keep what they can make again."""
    stated = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(stated) if os.path.isabs(stated) else Path.home() / ".cache") / "cpsched" / "optima"


def optima_in(folder: str | None) -> Optima:
    """None is the usual place, `none` no place at all."""
    if folder == NO_CACHE:
        return Optima(None)
    try:
        return Optima(default_folder() if folder is None else Path(folder))
    except RuntimeError as error:
        return Optima(None, f"{error}; optima are not remembered")


def _file(key: str) -> Path:
    return Path(key[:2]) / f"{key[2:34]}.json"


def _make_way(place: Path) -> None:
    """Entries are plain files of ours: no link is followed out of the folder, no pipe's reader waited for."""
    if place.is_symlink():
        place.unlink()
    elif place.exists() and not place.is_file() and not place.is_dir():
        raise InputError("is not a file", file=str(place), right="remove it")


def _entry(content: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(content, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _holding(instance: Instance, policy: Policy, entry: dict[str, Any], key: str) -> Solution | None:
    """The remembered solution if it answers this question, breaks no rule, and its levels are as it states them."""
    try:
        solution = Solution.parse(entry["solution"])
        is_asked = entry["key"] == key and solution.instance_sha256 == instance.sha256
        entry["time_limit"] = float(entry["time_limit"])
    except (InputError, ValueError, KeyError, TypeError):
        return None
    is_same = solution.policy_sha256 == policy.meaning_sha256
    if not is_asked or not is_same or solution.engine != "optimal" or solution.findings:
        return None
    decision = Decision.of(Snapshot(instance, policy), solution)
    has_decision = solution.status in (SolutionStatus.OPTIMAL, SolutionStatus.FEASIBLE)
    plan = [level.label for level in levels(decision)] if has_decision else []
    if [level.label for level in solution.levels] != plan or findings(decision, solution):
        return None
    return solution.model_copy(update={"model": policy.name}).with_own_proofs()
