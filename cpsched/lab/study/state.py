"""What a run folder already knows: the content of the study's files, and the cells that are done."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from cpsched.importers.chosen import BY_PENDING, Choice
from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.journal import Flaw, LinePlace
from cpsched.lab.study.matrix import Source
from cpsched.lab.study.records import InstanceRecord


class Kept(NamedTuple):
    """The last record of a cell: where it stands, and whether it is a result or a failure."""

    place: LinePlace
    good: bool


@dataclass
class Done:
    """The cells of results.jsonl."""

    by_key: dict[str, Kept] = field(default_factory=dict)
    other_versions: int = 0
    """Records that other versions of cpsched or ortools made; their keys are no cell's any more."""
    flaws: list[Flaw] = field(default_factory=list)
    gone: int = 0
    """Results whose decision is not in the folder; they count as not there."""

    @classmethod
    def read(cls, folder: RunFolder, versions: Mapping[str, str]) -> Done:
        """Go through the journal once."""
        done, kept = cls(), dict[str, Kept]()
        for entry in folder.results.entries():
            if isinstance(entry, Flaw):
                others = made_by_others(entry, versions)
                done.other_versions += others
                done.flaws += [] if others else [entry]
                continue
            place, record = entry
            done.other_versions += _differ(record.versions, versions)
            kept[record.key] = Kept(place, record.status == "ok")
        # Looked up afterwards: a study that is running writes a decision before its line.
        solutions = folder.solutions()
        done.by_key = {key: one for key, one in kept.items() if not one.good or key in solutions}
        done.gone = len(kept) - len(done.by_key)
        return done

    def settles(self, key: str, retry_failed: bool) -> bool:
        """Whether a cell need not run."""
        kept = self.by_key.get(key)
        return kept is not None and (kept.good or not retry_failed)


def made_by_others(flaw: Flaw, versions: Mapping[str, str]) -> bool:
    """Whether other versions say that they made this record, which may then have another form."""
    stated = flaw.data.get("versions") if isinstance(flaw.data, dict) else None
    if not isinstance(stated, dict) or not all(isinstance(stated.get(name), str) for name in versions):
        return False
    return _differ(stated, versions)


def _differ(stated: Mapping[str, object], versions: Mapping[str, str]) -> bool:
    return any(stated.get(name) != version for name, version in versions.items())


def known_contents(folder: RunFolder) -> tuple[dict[str, InstanceRecord], list[Flaw]]:
    """What instances.jsonl says of each file content, by its key; and the lines that cannot be read."""
    known, flaws = dict[str, InstanceRecord](), list[Flaw]()
    for entry in folder.instances.entries():
        if isinstance(entry, Flaw):
            flaws.append(entry)
        else:
            known[entry[1].key] = entry[1]
    return known, flaws


def described(folder: RunFolder, retry_failed: bool = False, *, by_model: bool = False) -> set[str]:
    """Keys of file contents that need not be read again; `by_model`: it must be known which model they ask for."""
    known, _ = known_contents(folder)
    return {
        key
        for key, record in known.items()
        if not (by_model and record.status == "ok" and record.model is None)
        and (os.path.exists(folder.instance_path(record.sha256)) if record.status == "ok" else not retry_failed)
    }


def sources(known: Mapping[str, InstanceRecord], key_by_name: Mapping[str, str]) -> list[Source]:
    """What the study's files hold, each content once, in the order of names."""
    names: dict[str, list[str]] = {}
    first: dict[str, InstanceRecord] = {}
    for name, key in key_by_name.items():
        if (record := known.get(key)) is not None:
            names.setdefault(record.sha256, []).append(name)
            first.setdefault(record.sha256, record)
    return [
        Source(sha256, tuple(names[sha256]), record.sizes, record.recipe, record.status, record.error, _own(record))
        for sha256, record in first.items()
    ]


def _own(record: InstanceRecord) -> tuple[Choice, ...]:
    if record.model is None:
        return ()
    own = Choice(record.model, record.model_reason, record.model_by)
    return (own,) if record.model_too is None else (own, Choice(record.model_too, record.model_too_reason, BY_PENDING))
