"""The run folder: the one place that a study writes to."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cpsched.complaints import complaint, place_in
from cpsched.errors import InputError
from cpsched.files import read_document, write_whole
from cpsched.lab.study.journal import Journal
from cpsched.lab.study.matrix import Setting, StudyPlan
from cpsched.lab.study.recipe import Recipe
from cpsched.lab.study.records import CellRecord, InstanceRecord, StudyFile, StudyModel

FORMAT = 1
STUDY = "study.json"


class RunFolder:
    """Names and formats of what lies in a run folder."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.results = Journal(self.path / "results.jsonl", CellRecord)
        self.instances = Journal(self.path / "instances.jsonl", InstanceRecord)

    @property
    def exists(self) -> bool:
        """Whether a study was begun here."""
        return os.path.isfile(self.path / STUDY)

    def read_study(self) -> tuple[StudyPlan, dict[str, str]]:
        """The plan, and the key in instances.jsonl of each file by its name."""
        path = self.path / STUDY
        if not self.exists:
            raise InputError("no study here", file=str(self.path), right="begin one: add --instances 'corpus/*.json'")
        data = read_document(path).data
        stated = data.get("format") if isinstance(data, dict) else None
        if stated != FORMAT:
            wrong = f"made by a version with another format ({stated}; this one has {FORMAT})"
            raise InputError(wrong, file=str(path), right="give another folder")
        try:
            study = StudyFile.model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            wrong, place = f"not as it was written ({complaint(first)})", place_in(first)
            raise InputError(wrong, file=str(path), place=place, right="give another folder") from None
        models = tuple(_setting(model) for model in study.models)
        recipe = Recipe.parse(study.recipe, file=str(path))
        return StudyPlan(recipe, models, study.conf, study.versions), study.files

    def write_study(self, plan: StudyPlan, key_by_name: Mapping[str, str]) -> None:
        """Keep what the study is about, with the content of models and configuration as it is now."""
        content = {
            "format": FORMAT,
            "recipe": plan.recipe.model_dump(mode="json"),
            "models": [model._asdict() for model in plan.models],
            "conf": plan.conf,
            "versions": dict(plan.versions),
            "files": dict(key_by_name),
        }
        write_whole(self.path / STUDY, json.dumps(content, indent=1, default=str) + "\n")

    def instance_path(self, sha256: str) -> Path:
        """Where an instance is kept."""
        return self.path / "instances" / f"{sha256}.json.gz"

    def solution_path(self, key: str) -> Path:
        """Where a cell's decision is kept."""
        return self.path / "solutions" / f"{key}.json.gz"

    def solutions(self) -> set[str]:
        """Keys of all decisions that are kept."""
        try:
            names = os.listdir(self.path / "solutions")
        except OSError:
            return set()
        return {name.removesuffix(".json.gz") for name in names if not name.startswith(".")}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder if need be, and be the only one who writes to it; the lock goes with the process."""
        try:
            for folder in (self.path, self.path / "instances", self.path / "solutions"):
                folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", file=str(self.path)) from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.pread(handle, 200, 0).decode(errors="replace").strip() or "another process"
                wrong = f"a study is running here ({owner})"
                raise InputError(wrong, file=str(self.path), right="wait for it, or give another folder") from None
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
            self._sweep()
            yield
        finally:
            os.close(handle)

    def _sweep(self) -> None:
        """Remove what a run that was killed in the middle of a write left behind."""
        for folder in (self.path / "instances", self.path / "solutions"):
            for half_written in folder.glob(".*"):
                half_written.unlink(missing_ok=True)

    def solution(self, key: str) -> Any:
        """A cell's decision as JSON."""
        return read_document(self.solution_path(key)).data

    def instance(self, sha256: str) -> Any:
        """An instance as JSON."""
        return read_document(self.instance_path(sha256)).data


def _setting(model: StudyModel) -> Setting:
    """A model as the folder keeps it; its content says what it is called, not the name beside it."""
    try:
        return Setting.of(model.content, model.file or STUDY, own=model.own)
    except InputError:
        # Of another version, perhaps: its results can be read all the same.
        return Setting(f"{model.name} (from {STUDY})", model.content, STUDY, model.own)
