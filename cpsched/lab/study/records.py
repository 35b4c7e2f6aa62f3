"""What study.json and the lines of a run folder's journals hold, checked when they are read."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from cpsched.lab.runners.work import Status
from cpsched.policy import SENSES
from cpsched.solution import NO_DECISION, Level, SolutionStatus

LARGEST = 2**63 - 1
"""What a table's column of whole numbers holds."""

Key = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
COUNTED = ("binds", "allocated", "pipelined", "evictions", "unplaced")


def _level(level: Level) -> Level:
    if SENSES.get(level.name) != level.sense:
        raise ValueError(f"no level is called {level.name!r} and has the sense {level.sense}")
    for stated in (level.value, level.bound):
        level.ref.value(stated)
    for stated in (level.value, level.bound, level.priority):
        if isinstance(stated, int) and abs(stated) > LARGEST:
            raise ValueError(f"{stated} is too large")
    if not isfinite(level.seconds):
        raise ValueError(f"{level.seconds} are no seconds")
    return level


def _counts(counts: dict[str, int]) -> dict[str, int]:
    unknown = next((name for name in counts if name not in COUNTED), None)
    if unknown is not None:
        raise ValueError(f"unknown count {unknown!r}")
    return counts


class Record(BaseModel):
    """One line; the last one with a key counts."""

    model_config = ConfigDict(frozen=True, strict=True)

    key: Key


class InstanceRecord(Record):
    """A line of instances.jsonl: the content of one file."""

    status: Status
    error: str | None
    sha256: Key
    nodes: Count | None = None
    jobs: Count | None = None
    queues: Count | None = None
    tasks_pending: Count | None = None
    tasks_running: Count | None = None
    recipe: Any = None
    model: Literal["volcano", "kube"] | None = None
    """Which the instance asks for; None in records of versions that did not ask."""
    model_by: str = ""
    model_reason: str = ""
    model_too: Literal["volcano", "kube"] | None = None
    """That of the other scheduler, if pods of its own wait too."""
    model_too_reason: str = ""

    @property
    def sizes(self) -> dict[str, int | None]:
        """How large the instance is, under the names of the table's columns."""
        return self.model_dump(include={"nodes", "jobs", "queues", "tasks_pending", "tasks_running"})

    @model_validator(mode="after")
    def _whole(self) -> InstanceRecord:
        if self.status == "ok":
            _needs(self.sizes)
        return self


class CellRecord(Record):
    """A line of results.jsonl: what became of one cell."""

    instance: Key
    model: str
    model_by: str = ""
    """What decided that it is this one, if the user did not."""
    model_reason: str = ""
    engine: str
    seed: Count
    status: Status
    error: str | None
    detail: str | None
    solution: SolutionStatus | None
    findings: dict[str, Count]
    levels: tuple[Annotated[Level, AfterValidator(_level)], ...]
    counts: Annotated[dict[str, Count], AfterValidator(_counts)]
    doubts: tuple[str, ...] = ()
    wall_seconds: Seconds | None
    cpu_seconds: Seconds | None
    peak_rss_bytes: Count | None
    started: str | None
    host: str | None
    versions: dict[str, str | None]

    @property
    def has_decision(self) -> bool:
        """Whether there is a decision to compare with others."""
        return self.status == "ok" and self.solution not in (None, *NO_DECISION)

    def unproved(self, engine: str) -> CellRecord:
        """The record as one of this engine, which proves nothing."""
        status = self.solution if self.solution in (None, *NO_DECISION) else SolutionStatus.HEURISTIC
        levels = tuple(level.without_proof() for level in self.levels)
        return self.model_copy(update={"engine": engine, "solution": status, "levels": levels})

    @model_validator(mode="after")
    def _whole(self) -> CellRecord:
        if self.status == "ok":
            measured = {"solution", "wall_seconds", "cpu_seconds", "peak_rss_bytes"}
            _needs(self.model_dump(include=measured) | {f"counts.{name}": self.counts.get(name) for name in COUNTED})
        return self


class StudyModel(BaseModel):
    """A model of the study, with its content as it was when the study began."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: str
    content: dict[str, Any]
    file: str = ""
    own: bool = False


class StudyFile(BaseModel):
    """study.json: what the study is about."""

    model_config = ConfigDict(frozen=True, strict=True)

    recipe: dict[str, Any]
    models: list[StudyModel]
    conf: dict[str, Any] | None
    versions: dict[str, str]
    files: dict[str, Key]


def _needs(fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        if value is None:
            raise ValueError(f"{name} is missing though the status is ok")
