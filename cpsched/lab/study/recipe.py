"""The recipe of a study: what is crossed with what, and within which limits."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cpsched import quantity
from cpsched.complaints import refusal
from cpsched.engines import MIRROR, named_in
from cpsched.errors import InputError
from cpsched.files import read_document
from cpsched.importers.policy import is_model_file
from cpsched.options import Options, Prover

MOST_SEEDS = 1_000_000
OWN = "auto"
"""In the list of models: the one that each instance asks for."""
LEAST_MEMORY = 256 * 2**20
"""Python and the solver alone take nearly half of it."""
_WITH_PATHS = {"instances", "exclude", "conf", "models"}
_RANGE = re.compile(r"(\d{1,10})(?:\.\.(\d{1,10}))?")


def _names(value: object) -> object:
    """A list, or one text with commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _engines(value: object) -> object:
    """A text with commas or several of them; exec:CMD takes the rest of its text."""
    texts = [value] if isinstance(value, str) else value
    return named_in(texts) if isinstance(texts, list) and all(isinstance(one, str) for one in texts) else value


def _patterns(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _seeds(value: object) -> object:
    """A list of numbers, or a text such as 1..5,8."""
    if isinstance(value, int):
        return [value]
    if not isinstance(value, str):
        return value
    numbers: list[int] = []
    for part in value.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{part.strip()!r} is not a seed; write 3, or 1..5, or 1,4,9")
        first = int(match[1])
        last = int(match[2] or first)
        if last - first >= MOST_SEEDS:
            raise ValueError(f"{part.strip()!r} is more than {MOST_SEEDS} seeds")
        if last < first:
            raise ValueError(f"{part.strip()!r} counts backwards; write {last}..{first}")
        numbers += range(first, last + 1)
    return numbers


def _memory(value: object) -> object:
    number = quantity.whole(value) if isinstance(value, str) else value
    if isinstance(number, int) and number < LEAST_MEMORY:
        raise ValueError("a cell needs 256Mi at the very least")
    return number


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Patterns = Annotated[tuple[str, ...], BeforeValidator(_patterns)]


class Recipe(BaseModel):
    """A study file (`kind: Study`); each field is also a flag of the command, with the same name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    apiVersion: Literal["cpsched/v1"] = "cpsched/v1"
    kind: Literal["Study"] = "Study"
    instances: Patterns = Field((), description="files, folders, or patterns such as corpus/**/*.json")
    exclude: Patterns = Field((), description="patterns of files to leave out")
    models: Names = Field(
        (OWN,), description="names of shipped models, or model files; auto is the one that each instance asks for"
    )
    conf: str | None = Field(None, description="a scheduler's configuration for all cells")
    engines: Annotated[tuple[str, ...], BeforeValidator(_engines)] = (MIRROR, "optimal")
    seeds: Annotated[tuple[int, ...], BeforeValidator(_seeds)] = (1,)
    time_limit: float = Field(30.0, description="seconds an engine has for its decision")
    grace: float = Field(30.0, gt=0, description="seconds beyond that before the cell is killed; loading counts too")
    memory: Annotated[int, BeforeValidator(_memory)] = Field(
        4 * 2**30, description="bytes a cell may hold before it is killed, or a quantity such as 2Gi"
    )
    threads: int = Field(1, ge=1, le=1024, description="threads of the solver in each cell; one is deterministic")
    deterministic: bool = Field(False, description="the time limit measures the solver's work, not the clock")
    prover: Prover = Field("both", description="which solver searches and proves")
    kube_version: str | None = Field(None, description="release of kube-scheduler")
    pod_groups: bool = Field(False, description="kube-scheduler's gate GenericWorkload, for the engine kube")
    allow_extenders: bool = Field(False, description="HTTP extenders are asked; set by the command line only")
    lenient: bool = Field(False, description="broken references between objects are no errors")

    @classmethod
    def parse(cls, data: Any, *, file: str | None = None) -> Recipe:
        """Read the JSON form; InputError says in one line what is wrong."""
        if not isinstance(data, Mapping) or data.get("kind") != "Study":
            raise InputError("not a study", file=file, place="kind", right="write kind: Study")
        try:
            recipe = cls.model_validate({key: value for key, value in data.items() if value is not None})
        except ValidationError as error:
            raise refusal(error, file=file) from None
        return recipe._checked(file)

    @classmethod
    def read(cls, path: str) -> Recipe:
        """A study file; its names are relative to where it lies."""
        document = read_document(path)
        beside = Path() if path == "-" else Path(path).parent
        recipe = cls.parse(document.data, file=document.file)
        if recipe.allow_extenders:
            right = "leave it out, and add --allow-extenders to the command"
            raise InputError("a file cannot allow extenders", file=document.file, place="allow_extenders", right=right)
        return recipe.model_copy(update=_resolved({name: getattr(recipe, name) for name in _WITH_PATHS}, beside))

    def changed(self, given: Mapping[str, Any]) -> Recipe:
        """The same study with what a user set on top; names are relative to the current folder."""
        stated = {name: value for name, value in given.items() if value not in (None, (), [])}
        stated = Recipe.parse({"kind": "Study", **stated}).model_dump(include=set(stated))
        return Recipe.parse(self.model_dump() | stated | _resolved(stated, Path()))

    def options(self, engine: str, seed: int) -> Options:
        """What a cell's engine is given; the gate for pod groups is kube-scheduler's alone."""
        return Options(
            time_limit=self.time_limit,
            workers=self.threads,
            seed=seed,
            pod_groups=self.pod_groups and engine == "kube",
            deterministic=self.deterministic,
            prover=self.prover,
        )

    @property
    def seconds(self) -> float:
        """When a cell is killed."""
        return self.time_limit + self.grace

    def _checked(self, file: str | None) -> Recipe:
        for name in ("models", "engines", "seeds"):
            values = getattr(self, name)
            if not values:
                raise InputError(f"no {name}", file=file, place=name, right="name at least one")
            [(commonest, times)] = Counter(values).most_common(1)
            if times > 1:
                raise InputError(f"{commonest} stands twice", file=file, place=name)
        try:
            for seed in (min(self.seeds), max(self.seeds)):
                self.options("optimal", seed)
        except InputError as error:
            raise error.within(file=file) from None
        return self


def _resolved(content: Mapping[str, Any], beside: Path) -> dict[str, Any]:
    """Names of files made absolute, so that the study can go on from anywhere."""
    resolved: dict[str, Any] = {}
    for name in _WITH_PATHS & content.keys():
        value = content[name]
        if name == "conf":
            resolved[name] = None if value is None else os.path.abspath(beside / value)
        elif name == "models":
            resolved[name] = tuple(os.path.abspath(beside / one) if is_model_file(one) else one for one in value)
        else:
            resolved[name] = tuple(os.path.abspath(beside / one) for one in value)
    return resolved
