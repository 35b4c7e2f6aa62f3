"""What a run folder already knows: the content of the study's files, and the cells that are done."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.journal import Record
from cpsched.lab.study.matrix import Source

SIZES = ("nodes", "jobs", "queues", "tasks_pending", "tasks_running")


class Kept(NamedTuple):
    """The last record of a cell: where it stands, and whether it is a result or a failure."""

    place: int
    good: bool


@dataclass
class Done:
    """The cells of results.jsonl."""

    by_key: dict[str, Kept] = field(default_factory=dict)
    other_versions: int = 0
    """Records that other versions of cpsched or ortools made; their keys are no cell's any more."""

    @classmethod
    def read(cls, folder: RunFolder, versions: Mapping[str, str]) -> Done:
        """Go through the journal once; a result whose decision is gone counts as not there."""
        done, solutions = cls(), folder.solutions()
        for place, record in folder.results.entries():
            key, good = record["key"], record.get("status") == "ok"
            made_by = record.get("versions") or {}
            done.other_versions += any(made_by.get(name) != version for name, version in versions.items())
            if not good or key in solutions:
                done.by_key[key] = Kept(place, good)
        return done

    def settles(self, key: str, retry_failed: bool) -> bool:
        """Whether a cell need not run."""
        kept = self.by_key.get(key)
        return kept is not None and (kept.good or not retry_failed)


def described(folder: RunFolder, retry_failed: bool = False) -> set[str]:
    """Keys of file contents that need not be read again."""
    good: dict[str, bool] = {}
    for _, record in folder.instances.entries():
        is_good = record.get("status") == "ok"
        if not is_good or os.path.exists(folder.instance_path(record["sha256"])):
            good[record["key"]] = is_good
    return {key for key, is_good in good.items() if is_good or not retry_failed}


def sources(folder: RunFolder, key_by_name: Mapping[str, str]) -> list[Source]:
    """What the study's files hold, each content once, in the order of names."""
    wanted = set(key_by_name.values())
    known = {record["key"]: record for _, record in folder.instances.entries() if record["key"] in wanted}
    names: dict[str, list[str]] = {}
    first: dict[str, Record] = {}
    for name, key in key_by_name.items():
        if (record := known.get(key)) is not None:
            names.setdefault(record["sha256"], []).append(name)
            first.setdefault(record["sha256"], record)
    return [
        Source(
            sha256,
            tuple(names[sha256]),
            {size: record.get(size) for size in SIZES},
            record.get("recipe"),
            record["status"],
            record["error"],
        )
        for sha256, record in first.items()
    ]
