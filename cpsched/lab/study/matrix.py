"""The matrix of a study: which files it found, what they hold, and every cell with the key of its content."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from glob import iglob
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import cpsched.version
from cpsched import engines
from cpsched.engines import MIRROR
from cpsched.errors import InputError
from cpsched.files import files_below
from cpsched.importers.chosen import DEFAULT, TITLES, Choice, choose
from cpsched.importers.corpus import is_beside
from cpsched.importers.policy import load_policy, model_content, read_conf
from cpsched.lab.runners.work import Status
from cpsched.lab.study.recipe import OWN, Recipe
from cpsched.parsing import SUFFIXES
from cpsched.policy import load_model, model_title, recognise

IN_THE_KEY = {"time_limit", "threads", "deterministic", "prover", "kube_version", "pod_groups", "lenient"}
"""What a recipe says that can change a result, besides the matrix itself."""


class Setting(NamedTuple):
    """A model of the study."""

    name: str
    content: Mapping[str, Any]
    file: str = ""
    """Where a model that is not shipped comes from."""
    own: bool = False
    """Whether it is only for the instances that ask for it."""

    @classmethod
    def of(cls, content: Mapping[str, Any], file: str, *, own: bool = False) -> Setting:
        """The model by its content, so that no other is called as a shipped one."""
        return cls(model_title(load_model(content, file=file), file), content, os.path.basename(file), own)

    @property
    def scheduler(self) -> str:
        """The scheduler that it is made for."""
        return str(self.content.get("scheduler", DEFAULT))


@dataclass(frozen=True)
class Source:
    """The content of one or several files: an instance, or what could not be read as one."""

    sha256: str
    """Of the instance's content; of the file's bytes if they hold none."""
    names: tuple[str, ...]
    sizes: Mapping[str, int | None] = field(default_factory=dict)
    recipe: Any = None
    """How it was generated, as the file says."""
    status: Status = "ok"
    error: str | None = None
    own: tuple[Choice, ...] = ()
    """The models that it asks for: of pods of two schedulers both."""


@dataclass(frozen=True)
class StudyCell:
    """One run of one engine."""

    key: str
    source: Source
    model: Setting
    engine: str
    seed: int
    choice: Choice
    """Why this model; without a reason where the user named it."""


@dataclass(frozen=True)
class StudyPlan:
    """Everything that keys are made of besides the instances, read once."""

    recipe: Recipe
    models: tuple[Setting, ...]
    conf: Mapping[str, Any] | None
    versions: Mapping[str, str]

    @classmethod
    def of(cls, recipe: Recipe, kept: StudyPlan | None = None, named: Collection[str] = ()) -> StudyPlan:
        """Read models and configuration; InputError for what is unknown, before any cell is run.

        A study that goes on has them in its folder (`kept`): only files that the user has `named` now are read.
        """
        for engine in recipe.engines:
            if engine != MIRROR:
                engines.find(engine)
        if kept is None or "conf" in named:
            conf = None if recipe.conf is None else read_conf(recipe.conf).data
        else:
            conf = kept.conf
        if kept is None or "models" in named:
            models = tuple(model for name in recipe.models for model in _settings(name))
        else:
            models = kept.models
        own = None if conf is None else choose(None, conf, recipe.conf or "conf").model
        for model in (one for one in models if not one.own or own in (None, one.scheduler)):
            load_policy(model.content, conf, lenient=recipe.lenient, kube_version=recipe.kube_version)
        names = [model.content["name"] for model in models]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            is_own = OWN in recipe.models and twice in TITLES
            right = f"{OWN} takes it where an instance asks for it" if is_own else "give one of them another name"
            raise InputError(f"two models are called {twice}", place="models", right=right)
        return cls(recipe, models, conf, {"cpsched": cpsched.version.__version__, "ortools": version("ortools")})

    def cells(self, sources: Sequence[Source]) -> Iterator[StudyCell]:
        """Every cell, instance by instance."""
        for source in sources:
            for group in self.groups(source):
                yield from group

    def groups(self, source: Source) -> Iterator[list[StudyCell]]:
        """The cells of an instance, model by model: those whose decisions compare."""
        own = {choice.model: choice for choice in self._own(source)}
        for model, rules in zip(self.models, self._rules, strict=True):
            if model.own and model.scheduler not in own:
                continue
            choice = own[model.scheduler] if model.own else Choice(model.name)
            yield [
                StudyCell(digest([source.sha256, rules, engine, seed]), source, model, engine, seed, choice)
                for engine, seed in product(self._engines(model), self.recipe.seeds)
            ]

    def size(self, sources: Sequence[Source]) -> int:
        """How many cells there are."""
        always = sum(len(self._engines(model)) for model in self.models if not model.own)
        own = {model.scheduler: len(self._engines(model)) for model in self.models if model.own}
        asked = sum(own.get(choice.model, 0) for source in sources for choice in self._own(source))
        return (always * len(sources) + asked) * len(self.recipe.seeds)

    @property
    def asks_instances(self) -> bool:
        """Whether an instance's own model matters."""
        return self.conf is None and any(model.own for model in self.models)

    def _own(self, source: Source) -> tuple[Choice, ...]:
        """The model that the study's configuration asks for, or else the instance; the default if neither says."""
        return (self._by_conf,) if self._by_conf else source.own or (choose(None, None),)

    @cached_property
    def _by_conf(self) -> Choice | None:
        return None if self.conf is None else choose(None, self.conf, self.recipe.conf or "conf")

    def _engines(self, model: Setting) -> Sequence[str]:
        """The engines under a model, each once, though it may also be the model's mirror."""
        return tuple(dict.fromkeys(model.scheduler if one == MIRROR else one for one in self.recipe.engines))

    @cached_property
    def _rules(self) -> list[str]:
        """Per model, the hash of everything that all its cells share."""
        # Most configurations have no extenders: then it makes no difference whether they may be asked.
        matters = self.conf is None or "extenders" in recognise(self.conf).conf
        allowed = {"allow_extenders"} if self.recipe.allow_extenders and matters else set[str]()
        given = self.recipe.model_dump(mode="json", include=IN_THE_KEY | allowed)
        return [digest([model.content, self.conf, given, dict(sorted(self.versions.items()))]) for model in self.models]


def find_files(recipe: Recipe) -> dict[str, Path]:
    """The study's files by name, in the order of names; a name is the path below the folder they all share."""
    if not recipe.instances:
        raise InputError("no instances", place="instances", right="add --instances 'corpus/*.json'")
    left_out = {os.path.abspath(path) for pattern in recipe.exclude for path in iglob(pattern, recursive=True)}
    found: set[str] = set()
    for pattern in recipe.instances:
        paths = {path for path in _matches(pattern) if path not in left_out}
        if not paths:
            raise InputError(
                "no file matches", file=pattern, place="instances", right="name files, folders, or patterns in quotes"
            )
        found |= paths
    shared = os.path.commonpath([os.path.dirname(path) for path in found])
    return {os.path.relpath(path, shared): Path(path) for path in sorted(found)}


def digest(content: Any) -> str:
    """SHA-256 of the canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _matches(pattern: str) -> Iterator[str]:
    """A folder stands for every instance file below it; a name that exists is no pattern."""
    paths = [pattern] if os.path.exists(pattern) else iglob(pattern, recursive=True)
    for path in paths:
        if os.path.isdir(path):
            yield from map(str, files_below(Path(path), _may_be_instance))
        else:
            yield path


def _may_be_instance(name: str) -> bool:
    return name.endswith(SUFFIXES) and not is_beside(name)


def _settings(name: str) -> Iterator[Setting]:
    """The model of this name; of the instances' own all that they may ask for."""
    for one in TITLES if name == OWN else (name,):
        document = model_content(one)
        yield Setting.of(document.data, document.file, own=name == OWN)
